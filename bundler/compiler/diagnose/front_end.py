"""Triton's own front end rejects the kernel: the user's Python is wrong, no compiler of the NPU has run.

Text (triton/compiler/errors.py): `triton.compiler.errors.CompilationError: at 7:11:`, the kernel's source
up to that line, a line with a caret, and the reason.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome, Stage

_MARK = "errors.CompilationError: "
_PLACE = re.compile(r"at (\d+):(\d+):")
_CARET = re.compile(r"\s*\^\s*\Z")


def match(log: Log) -> Diagnosis | None:
    if log.is_compiler:
        return None
    for position, line in log.lines_with(_MARK):
        lines = log.text[position : position + 20_000].splitlines()
        caret = next((index for index, each in enumerate(lines) if _CARET.match(each)), None)
        after = lines[caret + 1 :] if caret is not None else lines[1:]
        reason = next((each.strip() for each in after if each.strip()), line.strip())
        place = _PLACE.search(line)
        source = lines[caret - 1].rstrip() if caret else ""
        return Diagnosis(
            Outcome.INVALID_INPUT,
            Stage.FRONT_END,
            "front-end-error",
            message=reason,
            details=(("line_in_kernel", place[1]), ("column", place[2])) if place else (),
            lines=tuple(each for each in (line.strip(), source, reason) if each),
            remedies=("The kernel's Python is what triton rejects here: not a bug of the NPU compiler.",),
        )
    return None


KIND = Kind("front-end", Tier.PROGRAM, match)
