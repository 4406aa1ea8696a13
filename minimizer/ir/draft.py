"""A draft: a private copy of a program under edit.

The insight that keeps candidates well-formed: *any* set of operations may go, because every hole that a removed
result leaves is plugged by a value of the same type. The best plug is a new function argument: it costs no
operation, dominates everything in the function, and is never undefined. Where an argument is not possible (a
function with callers in the module), a constant or an uninitialised tensor stands in.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnregisteredOp,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from minimizer.ir.program import Program, is_function, is_terminator, name_of

GRID_ARGUMENTS = 6  # triton-ascend appends the grid's three sizes and three ids, all i32


class Draft:
    """Edits happen here; `finish` turns the result into a `Program` again."""

    def __init__(self, program: Program) -> None:
        self.module: ModuleOp = program.module.clone()
        self.ops: list[Operation] = list(self.module.walk())
        self._gone: set[Operation] = set()
        self._orphans: list[Operation] = []
        self._resigned: dict[Operation, None] = {}  # functions whose arguments changed, in order
        self.keep_alive = False  # sink orphaned tensors instead of sweeping what computes them
        self._called = referenced_symbols(self.module)

    def finish(self) -> Program:
        """The edited program, after sweeping away what the edit left without a use."""
        self.sweep()
        if self._called:
            self._drop_uncalled()
        for function in self._resigned:
            if not self.is_gone(function):
                old = function.properties["function_type"]
                assert isinstance(old, FunctionType)
                inputs = list(function.regions[0].blocks[0].arg_types)
                function.properties["function_type"] = FunctionType.from_lists(inputs, old.outputs.data)
        return Program(self.module)

    # --- removing -----------------------------------------------------------------------------------------

    def is_gone(self, op: Operation) -> bool:
        """Whether an earlier edit of this draft has removed `op`, or something around it."""
        return op in self._gone

    def erase(self, op: Operation) -> None:
        """Remove `op` with its regions; results must have no uses any more."""
        self.forget(op)
        if op.parent is not None:
            op.parent.detach_op(op)
        op.erase(safe_erase=False)

    def orphaned(self, value: SSAValue) -> None:
        """Mark what computes `value` for the sweep: an edit took one of its uses away."""
        if isinstance(value.owner, Operation):
            self._orphans.append(value.owner)

    def forget(self, op: Operation) -> None:
        """Note that `op` goes with its block: edits on it do nothing, and what fed it may be swept."""
        for inner in op.walk():
            self._gone.add(inner)
            for operand in inner.operands:
                self.orphaned(operand)

    def sweep(self) -> None:
        """Remove what became unused through this draft's edits, and what that leaves unused in turn.

        Operations that had no use before the edit stay: whether those matter is a question of its own.
        """
        while self._orphans:
            op = self._orphans.pop()
            if (
                self.is_gone(op)
                or op.parent is None
                or not op.results
                or is_function(op)
                or is_terminator(op)
            ):
                continue
            if any(result.uses for result in op.results):
                continue
            if not (self.keep_alive and op.operands and self._sink_results(op)):
                self.erase(op)

    def replace(self, value: SSAValue, by: SSAValue) -> None:
        """Let every use of `value` use `by`."""
        value.replace_all_uses_with(by)
        self.orphaned(value)

    def _drop_uncalled(self) -> None:
        """Remove the functions whose last call went with this draft's edits."""
        left = referenced_symbols(self.module)
        for op in self.ops:
            name = op.properties.get("sym_name")
            if isinstance(name, StringAttr) and name.data in self._called - left and not self.is_gone(op):
                self.erase(op)

    # --- plugging -----------------------------------------------------------------------------------------

    def plug(self, value: SSAValue, near: Operation, style: str = "argument") -> SSAValue | None:
        """A stand-in for `value` that dominates `near`.

        Args:
            style: `argument` (a new function argument) or `constant` (zeros, or an uninitialised tensor).

        Returns:
            None where that style is not possible for this type or place.
        """
        if style == "argument":
            function = self.function_of(near)
            return None if function is None else self.add_argument(function, value.type)
        return self._constant(value.type, near)

    def function_of(self, op: Operation) -> Operation | None:
        """The function around `op`, if arguments can be added to it: it has a body and no caller."""
        here: Operation | None = op
        while here is not None and "function_type" not in here.properties:
            here = here.parent_op()
        if here is None or not here.regions or not here.regions[0].blocks:
            return None
        name = here.properties.get("sym_name")
        if isinstance(name, StringAttr) and name.data in self._called:
            return None
        return here if isinstance(here.properties["function_type"], FunctionType) else None

    def add_argument(self, function: Operation, type: Attribute) -> BlockArgument:
        """Add an argument of `type` to `function`, before the grid's trailing ones if it has them."""
        block = function.regions[0].blocks[0]
        index = len(block.args) - grid_arguments(block)
        argument = block.insert_arg(type, index)
        self._resign(function, insert=index)
        return argument

    def remove_argument(self, function: Operation, index: int) -> bool:
        """Remove the unused argument at `index`; False if it is used, or not there."""
        block = function.regions[0].blocks[0]
        if index >= len(block.args) or block.args[index].uses:
            return False
        block.erase_arg(block.args[index])
        self._resign(function, remove=index)
        return True

    def _resign(self, function: Operation, insert: int | None = None, remove: int | None = None) -> None:
        self._resigned[function] = None
        attributes = function.properties.get("arg_attrs")
        if isinstance(attributes, ArrayAttr):
            each = list(attributes.data)
            if insert is not None:
                each.insert(insert, DictionaryAttr({}))
            if remove is not None:
                del each[remove]
            function.properties["arg_attrs"] = ArrayAttr(each)

    def _constant(self, type: Attribute, near: Operation) -> SSAValue | None:
        value = _zero(type)
        if value is not None:
            new = create("arith.constant", result_types=[type], properties={"value": value})
        elif isinstance(type, TensorType) and all(size >= 0 for size in type.get_shape()):
            new = create("tensor.empty", result_types=[type])
        elif isinstance(type, MemRefType) and all(size >= 0 for size in type.get_shape()):
            segments = DenseArrayBase.from_list(i32, [0, 0])
            new = create("memref.alloc", result_types=[type], properties={"operandSegmentSizes": segments})
        else:
            return None
        block = near.parent
        assert block is not None
        block.insert_op_before(new, near)
        return new.results[0]

    # --- sinking ------------------------------------------------------------------------------------------

    def _sink_results(self, op: Operation) -> bool:
        """Write the tensors that `op` computes to new arguments; False if it computes none."""
        end = op.parent.last_op if op.parent is not None else None
        if end is None or not is_terminator(end):
            return False
        sunk = [self._sink(result, end) for result in op.results]
        return any(sunk)

    def _sink(self, value: SSAValue, before: Operation) -> bool:
        """Keep the tensor `value` alive by writing it to a new argument; False where that is not possible."""
        function = self.function_of(before)
        type = value.type
        if function is None or not isinstance(type, TensorType) or before.parent is None:
            return False
        if name_of(function) == "tt.func":
            new = self._triton_store(function, value, type)
        else:
            target = self.add_argument(function, MemRefType(type.element_type, type.shape))
            new = create(
                "bufferization.materialize_in_destination",
                operands=[value, target],
                properties={"writable": UnitAttr()},
            )
        if new is None:
            return False
        before.parent.insert_op_before(new, before)
        return True

    def _triton_store(
        self, function: Operation, value: SSAValue, type: TensorType[Attribute]
    ) -> Operation | None:
        # Modelled on a store the program has: its properties and its pointer type are version-dependent.
        for op in self.ops:
            if name_of(op) == "tt.store" and not self.is_gone(op) and op.operands[1].type == type:
                target = self.add_argument(function, op.operands[0].type)
                return create("tt.store", operands=[target, value], properties=op.properties)
        return None


