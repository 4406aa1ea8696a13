"""Remove function arguments that nothing uses, and results that a function need not return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.ir import BlockArgument, Operation

from minimizer.ir.draft import Draft, grid_arguments, referenced_symbols
from minimizer.ir.program import Program, has_body
from minimizer.transforms.edit import Transform


@dataclass(frozen=True)
class DropArgument:
    """Remove argument `position` (numbered in the program) of the function at `index`."""

    index: int
    position: int

    def apply(self, draft: Draft) -> bool:
        function = draft.ops[self.index]
        if draft.is_gone(function):
            return False
        # Edits of one batch run from the last argument to the first (see `_arguments`), so positions hold.
        return draft.remove_argument(function, self.position)


def _arguments(program: Program) -> Sequence[DropArgument]:
    found = []
    called = referenced_symbols(program.module)
    for index, op in enumerate(program.ops):
        name = op.properties.get("sym_name")
        if not _is_function(op):
            continue
        if isinstance(name, StringAttr) and name.data in called:
            continue
        block = op.regions[0].blocks[0]
        # A kernel needs its grid arguments, all or none; `StripFunctions` asks for none.
        grid = grid_arguments(block) if "global_kernel" in op.attributes else 0
        for argument in reversed(block.args[: len(block.args) - grid]):
            if not argument.uses:
                found.append(DropArgument(index, argument.index))
    return found


@dataclass(frozen=True)
class OrderArguments:
    """Sort the arguments of the function at `index` by where they are first used; the grid's stay last."""

    index: int

    def apply(self, draft: Draft) -> bool:
        function = draft.ops[self.index]
        if draft.is_gone(function) or draft.function_of(function) is None:
            return False
        block = function.regions[0].blocks[0]
        if "arg_attrs" in function.properties:
            return False  # attributes name arguments by position; such a function is left as it is
        count = len(block.args) - grid_arguments(block)
        first_use: dict[int, int] = {}
        for number, operand in enumerate(v for op in function.walk() for v in op.operands):
            if isinstance(operand, BlockArgument) and operand.block is block:
                first_use.setdefault(operand.index, number)
        wanted = sorted(range(count), key=lambda index: (first_use.get(index, len(first_use) << 32), index))
        if wanted == list(range(count)):
            return False
        old = list(block.args)
        for index in wanted:
            new = draft.add_argument(function, old[index].type)
            old[index].replace_all_uses_with(new)
        for argument in old[:count]:
            draft.remove_argument(function, argument.index)
        return True


def order_arguments(program: Program) -> list[OrderArguments]:
    """Edits that make equal programs look equal, whichever way the search came to them."""
    return [OrderArguments(index) for index, op in enumerate(program.ops) if _is_function(op)]


def _is_function(op: Operation) -> bool:
    return has_body(op) and isinstance(op.properties["function_type"], FunctionType)


DROP_ARGUMENTS = Transform("drop arguments", _arguments)
