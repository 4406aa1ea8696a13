"""hivm-infer-func-core-type cannot decide whether a function runs on the cube or the vector core.

Text: `InferCoreType Fail! Reason: can not calculate the core type constraint for func.func(pick)`, printed
without `error:` and without a location; in brackets stands the user's function.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._kind import Kind, Tier, failed
from bundler.compiler.diagnose._log import Log, Report
from bundler.compiler.outcome import Diagnosis

_MARK = "InferCoreType Fail!"
_FUNCTION = re.compile(r"func\.func\(([^()]*)\)")


def match(log: Log) -> Diagnosis | None:
    line = log.line_with(_MARK).strip()
    if not line.startswith(_MARK) or log.errors:
        return None
    function = _FUNCTION.search(line)
    return failed(
        log,
        Report("", _FUNCTION.sub("func.func", line), line, 0),
        "core-type",
        emitted_by="hivm-infer-func-core-type",
        details=(("function", function[1]),) if function else (),
    )


KIND = Kind("core-type", Tier.MESSAGE, match)
