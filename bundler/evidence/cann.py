"""CANN: version, place, and other installations beside the one in use.

Layouts (facts/environment.md): up to 8.3 `/usr/local/Ascend/ascend-toolkit/latest/<arch>-linux/`, from 8.5
`/usr/local/Ascend/cann-8.5.0/<arch>-linux/` with the link `/usr/local/Ascend/cann`; `nnae` for run-time-only
installs; the same below `~/Ascend` for users without root. Version files, best first:

    <arch>-linux/ascend_toolkit_install.info   version=8.5.1  innerversion=V100R001C25SPC002B220
    version.cfg                                toolkit_running_version=[7.6.0.1.220:8.2.RC1]
    compiler/version.info, runtime/version.info    Version=...
    the folder's own name, links resolved      8.2.RC1, cann-8.5.0
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bundler.evidence.container import container_kind
from bundler.evidence.context import Context, Source, key_values, read_text
from bundler.manifest import Fact

NAMES = ("cann.version", "cann.path", "cann.innerversion", "cann.ops", "cann.others")

_RUNNING = re.compile(r"^\s*(\w+)_running_version\s*=\s*\[(?:[^\]:]*:)?([^\]:]+)\]", re.MULTILINE)
_NAMED = re.compile(r"^(?:cann-)?(\d+\.\d+[\w.]*)$")


@dataclass(frozen=True)
class Install:
    """One CANN installation: `told_by` names what led to the folder, `version_from` what told the version."""

    folder: Path
    told_by: str
    version: str | None
    version_from: str
    innerversion: str | None = None
    ops: str | None = None


def running_version(version_cfg: str) -> str | None:
    """The version that `version.cfg` gives the toolkit, or else whatever component it names first."""
    found = dict(reversed(_RUNNING.findall(version_cfg)))
    for component in ("toolkit", "compiler", "runtime"):
        if component in found:
            return str(found[component])
    return next(iter(found.values()), None)


def installs(context: Context) -> list[Install]:
    """Every installation that can be seen, the one in use first."""
    found: dict[Path, Install] = {}
    for told_by, folder in _places(context):
        if folder.is_dir():
            real = folder.resolve()
            if real not in found:
                found[real] = _read(context, folder, told_by)
    return list(found.values())


def _collect(context: Context) -> Iterable[Fact]:
    known = installs(context)
    if not known:
        kind, _ = container_kind(context)
        where = "not visible in this container" if kind else "not installed where it was looked for"
        reason = f"{where}: no ASCEND_HOME_PATH, ASCEND_TOOLKIT_HOME, /usr/local/Ascend, ~/Ascend"
        for name in NAMES:
            yield Fact(name, None, "file system", reason)
        return
    used = known[0]
    path = _shown(context, used.folder)
    yield Fact(
        "cann.version", used.version, used.version_from, "" if used.version else f"no version file in {path}"
    )
    yield Fact("cann.path", path, used.told_by)
    no_inner = "" if used.innerversion else "no ascend_toolkit_install.info"
    yield Fact("cann.innerversion", used.innerversion, "ascend_toolkit_install.info", no_inner)
    no_ops = "" if used.ops else "no ascend_ops_install.info (from 8.5)"
    yield Fact("cann.ops", used.ops, "ascend_ops_install.info", no_ops)
    others = ", ".join(f"{_shown(context, i.folder)} ({i.version or '?'})" for i in known[1:])
    yield Fact("cann.others", others or "none", "file system")


SOURCE = Source("file system", NAMES, _collect)


def _places(context: Context) -> Iterator[tuple[str, Path]]:
    for variable in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        value = context.environ.get(variable)
        if value:
            yield variable, context.at(value)
    recorded = key_values(read_text(context.at("/etc/Ascend/ascend_cann_install.info")) or "").get(
        "Install_Path"
    )
    bases = [context.at(recorded)] if recorded else []
    bases.append(context.at("/usr/local/Ascend"))
    if context.home is not None:
        bases.append(context.at(context.home) / "Ascend")
    for base in bases:
        for name in ("ascend-toolkit/latest", "cann", "latest", "nnae/latest"):
            yield _shown(context, base / name), base / name
        for pattern in ("cann-*", "ascend-toolkit/[0-9]*", "nnae/[0-9]*"):
            for folder in sorted(_glob(base, pattern), reverse=True):
                yield _shown(context, folder), folder
        if (base / "version.cfg").is_file() or _glob(base, "*-linux"):
            yield _shown(context, base), base


def _read(context: Context, folder: Path, told_by: str) -> Install:
    tops = [folder, *_glob(folder, "*-linux")]
    info: dict[str, str] = {}
    ops = None
    for top in tops:
        info = info or key_values(read_text(top / "ascend_toolkit_install.info") or "")
        package = key_values(read_text(top / "ascend_ops_install.info") or "")
        if ops is None and package:
            ops = " ".join(package[key] for key in ("package_name", "version") if package.get(key)) or None
    version, version_from = info.get("version"), "ascend_toolkit_install.info"
    if not version:
        version, version_from = _other_version(folder, tops)
    return Install(folder, told_by, version, version_from, info.get("innerversion"), ops)


def _other_version(folder: Path, tops: list[Path]) -> tuple[str | None, str]:
    for top in tops:
        version = running_version(read_text(top / "version.cfg") or "")
        if version:
            return version, "version.cfg"
    for part in ("compiler", "runtime"):
        for top in tops:
            version = key_values(read_text(top / part / "version.info") or "").get("Version")
            if version:
                return version, f"{part}/version.info"
    for name in (folder.name, folder.resolve().name):
        named = _NAMED.match(name)
        if named:
            return named[1], "folder name"
    return None, "file system"


def _glob(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _shown(context: Context, path: Path) -> str:
    try:
        return "/" + str(path.relative_to(context.root))
    except ValueError:
        return str(path)
