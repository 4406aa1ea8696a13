"""hivm-inject-sync meets an operation that it cannot order against the others.

Text: `error: InjectSync Fail : Unrecognized type of Operation touches local or global buffer! `; newer
versions then abort with `InjectSync Traverse IR Failed!` (an `LLVM ERROR: `, or above `UNREACHABLE
executed`), which is only the consequence.
"""

from __future__ import annotations

from bundler.compiler.diagnose._crash import crash_signal, frames
from bundler.compiler.diagnose._kind import Kind, Tier, crashed, failed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_BY = "hivm-inject-sync"
_REMEDIES = ("The barrier workaround (npubug barrier) takes another way through this pass.",)


def match(log: Log) -> Diagnosis | None:
    if log.leading is None or not log.leading.message.startswith("InjectSync Fail"):
        return None
    if crash_signal(log) is None:
        return failed(log, log.leading, "inject-sync", emitted_by=_BY, remedies=_REMEDIES)
    stack = frames(log)
    return crashed(log, "inject-sync", log.leading.message, frames=stack, emitted_by=_BY, remedies=_REMEDIES)


KIND = Kind("inject-sync", Tier.KNOWN_CRASH, match)
