"""The user's Python and the packages in it that matter, asked in that Python itself (interpreter_probe)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

from bundler.evidence import triton_install
from bundler.evidence.context import Context, Source, ask, unavailable
from bundler.evidence.interpreter_probe import MARK, PACKAGES
from bundler.manifest import Fact

_PYTHON = ("version", "implementation", "executable", "environment")
NAMES = (
    *(f"python.{key}" for key in _PYTHON),
    *(f"package.{name}" for name in PACKAGES),
    *triton_install.NAMES,
)


@dataclass(frozen=True)
class Package:
    """An installed package. `editable` is its source folder; `matching` counts its own among shared files."""

    name: str
    version: str
    folder: str
    by: str
    editable: str | None = None
    matching: int = 0


@dataclass(frozen=True)
class Report:
    """What the probe found in the user's Python."""

    python: tuple[tuple[str, str], ...]
    packages: tuple[Package, ...]
    backend_folder: str | None = None
    stages: tuple[str, ...] = ()

    def package(self, name: str) -> Package | None:
        return next((package for package in self.packages if package.name == name), None)


def parse_report(text: str) -> Report | None:
    """Read the probe's output, or None if there is no whole report in it."""
    line = next((line for line in reversed(text.splitlines()) if line.startswith(MARK)), None)
    if line is None:
        return None
    try:
        raw = json.loads(line[len(MARK) :])
        packages = tuple(
            Package(
                name=name,
                version=str(found["version"]),
                folder=str(found["folder"]),
                by=str(found["by"]),
                editable=found.get("editable"),
                matching=int(found.get("matching", 0)),
            )
            for name, found in raw["packages"].items()
            if found
        )
        backend = raw["backend"] or {}
        return Report(
            python=tuple((key, str(raw[key])) for key in _PYTHON),
            packages=packages,
            backend_folder=backend.get("folder"),
            stages=tuple(backend.get("stages", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _collect(context: Context) -> Iterable[Fact]:
    if context.interpreter is None:
        yield from unavailable(NAMES, "interpreter", "no Python was involved")
        return
    # Given as text: the probe's own folder must not come onto the user's sys.path.
    program = resources.files("bundler.evidence").joinpath("interpreter_probe.py").read_text(encoding="utf-8")
    answer = ask(context, [str(context.interpreter), "-c", program])
    report = parse_report(answer.text or "")
    if report is None:
        reason = answer.reason or "the interpreter gave no report"
        yield from unavailable(NAMES, str(context.interpreter), reason)
        return
    for key, value in report.python:
        yield Fact(f"python.{key}", value, "interpreter")
    for name in PACKAGES:
        found = report.package(name)
        if found is None:
            yield Fact(f"package.{name}", None, "package metadata", "not installed in this Python")
        else:
            yield Fact(f"package.{name}", found.version, f"{found.by} in {found.folder}")
    ascend, community = report.package("triton-ascend"), report.package("triton")
    yield from triton_install.facts(
        context,
        triton_install.Installed(
            version=ascend.version if ascend else None,
            editable=(ascend.editable if ascend else None) or (community.editable if community else None),
            folder=report.backend_folder,
            stages=report.stages,
        ),
    )
    if ascend is not None and community is not None:
        yield triton_install.overlap(ascend.version, ascend.matching, community.version, community.matching)


SOURCE = Source("interpreter", NAMES, _collect)
