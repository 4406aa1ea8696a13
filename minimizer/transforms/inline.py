"""Replace an operation with regions by the body of one region, run once.

Works wherever the region's arguments line up with the operation's operands and its terminator's operands with
the results: `scf.for` (the induction variable becomes the lower bound, carried values their first ones),
`scf.if` (either branch), `scope.scope`, `scf.while`'s parts excepted. A `linalg` body works on elements, does
not line up, and is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, Region, SSAValue

from minimizer.ir.draft import Draft
from minimizer.ir.program import Program, counts, name_of
from minimizer.transforms.edit import Edit, Transform


@dataclass(frozen=True)
class Inline:
    """Replace the operations at `indices` by the body of their region number `region`."""

    indices: tuple[int, ...]
    region: int

    def apply(self, draft: Draft) -> bool:
        changed = False
        # Innermost first: an outer one then moves what the inner one has become.
        for index in reversed(self.indices):
            op = draft.ops[index]
            if not draft.is_gone(op) and self.region < len(op.regions):
                changed |= _inline(draft, op, op.regions[self.region])
        return changed


def _inline(draft: Draft, op: Operation, region: Region) -> bool:
    values = _arguments(op, region)
    if values is None or op.parent is None:
        return False
    block = region.blocks[0]
    last = block.last_op
    yielded = list(last.operands) if last is not None and not counts(last) else []
    if [v.type for v in yielded] != [r.type for r in op.results]:
        return False
    for argument, value in zip(block.args, values):
        argument.replace_all_uses_with(value)
    # Read again: a yielded block argument has just become the value it stood for.
    yielded = list(last.operands) if last is not None and not counts(last) else []
    for inner in list(block.ops):
        if inner is not last or counts(inner):
            block.detach_op(inner)
            op.parent.insert_op_before(inner, op)
    for result, value in zip(op.results, yielded):
        result.replace_all_uses_with(value)
    draft.erase(op)
    return True


def _arguments(op: Operation, region: Region) -> list[SSAValue] | None:
    """The values the region's arguments stand for the first time it runs; None if they do not line up."""
    if len(region.blocks) != 1:
        return None
    wanted = list(region.blocks[0].arg_types)
    if name_of(op) == "scf.for":
        values = [op.operands[0], *list(op.operands)[3:]]
    elif not wanted:
        values = []
    else:
        values = list(op.operands)
    return values if [v.type for v in values] == wanted else None


def _inlines(program: Program) -> Sequence[Edit]:
    """All at once first, then one by one, outermost first; then branches that are not the first."""
    fit: dict[int, list[int]] = {}
    for index in program.work():
        op = program.ops[index]
        for number, region in enumerate(op.regions):
            if _arguments(op, region) is not None:
                fit.setdefault(number, []).append(index)
    found: list[Edit] = []
    for number, indices in sorted(fit.items()):
        if len(indices) > 1:
            found.append(Inline(tuple(indices), number))
        found.extend(Inline((index,), number) for index in indices)
    return found


INLINE = Transform("inline regions", _inlines, kind="choice")
