"""A case: one failing compile with everything that surrounds it, wherever it came from."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bundler.capture.session import Capture, CapturedCall
from bundler.compiler.inputs import check_readable, kernel_of_file
from bundler.compiler.invoke import CompileCommand, default_command
from bundler.compiler.outcome import Diagnosis
from bundler.evidence.environment import Context


@dataclass(frozen=True)
class Case:
    """A failing compile and its surroundings.

    Attributes:
        name: what the archive is called after: the script, the kernel or the file.
        kernel: the kernel's name, where it is known without a recording.
        command: the tool and flags that failed; `input` is the file it read.
        recorded: how the recorded call ended, or None if nothing was recorded.
        capture: the run it was part of, or None without one.
        failing: the call of that run that failed.
        cached: the kernel's files of the cache or the dump, in lowering order.
        notes: what a reader must know of how the case came about, a line each.
        log: what the program printed, where that was saved.
        target_known: False if the `--target` is npubug's default, which says nothing about the machine.
    """

    name: str
    command: CompileCommand
    input: Path
    recorded: Diagnosis | None = None
    capture: Capture | None = None
    failing: CapturedCall | None = None
    kernel: str | None = None
    cached: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    log: bytes | None = None
    target_known: bool = True
    interpreter: Path = field(default_factory=lambda: Path(sys.executable))


def case_of_file(path: Path, compiler: Path | None, flags: Sequence[str] | None) -> Case:
    """The case of a bare IR file.

    Raises:
        NpubugError: no compiler was found, or the file cannot be IR.
    """
    check_readable(path)
    return Case(name=kernel_of_file(path.name), command=default_command(path, compiler, flags), input=path)


def context_of(case: Case) -> Context:
    """What the collectors of the environment need to know of a case."""
    argv = case.failing.argv if case.failing is not None else (str(case.command.tool), *case.command.flags)
    if not case.target_known:
        argv = tuple(word for word in argv if not word.startswith("--target"))
    return Context(
        interpreter=case.interpreter,
        compiler=case.command.tool,
        compiler_argv=argv,
        cached_files=tuple(path.name for path in case.cached) or (case.input.name,),
    )
