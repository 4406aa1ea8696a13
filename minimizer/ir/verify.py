"""Check a program before it costs a compile: definitions dominate uses, and types agree where they must.

The checks are the ones an edit of ours could break, plus a table of operations whose operand and result types
are tied together. What passes here and is rejected by the compiler counts as an invalid candidate, and the
search reports how many there were.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo

from minimizer.ir.program import Program, is_function, is_terminator, name_of

# All operands and results have one type.
_UNIFORM = frozenset(
    f"{dialect}.{name}"
    for dialect, names in {
        "arith": "addf subf mulf divf remf maximumf minimumf maxnumf minnumf addi subi muli divsi divui remsi "
        "remui andi ori xori shli shrsi shrui maxsi minsi maxui minui negf floordivsi ceildivsi ceildivui",
        "math": "exp exp2 log log2 log1p sqrt rsqrt sin cos tan tanh erf absf absi floor ceil powf fma expm1 "
        "round roundeven trunc",
    }.items()
    for name in names.split()
)
# All operands have one type.
_UNIFORM_OPERANDS = frozenset({"arith.cmpf", "arith.cmpi"})
# A region's terminator hands values of exactly the operation's result types to it.
_YIELDS_RESULTS = frozenset({"scf.for", "scf.if", "scope.scope"})


def problems(program: Program) -> Iterator[str]:
    """Yield what is wrong with the program, in words; nothing if it is well-formed."""
    dominance = _Dominance(program)
    symbols = {
        name.data for op in program.ops if isinstance(name := op.properties.get("sym_name"), StringAttr)
    }
    for op in program.ops:
        for operand in op.operands:
            if not dominance.visible(operand, op):
                yield f"{name_of(op)}: an operand is not defined where it is used"
        yield from _types(op)
        for attribute in op.properties.values():
            if isinstance(attribute, SymbolRefAttr) and attribute.root_reference.data not in symbols:
                yield f"{name_of(op)}: no symbol {attribute.root_reference.data}"
        for region in op.regions:
            yield from _ends(op, region)


def is_valid(program: Program) -> bool:
    """Whether the program passes every check."""
    return next(problems(program), None) is None


class _Dominance:
    """Which values are defined where, over nested regions and control flow between blocks."""

    def __init__(self, program: Program) -> None:
        self._position = {op: index for index, op in enumerate(program.ops)}
        self._trees: dict[Region, DominanceInfo] = {}

    def visible(self, value: SSAValue, user: Operation) -> bool:
        home = value.owner if isinstance(value.owner, Block) else value.owner.parent
        region = home.parent if home is not None else None
        here: Operation | None = user
        # Climb to the operation around the use that stands in the region of the definition.
        while here is not None and (here.parent is None or here.parent.parent is not region):
            here = here.parent_op()
        if home is None or region is None or here is None or here.parent is None:
            return False
        if here.parent is not home:
            if region not in self._trees:
                self._trees[region] = DominanceInfo(region)
            return self._trees[region].strictly_dominates(home, here.parent)
        if isinstance(value.owner, Block):
            return True
        return self._position.get(value.owner, len(self._position)) < self._position[here]


def _types(op: Operation) -> Iterator[str]:
    name = name_of(op)
    if name in _UNIFORM and len({*(v.type for v in op.operands), *(v.type for v in op.results)}) > 1:
        yield f"{name}: types differ"
    if name in _UNIFORM_OPERANDS and len({v.type for v in op.operands}) > 1:
        yield f"{name}: operand types differ"
    if name in _YIELDS_RESULTS:
        wanted = list(op.result_types)
        for region in op.regions:
            if region.blocks and region.blocks[-1].last_op is not None:
                given = [v.type for v in region.blocks[-1].last_op.operands]
                if given != wanted:
                    yield f"{name}: its region yields other types than it returns"
    signature = op.properties.get("function_type")
    if isinstance(signature, FunctionType) and op.regions and op.regions[0].blocks:
        if list(signature.inputs.data) != list(op.regions[0].blocks[0].arg_types):
            yield f"{name}: the body's arguments differ from the signature"
        for block in op.regions[0].blocks:
            last = block.last_op
            if last is None or not name_of(last).endswith(".return"):
                continue
            if [v.type for v in last.operands] != list(signature.outputs.data):
                yield f"{name}: it returns other types than its signature says"


def _ends(op: Operation, region: Region) -> Iterator[str]:
    if name_of(op) == "builtin.module":
        return
    for block in region.blocks:
        if block.last_op is None:
            if is_function(op) or op.results:
                yield f"{name_of(op)}: a block without a terminator"
        elif is_function(op) and not is_terminator(block.last_op):
            yield f"{name_of(op)}: a block without a terminator"