def grid_arguments(block: Block) -> int:
    """How many trailing arguments of a function's entry block are the grid's: six, or none."""
    last = list(block.arg_types)[-GRID_ARGUMENTS:]
    return GRID_ARGUMENTS if len(last) == GRID_ARGUMENTS and all(type == i32 for type in last) else 0


def create(
    name: str,
    *,
    operands: Iterable[SSAValue] = (),
    result_types: Iterable[Attribute] = (),
    properties: dict[str, Attribute] | None = None,
) -> Operation:
    """A new operation in the generic form."""
    kind: type[Operation] = UnregisteredOp.with_name(name)
    made: Operation = kind.create(
        operands=list(operands), result_types=list(result_types), properties=dict(properties or {})
    )
    return made


def _zero(type: Attribute) -> Attribute | None:
    if isinstance(type, (IntegerType, IndexType)):
        return IntegerAttr(0, type)
    if isinstance(type, AnyFloat):
        return FloatAttr(0.0, type)
    if isinstance(type, TensorType) and all(size >= 0 for size in type.get_shape()):
        element = type.element_type
        if isinstance(element, (IntegerType, IndexType)):
            return DenseIntOrFPElementsAttr.from_list(type, [0])
        if isinstance(element, AnyFloat):
            return DenseIntOrFPElementsAttr.from_list(type, [0.0])
    return None


def referenced_symbols(module: ModuleOp) -> frozenset[str]:
    """The names of the symbols that some operation refers to."""
    names: set[str] = set()
    for op in module.walk():
        for attribute in (*op.properties.values(), *op.attributes.values()):
            if isinstance(attribute, SymbolRefAttr):
                names.add(attribute.root_reference.data)
    return frozenset(names)
