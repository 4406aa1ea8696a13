"""Compile one file and say how it ended: run, diagnosis and signature in one value.

A `.ttir` goes through two tools, `triton-adapter-opt` and then `bishengir-compile`, as it does inside triton;
the examination is of the first one that does not end well.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bundler.compiler.diagnose import diagnose
from bundler.compiler.invoke import FAILURE_FLAG, CompileCommand, compile_file
from bundler.compiler.outcome import Diagnosis, Outcome, ToolRun
from bundler.compiler.signature import Signature, signature_of
from bundler.errors import ExitCode, NpubugError


@dataclass(frozen=True)
class Examination:
    """How a compile ended. `command` is the one of several that `run` belongs to."""

    command: CompileCommand
    run: ToolRun
    diagnosis: Diagnosis
    signature: Signature


def require_failure(diagnosis: Diagnosis, tool: str, name: str) -> None:
    """Return if the compile of the file `name` failed in a way to report.

    Raises:
        NpubugError: it is healthy (NOTHING_FAILED), the input was rejected at once (INVALID_INPUT), or the tool
            cannot work here (TOOL_MISSING).
    """
    outcome = diagnosis.outcome
    if outcome.is_bug:
        return
    if outcome is Outcome.INVALID_INPUT:
        raise NpubugError(
            f"{tool} rejects {name} before any pass runs",
            why=diagnosis.message[:300],
            hint="give the compiler's input (.ttir, .ttadapter, .bcmlir) and the compiler version it was made for",
            code=ExitCode.INVALID_INPUT,
        )
    if outcome is Outcome.UNUSABLE:
        raise NpubugError(
            f"{tool} cannot work here",
            why=diagnosis.message[:300],
            hint="npubug diagnose tells what the message means; give another compiler by --compiler",
            code=ExitCode.TOOL_MISSING,
        )
    why = "all passes ran"
    if outcome is Outcome.BACKEND_MISSING:
        why += "; only the closed hivmc backend is not installed here, which is not a bug"
    raise NpubugError(
        f"nothing failed: {name} compiles with {tool}",
        why=why,
        hint="check the compiler version (--compiler) and the flags (--flags) of the failing run",
        code=ExitCode.NOTHING_FAILED,
    )


def examine(
    commands: Sequence[CompileCommand],
    input: Path,
    *,
    timeout: float,
    flags: Sequence[str] = (FAILURE_FLAG,),
    cancel: threading.Event | None = None,
) -> Examination:
    """Run `commands` one after the other, each on the output of the one before, until one does not end well.

    Args:
        flags: added to each command whose tool knows them; the default makes a failing pass name itself.

    Raises:
        NpubugError: a tool cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        for number, plain in enumerate(commands):
            command = plain.with_flags(*(flag for flag in flags if plain.supports(flag)))
            output = Path(scratch) / f"stage{number}.mlir"
            run = compile_file(command, input, timeout=timeout, output=output, cancel=cancel)
            diagnosis = diagnose(run)
            if diagnosis.outcome is not Outcome.HEALTHY or not output.exists():
                break
            input = output
    return Examination(plain, run, diagnosis, signature_of(diagnosis))
