"""Redact lines, each distinct one once: a log of 700 passes repeats itself.

Lines that differ only in their digits, where digits cannot matter, are looked at once too; and a detector
first asks whether its anchor occurs at all in a block of lines (`in`, at memory speed, the block being in the
processor's cache). What is remembered of lines is bounded, and forgotten when a new name makes it wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from bundler.redact.detectors import Detectors
from bundler.redact.pseudonyms import added
from bundler.redact.slicing import pieces_of

_BLOCK = 1 << 18
_ROUNDS = 4
_MEMORY = 16 << 20  # bytes to spend on remembering distinct lines
_EACH = 120  # what a line costs beside its bytes: the object, its place in a set
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
# Where another digit can make another verdict: addresses, hosts, URL escapes, tokens with digits in their prefix.
_DIGITS_MATTER = re.compile(rb"\.0{1,3}\.0{1,3}\.0|://|::|(?::[0-9a-fA-F]{1,4}){3}|ya00|%(?:00)?0|AAAA")


class Lines:
    """The lines seen so far, and what became of them.

    Args:
        detectors: what is looked for.
        note: called with a line before and after, when it is first changed.
    """

    def __init__(self, detectors: Detectors, note: Callable[[bytes, bytes], None]) -> None:
        self._detectors = detectors
        self._note = note
        self._clean: set[bytes] = set()
        self._clean_shapes: set[bytes] = set()
        self._changed: dict[bytes, tuple[bytes, tuple[tuple[str, int], ...]]] = {}
        self._remembered = 0

    def redact(self, data: bytes) -> bytes:
        """Redact whole lines."""
        lines = data.split(b"\n")
        times = Counter(lines)
        new = [line for line in times if line not in self._clean and line not in self._changed]
        learned = self._detectors.learn(b"\n".join(new))
        if learned or self._remembered > _MEMORY:
            self._forget()
            new = list(times)
        if new:
            self._redact_new(self._of_new_shape(new))
        changed = self._changed
        hits = [line for line in times if line in changed]
        if not hits:
            return data
        for line in hits:
            for kind, number in changed[line][1]:
                self._detectors.table.count(kind, number * times[line])
        return b"\n".join([changed[line][0] if line in changed else line for line in lines])

    def _of_new_shape(self, lines: list[bytes]) -> list[bytes]:
        """The lines that must be looked at: not those that differ only in digits from a line without a hit."""
        joined = b"\n".join(lines)
        with_digits = (needle for needle in self._detectors.needles() if needle.translate(_DIGITS) != needle)
        if any(needle in joined for needle in with_digits):
            return lines
        shapes = joined.translate(_DIGITS).split(b"\n")
        first: dict[bytes, bytes] = {}
        for shape, line in zip(shapes, lines):
            if shape not in self._clean_shapes:
                first.setdefault(shape, line)
        self._redact_new(list(first.values()))
        clean = [
            shape for shape, line in first.items() if line in self._clean and not _DIGITS_MATTER.search(shape)
        ]
        self._clean_shapes.update(clean)
        self._remembered += sum(map(len, clean)) + _EACH * len(clean)
        return [
            line
            for shape, line in zip(shapes, lines)
            if shape not in self._clean_shapes and line not in self._clean and line not in self._changed
        ]

    def _redact_new(self, lines: list[bytes]) -> None:
        if not lines:
            return
        joined = b"\n".join(lines)
        self._remembered += len(joined) + _EACH * len(lines)
        for block in pieces_of(joined, _BLOCK):
            after = self._detectors.redact_lines(block)
            if after == block:
                self._clean.update(block.split(b"\n"))
                continue
            pairs = list(zip(block.split(b"\n"), after.split(b"\n")))
            self._clean.update(old for old, new in pairs if old == new)
            hits = [(old, new) for old, new in pairs if old != new]
            for (old, _), settled in zip(hits, self._settled([new for _, new in hits])):
                self._changed[old] = (settled, added(old, settled))
                self._remembered += len(settled) + 2 * _EACH
                self._note(old, settled)

    def _settled(self, lines: list[bytes]) -> list[bytes]:
        """Redact changed lines until nothing changes: a replacement can make its neighbour look private."""
        before = b"\n".join(lines)
        for _ in range(_ROUNDS):
            after = self._detectors.redact_lines(before)
            if after == before:
                break
            before = after
        return before.split(b"\n")

    def _forget(self) -> None:
        self._clean.clear()
        self._clean_shapes.clear()
        self._changed.clear()
        self._remembered = 0
