"""The barrier experiment at compile time: what the flag changes in the IR, and which flags a failure depends on.

Maintainers ask two things. Does `--enable-hivm-inject-barrier-all-sync=true` help? If the kernel is wrong or hangs
on the device, only the device can tell, but whether the flag took effect at all is in the IR after sync
injection. And which flag makes the failure go away? For a compile failure, one compile for each flag answers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bundler.compiler.diagnose import diagnose
from bundler.compiler.handoff import ir_for_backend
from bundler.compiler.invoke import AFTER_ALL_FLAG, BARRIER_FLAG, FAILURE_FLAG, CompileCommand, compile_file
from bundler.compiler.outcome import Outcome
from bundler.compiler.signature import Signature, matches, signature_of
from bundler.compiler.sync_counts import SyncCounts, SyncStep, count, steps
from bundler.errors import ExitCode, NpubugError

# What maintainers ask to try next. A flag that the compiler does not know is noted, not tried.
MATRIX = (
    ("barrier-all on", BARRIER_FLAG),
    ("multi-buffer off", "--enable-auto-multi-buffer=false"),
    ("block-all sync on", "--enable-hivm-inject-block-all-sync=true"),
    ("block sync off", "--disable-auto-inject-block-sync=true"),
    ("graph sync solver on", "--enable-hivm-graph-sync-solver=true"),
    ("graph sync solver off", "--enable-hivm-graph-sync-solver=false"),
    ("unit-flag sync off", "--enable-hivm-unit-flag-sync=false"),
    ("code motion off", "--enable-code-motion=false"),
    ("cv-balance off", "--enable-hivm-auto-cv-balance=false"),
    ("sub-block binding off", "--enable-auto-bind-sub-block=false"),
    ("debug info on", "--enable-debug-info=true"),
    ("debug info off", "--enable-debug-info=false"),
)
# Of a compiler that cannot print after all passes, the pass that has always injected the sync.
_INJECT_SYNC_FLAG = "--bishengir-print-ir-after=hivm-inject-sync"
_GOOD = (Outcome.HEALTHY, Outcome.BACKEND_MISSING)


@dataclass(frozen=True)
class Trial:
    """One compile with a flag added (or none).

    `counts` are of the IR after sync injection, None if the compile does not get that far; `steps` by pass.
    `same_failure` compares with the default compile. `tried` is False if this compiler has no such flag.
    """

    name: str
    flag: str
    tried: bool
    outcome: str = ""
    signature: Signature | None = None
    same_failure: bool = False
    counts: SyncCounts | None = None
    steps: tuple[SyncStep, ...] = ()
    seconds: float = 0.0

    @property
    def passes(self) -> bool:
        """Whether the compile ends well with it."""
        return self.outcome in (Outcome.HEALTHY.value, Outcome.BACKEND_MISSING.value)


@dataclass(frozen=True)
class Experiment:
    """`verdict` is one of the manifest's words for a workaround; `note` says it in a sentence."""

    default: Trial
    barrier: Trial
    matrix: tuple[Trial, ...]
    verdict: str
    note: str

    @property
    def cures(self) -> tuple[Trial, ...]:
        """The trials with which a compile that fails by default ends well."""
        return () if self.default.passes else tuple(trial for trial in self.matrix if trial.passes)


def experiment(command: CompileCommand, input: Path, *, timeout: float, jobs: int = 2) -> Experiment:
    """Compile by default, with barriers everywhere, and with each flag of the matrix.

    Raises:
        NpubugError: the tool cannot be started.
    """
    default = _trial(command, input, "default", "", None, timeout, by_pass=True)
    if default.outcome == Outcome.INVALID_INPUT.value:
        raise NpubugError(
            f"{command.tool.name} rejects {input.name} before any pass runs",
            why=default.signature.message[:300] if default.signature is not None else "",
            hint="give the compiler's input, and the compiler version it was made for",
            code=ExitCode.INVALID_INPUT,
        )
    expected = default.signature
    with ThreadPoolExecutor(jobs) as pool:
        started = [
            pool.submit(_trial, command, input, name, flag, expected, timeout, by_pass=flag == BARRIER_FLAG)
            for name, flag in MATRIX
        ]
        matrix = tuple(each.result() for each in started)
    tried = matrix[0]
    return Experiment(default, tried, matrix, *_verdict(default, tried))


def _verdict(default: Trial, barrier: Trial) -> tuple[str, str]:
    if not barrier.tried:
        return "not-applicable", "this compiler has no such flag"
    if default.passes and barrier.passes:
        return (
            "not-tried",
            f"compiles both ways, and {_effect(default, barrier)}; only a run on the NPU can tell more",
        )
    if default.passes:
        return "made-worse", "the compile fails with it"
    if barrier.passes:
        return "fixed", "the compile passes with it"
    if barrier.same_failure:
        return "no-change", "the compile fails in the same way"
    return "made-worse", "the compile fails in another way"


def _effect(default: Trial, barrier: Trial) -> str:
    before, after = default.counts, barrier.counts
    if before is None or after is None:
        return "this compiler does not show its synchronisation"
    if before == after:
        return f"the flag changes nothing in the IR ({before})"
    return f"the flag took effect: {before} became {after}"


def _trial(
    command: CompileCommand,
    input: Path,
    name: str,
    flag: str,
    expected: Signature | None,
    timeout: float,
    *,
    by_pass: bool = False,
) -> Trial:
    """One compile. With `by_pass` the IR is printed after every pass, which takes five times as long."""
    if flag and not command.supports(flag):
        return Trial(name, flag, tried=False)
    changed = command.with_flags(flag) if flag else command
    wanted = (AFTER_ALL_FLAG, _INJECT_SYNC_FLAG) if by_pass else (FAILURE_FLAG,)
    printing = next((each for each in wanted if command.supports(each)), None)
    run = compile_file(changed.with_flags(printing) if printing else changed, input, timeout=timeout)
    diagnosis = diagnose(run)
    signature = signature_of(diagnosis)
    found = steps([run.stderr.encode()]) if by_pass and not run.truncated else ()
    # The end of the last dump is the end of the compile, unless only one pass was printed.
    counts = found[-1].counts if found and printing == AFTER_ALL_FLAG else None
    if diagnosis.outcome in _GOOD:
        counts = _handed_over(changed, input, timeout) or counts
    return Trial(
        name,
        flag,
        tried=True,
        outcome=diagnosis.outcome.value,
        signature=signature,
        same_failure=expected is not None and diagnosis.outcome.is_bug and matches(signature, expected),
        counts=counts,
        steps=found,
        seconds=round(run.seconds, 3),
    )


def _handed_over(command: CompileCommand, input: Path, timeout: float) -> SyncCounts | None:
    ir = ir_for_backend(command, input, timeout=timeout)
    return count(ir) if ir is not None else None
