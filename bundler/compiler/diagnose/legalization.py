"""A conversion pass left an operation that its target does not allow.

Texts (mlir/lib/Transforms/Utils/DialectConversion.cpp): `failed to legalize operation 'linalg.reduce' that
was explicitly marked illegal`, `failed to legalize unresolved materialization from ...`, `failed to
materialize conversion for result #0 of operation ...`.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._kind import Kind, Tier, failed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_TEXT = re.compile(
    r"failed to legalize (?:operation '([^']*)'|unresolved materialization)|failed to materialize conversion"
)


def match(log: Log) -> Diagnosis | None:
    found = _TEXT.match(log.leading.message) if log.leading is not None else None
    if log.leading is None or found is None:
        return None
    return failed(log, log.leading, "legalization", details=(("op", found[1]),) if found[1] else ())


KIND = Kind("legalization", Tier.MESSAGE, match)
