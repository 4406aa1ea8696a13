"""What each pass did to a program, told from a log with the IR after every pass.

A pass that works on functions dumps one function, its neighbour the whole module. To compare them, the index
keeps the program as last seen, function by function; a pass changed something if one of its functions, or what
stands around them, is no longer what it was. Sizes and counts are the whole program's, so that they can be
plotted over all passes.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bundler.compiler.dumps import Function, Parts, RawDump, parts_of, read_dumps

_REMEMBERED = 64  # of the last dumps, taken apart: most passes change nothing, and dumps come back
_REMEMBERED_BYTES = 64 << 20


@dataclass(frozen=True)
class PassRun:
    """One dump, and what it says about its pass.

    Attributes:
        order: its place in the log, from 1.
        name: the pass's argument; `pass_class` its C++ class.
        attempt: from 1; the compiler starts anew with other flags after some failures.
        scope: the function shown, or empty for a module.
        ops: counted operations of the whole program after it; `size` its bytes.
        changed: the program is not what it was before.
        remark: what the compiler said after it.
    """

    order: int
    name: str
    pass_class: str
    failed: bool
    attempt: int
    scope: str
    ops: int
    size: int
    changed: bool
    remark: str = ""


@dataclass(frozen=True)
class Step:
    """A pass with the IR it met and the IR it left, both of the same scope. `before` is None if never shown."""

    run: PassRun
    before: bytes | None = field(repr=False)
    after: bytes = field(repr=False)


@dataclass
class _State:
    """The program as last seen: its functions, and the frame of the last module that was shown."""

    functions: dict[str, Function] = field(default_factory=dict)
    frame: tuple[bytes, ...] = ()
    frame_ops: int = 0
    indents: dict[str, bytes] = field(default_factory=dict)

    @property
    def ops(self) -> int:
        return self.frame_ops + sum(each.ops for each in self.functions.values())

    @property
    def size(self) -> int:
        return sum(map(len, self.frame)) + sum(len(each.text) for each in self.functions.values())

    def take(self, parts: Parts) -> bool:
        """Take in a dump and tell whether anything is new."""
        shown = {each.name: each for each in parts.functions}
        changed = any(
            name not in self.functions or self.functions[name].text != each.text
            for name, each in shown.items()
        )
        if parts.is_module:
            changed = changed or self.frame != parts.frame or len(shown) != len(self.functions)
            self.functions = shown
            self.frame, self.frame_ops = parts.frame, parts.frame_ops
            self.indents = dict(zip(shown, parts.indents))
        else:
            self.functions.update(shown)
        return changed

    def text_of(self, parts: Parts | None = None) -> bytes | None:
        """The program as last seen, all or as much of it as `parts` shows; None if that was never shown."""
        if parts is not None and not parts.is_module:
            known = [
                self.functions[each.name].text for each in parts.functions if each.name in self.functions
            ]
            return b"\n".join(known) if known else None
        if not self.frame:
            return b"\n".join(each.text for each in self.functions.values()) or None
        pieces = [self.frame[0]]
        # A function that was shown alone, after the module, has no place in its frame: it stands behind.
        placed = [name for name in self.functions if name in self.indents]
        for name, piece in zip(placed, self.frame[1:]):
            indent = self.indents[name]
            pieces += [indent, self.functions[name].text.replace(b"\n", b"\n" + indent), piece]
        pieces += [b"\n" + each.text for name, each in self.functions.items() if name not in self.indents]
        return b"".join(pieces).strip()


class Tracker:
    """Follows a program through the dumps of its passes."""

    def __init__(self) -> None:
        self._state = _State()
        self._remembered: dict[bytes, Parts] = {}
        self._recent: deque[bytes] = deque()
        self._order = 0
        self._attempt = 1
        self._retrying = False

    def feed(self, dump: RawDump) -> Step | None:
        """Take in the next dump; a dump from before a pass is only looked at, and gives None."""
        parts = self._parts(dump.text)
        if self._retrying:  # another attempt starts from the input again: what came before is not its past
            self._attempt, self._state, self._retrying = self._attempt + 1, _State(), False
        before = self._state.text_of(parts)
        first = not self._state.functions
        changed = self._state.take(parts)
        self._retrying = dump.failed and "retrying" in dump.remark
        if dump.before:
            return None
        self._order += 1
        run = PassRun(
            order=self._order,
            name=dump.pass_name,
            pass_class=dump.pass_class,
            failed=dump.failed,
            attempt=self._attempt,
            scope="" if parts.is_module else parts.functions[0].name,
            ops=self._state.ops,
            size=self._state.size,
            changed=changed and not first,
            remark=dump.remark,
        )
        return Step(run, before, self._state.text_of(parts) or b"")

    def program(self) -> bytes:
        """All of the program as it is after the last dump."""
        return self._state.text_of() or b""

    def _parts(self, text: bytes) -> Parts:
        key = hashlib.blake2b(text, digest_size=16).digest()
        parts = self._remembered.get(key)
        if parts is None:
            parts = self._remembered[key] = parts_of(text)
            self._recent.append(key)
            if len(self._recent) > _REMEMBERED or self._bulky():
                del self._remembered[self._recent.popleft()]
        return parts

    def _bulky(self) -> bool:
        newest = self._remembered[self._recent[-1]]
        size = sum(len(each.text) for each in newest.functions)
        return len(self._recent) > 4 and size * len(self._recent) > _REMEMBERED_BYTES


def steps(chunks: Iterable[bytes]) -> Iterator[Step]:
    """Yield every pass of a log with its IR before and after. Memory is that of a few dumps.

    Args:
        chunks: the log, in pieces of any size.
    """
    tracker = Tracker()
    for dump in read_dumps(chunks):
        step = tracker.feed(dump)
        if step is not None:
            yield step


def index(chunks: Iterable[bytes]) -> Iterator[PassRun]:
    """Yield every pass of a log, in order."""
    return (step.run for step in steps(chunks))
