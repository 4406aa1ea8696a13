"""The compiler gave up on purpose: `LLVM ERROR: ...` (llvm::report_fatal_error), then a stack."""

from __future__ import annotations

from bundler.compiler.diagnose._crash import fatal_message, frames
from bundler.compiler.diagnose._kind import Kind, Tier, crashed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

# Words that one pass alone uses.
_EMITTED_BY = (
    ("PlanMemory ", "hivm-plan-memory"),
    ("InjectSync ", "hivm-inject-sync"),
)


def match(log: Log) -> Diagnosis | None:
    message = fatal_message(log)
    if message is None:
        return None
    by = next((name for words, name in _EMITTED_BY if message.startswith(words)), None)
    lines = (f"LLVM ERROR: {message}",)
    return crashed(log, "llvm-error", message, frames=frames(log), emitted_by=by, lines=lines)


KIND = Kind("llvm-error", Tier.CRASH, match)
