"""Does a recorded failure come back here, with this compiler? What a maintainer runs first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from bundler.compiler.examine import examine, require_failure
from bundler.compiler.invoke import CompileCommand
from bundler.compiler.outcome import Diagnosis, Outcome
from bundler.compiler.signature import Signature, matches
from bundler.compiler.toolchain import supported_flags, version_of
from bundler.errors import ExitCode, NpubugError
from bundler.pipeline.subject import Subject


class State(str, Enum):
    """How a replay ended."""

    REPRODUCED = "reproduced"
    DIFFERENT = "different failure"
    FIXED = "fixed"
    CANNOT_RUN = "cannot run"

    @property
    def exit_code(self) -> ExitCode:
        """OK, INCOMPLETE, NOTHING_FAILED and TOOL_MISSING, in the order above (docs/exit-codes.md)."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    State.REPRODUCED: ExitCode.OK,
    State.DIFFERENT: ExitCode.INCOMPLETE,
    State.FIXED: ExitCode.NOTHING_FAILED,
    State.CANNOT_RUN: ExitCode.TOOL_MISSING,
}
_BY_WEIGHT = (State.REPRODUCED, State.DIFFERENT, State.FIXED, State.CANNOT_RUN)


@dataclass(frozen=True)
class Replay:
    """One compiler's answer.

    `why` is a sentence. `seen` and `diagnosis` are of the last compile, None if there was none. `ignored` are the
    recorded flags that this compiler does not know. `runs` compiles were made, `came` of them failed as recorded.
    """

    compiler: Path | None
    version: str | None
    state: State
    why: str
    seen: Signature | None = None
    diagnosis: Diagnosis | None = None
    ignored: tuple[str, ...] = ()
    runs: int = 0
    came: int = 0


def replay(subject: Subject, compiler: Path | None, *, runs: int, timeout: float) -> Replay:
    """Compile the subject until it fails as recorded, `runs` times at most.

    Args:
        compiler: the tool; None to look for the recorded one.
    """
    try:
        recorded = subject.command(compiler)
        known, ignored = _known_flags(recorded)
        command = CompileCommand(recorded.tool, known)
        version = version_of(command.tool)
        made = 0
        while True:
            made += 1
            examined = examine([command], subject.input, timeout=timeout)
            state, why = _judge(examined.diagnosis, examined.signature, subject.expected)
            if state is not State.FIXED or made >= runs:
                break
        if subject.expected is None and examined.diagnosis.outcome is Outcome.INVALID_INPUT:
            require_failure(examined.diagnosis, command.tool.name, subject.input.name)
    except NpubugError as error:
        if error.code is ExitCode.INVALID_INPUT:
            raise  # a file that no compiler reads is no answer about this compiler
        return Replay(
            compiler, None, State.CANNOT_RUN, f"{error.what}: {error.why}" if error.why else error.what
        )
    came = 1 if state is State.REPRODUCED else 0
    if made > 1:
        why += f" ({came} of {made} compiles failed so)"
    return Replay(
        command.tool, version, state, why, examined.signature, examined.diagnosis, ignored, made, came
    )


def worst(replays: Sequence[Replay]) -> State:
    """The state of several compilers together: reproduced by any counts, then a different failure, then fixed."""
    states = {each.state for each in replays}
    return next(state for state in _BY_WEIGHT if state in states)


def _judge(diagnosis: Diagnosis, seen: Signature, expected: Signature | None) -> tuple[State, str]:
    outcome = diagnosis.outcome
    told = diagnosis.message.splitlines()[0][:160] if diagnosis.message else diagnosis.kind
    if outcome.is_bug:
        if expected is None:
            return State.REPRODUCED, f"it fails: {seen.id}: {told}"
        if matches(seen, expected):
            return State.REPRODUCED, f"the same failure: {seen.id}: {told}"
        return State.DIFFERENT, f"{seen.id}: {told} (recorded: {expected.id})"
    if outcome in (Outcome.HEALTHY, Outcome.BACKEND_MISSING):
        return State.FIXED, "all passes ran"
    if outcome is Outcome.INVALID_INPUT:
        return State.CANNOT_RUN, f"this compiler rejects the input before any pass runs: {told}"
    return State.CANNOT_RUN, told


def _known_flags(command: CompileCommand) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The flags that this compiler knows, and the others: versions differ, and an unknown one ends a compile."""
    supported = supported_flags(command.tool)
    if not supported:
        return command.flags, ()
    known = tuple(flag for flag in command.flags if command.supports(flag))
    return known, tuple(flag for flag in command.flags if flag not in known)
