"""Simplify control flow between blocks: branches taken one way, early returns, merged and dropped blocks.

Knows `cf.br` and `cf.cond_br`, the only branches in what the adapter and the compiler read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Block, Operation, Region, SSAValue

from minimizer.ir.draft import Draft, create
from minimizer.ir.program import Program, name_of
from minimizer.transforms.edit import Edit, Transform


@dataclass(frozen=True)
class Take:
    """Let the conditional branch at `index` always go to its successor `way`."""

    index: int
    way: int

    def apply(self, draft: Draft) -> bool:
        op = draft.ops[self.index]
        parts = None if draft.is_gone(op) else _parts(op)
        if parts is None or op.parent is None:
            return False
        region = op.parent.parent
        new = _branch(op.successors[self.way], parts[self.way])
        _replace_terminator(draft, op, new)
        _tidy(draft, region)
        return True


@dataclass(frozen=True)
class Return:
    """Let the block that ends with the branch at `index` return from the function instead."""

    index: int

    def apply(self, draft: Draft) -> bool:
        op = draft.ops[self.index]
        function = None if draft.is_gone(op) else draft.function_of(op)
        if function is None or op.parent is None or op.parent.parent_op() is not function:
            return False
        region = op.parent.parent
        new = create("tt.return" if name_of(function) == "tt.func" else "func.return")
        _replace_terminator(draft, op, new)
        _tidy(draft, region)
        return True


@dataclass(frozen=True)
class DropBlockArgument:
    """Remove argument `position` of the block that starts with operation `index`.

    Its uses get a function argument, or with `source` the value that the source-th branch hands over.
    """

    index: int
    position: int
    source: int | None

    def apply(self, draft: Draft) -> bool:
        first = draft.ops[self.index]
        block = first.parent
        if draft.is_gone(first) or block is None or self.position >= len(block.args):
            return False
        argument = block.args[self.position]
        handed = [
            (use.operation, parts[use.index][self.position])
            for use in block.uses
            if (parts := _parts(use.operation)) is not None
        ]
        if len(handed) != block.uses.get_length() or len({id(op) for op, _ in handed}) != len(handed):
            return False
        by: SSAValue | None
        if self.source is None:
            by = draft.plug(argument, first)
        else:
            by = handed[self.source][1] if self.source < len(handed) else None
        if by is None or by is argument:
            return False
        argument.replace_all_uses_with(by)
        for op, _ in handed:
            _without(draft, op, block, self.position)
        block.erase_arg(argument)
        return True


def _parts(op: Operation) -> list[list[SSAValue]] | None:
    """The operands a branch hands to each successor; None if `op` is no branch we know."""
    operands = list(op.operands)
    if name_of(op) == "cf.br":
        return [operands]
    sizes = op.properties.get("operandSegmentSizes")
    if name_of(op) == "cf.cond_br" and isinstance(sizes, DenseArrayBase):
        count = int(list(sizes.get_values())[1])
        return [operands[1 : 1 + count], operands[1 + count :]]
    return None


def _branch(target: Block, operands: Sequence[SSAValue]) -> Operation:
    new = create("cf.br", operands=operands)
    new.successors = [target]
    return new


def _replace_terminator(draft: Draft, old: Operation, new: Operation) -> None:
    block = old.parent
    assert block is not None
    draft.erase(old)
    block.add_op(new)


def _without(draft: Draft, op: Operation, target: Block, position: int) -> None:
    """Take operand `position` for `target` out of the branch `op`."""
    parts = _parts(op)
    assert parts is not None
    operands: list[SSAValue] = list(op.operands[:1]) if name_of(op) == "cf.cond_br" else []
    sizes = [len(operands)]
    for successor, part in zip(op.successors, parts):
        kept = [v for i, v in enumerate(part) if successor is not target or i != position]
        operands += kept
        sizes.append(len(kept))
    gone = [v for v in op.operands if v not in operands]
    op.operands = operands
    if name_of(op) == "cf.cond_br":
        old = op.properties["operandSegmentSizes"]
        assert isinstance(old, DenseArrayBase)
        op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(old.elt_type, sizes)
    for value in gone:
        draft.orphaned(value)


def _tidy(draft: Draft, region: Region | None) -> None:
    """Drop blocks that nothing reaches, then merge each with its only predecessor if that only goes there."""
    if region is None:
        return
    reached: set[Block] = set()
    todo = [region.blocks[0]]
    while todo:
        block = todo.pop()
        if block not in reached and block.last_op is not None:
            reached.add(block)
            todo.extend(block.last_op.successors)
    dead = [block for block in region.blocks if block not in reached]
    for block in dead:
        for op in list(block.ops):
            draft.forget(op)
    for block in dead:
        region.detach_block(block)
    for block in dead:
        block.drop_all_references()
    for block in list(region.blocks):
        last = block.last_op
        while last is not None and name_of(last) == "cf.br":
            target = last.successors[0]
            if target is block or target.uses.get_length() != 1 or target is region.blocks[0]:
                break
            for argument, value in zip(target.args, last.operands):
                argument.replace_all_uses_with(value)
            draft.erase(last)
            for op in list(target.ops):
                target.detach_op(op)
                block.add_op(op)
            region.detach_block(target)
            last = block.last_op


def _branches(program: Program) -> Sequence[Edit]:
    found: list[Edit] = []
    for index, op in enumerate(program.ops):
        if op.successors and _parts(op) is not None:
            found.append(Return(index))
        if name_of(op) == "cf.cond_br":
            found.extend((Take(index, 0), Take(index, 1)))
    return found


def _block_arguments(program: Program) -> Sequence[Edit]:
    found: list[Edit] = []
    seen: set[Block] = set()
    for index, op in enumerate(program.ops):
        block = op.parent
        if block is None or block in seen:
            continue
        seen.add(block)
        if block.uses:
            for position in reversed(range(len(block.args))):
                for source in (None, *range(block.uses.get_length())):
                    found.append(DropBlockArgument(index, position, source))
    return found


BRANCHES = Transform("branches", _branches, kind="choice")
DROP_BLOCK_ARGUMENTS = Transform("drop block arguments", _block_arguments, kind="choice")
