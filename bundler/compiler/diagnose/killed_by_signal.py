"""The tool ended by a signal and said nothing more telling than a stack: segfault, bus error, abort."""

from __future__ import annotations

from bundler.compiler.diagnose._crash import crash_signal, frames, signal_name
from bundler.compiler.diagnose._kind import Kind, Tier, crashed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_WORDS = {4: "illegal-instruction", 6: "abort", 7: "bus-error", 8: "arithmetic-fault", 11: "segfault"}


def match(log: Log) -> Diagnosis | None:
    number = crash_signal(log)
    if number is None:
        return None
    name = signal_name(number)
    stack = frames(log)
    details = (("signal", name),)
    return crashed(log, _WORDS.get(number, "signal"), name, frames=stack, details=details, lines=stack)


KIND = Kind("signal", Tier.SIGNAL, match)
