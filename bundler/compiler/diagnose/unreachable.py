"""Code that the compiler's authors thought impossible ran.

Text (llvm_unreachable): `MESSAGE` on a line of its own, then `UNREACHABLE executed at FILE:LINE!`; both the
message and the place may be missing in a build without them.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._crash import frames, unreachable_message
from bundler.compiler.diagnose._kind import Kind, Tier, crashed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis

_PLACE = re.compile(r"UNREACHABLE executed(?: at ([^!]+):(\d+))?!")


def match(log: Log) -> Diagnosis | None:
    above = unreachable_message(log)
    if above is None:
        return None
    line = next(line for _, line in log.lines_with("UNREACHABLE executed") if line.startswith("UNREACHABLE"))
    place = _PLACE.match(line)
    file = place[1].rpartition("/")[2] if place is not None and place[1] else ""
    return crashed(
        log,
        "unreachable",
        f"{above} (UNREACHABLE executed at {file})".strip() if file or above else line.strip(),
        frames=frames(log),
        details=(("file", file), ("line", place[2])) if place is not None and file else (),
        lines=tuple(text for text in (above, line.strip()) if text),
    )


KIND = Kind("unreachable", Tier.CRASH, match)
