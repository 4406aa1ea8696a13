"""Is this candidate still interesting? The three ways to ask, and the answer.

An oracle is a callable from text to `Judgement`; it knows nothing of programs or transforms, holds no state but
its finds, and may be called from several threads.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Protocol

from bundler.compiler.examine import examine
from bundler.compiler.invoke import CompileCommand
from bundler.compiler.outcome import Outcome
from bundler.compiler.signature import Level, Signature, matches
from bundler.errors import ExitCode, NpubugError
from bundler.process import run
from minimizer.ir.convert import to_readable


class Verdict(Enum):
    """What a candidate turned out to be."""

    INTERESTING = "interesting"
    BORING = "boring"
    INVALID = "invalid"  # the compiler rejected it before any pass ran: our edit was wrong
    OTHER = "other failure"


@dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    seconds: float = 0.0
    signature: Signature | None = None


class Oracle(Protocol):
    """Judges a text; `cancel` ends the judgement early, with an answer that nobody will look at."""

    def judge(self, text: str, cancel: threading.Event | None = None) -> Judgement: ...


@dataclass
class SignatureOracle:
    """Interesting means: the compile fails with the same signature.

    Attributes:
        commands: the tools to run in turn, see `bundler.compiler.examine`.
        target: the signature to look for.
        level: how alike signatures must be.
        timeout: seconds for one compile.
        finds: another failure's signature id to the first text that showed it, filled as it goes.
    """

    commands: Sequence[CompileCommand]
    target: Signature
    level: Level
    timeout: float
    suffix: str = ".mlir"
    finds: dict[str, str] = field(default_factory=dict)

    def judge(self, text: str, cancel: threading.Event | None = None) -> Judgement:
        with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
            # Short and always the same, so that a path never makes a difference.
            path = Path(scratch) / f"kernel{self.suffix}"
            path.write_text(text)
            seen = examine(self.commands, path, timeout=self.timeout, cancel=cancel)
        if matches(seen.signature, self.target, self.level):
            verdict = Verdict.INTERESTING
        elif seen.diagnosis.outcome is Outcome.INVALID_INPUT:
            verdict = Verdict.INVALID
        elif seen.diagnosis.outcome.is_bug:
            verdict = Verdict.OTHER
            if cancel is None or not cancel.is_set():
                self.finds.setdefault(seen.signature.id, text)
        else:
            verdict = Verdict.BORING
        return Judgement(verdict, seen.run.seconds, seen.signature)


@dataclass
class ScriptOracle:
    """Interesting means: the user's script, given the candidate's path as first argument, exits with 0."""

    script: str
    timeout: float
    name: str = "kernel.mlir"

    def judge(self, text: str, cancel: threading.Event | None = None) -> Judgement:
        with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
            path = Path(scratch) / self.name
            path.write_text(text, errors="surrogateescape")
            # Through a shell, as cvise and llvm-reduce users write it: './interesting.sh --fast'.
            command = ["/bin/sh", "-c", f'{self.script} "$1"', "sh", str(path)]
            try:
                done = run(command, timeout=self.timeout, cwd=Path(scratch), cancel=cancel)
            except OSError as error:
                raise NpubugError(
                    f"cannot run the test {self.script!r}", why=str(error), code=ExitCode.USAGE
                ) from error
        if done.returncode in (126, 127):
            raise NpubugError(
                f"the test {self.script!r} cannot be run",
                why=done.stderr.decode(errors="replace").strip()[-500:],
                hint="give an executable script by its path, e.g. --test ./interesting.sh (chmod +x)",
                code=ExitCode.USAGE,
            )
        verdict = Verdict.INTERESTING if done.returncode == 0 else Verdict.BORING
        return Judgement(verdict, done.seconds)


@dataclass
class RepeatingOracle:
    """For a failure that comes only sometimes: asks up to `repeats` times before it believes a "no"."""

    inner: Oracle
    repeats: int

    def judge(self, text: str, cancel: threading.Event | None = None) -> Judgement:
        seconds = 0.0
        for _ in range(self.repeats):
            judgement = self.inner.judge(text, cancel)
            seconds += judgement.seconds
            if judgement.verdict in (Verdict.INTERESTING, Verdict.INVALID):
                break
        return Judgement(judgement.verdict, seconds, judgement.signature)


@dataclass
class ReadableOracle:
    """Asks another oracle about the candidate in the dialects' own syntax: a script may grep for it."""

    inner: Oracle
    opt: Path

    def judge(self, text: str, cancel: threading.Event | None = None) -> Judgement:
        readable = to_readable(self.opt, text)
        return Judgement(Verdict.INVALID) if readable is None else self.inner.judge(readable, cancel)


def absolute_script(script: str) -> str:
    """The script with its first word made absolute when it is a file here: candidates are tested elsewhere."""
    first, space, rest = script.partition(" ")
    return (str(Path(first).resolve()) if Path(first).is_file() else first) + space + rest


def default_jobs() -> int:
    """As many compiles at once as this process may use processors."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
