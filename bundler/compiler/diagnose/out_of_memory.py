"""The tool ran out of memory: by our own cap, by the kernel's killer (signal 9), or it said so itself.

Texts: `LLVM ERROR: out of memory` (llvm/lib/Support/ErrorHandling.cpp), `terminate called after throwing an
instance of 'std::bad_alloc'` (libstdc++).
"""

from __future__ import annotations

from bundler.compiler.diagnose._crash import crash_signal
from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome


def match(log: Log) -> Diagnosis | None:
    if log.run.timed_out:
        return None
    said = log.line_with("LLVM ERROR: out of memory") or log.line_with("std::bad_alloc")
    if log.run.memory_exceeded:
        ended_by = "our-cap"
    elif crash_signal(log) == 9:
        ended_by = "killed"  # by the kernel, or by a person: nothing in the text can tell
    elif said and (log.run.returncode or 0) != 0:
        ended_by = "itself"
    else:
        return None
    return Diagnosis(
        Outcome.OUT_OF_MEMORY,
        log.stage,
        "out-of-memory",
        message="the tool ran out of memory",
        details=(("ended_by", ended_by),),
        lines=(said.strip(),) if said else (),
    )


KIND = Kind("out-of-memory", Tier.ENDED, match)
