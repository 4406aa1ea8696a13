"""The tool ended by a signal and said nothing more telling than a stack: segfault, bus error, abort."""

from __future__ import annotations

from bundler.compiler.diagnose._crash import crash_signal, frames, signal_name
from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome


def match(log: Log) -> Diagnosis | None:
    number = crash_signal(log)
    if number is None:
        return None
    stack = frames(log)
    return Diagnosis(
        Outcome.CRASHED,
        log.stage,
        {11: "segfault", 7: "bus-error", 6: "abort", 8: "arithmetic-fault", 4: "illegal-instruction"}.get(
            number, "signal"
        ),
        message=signal_name(number),
        pass_name=log.pass_name,
        details=(("signal", signal_name(number)),),
        frames=stack,
        lines=(*(each.line for each in log.errors[:4]), *stack),
        location=log.errors[-1].location if log.errors else None,
    )


KIND = Kind("signal", Tier.SIGNAL, match)
