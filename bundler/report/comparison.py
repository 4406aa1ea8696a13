"""What differs between two archives: typically of a machine where a kernel compiles and of one where it fails.

Compared by meaning: facts by name, flags by name, IR by structure (names of values do not count), passes by the
order in which they ran in the last attempt. Paths, times and sizes of the archives themselves are no differences.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from bundler.archive import Archive
from bundler.compiler.dumps import read_dumps
from bundler.compiler.invoke import CompileCommand, command_of
from bundler.compiler.irdiff import Gap, Row, diff_ir, differs, fold
from bundler.compiler.passes import PassRun, Tracker
from bundler.completeness import failing_call
from bundler.manifest import CallRecord, Fact, Manifest
from bundler.report.story import member_chunks

_AFTER_ALL = "logs/after-all.log"
_MOST_IR = 4 << 20
_MOST_PASSES = 5000
_MOST_ROWS = 400
_PASSING = ("memory.available", "disk.", "warning.")  # facts of a moment, not of a machine
_VALUE = re.compile(rb"%[\w$.-]+")


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same; None where a side does not have it."""

    name: str
    a: str | None
    b: str | None


@dataclass(frozen=True)
class IrDifference:
    """The inputs, compared: `same`, or the rows that differ; `note` says why they could not be."""

    same: bool | None
    rows: tuple[Row | Gap, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class PassDifference:
    """The passes, compared: those of one side only, and the first pass after which the programs differ."""

    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    first: tuple[PassRun, PassRun] | None = None
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """Everything that differs between archive `a` and archive `b` (their file names)."""

    a: str
    b: str
    signature: tuple[Difference, ...]
    environment: tuple[Difference, ...]
    flags: tuple[Difference, ...]
    workaround: tuple[Difference, ...]
    ir: IrDifference
    passes: PassDifference

    @property
    def same(self) -> bool:
        """Nothing that was compared differs."""
        lists = (self.signature, self.environment, self.flags, self.workaround)
        passes = self.passes
        passes_differ = passes.first is not None or passes.only_a or passes.only_b
        return not any(lists) and self.ir.same is not False and not passes_differ


def compare(a: Archive, b: Archive) -> Comparison:
    """Compare two archives.

    Raises:
        NpubugError: one of them changed on disk.
    """
    call_a, call_b = _counterparts(a.manifest, b.manifest)
    return Comparison(
        a=a.path.name,
        b=b.path.name,
        signature=tuple(_signatures(a.manifest, b.manifest)),
        environment=tuple(_facts(a.manifest.environment, b.manifest.environment)),
        flags=tuple(_flags(call_a, call_b)),
        workaround=tuple(_workarounds(a.manifest, b.manifest)),
        ir=_inputs(a, call_a, b, call_b),
        passes=_passes(a, b),
    )


def _counterparts(a: Manifest, b: Manifest) -> tuple[CallRecord | None, CallRecord | None]:
    """The failing call of each; where there is none, the call that did the same work and passed."""
    call_a, call_b = failing_call(a), failing_call(b)
    return call_a or _like(call_b, a), call_b or _like(call_a, b)


def _like(call: CallRecord | None, manifest: Manifest) -> CallRecord | None:
    if call is None:
        return manifest.calls[-1] if manifest.calls else None
    same_tool = [each for each in manifest.calls if each.tool == call.tool]
    same_kernel = [each for each in same_tool if each.kernel == call.kernel]
    return next(reversed(same_kernel or same_tool), None)


def _signatures(a: Manifest, b: Manifest) -> Iterator[Difference]:
    left, right = a.signature, b.signature
    for name in ("id", "outcome", "stage", "pass_name", "kind", "message"):
        x = getattr(left, name) if left is not None else None
        y = getattr(right, name) if right is not None else None
        if x != y:
            yield Difference(name.replace("_name", ""), x, y)


def _facts(a: tuple[Fact, ...], b: tuple[Fact, ...]) -> Iterator[Difference]:
    left, right = ({fact.name: fact.value for fact in facts} for facts in (a, b))
    for name in dict.fromkeys((*left, *right)):
        if left.get(name) != right.get(name) and not name.startswith(_PASSING):
            yield Difference(name, left.get(name), right.get(name))


def _flags(a: CallRecord | None, b: CallRecord | None) -> Iterator[Difference]:
    left, right = _flag_values(a), _flag_values(b)
    if a is not None and b is not None and a.tool != b.tool:
        yield Difference("tool", a.tool, b.tool)
    for name in dict.fromkeys((*left, *right)):
        if left.get(name) != right.get(name):
            yield Difference(name, left.get(name), right.get(name))


def _flag_values(call: CallRecord | None) -> dict[str, str]:
    command = command_of(call.argv)[0] if call is not None and call.argv else CompileCommand(Path(), ())
    values = {}
    for flag in command.flags:
        name, equals, value = flag.partition("=")
        values[name.lstrip("-")] = value if equals else "set"
    return values


def _workarounds(a: Manifest, b: Manifest) -> Iterator[Difference]:
    x = a.workaround.verdict if a.workaround is not None else None
    y = b.workaround.verdict if b.workaround is not None else None
    if x != y:
        yield Difference("barriers everywhere", x, y)


def _inputs(a: Archive, call_a: CallRecord | None, b: Archive, call_b: CallRecord | None) -> IrDifference:
    name_a, name_b = _input(a.manifest, call_a), _input(b.manifest, call_b)
    if name_a is None or name_b is None:
        return IrDifference(None, note=f"{(a if name_a is None else b).path.name} holds no input")
    if a.member(name_a).sha256 == b.member(name_b).sha256:
        return IrDifference(True)
    left, right = a.head(name_a, _MOST_IR), b.head(name_b, _MOST_IR)
    if b"\0" in left[:4096] or b"\0" in right[:4096]:
        return IrDifference(False, note="the inputs are bytecode, and not the same bytes")
    rows = diff_ir(left.decode(errors="replace"), right.decode(errors="replace"))
    if not differs(rows):
        return IrDifference(True, note="only the names of values differ")
    return IrDifference(False, tuple(fold(rows)[:_MOST_ROWS]))


def _input(manifest: Manifest, call: CallRecord | None) -> str | None:
    found = next((member.name for member in manifest.members if member.role == "input"), None)
    return found or (call.input if call is not None else None)


def _passes(a: Archive, b: Archive) -> PassDifference:
    left, right = _followed(a), _followed(b)
    for archive, found in ((a, left), (b, right)):
        if not found:
            return PassDifference(note=f"{archive.path.name} holds no log with the IR after every pass")
    if max(len(left), len(right)) > _MOST_PASSES:
        return PassDifference(note=f"more than {_MOST_PASSES} passes are not compared")
    names = [run.name for run, _ in left], [run.name for run, _ in right]
    first: tuple[PassRun, PassRun] | None = None
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if tag != "equal" or first is not None:
            continue
        for (run_a, program_a), (run_b, program_b) in zip(left[i1:i2], right[j1:j2]):
            if program_a != program_b or run_a.failed != run_b.failed:
                first = run_a, run_b
                break
    # Passes of different functions run at the same time, so their order says nothing, but their number does.
    counts_a, counts_b = Counter(names[0]), Counter(names[1])
    only_a, only_b = (counts_a - counts_b).elements(), (counts_b - counts_a).elements()
    return PassDifference(tuple(only_a), tuple(only_b), first)


def _followed(archive: Archive) -> list[tuple[PassRun, bytes]]:
    """The passes of the last attempt, each with what identifies the structure of the program after it."""
    tracker = Tracker()
    found: list[tuple[PassRun, bytes]] = []
    digest = b""
    for dump in read_dumps(member_chunks(archive, _AFTER_ALL)):
        step = tracker.feed(dump)
        if step is None:
            continue
        fresh = not found or found[-1][0].attempt != step.run.attempt
        if fresh:
            found.clear()
        if fresh or step.run.changed:
            digest = _structure(tracker.program())
        if len(found) <= _MOST_PASSES:
            found.append((step.run, digest))
    return found


def _structure(program: bytes) -> bytes:
    """A digest of a program that does not depend on the names of its values: they are numbered as they come."""
    numbers: dict[bytes, bytes] = {}
    text = _VALUE.sub(lambda m: numbers.setdefault(m[0], b"%%%d" % len(numbers)), program)
    return hashlib.blake2b(text, digest_size=16).digest()
