"""Code that the compiler's authors thought impossible ran.

Text (llvm_unreachable): `MESSAGE` on a line of its own, then `UNREACHABLE executed at FILE:LINE!`; both the
message and the place may be missing in a build without them.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._crash import frames
from bundler.compiler.diagnose._kind import Kind, Tier, crashed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_PLACE = re.compile(r"UNREACHABLE executed(?: at ([^!]+):(\d+))?!")


def match(log: Log) -> Diagnosis | None:
    for position, line in log.lines_with("UNREACHABLE executed"):
        place = _PLACE.match(line)
        if place is None:
            continue
        above = log.text[max(0, position - 500) : position].rstrip("\n").rpartition("\n")[2].strip()
        if ": " in above and "error" in above:
            above = ""  # a diagnostic, not the words of this
        file = place[1].rpartition("/")[2] if place[1] else ""
        return crashed(
            log,
            "unreachable",
            f"{above} (UNREACHABLE executed at {file})".strip() if file or above else line.strip(),
            frames=frames(log),
            details=(("file", file), ("line", place[2])) if file else (),
            lines=tuple(text for text in (above, line.strip()) if text),
        )
    return None


KIND = Kind("unreachable", Tier.CRASH, match)
