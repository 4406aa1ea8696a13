"""The words in which a compile's end is told: outcome, stage, diagnosis.

A diagnosis is a pure function of what a tool printed and how it ended (`bundler.compiler.diagnose.diagnose`);
a signature (`bundler.compiler.signature`) is a pure function of a diagnosis.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Outcome(str, Enum):
    """How a compile call ended."""

    HEALTHY = "healthy"
    BACKEND_MISSING = "backend-missing"  # all passes ran; only the closed hivmc is not here: not a bug
    INVALID_INPUT = "invalid-input"  # rejected before any pass ran
    FAILED = "failed"  # a pass said so, or left IR that the verifier rejects
    CRASHED = "crashed"  # ended by a signal
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    UNUSABLE = (
        "unusable"  # the tool could not do its job here: unknown option, missing library, wrong machine
    )

    @property
    def is_bug(self) -> bool:
        """Whether an ending of this kind is something to report to compiler engineers."""
        return self in (Outcome.FAILED, Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY)


class Stage(str, Enum):
    """Where in the lowering the call stands."""

    FRONT_END = "front-end"  # Python to ttir: triton's own CompilationError
    ADAPTER = "adapter"  # ttir to ttadapter: triton-adapter-opt
    COMPILE = "compile"  # ttadapter (or bcmlir) to npubin: bishengir-compile, its passes
    PASS = "pass"  # bishengir-opt with a pass list or --run-reproducer
    BACKEND = "backend"  # hivmc
    LAUNCHER = "launcher"  # the host compiler building triton's launcher: not an NPU bug
    RUNTIME = "runtime"  # the kernel itself, on the device


@dataclass(frozen=True)
class ToolRun:
    """One finished run of a compiler tool, as text and numbers.

    `returncode` is negative for a signal (-6 is SIGABRT), None if we ended the tool ourselves.
    `output_written` is None where it is not known whether the `-o` file came to be.
    """

    argv: tuple[str, ...]
    returncode: int | None
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    timed_out: bool = False
    memory_exceeded: bool = False  # our own cap ended it
    output_written: bool | None = None
    truncated: bool = False  # output beyond the cap is missing


@dataclass(frozen=True)
class Diagnosis:
    """What a compile call's ending means.

    `kind` is a stable kebab-case word (`ub-overflow`, `legalization`, `assertion`, ...); `message` the
    leading diagnostic as printed, without its location; `pass_name` the pass argument (`hivm-plan-memory`)
    where known.
    `details` are named facts of the kind, e.g. (("buffer", "ub"), ("required_bits", "52428800")).
    `frames` are the innermost stack frames inside the compiler, for a crash. `lines` are the log lines that
    matter, verbatim. `location` is the leading diagnostic's location text, if any.
    `recognised` is False when no kind knew the text and the generic one was used.
    """

    outcome: Outcome
    stage: Stage
    kind: str
    message: str = ""
    pass_name: str | None = None
    details: tuple[tuple[str, str], ...] = ()
    frames: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    location: str | None = None
    recognised: bool = True
    remedies: tuple[str, ...] = field(default=())
