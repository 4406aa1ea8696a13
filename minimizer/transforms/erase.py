"""Remove operations; holes are plugged.

Two styles: a new function argument for each value that is still used (costs no operation), and a constant or an
uninitialised tensor where an argument is not accepted.

`CUT` also writes the tensors whose users went to new arguments, so that what computes them stays alive. A run of
operations in the middle can then go without killing what came before or after: halving finds the failing part of
a long kernel in a logarithmic number of compiles, whatever the rest of the kernel does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from minimizer.ir.draft import Draft, referenced_symbols
from minimizer.ir.program import Program, has_body, is_function, is_implied, is_terminator
from minimizer.transforms.edit import Transform


@dataclass(frozen=True)
class Erase:
    """Remove the operation at `index`, and what only it used."""

    index: int
    style: str

    def apply(self, draft: Draft) -> bool:
        op = draft.ops[self.index]
        if draft.is_gone(op):
            return False
        return erase(draft, op, self.style)


def erase(draft: Draft, op: Operation, style: str) -> bool:
    """Remove `op` from the draft, plugging its used results; False (and no change) if one has no plug."""
    used = [result for result in op.results if result.uses]
    plugs = [draft.plug(result, op, style) for result in used]
    if any(plug is None for plug in plugs):
        for plug in plugs:  # take back what was made for the others
            if plug is not None and isinstance(plug.owner, Operation):
                draft.erase(plug.owner)
        return False
    for result, plug in zip(used, plugs):
        assert plug is not None
        result.replace_all_uses_with(plug)
    draft.erase(op)
    return True


def _erasable(program: Program) -> list[int]:
    referenced = referenced_symbols(program.module)
    bodies = sum(1 for op in program.ops if has_body(op))
    return [
        index
        for index, op in enumerate(program.ops)
        if index and op.parent is not None and _can_go(op, referenced, bodies)
    ]


def _can_go(op: Operation, referenced: frozenset[str], bodies: int) -> bool:
    if is_function(op):
        # One that is called goes with its last call (see `Draft.finish`); the only one with a body stays.
        name = op.properties.get("sym_name")
        called = isinstance(name, StringAttr) and name.data in referenced
        return not called and not (has_body(op) and bodies == 1)
    return not is_terminator(op) and not is_implied(op)


def _with_arguments(program: Program) -> Sequence[Erase]:
    return [Erase(index, "argument") for index in _erasable(program)]


def _with_constants(program: Program) -> Sequence[Erase]:
    return [Erase(i, "constant") for i in _erasable(program) if any(r.uses for r in program.ops[i].results)]


@dataclass(frozen=True)
class Cut:
    """Remove the operation at `index`; tensors that only it used are written to new arguments."""

    index: int

    def apply(self, draft: Draft) -> bool:
        draft.keep_alive = True
        return Erase(self.index, "argument").apply(draft)


def _cuts(program: Program) -> Sequence[Cut]:
    return [Cut(index) for index in _erasable(program)]


# Down to single operations at once: what it leaves is what all that follows works on.
CUT = Transform("cut", _cuts, whole=False, smallest=1)
ERASE = Transform("erase", _with_arguments, whole=False)
ERASE_TO_CONSTANT = Transform("erase to constant", _with_constants, whole=False)
