"""Record through PATH: a stand-in for each compiler tool, for callers that the start-up hook cannot reach.

Those are Pythons that ignore PYTHONPATH (-I, -E) or start without `site` (-S), and programs that are no Python: a
shell's own calls, make, C++. A tool that a program finds by another way than PATH is not seen.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bundler.capture import recorder

# Without hivmc, which is called by a tool that is recorded.
_TOOLS = tuple(tool for tool in recorder.TOOLS if not tool.startswith("hivmc"))
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*\Z")
_NPUC_VARIABLE = "TRITON_NPU_COMPILER_PATH"
# A caller that the hook serves has noted itself before it starts a tool: then nothing is left to do.
_SCRIPT = """#!/bin/sh
[ -e {folder}/process-"$PPID".jsonl ] && exec {tool} "$@"
[ -d {folder}/calls ] || exec {tool} "$@"
exec {python} -I -S -c {code} {tool} "$@"
"""


def is_needed(command: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether a command's compiles may escape the hook: it is not plainly a Python that reads PYTHONPATH.

    A shell script or a Makefile may start any kind of program, so it counts as one that does.
    """
    name = Path(command[0]).name
    if name in recorder.TOOLS:
        return False  # recorded as the command itself
    if _PYTHON.match(name):
        return _is_isolated(command[1:])
    first = _first_line(command[0], environ)
    words = first[2:].split() if first.startswith("#!") else []
    at = next((n for n, word in enumerate(words) if _PYTHON.match(Path(word).name)), None)
    return at is None or _is_isolated(words[at + 1 :])


def put_in_front(hook: Path, folder: Path, shims: Path, environment: dict[str, str]) -> dict[str, str]:
    """Write the stand-ins, and put them first on the PATH of `environment`. Raises OSError.

    Args:
        hook: where the recorder has been copied to.
        folder: the record folder.
        shims: the folder to make.

    Returns:
        The real tool for each stand-in's path. Only tools that are there get one: programs ask for them.
    """
    shims.mkdir()
    path = environment.get("PATH", os.defpath)
    real = {tool: shutil.which(tool, path=path) for tool in _TOOLS}
    if environment.get(_NPUC_VARIABLE):
        npuc = Path(environment[_NPUC_VARIABLE], "npuc")
        if os.access(npuc, os.X_OK):
            real["npuc"] = str(npuc)
            environment[_NPUC_VARIABLE] = str(shims)
    made = {}
    for name, tool in real.items():
        if tool is not None:
            made[str(shims / name)] = str(Path(tool).absolute())
            (shims / name).write_text(_script(hook, folder, made[str(shims / name)]))
            (shims / name).chmod(0o755)
    environment["PATH"] = f"{shims}{os.pathsep}{path}"
    return made


def _script(hook: Path, folder: Path, tool: str) -> str:
    code = (
        f"import sys; sys.path.insert(0, {str(hook)!r}); from _npubug.shim import main; main({str(folder)!r})"
    )
    return _SCRIPT.format(
        folder=shlex.quote(str(folder)),
        tool=shlex.quote(tool),
        python=shlex.quote(sys.executable),
        code=shlex.quote(code),
    )


def _is_isolated(words: Sequence[str]) -> bool:
    """Whether options of Python's own, before the script, keep the hook from being loaded."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word in ("-", "-c", "-m"):
            return False
        if word in ("-W", "-X"):
            next(rest, None)
        elif not word.startswith(("--", "-W", "-X")) and set("ISE") & set(word):
            return True
    return False


def _first_line(program: str, environ: Mapping[str, str]) -> str:
    found = shutil.which(program, path=environ.get("PATH"))
    try:
        with open(found or program, "rb") as file:  # noqa: PTH123
            return file.readline(256).decode(errors="replace")
    except (OSError, ValueError):
        return ""
