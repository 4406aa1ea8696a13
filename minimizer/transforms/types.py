"""Make types simpler where nothing but the type has to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.ir import Attribute

from minimizer.ir.draft import Draft
from minimizer.ir.program import Program, has_body, name_of
from minimizer.transforms.edit import Edit, Transform

# These take a buffer of any layout; others derive their result's type from it.
_ANY_LAYOUT = frozenset(
    {
        "bufferization.materialize_in_destination",
        "bufferization.to_tensor",
        "memref.copy",
        "memref.load",
        "memref.store",
    }
)


@dataclass(frozen=True)
class PlainLayout:
    """Let argument `position` of the function at `index` be a contiguous buffer."""

    index: int
    position: int

    def apply(self, draft: Draft) -> bool:
        function = draft.ops[self.index]
        if draft.is_gone(function) or draft.function_of(function) is None:
            return False
        arguments = function.regions[0].blocks[0].args
        if self.position >= len(arguments) or not _has_layout(arguments[self.position].type):
            return False  # an earlier edit of the batch shifted the arguments
        old = arguments[self.position]
        assert isinstance(old.type, MemRefType)
        new = draft.add_argument(function, MemRefType(old.type.element_type, old.type.shape))
        old.replace_all_uses_with(new)
        return draft.remove_argument(function, old.index)


def _layouts(program: Program) -> Sequence[Edit]:
    found: list[Edit] = []
    for index, op in enumerate(program.ops):
        if not has_body(op):
            continue
        for argument in reversed(op.regions[0].blocks[0].args):
            if _has_layout(argument.type) and all(
                name_of(use.operation) in _ANY_LAYOUT for use in argument.uses
            ):
                found.append(PlainLayout(index, argument.index))
    return found


def _has_layout(type: Attribute) -> bool:
    return isinstance(type, MemRefType) and not isinstance(type.layout, NoneAttr)


PLAIN_LAYOUTS = Transform("plain layouts", _layouts)
