"""Code that the compiler's authors thought impossible ran.

Text (llvm_unreachable): `MESSAGE` on a line of its own, then `UNREACHABLE executed at FILE:LINE!`.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._crash import frames
from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome

_PLACE = re.compile(r"UNREACHABLE executed(?: at (.+):(\d+))?!")


def match(log: Log) -> Diagnosis | None:
    for position, line in log.lines_with("UNREACHABLE executed"):
        place = _PLACE.search(line)
        if place is None:
            continue
        above = log.text[:position].rstrip("\n").rpartition("\n")[2].strip()
        file = place[1].rpartition("/")[2] if place[1] else ""
        return Diagnosis(
            Outcome.CRASHED,
            log.stage,
            "unreachable",
            message=f"{above} (UNREACHABLE executed at {file})" if above else line.strip(),
            pass_name=log.pass_name,
            details=(("file", file), ("line", place[2])) if file else (),
            frames=frames(log),
            lines=tuple(text for text in (above, line.strip()) if text),
        )
    return None


KIND = Kind("unreachable", Tier.CRASH, match)
