"""The compiler gave up on purpose: `LLVM ERROR: ...` (llvm::report_fatal_error), then a stack."""

from __future__ import annotations

from bundler.compiler.diagnose._crash import frames
from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome


def match(log: Log) -> Diagnosis | None:
    for _, line in log.lines_with("LLVM ERROR: "):
        before, _, message = line.partition("LLVM ERROR: ")
        if '"' in before:
            continue  # a string in some IR
        return Diagnosis(
            Outcome.CRASHED,
            log.stage,
            "llvm-error",
            message=message.strip(),
            pass_name=log.pass_name,
            frames=frames(log),
            lines=(*(each.line for each in log.errors[:4]), line.strip()),
            location=log.errors[-1].location if log.errors else None,
        )
    return None


KIND = Kind("llvm-error", Tier.CRASH, match)
