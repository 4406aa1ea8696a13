"""MLIR bytecode as text, for people: master's cache holds `.bcmlir` and `.mlirbc`, which no editor shows."""

from __future__ import annotations

from pathlib import Path

from bundler.compiler.toolchain import find_opt
from bundler.errors import NpubugError
from bundler.process import run

_TIMEOUT = 60.0


def decode(path: Path, compiler: Path) -> bytes | None:
    """The text of a bytecode file, as the opt tool that goes with `compiler` prints it.

    Returns:
        None if no opt tool is here, or none reads the file: it may be of a newer compiler, or damaged.
    """
    try:
        opt = find_opt(compiler).path
        done = run([str(opt), str(path.resolve()), "--allow-unregistered-dialect"], timeout=_TIMEOUT)
    except (NpubugError, OSError):
        return None
    return done.stdout if done.returncode == 0 and not done.truncated else None
