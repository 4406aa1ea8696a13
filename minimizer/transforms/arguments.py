"""Remove function arguments that nothing uses, and results that a function need not return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from minimizer.ir.draft import Draft, grid_arguments
from minimizer.ir.program import Program
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
    called = _called(program)
    for index, op in enumerate(program.ops):
        name = op.properties.get("sym_name")
        if not isinstance(op.properties.get("function_type"), FunctionType) or not _has_body(op):
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


def _called(program: Program) -> frozenset[str]:
    return frozenset(
        attribute.root_reference.data
        for op in program.ops
        for attribute in op.properties.values()
        if isinstance(attribute, SymbolRefAttr)
    )


def _has_body(op: Operation) -> bool:
    return bool(op.regions and op.regions[0].blocks)


DROP_ARGUMENTS = Transform("drop arguments", _arguments)
