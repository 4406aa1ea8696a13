"""Drop attributes, and properties that an operation can do without; shorten symbol names; simplify constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DictionaryAttr, StringAttr
from xdsl.ir import Operation

from minimizer.ir.draft import Draft, grid_arguments
from minimizer.ir.program import Program, is_function, name_of
from minimizer.transforms.edit import Edit, Transform

# Properties with a default, by operation or everywhere; all others are taken to be required.
_OPTIONAL = frozenset(
    {"overflowFlags", "fastmath", "arg_attrs", "res_attrs", "restrict", "cast", "input_precison", "alignment"}
)
_OPTIONAL_OF = {("builtin.module", "sym_name"), ("tt.load", "isVolatile")}


@dataclass(frozen=True)
class DropAttribute:
    """Remove attribute (or optional property) `key` of the operation at `index`."""

    index: int
    key: str

    def apply(self, draft: Draft) -> bool:
        op = draft.ops[self.index]
        if draft.is_gone(op):
            return False
        return op.attributes.pop(self.key, None) is not None or op.properties.pop(self.key, None) is not None


@dataclass(frozen=True)
class DropArgumentAttribute:
    """Remove attribute `key` of argument `position` of the function at `index`."""

    index: int
    position: int
    key: str

    def apply(self, draft: Draft) -> bool:
        op = draft.ops[self.index]
        all_of_them = op.properties.get("arg_attrs")
        if draft.is_gone(op) or not isinstance(all_of_them, ArrayAttr):
            return False
        each = list(all_of_them.data)
        mine = each[self.position]
        if not isinstance(mine, DictionaryAttr) or self.key not in mine.data:
            return False
        each[self.position] = DictionaryAttr({k: v for k, v in mine.data.items() if k != self.key})
        op.properties["arg_attrs"] = ArrayAttr(each)
        return True


@dataclass(frozen=True)
class RenameSymbol:
    """Give the function at `index` the short name `name`; nothing refers to it."""

    index: int
    name: str

    def apply(self, draft: Draft) -> bool:
        op = draft.ops[self.index]
        if draft.is_gone(op):
            return False
        op.properties["sym_name"] = StringAttr(self.name)
        return True


def _attributes(program: Program) -> Sequence[Edit]:
    found: list[Edit] = []
    for index, op in enumerate(program.ops):
        found.extend(DropAttribute(index, key) for key in op.attributes if key != "op_name__")
        found.extend(
            DropAttribute(index, key)
            for key in op.properties
            if key in _OPTIONAL or (name_of(op), key) in _OPTIONAL_OF
        )
        arguments = op.properties.get("arg_attrs")
        if isinstance(arguments, ArrayAttr):
            for position, each in enumerate(arguments.data):
                if isinstance(each, DictionaryAttr):
                    found.extend(DropArgumentAttribute(index, position, key) for key in each.data)
    return found


def _names(program: Program) -> Sequence[Edit]:
    text = program.text
    found: list[Edit] = []
    for index, op in enumerate(program.ops):
        name = op.properties.get("sym_name")
        if isinstance(name, StringAttr) and len(name.data) > 2 and f"@{name.data}" not in text:
            found.append(RenameSymbol(index, f"f{len(found) or ''}"))
    return found


@dataclass(frozen=True)
class StripFunctions:
    """Drop all that functions carry beside their body: attributes, unused arguments, long names.

    With `kernel`, what makes triton-ascend's kernels kernels stays: the grid arguments and `global_kernel`.
    """

    kernel: bool

    def apply(self, draft: Draft) -> bool:
        changed = False
        for index, op in enumerate(draft.ops):
            if draft.is_gone(op) or not is_function(op):
                continue
            for key in [
                k for k in op.attributes if k != "op_name__" and not (self.kernel and k == "global_kernel")
            ]:
                changed |= DropAttribute(index, key).apply(draft)
            for key in ("arg_attrs", "res_attrs"):
                changed |= DropAttribute(index, key).apply(draft)
            if draft.function_of(op) is not None:
                changed |= self._arguments(draft, op)
        return changed

    def _arguments(self, draft: Draft, function: Operation) -> bool:
        count = len(function.regions[0].blocks[0].args)
        if self.kernel:
            count -= grid_arguments(function.regions[0].blocks[0])
        removed = [draft.remove_argument(function, position) for position in reversed(range(count))]
        return any(removed)


def _strip(program: Program) -> Sequence[Edit]:
    return [StripFunctions(kernel=True)]


def _plain(program: Program) -> Sequence[Edit]:
    return [StripFunctions(kernel=False)]


@dataclass(frozen=True)
class SplatConstant:
    """Let every element of the dense constant at `index` be its first."""

    index: int

    def apply(self, draft: Draft) -> bool:
        op = draft.ops[self.index]
        value = op.properties.get("value")
        if draft.is_gone(op) or not isinstance(value, DenseIntOrFPElementsAttr):
            return False
        op.properties["value"] = DenseIntOrFPElementsAttr.from_list(value.type, [value.get_values()[0]])
        return True


def _splats(program: Program) -> Sequence[Edit]:
    found: list[Edit] = []
    for index, op in enumerate(program.ops):
        value = op.properties.get("value")
        if isinstance(value, DenseIntOrFPElementsAttr) and not value.is_splat():
            found.append(SplatConstant(index))
    return found


STRIP_FUNCTIONS = Transform("strip functions", _strip, kind="choice")
# Late: a plain function cannot always take what a kernel can, so it may end up with more operations.
PLAIN_FUNCTIONS = Transform("plain functions", _plain)
DROP_ATTRIBUTES = Transform("drop attributes", _attributes)
SHORTEN_NAMES = Transform("shorten names", _names)
SPLAT_CONSTANTS = Transform("splat constants", _splats)
