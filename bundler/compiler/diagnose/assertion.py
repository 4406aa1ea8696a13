"""An assertion of the compiler does not hold.

Text (assert.h): `PROGRAM: FILE:LINE: FUNCTION: Assertion `EXPRESSION' failed.`, FILE being a path of the
machine the compiler was built on.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._crash import frames
from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome

_PLACE = re.compile(r"(?:[^:]*: )?([^\s:]+):(\d+): ([^`]*): Assertion `")


def match(log: Log) -> Diagnosis | None:
    for _, line in log.lines_with(": Assertion `"):
        if "' failed" not in line:
            continue
        place = _PLACE.match(line)
        details = (
            (("file", place[1].rpartition("/")[2]), ("line", place[2]), ("function", place[3]))
            if place
            else ()
        )
        return Diagnosis(
            Outcome.CRASHED,
            log.stage,
            "assertion",
            message=line.strip(),
            pass_name=log.pass_name,
            details=details,
            frames=frames(log),
            lines=(*(each.line for each in log.errors[:4]), line.strip()),
            location=log.errors[-1].location if log.errors else None,
        )
    return None


KIND = Kind("assertion", Tier.CRASH, match)
