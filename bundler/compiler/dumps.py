"""Cut a compiler's log into the IR dumps it holds, one after the other, without ever holding the log.

The banner is MLIR's (mlir/lib/Pass/IRPrinting.cpp): `// -----// IR Dump After PlanMemory Failed
(hivm-plan-memory) //----- //`, in some versions with the op's name behind the pass; then the IR and a blank
line; then whatever the compiler says until the next banner. A dump shows the op its pass ran on: the whole
module, or one function. Logs are gigabytes of dumps that are mostly alike, so the work is done on bytes by
`find` and compiled patterns, never line by line.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_MARK = b"// -----// IR Dump "
_BANNER = re.compile(rb"// -----// IR Dump (After|Before) (\S+?)( Failed)? \(([^)\n]*)\)")
_LONGEST_DUMP = 64 << 20  # what is longer is cut, and says so
_LONGEST_REMARK = 4096
_LONGEST_BANNER = 1 << 20
_LONGEST_MEANING = 4096
_FUNCTION = re.compile(
    rb'^([ ]*)(?:\w+\.func\b[^\n@]*@("[^"\n]*"|[\w$.\-]+)'
    rb'|"\w+\.func"\([^\n]*?sym_name = "([^"\n]*)")[^\n]*',
    re.MULTILINE,
)
_ALIAS = re.compile(rb"^([#!][A-Za-z_]\w*) = (.*)$", re.MULTILINE)
_ALIAS_LINE = re.compile(rb"^[#!][A-Za-z_]\w* = .*\n?", re.MULTILINE)
_MODULE = re.compile(rb'^ *"?(?:builtin\.|gpu\.)?module\b', re.MULTILINE)
_ALIAS_USE = re.compile(rb"[#!][A-Za-z_]\w*(?![\w.])")
_OPERATION = re.compile(rb'^[ ]*(?:%[^=\n]*= )?"?([a-z_]\w*(?:\.[\w.$]+)?)"?(?=[ (<{:\n]|$)', re.MULTILINE)
_STRUCTURE = frozenset(
    {
        b"func.func", b"tt.func", b"llvm.func", b"gpu.func", b"builtin.module", b"gpu.module",
        b"llvm.unreachable", b"cf.br", b"cf.cond_br", b"cf.switch", b"scf.condition", b"scf.reduce",
        b"scf.forall.in_parallel",
    }
)  # fmt: skip
_ENDINGS = (b".yield", b".return")


@dataclass(frozen=True)
class RawDump:
    """One dump as printed.

    Attributes:
        pass_class: the pass's C++ class, `PlanMemory`.
        pass_name: its argument, `hivm-plan-memory`.
        failed: the pass failed, and this is what it left.
        before: printed before the pass, not after it.
        text: the IR, without the blank lines around it.
        remark: what the compiler said between this dump and the next, its beginning.
        cut: the dump was longer than is held.
    """

    pass_class: str
    pass_name: str
    failed: bool
    before: bool
    text: bytes = field(repr=False)
    remark: str = ""
    cut: bool = False


@dataclass(frozen=True)
class Function:
    """One function of a dump: its text without indentation and with aliases spelt out, and its operations."""

    name: str
    text: bytes = field(repr=False)
    ops: int


@dataclass(frozen=True)
class Parts:
    """A dump taken apart.

    Attributes:
        functions: in the order printed.
        indents: the indentation of each.
        frame: what stands before, between and behind the functions, so one more than these; without the
            definitions of aliases, which are spelt out where they are used.
        frame_ops: the operations in the frame.
        is_module: it shows a whole module, not one function.
    """

    functions: tuple[Function, ...]
    indents: tuple[bytes, ...]
    frame: tuple[bytes, ...] = field(repr=False)
    frame_ops: int
    is_module: bool


def read_dumps(chunks: Iterable[bytes]) -> Iterator[RawDump]:
    """Yield the dumps of a log in order.

    Args:
        chunks: the log in pieces of any size. At most the longest dump and a piece are held.
    """
    held = bytearray()
    cut = False
    banner: re.Match[bytes] | None = None
    searched = 0
    for chunk in chunks:
        held += chunk
        while True:
            at = held.find(_MARK, searched)
            end = held.find(b"\n", at) if at >= 0 else -1
            if end < 0:
                # The next piece may complete a banner, or only its first words.
                searched = at if at >= 0 else max(len(held) - len(_MARK), 0)
                break
            found = _BANNER.match(bytes(held[at:end]))
            if found is None:
                searched = end
                continue
            if banner is not None:
                yield _raw(banner, bytes(held[:at]), cut)
            banner, cut, searched = found, False, 0
            del held[: end + 1]
        surplus = searched if banner is None else searched - _LONGEST_DUMP
        if surplus > 0:
            # Before the first banner nothing matters; of too long a dump, the middle goes.
            start = 0 if banner is None else _LONGEST_DUMP
            cut = cut or banner is not None
            del held[start : start + surplus]
            searched -= surplus
        if len(held) - searched > _LONGEST_BANNER:  # no banner: a line without end
            searched += _LONGEST_BANNER
    if banner is not None:
        yield _raw(banner, bytes(held), cut)


def parts_of(text: bytes) -> Parts:
    """Take a dump apart into its functions and the rest. Linear; never raises, whatever the text is."""
    meanings = _meanings(text)
    functions: list[Function] = []
    indents: list[bytes] = []
    frame: list[bytes] = []
    seen: dict[str, int] = {}
    position = 0
    while (found := _FUNCTION.search(text, position)) is not None:
        frame.append(text[position : found.start()])
        indent, end = found[1], found.end()
        if found[0].endswith(b"{"):
            closing = text.find(b"\n" + indent + b"}", end)
            line_end = text.find(b"\n", closing + 1) if closing >= 0 else -1
            end = line_end if line_end >= 0 else len(text)
        body = text[found.start() : end]
        if indent:
            body = body[len(indent) :].replace(b"\n" + indent, b"\n")
        name = (found[2] or found[3]).decode(errors="replace").strip('"')
        seen[name] = seen.get(name, 0) + 1
        name = name if seen[name] == 1 else f"{name}#{seen[name]}"
        functions.append(Function(name, _spelt_out(body, meanings), count_ops(body)))
        indents.append(indent)
        position = end
    frame.append(text[position:])
    if meanings:
        # Aliases are defined before the first line of the op, or (locations) behind its last.
        frame = [_spelt_out(_ALIAS_LINE.sub(b"", piece), meanings) for piece in frame]
    is_module = not functions or any(_MODULE.search(piece) for piece in frame)
    ops = sum(count_ops(piece) for piece in frame)
    return Parts(tuple(functions), tuple(indents), tuple(frame), ops, is_module)


def count_ops(text: bytes) -> int:
    """How many operations a printed IR holds; modules, functions and terminators do not count."""
    return sum(
        1
        for name in _OPERATION.findall(text)
        if (b"." in name or name == b"call") and name not in _STRUCTURE and not name.endswith(_ENDINGS)
    )


def _raw(banner: re.Match[bytes], body: bytes, cut: bool) -> RawDump:
    text, _, remark = body.lstrip(b"\n").partition(b"\n\n")
    return RawDump(
        pass_class=banner[2].decode(errors="replace"),
        pass_name=banner[4].decode(errors="replace"),
        failed=banner[3] is not None,
        before=banner[1] == b"Before",
        text=text.rstrip(),
        remark=remark[:_LONGEST_REMARK].strip().decode(errors="replace"),
        cut=cut,
    )


def _meanings(text: bytes) -> dict[bytes, bytes]:
    """What each alias stands for: a module uses aliases where a function alone is printed without them."""
    meanings: dict[bytes, bytes] = {}
    if b"\n#" in text or b"\n!" in text or text[:1] in (b"#", b"!"):
        for match in _ALIAS.finditer(text):
            value = _spelt_out(match[2], meanings)
            # Aliases of aliases could double in length with each line; a hash does not.
            meanings.setdefault(match[1], value if len(value) <= _LONGEST_MEANING else _hash(value))
    return meanings


def _spelt_out(text: bytes, meanings: dict[bytes, bytes]) -> bytes:
    return _ALIAS_USE.sub(lambda match: meanings.get(match[0], match[0]), text) if meanings else text


def _hash(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).hexdigest().encode()
