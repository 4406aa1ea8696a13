"""Can this machine do the work? Each thing that a command needs, found or missing, with the way to get it."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

from bundler.compiler.toolchain import ADAPTER, COMPILE, find_opt, find_tool, supported_flags, version_of
from bundler.errors import NpubugError
from bundler.process import run

ABILITIES = ("bundle", "minimize", "replay", "barrier --install", "run kernels")
ESSENTIAL = ABILITIES[:3]
_LIBRARIES = ("zstandard", "psutil", "click", "rich", "jsonschema", "jinja2", "distro")
_ROOM = 1 << 30
_MEMORY = 2 << 30
_NEWEST = "pip install ascendnpu-ir==1.2.0 (x86_64 Linux, Python 3.10 to 3.13), or source CANN's set_env.sh"


@dataclass(frozen=True)
class Check:
    """One thing that is needed.

    Attributes:
        name: what it is.
        found: what is there, or None if it is missing.
        needed_for: of `ABILITIES`.
        remedy: the way to get it, empty if it is there.
    """

    name: str
    found: str | None
    needed_for: tuple[str, ...]
    remedy: str = ""


def able(checks: tuple[Check, ...], ability: str) -> bool:
    """Whether nothing that `ability` needs is missing."""
    return all(check.found is not None for check in checks if ability in check.needed_for)


def examine_machine(environ: Mapping[str, str]) -> tuple[Check, ...]:
    """Look at everything, side by side; never raises, and takes no longer than its slowest probe (10 s)."""
    probes: tuple[Callable[[], Iterator[Check]], ...] = (
        _python,
        lambda: _compiler(environ),
        lambda: _adapter(environ),
        lambda: _backend(environ),
        lambda: _triton(environ),
        _room,
        _npu,
    )
    with ThreadPoolExecutor(len(probes)) as pool:
        answers = pool.map(lambda probe: tuple(probe()), probes)
        return tuple(check for found in answers for check in found)


def _python() -> Iterator[Check]:
    version = platform.python_version()
    yield Check("Python 3.9 or newer", version, ("bundle", "replay"))
    new_enough = sys.version_info >= (3, 10)
    yield Check(
        "Python 3.10 or newer",
        version if new_enough else None,
        ("minimize",),
        "" if new_enough else "install npubug with a newer Python; archives go from machine to machine",
    )
    missing = [name for name in _LIBRARIES if importlib.util.find_spec(name) is None]
    yield Check(
        "libraries",
        None if missing else ", ".join(_LIBRARIES),
        ("bundle", "replay", "minimize"),
        f"pip install {' '.join(missing)}" if missing else "",
    )
    xdsl = importlib.util.find_spec("xdsl") is not None
    yield Check("xDSL", "installed" if xdsl else None, ("minimize",), "" if xdsl else "pip install xdsl")


def _compiler(environ: Mapping[str, str]) -> Iterator[Check]:
    needed = ("bundle", "replay", "minimize", "barrier --install")
    try:
        tool = find_tool(COMPILE, environ=environ)
    except NpubugError:
        yield Check(COMPILE, None, needed, _NEWEST)
        return
    version = version_of(tool.path) if supported_flags(tool.path) else None
    works = f"{tool.path} ({tool.found_by}): {version}" if version else None
    remedy = (
        ""
        if works
        else f"{tool.path} does not run here (another machine's, or a library is missing): {_NEWEST}"
    )
    yield Check(COMPILE, works, needed, remedy)
    try:
        opt = find_opt(tool.path, environ=environ)
        yield Check("opt tool", f"{opt.path} ({opt.found_by})", ("minimize",))
    except NpubugError:
        yield Check("opt tool", None, ("minimize",), f"CANN may ship the compiler alone: {_NEWEST}")


def _adapter(environ: Mapping[str, str]) -> Iterator[Check]:
    try:
        tool = find_tool(ADAPTER, environ=environ)
    except NpubugError:
        # Only failures of the adapter stage need it, so nothing is unable without it.
        yield Check(
            ADAPTER,
            None,
            (),
            "only for failures in ttir: pip install triton-ascend==3.2.0 (Python 3.9 to 3.11)",
        )
        return
    yield Check(ADAPTER, f"{tool.path} ({tool.found_by})", ())


def _backend(environ: Mapping[str, str]) -> Iterator[Check]:
    path = shutil.which("hivmc", path=environ.get("PATH"))
    remedy = "" if path else "comes with CANN: source its set_env.sh; compile failures need no backend"
    yield Check("hivmc", path, ("barrier --install", "run kernels"), remedy)


def _triton(environ: Mapping[str, str]) -> Iterator[Check]:
    name = "triton-ascend in python3 on PATH"
    remedy = "activate the environment that runs your kernels; caches, dumps and IR files need none"
    python = shutil.which("python3", path=environ.get("PATH"))
    found = None
    if python is not None:
        question = "import importlib.metadata as m; print(m.version('triton-ascend'))"
        try:
            done = run([python, "-c", question], timeout=10, env=environ)
            found = done.stdout.decode(errors="replace").strip() if done.returncode == 0 else None
        except OSError:
            found = None
    yield Check(name, f"{found} ({python})" if found else None, ("run kernels",), "" if found else remedy)


def _room() -> Iterator[Check]:
    folder = Path(tempfile.gettempdir())
    try:
        with tempfile.TemporaryDirectory(prefix="npubug-"):
            free = shutil.disk_usage(folder).free
        why = "" if free >= _ROOM else f"{folder} has {free >> 20} MB free, {_ROOM >> 20} are needed"
    except OSError as error:
        free, why = 0, f"{folder}: {error.strerror or error}"
    yield Check(
        "room for temporary files",
        None if why else f"{folder}: {free >> 30} GB free",
        ESSENTIAL,
        f"{why}; set TMPDIR to another folder" if why else "",
    )
    memory = psutil.virtual_memory().available
    enough = memory >= _MEMORY
    yield Check(
        "memory",
        f"{memory / (1 << 30):.1f} GB available" if enough else None,
        ("minimize",),
        "" if enough else f"only {memory >> 20} MB are available: close programs, or minimise elsewhere",
    )


def _npu() -> Iterator[Check]:
    # davinci0, davinci1, ... are chips; davinci_manager and the like are not.
    chips = [path for path in Path("/dev").glob("davinci*") if path.name[len("davinci") :].isdigit()]
    yield Check(
        "NPU",
        f"{len(chips)} devices" if chips else None,
        ("run kernels",),
        ""
        if chips
        else "no /dev/davinci*: compile failures need none; in a container pass the devices through",
    )
