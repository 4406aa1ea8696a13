"""Keep a window of a block: cut off what comes before and after.

Values that come from before become function arguments; tensors that were only used afterwards are written to new
arguments, so that what computes them stays alive. Halving the window finds the failing region of a long kernel
in a logarithmic number of compiles, whatever the rest of the kernel does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation

from minimizer.ir.draft import Draft
from minimizer.ir.program import Program, counts, is_terminator
from minimizer.transforms.edit import Transform
from minimizer.transforms.erase import erase

_SMALL = 12  # blocks up to this size are cut at every place


@dataclass(frozen=True)
class Keep:
    """In one block, keep only the operations whose indices are in `kept`, of those in `block`."""

    block: tuple[int, ...]
    first: int
    last: int  # inclusive; positions in `block`

    def apply(self, draft: Draft) -> bool:
        ops = [draft.ops[index] for index in self.block]
        kept = ops[self.first : self.last + 1]
        after = ops[self.last + 1 :]
        before = ops[: self.first]
        if any(draft.is_gone(op) for op in ops) or ops[-1].parent is None:
            return False
        home: Block = ops[-1].parent
        fed = [v for op in kept for v in op.results if v.uses]
        for op in reversed(after):
            if not erase(draft, op, "argument"):
                return False
        for op in before:
            if not erase(draft, op, "argument"):
                return False
        anchor = home.last_op
        for value in fed:
            if not value.uses and (anchor is None or not draft.sink(value, anchor)):
                assert isinstance(value.owner, Operation)
                draft.orphaned(value.owner)
        return True


def _windows(program: Program) -> Sequence[Keep]:
    found: list[Keep] = []
    for block in _blocks(program):
        for first, last in _cuts(len(block)):
            found.append(Keep(tuple(block), first, last))
    return found


def _blocks(program: Program) -> list[list[int]]:
    """The operations (not the terminator) of each block of two or more, by index, longest block first."""
    by_block: dict[Block, list[int]] = {}
    for index, op in enumerate(program.ops):
        if op.parent is not None and counts(op) and not is_terminator(op):
            by_block.setdefault(op.parent, []).append(index)
    return sorted((ops for ops in by_block.values() if len(ops) > 1), key=lambda ops: (-len(ops), ops))


def _cuts(n: int) -> Iterator[tuple[int, int]]:
    """Windows (first, last) of a block of n operations, the smallest first among the big steps."""
    seen: set[tuple[int, int]] = set()
    sizes = [n // 2, (3 * n + 3) // 4, (7 * n + 7) // 8] if n > _SMALL else range(1, n)
    for size in sizes:
        step = max(size // 2, 1) if n > _SMALL else 1
        for first in [*range(0, n - size, step), n - size]:
            cut = (first, first + size - 1)
            if 0 < size < n and cut not in seen:
                seen.add(cut)
                yield cut
    step = n // 16
    while step:
        for cut in ((0, n - 1 - step), (step, n - 1)):
            if cut not in seen:
                seen.add(cut)
                yield cut
        step //= 2


WINDOW = Transform("window", _windows, kind="choice")
