"""Find the compiler tools: `bishengir-compile`, its opt tool, and `triton-adapter-opt`.

The order is triton-ascend's own (facts: its `_get_npucompiler_path`), plus the `ascendnpu-ir` wheel beside this
Python: an explicit path, triton-ascend's bundled copy, PATH, `TRITON_NPU_COMPILER_PATH/npuc`, the wheel.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bundler.errors import ExitCode, NpubugError
from bundler.process import run

COMPILE = "bishengir-compile"
ADAPTER = "triton-adapter-opt"
# A tool's own opt driver, which prints its dialects in the generic form; the adapter is an MlirOpt itself.
_OPT_OF = {
    "bishengir-compile": "bishengir-opt",
    "bishengir-compile-a5": "bishengir-opt-a5",
    "npuc": "bishengir-opt",
}


@dataclass(frozen=True)
class Tool:
    """An executable that was found. `found_by`: option, bundled, PATH, variable, or package."""

    path: Path
    found_by: str

    @property
    def name(self) -> str:
        return self.path.name


def find_tool(name: str, explicit: Path | None = None, environ: Mapping[str, str] | None = None) -> Tool:
    """Find `name` (`bishengir-compile`, `bishengir-compile-a5`, `triton-adapter-opt`, `bishengir-opt`...).

    Raises:
        NpubugError: with every place that was looked at, exit code TOOL_MISSING.
    """
    if explicit is not None:
        if not _is_executable(explicit):
            raise NpubugError(
                f"{explicit} is not an executable file",
                hint="give the path of a bishengir-compile (or triton-adapter-opt) binary",
                code=ExitCode.TOOL_MISSING,
            )
        return Tool(explicit.resolve(), "option")
    looked: list[str] = []
    for found_by, path in _places(name, os.environ if environ is None else environ):
        if path is not None and _is_executable(path):
            return Tool(path, found_by)
        looked.append(f"{found_by}: {path}" if path is not None else found_by)
    package = "triton-ascend==3.2.0" if name == ADAPTER else "ascendnpu-ir==1.2.0"
    raise NpubugError(
        f"no {name} found",
        why="looked at " + "; ".join(looked),
        hint=f"source CANN's set_env.sh, or pip install {package} (x86_64 Linux), or give --compiler PATH",
        code=ExitCode.TOOL_MISSING,
    )


def find_all(name: str, environ: Mapping[str, str] | None = None) -> tuple[Tool, ...]:
    """Every binary of this name in the places where one is looked for, in their order, each once.

    Raises:
        NpubugError: there is none, exit code TOOL_MISSING.
    """
    environ = os.environ if environ is None else environ
    found: dict[Path, Tool] = {}
    elsewhere = [
        ("PATH", Path(folder) / name) for folder in environ.get("PATH", "").split(os.pathsep) if folder
    ]
    for found_by, path in (*_places(name, environ), *elsewhere):
        if path is not None and _is_executable(path):
            found.setdefault(path.resolve(), Tool(path, found_by))
    return tuple(found.values()) or (find_tool(name, environ=environ),)


def find_opt(compiler: Path, environ: Mapping[str, str] | None = None) -> Tool:
    """The opt tool that reads what `compiler` reads: the adapter itself, a sibling, or one found elsewhere.

    Raises:
        NpubugError: none can be found, exit code TOOL_MISSING.
    """
    if compiler.name == ADAPTER:
        return Tool(compiler, "itself")
    name = _OPT_OF.get(compiler.name, compiler.name.replace("-compile", "-opt"))
    sibling = compiler.parent / name
    if _is_executable(sibling):
        return Tool(sibling, "sibling")
    # CANN may ship the compiler alone; these read plain ttadapter as well.
    error: NpubugError | None = None
    for other in (name, ADAPTER, "mlir-opt-19"):
        try:
            return find_tool(other, environ=environ)
        except NpubugError as caught:
            error = error or caught
    assert error is not None
    raise error


def version_of(tool: Path) -> str | None:
    """The first line of `--version`, or None if the tool does not answer within ten seconds."""
    try:
        done = run([str(tool), "--version"], timeout=10)
    except OSError:
        return None
    text = (done.stdout or done.stderr).decode(errors="replace").strip()
    return next((line.strip() for line in text.splitlines() if line.strip()), None)


@lru_cache(maxsize=32)
def supported_flags(tool: Path) -> frozenset[str]:
    """The names of the options `--help` lists (without dashes); an unknown one ends a compile, so ask first."""
    try:
        done = run([str(tool), "--help"], timeout=30)
    except OSError:
        return frozenset()
    words = set()
    for line in done.stdout.decode(errors="replace").splitlines():
        stripped = line.strip()
        if stripped.startswith("-"):
            words.add(stripped.lstrip("-").split()[0].split("=")[0].split("[")[0])
    return frozenset(words)


def _places(name: str, environ: Mapping[str, str]) -> Iterator[tuple[str, Path | None]]:
    site = _site_folder("triton")
    if site is not None:
        ascend = site / "backends" / "ascend"
        inside = "bishengir-a5" if name.endswith("-a5") else "bishengir"
        yield (
            "bundled with triton-ascend",
            ascend / name if name == ADAPTER else ascend / inside / "bin" / name,
        )
    found = shutil.which(name, path=environ.get("PATH"))
    yield "PATH", Path(found) if found else None
    root = environ.get("TRITON_NPU_COMPILER_PATH")
    if name == COMPILE:
        yield "TRITON_NPU_COMPILER_PATH", Path(root) / "npuc" if root else None
    elif root:
        yield "TRITON_NPU_COMPILER_PATH", Path(root) / name
    wheel = _site_folder("ascendnpuir")
    yield "the ascendnpu-ir package", wheel / "bin" / name if wheel is not None else None


def _site_folder(package: str) -> Path | None:
    """Where `package` is installed for this Python, found without importing it (triton takes seconds)."""
    purelib = Path(sysconfig.get_path("purelib")) / package
    if purelib.is_dir():
        return purelib
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    locations = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(locations[0]) if locations else None


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
