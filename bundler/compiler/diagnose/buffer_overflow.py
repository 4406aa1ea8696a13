"""An on-chip buffer is too small for what the kernel holds at once.

Text (hivm-plan-memory, all versions; older ones spell it `avaliable!` and stop there): `ub overflow,
requires 4194304 bits while 1572864 bits available! (possible reason: ...)`; the buffer is ub (vector), cbuf
(L1), cc (L0C, accumulators).
"""

from __future__ import annotations

import re
from dataclasses import replace

from bundler.compiler.diagnose._kind import Kind, Tier, failed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_TEXT = re.compile(r"(\w+) overflow, requires (\d+) bits while (\d+) bits ava")
_REMEDIES = (
    "A smaller block (BLOCK_SIZE, BLOCK_M/N/K) needs less of the buffer.",
    "multibuffer=False (--enable-auto-multi-buffer=false) holds one copy of each tile in place of two.",
)


def match(log: Log) -> Diagnosis | None:
    for report in log.errors:
        found = _TEXT.match(report.message)
        if found is not None:
            buffer = found[1].lower()
            details = (("buffer", buffer), ("required_bits", found[2]), ("available_bits", found[3]))
            # Without the advice that newer versions add: it is the same failure with all of them.
            words = f"{found[1]} overflow, requires {found[2]} bits while {found[3]} bits available"
            return failed(
                log,
                replace(report, message=words),
                f"{buffer}-overflow",
                emitted_by="hivm-plan-memory",
                details=details,
                remedies=_REMEDIES,
            )
    return None


KIND = Kind("buffer-overflow", Tier.MESSAGE, match)
