"""hivm-infer-mem-scope cannot decide in which memory a buffer lives, or meets a user that it does not know.

Texts: `'memref.alloc' op Failed to propagate memory scope ub for allocOp` (newer versions leave the scope
out), `Failed to infer/propagate memory scope for mC`; before it, mostly, the cause: `'arith.select' op
Unsupported user for root alloc op.`, `'hivm.hir.load' op Unsupported op for finding the root alloc.`
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._kind import Kind, Tier, failed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_SCOPE = re.compile(r"(?:'([\w.]+)' op )?Failed to (?:infer/)?propagate memory scope(?: (\w+))? for")
_USER = re.compile(
    r"(?:'([\w.]+)' op )?(?:Unsupported (?:user|op) for (?:root|propagating|finding)|Cannot find root memref)"
)
_BY = "hivm-infer-mem-scope"


def match(log: Log) -> Diagnosis | None:
    if log.leading is None:
        return None
    user = _USER.match(log.leading.message)
    if user is not None:
        details = (("op", user[1]),) if user[1] else ()
        scoped = any(_SCOPE.match(report.message) for report in log.errors)
        return failed(
            log, log.leading, "unsupported-user", emitted_by=_BY if scoped else None, details=details
        )
    scope = _SCOPE.match(log.leading.message)
    if scope is None:
        return None
    named = (("op", scope[1]), ("scope", scope[2]))
    return failed(
        log,
        log.leading,
        "memory-scope",
        emitted_by=_BY,
        details=tuple((name, value) for name, value in named if value),
    )


KIND = Kind("memory-scope", Tier.MESSAGE, match)
