"""A program: one MLIR module as xDSL objects, its canonical text and its size.

Only the builtin dialect is known to xDSL here; every other operation is an *unregistered* one in MLIR's generic
form. So the reducer accepts whatever the compiler's own opt tool accepts, and no second opinion about a
dialect's rules can reject a candidate that the compiler would take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, UnregisteredOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span

from minimizer.ir.printer import generic_text

# Operations that are structure, not work; sizes leave them out (shared/cases counts the same way).
FUNCTIONS = frozenset({"func.func", "tt.func", "llvm.func", "gpu.func", "builtin.module", "module"})
TERMINATORS = frozenset(
    {
        "func.return",
        "tt.return",
        "llvm.return",
        "llvm.unreachable",
        "cf.br",
        "cf.cond_br",
        "cf.switch",
        "scf.yield",
        "scf.condition",
        "scf.reduce",
        "scf.reduce.return",
        "scf.forall.in_parallel",
        "scope.return",
        "tensor.yield",
        "linalg.yield",
        "affine.yield",
        "memref.alloca_scope.return",
        "tt.reduce.return",
        "tt.scan.return",
        "tt.map_elementwise.return",
        "hivm.yield",
        "hfusion.yield",
        "tm_tensor.yield",
    }
)


# linalg operations whose body is written, not implied by their name.
_FREE_BODIES = frozenset({"linalg.generic", "linalg.reduce", "linalg.map"})


@dataclass(frozen=True, order=True)
class Measure:
    """The size of a program: smaller is better, operations first. `args` are function arguments."""

    ops: int
    size: int  # bytes of the canonical print

    def __str__(self) -> str:
        return f"{self.ops} ops, {self.size} bytes"


class Program:
    """An immutable program. Edits happen on a `Draft`, which starts as a copy.

    `ops` are all operations in pre-order, module first; an edit names an operation by its index there, which
    makes edits plain values that survive copying and pickling.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module

    @classmethod
    def parse(cls, text: str) -> Program:
        """Parse MLIR in the generic form.

        Raises:
            ParseError: xDSL does not understand the text.
        """
        context = Context(allow_unregistered=True)
        context.load_dialect(Builtin)
        try:
            module = Parser(context, text).parse_module()
        except ParseError:
            raise
        except (
            RecursionError,
            ValueError,
            KeyError,
            IndexError,
            AttributeError,
            NotImplementedError,
        ) as error:
            # xDSL's lexer and attribute constructors raise these on inputs outside its subset.
            raise ParseError(_nowhere(), f"xDSL cannot read this: {error}") from error
        # Names of values carry no meaning, and without them equal programs print equally.
        for op in module.walk():
            for value in (*op.results, *(v for r in op.regions for b in r.blocks for v in b.args)):
                value.name_hint = None
        return cls(module)

    @cached_property
    def ops(self) -> tuple[Operation, ...]:
        return tuple(self.module.walk())

    @cached_property
    def text(self) -> str:
        """The canonical print: generic form, no locations."""
        return generic_text(self.module)

    @cached_property
    def measure(self) -> Measure:
        return Measure(sum(1 for op in self.ops if counts(op)), len(self.text))

    def work(self) -> Iterator[int]:
        """Indices of the operations that count, in pre-order."""
        return (index for index, op in enumerate(self.ops) if counts(op))


def name_of(op: Operation) -> str:
    """The operation's MLIR name, also for unregistered ones."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def is_terminator(op: Operation) -> bool:
    """Whether `op` ends its block: by name, or because it passes control to other blocks."""
    return name_of(op) in TERMINATORS or bool(op.successors)


def is_function(op: Operation) -> bool:
    """Whether `op` is a module or a function-like operation: structure that holds work."""
    return name_of(op) in FUNCTIONS or "function_type" in op.properties


def has_body(op: Operation) -> bool:
    """Whether `op` is a function with code in it, not a declaration."""
    return "function_type" in op.properties and bool(op.regions and op.regions[0].blocks)


def counts(op: Operation) -> bool:
    """Whether `op` counts as an operation in sizes."""
    return not is_function(op) and not is_terminator(op)


def is_implied(op: Operation) -> bool:
    """Whether `op` stands in the body that a named operation (`linalg.matmul`) always has: not to be edited."""
    parent = op.parent_op()
    if parent is None:
        return False
    name = name_of(parent)
    return name.startswith("linalg.") and name not in _FREE_BODIES


def _nowhere() -> Span:
    return Span(0, 0, Input("", "<input>"))
