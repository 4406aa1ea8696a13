"""Compile the failing input again to get what the first run did not print: logs by pass, and the barrier verdict.

Evidence is re-derived rather than scraped, so full logs exist even if the user set no variable; a failure that
does not come back is evidence too.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bundler.compiler.diagnose import diagnose
from bundler.compiler.invoke import AFTER_ALL_FLAG, BARRIER_FLAG, FAILURE_FLAG, CompileCommand, compile_file
from bundler.compiler.outcome import Diagnosis, Outcome, ToolRun
from bundler.compiler.signature import Signature, matches, signature_of
from bundler.manifest import EvidenceRun, Workaround

# What each recompile adds, and the member its log becomes.
AFTER_FAILURE = ("after-failure", (FAILURE_FLAG,))
AFTER_ALL = ("after-all", (AFTER_ALL_FLAG,))


@dataclass(frozen=True)
class Recompile:
    """One recompile: its entry in the manifest, its log, and what it told."""

    entry: EvidenceRun
    log: str
    diagnosis: Diagnosis
    signature: Signature


def recompile(
    command: CompileCommand,
    input: Path,
    name: str,
    flags: Sequence[str],
    *,
    expected: Signature | None,
    timeout: float,
) -> Recompile:
    """Compile `input` once more with `flags` added, those that this binary knows.

    Args:
        expected: the recorded failure; None if none is known yet, and then any failure counts as reproduced.

    Raises:
        NpubugError: the tool cannot be started.
    """
    known = tuple(flag for flag in flags if command.supports(flag))
    run = compile_file(command.with_flags(*known), input, timeout=timeout)
    diagnosis = diagnose(run)
    signature = signature_of(diagnosis)
    reproduced = diagnosis.outcome.is_bug if expected is None else matches(signature, expected)
    notes = [f"this compiler has no {flag}" for flag in flags if flag not in known]
    if run.truncated:
        notes.append("the log was cut at its size limit")
    entry = EvidenceRun(
        name=name,
        flags=known,
        outcome=diagnosis.outcome.value,
        reproduced=reproduced,
        seconds=round(run.seconds, 3),
        log=f"logs/{name}.log",
        note="; ".join(notes),
    )
    return Recompile(entry, _log(run), diagnosis, signature)


def try_barrier(
    command: CompileCommand, input: Path, expected: Signature, *, timeout: float
) -> tuple[Workaround, Recompile | None]:
    """The barrier experiment for a failing compile: does it end otherwise with barriers everywhere?

    A compile failure is rarely a matter of synchronisation, but maintainers ask, and one compile answers.

    Returns:
        The verdict, without the counts of runs by default flags, and the recompile if one was made.
    """
    if not command.supports(BARRIER_FLAG):
        note = f"{command.tool.name} has no such flag: the failure comes before synchronisation is injected"
        return Workaround(BARRIER_FLAG, "not-applicable", note=note), None
    tried = recompile(
        command, input, "barrier", (BARRIER_FLAG, FAILURE_FLAG), expected=expected, timeout=timeout
    )
    outcome = tried.diagnosis.outcome
    if tried.entry.reproduced:
        verdict, note = "no-change", "the compile fails in the same way"
    elif outcome in (Outcome.HEALTHY, Outcome.BACKEND_MISSING):
        verdict, note = "fixed", "the compile passes with it"
    else:
        verdict, note = "made-worse", f"the compile ends differently: {tried.signature.id}"
    workaround = Workaround(
        flag=BARRIER_FLAG,
        verdict=verdict,
        runs_with_flag=1,
        failures_with_flag=0 if verdict == "fixed" else 1,
        note=note,
    )
    return workaround, tried


def _log(run: ToolRun) -> str:
    ending = "timed out" if run.timed_out else f"exit code {run.returncode}"
    parts = [f"$ {shlex.join(run.argv)}", f"# {ending}, {run.seconds:.2f} s"]
    if run.stdout:
        parts += ["# --- stdout ---", run.stdout.rstrip("\n")]
    parts += ["# --- stderr ---", run.stderr.rstrip("\n")]
    return "\n".join(parts) + "\n"
