"""A conversion pass left an operation that its target does not allow.

Text (mlir/lib/Transforms/Utils/DialectConversion.cpp): `failed to legalize operation 'linalg.reduce' that
was explicitly marked illegal`, `failed to legalize unresolved materialization from ...`.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._kind import Kind, Tier, failed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_TEXT = re.compile(r"failed to legalize (?:operation '([^']*)'|unresolved materialization)")


def match(log: Log) -> Diagnosis | None:
    for report in log.errors[:1]:
        found = _TEXT.match(report.message)
        if found is not None:
            return failed(log, report, "legalization", details=(("op", found[1]),) if found[1] else ())
    return None


KIND = Kind("legalization", Tier.MESSAGE, match)
