"""We ended the tool because its time was up. What it had printed by then does not matter."""

from __future__ import annotations

from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome


def match(log: Log) -> Diagnosis | None:
    if not log.run.timed_out:
        return None
    return Diagnosis(
        Outcome.TIMED_OUT,
        log.stage,
        "timeout",
        message="the tool did not end in its time",
        details=(("seconds", f"{log.run.seconds:.0f}"),),
        lines=tuple(each.line for each in log.errors[:4]),
    )


KIND = Kind("timeout", Tier.ENDED, match)
