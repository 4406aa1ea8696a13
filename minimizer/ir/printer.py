"""Print a module in MLIR's generic form, quickly.

xDSL's printer keeps track of columns and of names, and prints each attribute anew; on a candidate that differs from
the last one in a few operations that is most of the reducer's own time. Here values are numbered in order, and the
text of an attribute, which is immutable and shared between copies of a program, is made once (by xDSL).
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import UnitAttr, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.printer import Printer

_BARE_KEY = re.compile(r"[A-Za-z_][\w$.]*\Z")
_CACHED = 100_000  # attributes; a reduction meets a few thousand

# By identity, with the attribute kept alive so that its identity is not reused.
_texts: dict[int, tuple[Attribute, str]] = {}


def generic_text(module: Operation) -> str:
    """The module in the generic form, without locations, values numbered in the order of their definition."""
    return "".join(_Module().op(module, ""))


def attribute_text(attribute: Attribute) -> str:
    """An attribute or type as MLIR writes it."""
    known = _texts.get(id(attribute))
    if known is not None:
        return known[1]
    stream = io.StringIO()
    Printer(stream=stream, print_generic_format=True).print_attribute(attribute)
    if len(_texts) >= _CACHED:
        _texts.clear()
    _texts[id(attribute)] = (attribute, stream.getvalue())
    return stream.getvalue()


class _Module:
    """The numbering of one module's values and blocks while it is printed."""

    def __init__(self) -> None:
        self._values: dict[SSAValue, str] = {}
        self._blocks: dict[Block, str] = {}

    def op(self, op: Operation, indent: str) -> Iterator[str]:
        yield indent
        if op.results:
            yield ", ".join(self._value(result) for result in op.results) + " = "
        is_unregistered = isinstance(op, UnregisteredOp)
        name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
        yield f'"{name}"({", ".join(self._value(operand) for operand in op.operands)})'
        if op.successors:
            yield f"[{', '.join(self._block(block) for block in op.successors)}]"
        if op.properties:
            yield f" <{{{_dictionary(op.properties)}}}>"
        if op.regions:
            yield " ("
            for number, region in enumerate(op.regions):
                yield ", {\n" if number else "{\n"
                for index, block in enumerate(region.blocks):
                    yield from self._body(block, indent, labelled=bool(index or block.args))
                yield indent + "}"
            yield ")"
        attributes = {k: v for k, v in op.attributes.items() if not (is_unregistered and k == "op_name__")}
        if attributes:
            yield f" {{{_dictionary(attributes)}}}"
        operands = ", ".join(attribute_text(operand.type) for operand in op.operands)
        results = [attribute_text(result.type) for result in op.results]
        # A lone function type must stand in brackets, or its arrow would be read as ours.
        bare = len(results) == 1 and not results[0].startswith("(")
        yield f" : ({operands}) -> {results[0] if bare else '(' + ', '.join(results) + ')'}\n"

    def _body(self, block: Block, indent: str, *, labelled: bool) -> Iterator[str]:
        if labelled:
            yield indent + self._block(block)
            if block.args:
                each = (f"{self._value(arg)}: {attribute_text(arg.type)}" for arg in block.args)
                yield f"({', '.join(each)})"
            yield ":\n"
        for op in block.ops:
            yield from self.op(op, indent + "  ")

    def _value(self, value: SSAValue) -> str:
        name = self._values.get(value)
        if name is None:
            name = self._values[value] = f"%{len(self._values)}"
        return name

    def _block(self, block: Block) -> str:
        name = self._blocks.get(block)
        if name is None:
            name = self._blocks[block] = f"^bb{len(self._blocks)}"
        return name


def _dictionary(attributes: Mapping[str, Attribute]) -> str:
    parts = []
    for key, value in attributes.items():
        shown = key if _BARE_KEY.match(key) else json.dumps(key)
        parts.append(shown if isinstance(value, UnitAttr) else f"{shown} = {attribute_text(value)}")
    return ", ".join(parts)
