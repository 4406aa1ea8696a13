"""A pass wants every dimension known, and one is not.

Texts: `Failed to obtain op buffer shape size which should be static.` (hivm-plan-memory), as an `LLVM
ERROR: ` or, in the a5 compiler, above `UNREACHABLE executed at .../PlanMemory.cpp:1076!`; and errors that
name a `static shape` or something `statically` known.
"""

from __future__ import annotations

from bundler.compiler.diagnose._crash import fatal_message, frames, unreachable_message
from bundler.compiler.diagnose._kind import Kind, Tier, crashed, failed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_WORDS = ("static shape", "static-shape", "should be static", "statically", "static shaped", "be static")
_REMEDIES = ("Make the size a tl.constexpr, or mask a block of fixed size.",)


def match(log: Log) -> Diagnosis | None:
    fatal = fatal_message(log) or unreachable_message(log)
    if fatal is not None:
        if not _says_static(fatal):
            return None
        by = "hivm-plan-memory" if fatal.startswith("Failed to obtain op buffer shape size") else None
        return crashed(
            log, "static-shape", fatal, frames=frames(log), emitted_by=by, lines=(fatal,), remedies=_REMEDIES
        )
    if log.leading is None or not _says_static(log.leading.message):
        return None
    return failed(log, log.leading, "static-shape", remedies=_REMEDIES)


def _says_static(text: str) -> bool:
    return any(words in text for words in _WORDS)


KIND = Kind("static-shape", Tier.KNOWN_CRASH, match)
