"""Compare two texts of IR by structure: an operation that only got another SSA name is the same operation.

A pass that inserts one operation renumbers all that follow, so a diff of lines is mostly noise. Lines are
aligned without their value names; then the names of the aligned lines are followed, and a line whose operands
are no longer the corresponding ones counts as changed after all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum

_VALUE = re.compile(r"%[\w$.-]+")
_RESULTS = re.compile(r"\s*((?:%[\w$.-]+(?::\d+)?(?:, )?)+) = ")
_OPERATION = re.compile(r'\s*(?:%[^=\n]*= )?"?([\w.$^]+)')
_NEW_SCOPE = re.compile(r'\s*"?\w+\.func\b')
_MOST_PAIRS = 3_000_000  # of equal lines to weigh; beyond, repeated lines are not weighed at all
_MOST_LINES = 20_000  # of a differing stretch; beyond, it is one block


class Kind(str, Enum):
    """What happened to a line."""

    SAME = "same"
    CHANGED = "changed"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True)
class Row:
    """A line on the left, on the right, or on both; numbers count from 1."""

    kind: Kind
    left: str | None
    right: str | None
    left_number: int | None
    right_number: int | None


@dataclass(frozen=True)
class Gap:
    """A stretch of lines that are the same and not shown."""

    lines: int


def diff_ir(before: str, after: str) -> list[Row]:
    """Align two texts of IR line by line; without their line ends, in order, nothing left out."""
    left, right = before.splitlines(), after.splitlines()
    a, b = [_key(line) for line in left], [_key(line) for line in right]
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    pairs: list[tuple[int | None, int | None]] = [(i, i) for i in range(start)]
    for i, j in _align(a[start : len(a) - end], b[start : len(b) - end]):
        pairs.append((None if i is None else i + start, None if j is None else j + start))
    pairs += [(len(a) - end + k, len(b) - end + k) for k in range(end)]
    return list(_rows(left, right, a, b, pairs))


def fold(rows: Sequence[Row], context: int = 3) -> list[Row | Gap]:
    """Leave out what is the same, but for some lines around each difference and the functions' first lines."""
    keep = [False] * len(rows)
    for index, row in enumerate(rows):
        if row.kind is not Kind.SAME:
            for near in range(max(index - context, 0), min(index + context + 1, len(rows))):
                keep[near] = True
    folded: list[Row | Gap] = []
    left_out = 0
    for row, kept in zip(rows, keep):
        if not kept:
            left_out += 1
            continue
        if left_out:
            folded.append(Gap(left_out))
            left_out = 0
        folded.append(row)
    if left_out:
        folded.append(Gap(left_out))
    return folded


def differs(rows: Sequence[Row]) -> bool:
    """Whether any line is not the same."""
    return any(row.kind is not Kind.SAME for row in rows)


def _key(line: str) -> str:
    return _VALUE.sub("%", line) if "%" in line else line


def _align(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Pair the lines of two stretches; in what differs, operations of the same name are paired too."""
    for tag, i1, i2, j1, j2 in _opcodes(a, b):
        if tag == "equal":
            yield from zip(range(i1, i2), range(j1, j2))
            continue
        names_a, names_b = [_name(x) for x in a[i1:i2]], [_name(x) for x in b[j1:j2]]
        for inner, k1, k2, m1, m2 in _opcodes(names_a, names_b):
            if inner == "equal":
                yield from zip(range(i1 + k1, i1 + k2), range(j1 + m1, j1 + m2))
            else:
                yield from ((i, None) for i in range(i1 + k1, i1 + k2))
                yield from ((None, j) for j in range(j1 + m1, j1 + m2))


def _opcodes(a: Sequence[str], b: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    if not a or not b or max(len(a), len(b)) > _MOST_LINES:
        return [("replace", 0, len(a), 0, len(b))]
    counts_a, counts_b = Counter(a), Counter(b)
    pairs = sum(count * counts_b[key] for key, count in counts_a.items())
    return list(SequenceMatcher(None, a, b, autojunk=pairs > _MOST_PAIRS).get_opcodes())


def _name(line: str) -> str:
    found = _OPERATION.match(line)
    return found[1] if found else line.strip()


def _rows(
    left: Sequence[str],
    right: Sequence[str],
    a: Sequence[str],
    b: Sequence[str],
    pairs: Sequence[tuple[int | None, int | None]],
) -> Iterator[Row]:
    forth: dict[str, str] = {}
    back: dict[str, str] = {}
    for i, j in pairs:
        if i is None or j is None:
            if i is not None:
                for name in _defined(left[i]):
                    forth.pop(name, None)
                yield Row(Kind.REMOVED, left[i], None, i + 1, None)
            elif j is not None:
                for name in _defined(right[j]):
                    back.pop(name, None)
                yield Row(Kind.ADDED, None, right[j], None, j + 1)
            continue
        if _NEW_SCOPE.match(left[i]):
            forth.clear()
            back.clear()
        results = _defined(left[i])
        same = a[i] == b[j]
        if same:
            names = zip(_VALUE.findall(left[i]), _VALUE.findall(right[j]))
            for position, (x, y) in enumerate(names):
                if position >= len(results) and (forth.get(x, y) != y or back.get(y, x) != x):
                    same = False
                forth[x], back[y] = y, x
        else:
            for x, y in zip(results, _defined(right[j])):
                forth[x], back[y] = y, x
        yield Row(Kind.SAME if same else Kind.CHANGED, left[i], right[j], i + 1, j + 1)


def _defined(line: str) -> list[str]:
    found = _RESULTS.match(line)
    return _VALUE.findall(found[1]) if found else []
