"""Replace a value by another of the same type that is already there: an operand, or an earlier value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, BlockArgument, SSAValue

from minimizer.ir.draft import Draft
from minimizer.ir.program import Program, counts, has_body, is_function, is_implied
from minimizer.transforms.edit import Edit, Transform

_MOST_EARLIER = 4  # earlier values tried for each result, the first ones: they make the most dead


@dataclass(frozen=True)
class ToOperand:
    """Let result `result` of operation `index` be its operand `operand`."""

    index: int
    result: int
    operand: int

    def apply(self, draft: Draft) -> bool:
        op = draft.ops[self.index]
        if draft.is_gone(op) or op.parent is None:
            return False
        draft.replace(op.results[self.result], op.operands[self.operand])
        return True


@dataclass(frozen=True)
class ToEarlier:
    """Let result `result` of operation `index` be an earlier value: (`owner`, `position`), or for an owner
    below 0 argument `position` of the block of operation `-owner`."""

    index: int
    result: int
    owner: int
    position: int

    def apply(self, draft: Draft) -> bool:
        op = draft.ops[self.index]
        source = draft.ops[abs(self.owner)]
        if draft.is_gone(op) or draft.is_gone(source):
            return False
        if self.owner < 0:
            assert source.parent is not None
            if self.position >= len(source.parent.args):
                return False
            value: SSAValue = source.parent.args[self.position]
        else:
            value = source.results[self.position]
        if value.type != op.results[self.result].type:
            return False  # an earlier edit of the batch shifted the arguments
        draft.replace(op.results[self.result], value)
        return True


def _to_operands(program: Program) -> Sequence[Edit]:
    """For each operation its first operand of a result's type; alternatives come as later edits."""
    found: list[tuple[int, ToOperand]] = []
    for index in program.work():
        op = program.ops[index]
        for r, result in enumerate(op.results):
            if not result.uses or is_implied(op):
                continue
            same = [i for i, operand in enumerate(op.operands) if operand.type == result.type]
            found.extend((rank, ToOperand(index, r, i)) for rank, i in enumerate(same))
    return [edit for _, edit in sorted(found, key=lambda pair: pair[0])]


def _to_earlier(program: Program) -> Sequence[Edit]:
    numbers = {op: index for index, op in enumerate(program.ops)}
    found: list[Edit] = []
    visible: dict[Block, dict[Attribute, list[tuple[int, int]]]] = {}
    for index, op in enumerate(program.ops):
        block = op.parent
        if block is None:
            continue
        mine = visible.get(block)
        if mine is None:
            parent = op.parent_op()
            outer: dict[Attribute, list[tuple[int, int]]] = {}
            # What is visible around a region is visible in it, except across a function.
            if parent is not None and not is_function(parent) and parent.parent is not None:
                outer = visible.get(parent.parent, {})
            own = (
                numbers[parent] if parent is not None else -1
            )  # a region does not see its operation's results
            mine = visible[block] = {t: [ref for ref in refs if ref[0] != own] for t, refs in outer.items()}
            for argument in block.args:
                mine.setdefault(argument.type, []).append((-index, argument.index))
        if counts(op) and not is_implied(op):
            for r, result in enumerate(op.results):
                if result.uses:
                    refs = mine.get(result.type, [])[:_MOST_EARLIER]
                    found.extend(ToEarlier(index, r, *ref) for ref in refs)
        for r, result in enumerate(op.results):
            mine.setdefault(result.type, []).append((numbers[op], r))
    return found


@dataclass(frozen=True)
class MergeArguments:
    """Let function argument `position` of function `index` be its argument `by`, of the same type."""

    index: int
    position: int
    by: int

    def apply(self, draft: Draft) -> bool:
        function = draft.ops[self.index]
        if draft.is_gone(function):
            return False
        arguments: Sequence[BlockArgument] = function.regions[0].blocks[0].args
        if self.position >= len(arguments) or not arguments[self.position].uses:
            return False
        if arguments[self.position].type != arguments[self.by].type:
            return False  # an earlier edit of the batch shifted the arguments
        arguments[self.position].replace_all_uses_with(arguments[self.by])
        return True


def _merges(program: Program) -> Sequence[Edit]:
    found: list[Edit] = []
    for index, op in enumerate(program.ops):
        if not has_body(op):
            continue
        first: dict[Attribute, int] = {}
        for argument in op.regions[0].blocks[0].args:
            if argument.uses:
                by = first.setdefault(argument.type, argument.index)
                if by != argument.index:
                    found.append(MergeArguments(index, argument.index, by))
    return found


TO_OPERAND = Transform("short-cut to operand", _to_operands, whole=False)
TO_EARLIER = Transform("short-cut to earlier value", _to_earlier, whole=False)
MERGE_ARGUMENTS = Transform("merge arguments", _merges)
