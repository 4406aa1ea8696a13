"""A few examples of each kind of replacement, for the person who decides whether the archive may go out.

The originals are in here, secrets included: this is for the owner's terminal, never for a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from bundler.redact.pseudonyms import PSEUDONYM, is_pseudonym

EXAMPLES = 4  # of each kind, each with another stand-in
_AROUND = 40
_BLOCK = 1 << 14
_FIND = re.compile(rb"(?:" + PSEUDONYM + rb")+")


@dataclass(frozen=True)
class Example:
    """One replacement. `before` and `after` are what stands around it, `member` where it was first seen."""

    kind: str
    stand_in: str
    original: str
    before: str
    after: str
    member: str


class Examples:
    """The examples so far; `member` is the one being redacted."""

    def __init__(self) -> None:
        self.member = ""
        self._found: dict[str, dict[str, Example]] = {}

    def note(self, old: bytes, new: bytes) -> None:
        """Take the examples out of a text and what became of it."""
        for start, end, original in _replaced(old, new):
            stand_in = new[start:end].decode("ascii", "replace").rstrip("_")
            kind, _, number = stand_in.rpartition("-")
            if "-" in kind or not number.isdigit():
                continue  # several side by side
            of_kind = self._found.setdefault(kind, {})
            if stand_in not in of_kind and len(of_kind) < EXAMPLES:
                of_kind[stand_in] = Example(
                    kind,
                    stand_in,
                    _text(original),
                    _text(new[max(0, start - _AROUND) : start].rpartition(b"\n")[2]),
                    _text(new[end : end + _AROUND].partition(b"\n")[0]),
                    self.member,
                )

    def note_binary(self, old: bytes, new: bytes) -> None:
        """Take examples out of the first places in which two texts of the same length differ."""
        places = (slice(start, start + _BLOCK) for start in range(0, len(old), _BLOCK))
        for place in islice((each for each in places if old[each] != new[each]), EXAMPLES):
            self.note(old[place], new[place])

    @property
    def all(self) -> tuple[Example, ...]:
        """By kind, and in the order in which they were found."""
        return tuple(each for _, of_kind in sorted(self._found.items()) for each in of_kind.values())


def _replaced(old: bytes, new: bytes) -> Iterator[tuple[int, int, bytes]]:
    """The stand-ins in `new` with what stood there in `old`, found by what stayed between them."""
    marks = [match.span() for match in _FIND.finditer(new)]
    at = 0  # in old
    for index, (start, end) in enumerate(marks):
        before = new[marks[index - 1][1] if index else 0 : start]
        if not old.startswith(before, at):
            return  # two replacements side by side: which is which cannot be told
        at += len(before)
        following = new[end : marks[index + 1][0] if index + 1 < len(marks) else len(new)]
        last = index + 1 == len(marks)
        next_at = len(old) - len(following) if last else old.find(following, at) if following else -1
        if next_at < at:
            return
        original = old[at:next_at]
        if original and not is_pseudonym(original):
            yield start, end, original
        at = next_at


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
