"""An operation was rejected by its own verifier after a pass had made or changed it.

Text (Operation::emitOpError): `'hivm.hir.vadd' op requires ...`. A pass that calls emitOpError itself
prints the same, so the word covers both; the pass name tells them apart.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._kind import Kind, Tier, failed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_TEXT = re.compile(r"'([\w.$-]+)' op ")


def match(log: Log) -> Diagnosis | None:
    for report in log.errors[:1]:
        found = _TEXT.match(report.message)
        if found is not None:
            return failed(log, report, "verifier", details=(("op", found[1]),))
    return None


KIND = Kind("verifier", Tier.MESSAGE, match)
