"""Between the compiler's syntax and ours: the opt tool prints the generic form, and the readable one again."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bundler.errors import ExitCode, NpubugError
from bundler.process import ProcessResult, run

# `--mlir-print-local-scope` writes aliases out; locations are not printed unless asked for, so they go here.
_GENERIC = ("--mlir-print-op-generic", "--mlir-print-local-scope", "--allow-unregistered-dialect")
_TIMEOUT = 120.0


def to_generic(opt: Path, input: Path) -> str:
    """The file as MLIR in the generic form, without locations and aliases; bytecode is read as well.

    Raises:
        NpubugError: the tool rejects the file (INVALID_INPUT), or cannot be run.
    """
    done = _run(opt, input, *_GENERIC)
    if done.returncode != 0:
        raise NpubugError(
            f"{input.name} is not MLIR that {opt.name} reads",
            why=_first_error(done),
            hint="give the compiler's input: a .ttir, .ttadapter or .bcmlir file",
            code=ExitCode.INVALID_INPUT,
        )
    return done.stdout.decode(errors="replace")


def to_readable(opt: Path, text: str) -> str | None:
    """The text in the dialects' own syntax, or None where the tool does not take it."""
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        path = Path(scratch) / "kernel.mlir"
        path.write_text(text)
        done = _run(opt, path, "--allow-unregistered-dialect")
    return done.stdout.decode(errors="replace").rstrip("\n") + "\n" if done.returncode == 0 else None


def _run(opt: Path, input: Path, *flags: str) -> ProcessResult:
    try:
        return run([str(opt), str(input.resolve()), *flags], timeout=_TIMEOUT, output_cap=1 << 30)
    except OSError as error:
        raise NpubugError(f"cannot run {opt}", why=str(error), code=ExitCode.TOOL_MISSING) from error


def _first_error(done: ProcessResult) -> str:
    if done.timed_out:
        return f"it did not end within {_TIMEOUT:.0f} s"
    lines = done.stderr.decode(errors="replace").splitlines()
    return next((line for line in lines if "error:" in line), lines[-1] if lines else "it said nothing")[:300]
