"""An operation was rejected: by its own verifier after a pass had made or changed it, or by the pass
itself.

Text (Operation::emitOpError): `'hivm.hir.vadd' op requires ...`. Both are worded alike, so one word covers
both; the pass name tells them apart. The kind is named to come after those that know the text.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._kind import Kind, Tier, failed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_TEXT = re.compile(r"'([\w.$-]+)' op ")


def match(log: Log) -> Diagnosis | None:
    found = _TEXT.match(log.leading.message) if log.leading is not None else None
    if log.leading is None or found is None:
        return None
    return failed(log, log.leading, "verifier", details=(("op", found[1]),))


KIND = Kind("verifier", Tier.MESSAGE, match)
