"""Where a kernel's IR talks to other ranks and other cores: an index of those operations.

`distributed.notify`, `distributed.wait`, `distributed.symm_at` and their kin come from the user's kernel; the
synchronisation of `hivm` is what they, and the compiler's own passes, become. A hang is between two of these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPERATION = re.compile(
    rb"\b(?:"
    # An operation of any dialect, in either syntax, and a function that a lowering calls by that name.
    rb"(?:\w+\.)+(?:notify|wait|symm_at|consume_token|get_rank|get_num_ranks)\b"
    rb"|hivm(?:\.hir)?\.(?:set_flag|wait_flag|pipe_barrier|sync_block\w*)"
    rb")|@\w*(?:symm_at|notify|signal_wait|shmem_\w+)\w*"
)
_COMMENT = re.compile(rb"\s*//")
_MOST_LINES = 12


@dataclass(frozen=True)
class Use:
    """One kind of operation: how often it occurs, and in which lines (the first few of them)."""

    name: str
    count: int
    lines: tuple[int, ...]

    def __str__(self) -> str:
        more = ", ..." if self.count > len(self.lines) else ""
        return f"{self.count} {self.name} (lines {', '.join(map(str, self.lines))}{more})"


def index(ir: bytes) -> tuple[Use, ...]:
    """The operations in a text of IR, in the order in which they first occur. Linear in its length."""
    lines: dict[str, list[int]] = {}
    for number, line in enumerate(ir.splitlines(), start=1):
        if (b"." not in line and b"@" not in line) or _COMMENT.match(line):
            continue
        for match in _OPERATION.finditer(line):
            lines.setdefault(match[0].decode(), []).append(number)
    return tuple(Use(name, len(found), tuple(found[:_MOST_LINES])) for name, found in lines.items())
