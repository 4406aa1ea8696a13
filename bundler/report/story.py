"""Everything that the page tells of an archive, as values: read once, streaming, and bounded in size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from bundler.archive import Archive
from bundler.archive.streams import CHUNK
from bundler.compiler.diagnose import diagnose
from bundler.compiler.dumps import RawDump, read_dumps
from bundler.compiler.irdiff import Gap, Row, diff_ir, differs, fold
from bundler.compiler.locations import frames_of, is_ir, user_frame
from bundler.compiler.outcome import ToolRun
from bundler.compiler.passes import PassRun, Step, Tracker
from bundler.completeness import Completeness, check, failing_call
from bundler.manifest import CallRecord, Manifest

_AFTER_ALL = "logs/after-all.log"
_AFTER_FAILURE = "logs/after-failure.log"
_MOST_TEXT = 2 << 20  # of a member that is shown
_MOST_DIFF_TEXT = 4 << 20  # of one side of a diff
_MOST_ROWS = 500
_MOST_RUNS = 100_000
_STDERR = b"# --- stderr ---\n"


@dataclass(frozen=True)
class Excerpt:
    """Some lines of a file. `first` is the number of the first, `marked` that of the one meant, or None."""

    name: str
    lines: tuple[str, ...]
    first: int = 1
    marked: int | None = None
    left_out: int = 0


@dataclass(frozen=True)
class Change:
    """What one pass did to the IR, line by line, folded and capped.

    `rows` is all that is shown; `left_out` counts rows beyond the cap. Without `had_before`, the IR before the
    pass is not known, and all lines are what it left.
    """

    run: PassRun
    rows: tuple[Row | Gap, ...]
    changed: bool
    had_before: bool
    left_out: int = 0


@dataclass(frozen=True)
class Story:
    """An archive's story.

    Attributes:
        runs: every pass, in order; empty without a log of all passes.
        failure: what the failing pass met and left; None if no dump tells.
        last_change: the last pass before it that changed anything.
        last_seen: the IR after the last pass that ended well, where the failing one left none (a crash).
        source: the user's kernel, with the failing line where it is known.
        pointed: the line of the compiler's input that the error points to.
        reduced: the reduced input.
    """

    manifest: Manifest
    completeness: Completeness
    call: CallRecord | None
    location: str = ""
    remedies: tuple[str, ...] = ()
    source: Excerpt | None = None
    pointed: Excerpt | None = None
    runs: tuple[PassRun, ...] = field(default=(), repr=False)
    failure: Change | None = field(default=None, repr=False)
    last_change: Change | None = field(default=None, repr=False)
    last_seen: Change | None = field(default=None, repr=False)
    reduced: Excerpt | None = field(default=None, repr=False)


def member_chunks(archive: Archive, name: str) -> Iterator[bytes]:
    """Stream a member's content in pieces; nothing if there is no such member."""
    if name not in archive.names:
        return
    with closing(archive.contents()) as contents:
        stream = next(stream for member, stream in contents if member.name == name)
        while chunk := stream.read(CHUNK):
            yield chunk


def tell(archive: Archive) -> Story:
    """Read the story of an archive.

    Raises:
        NpubugError: the archive changed on disk.
    """
    manifest = archive.manifest
    call = failing_call(manifest)
    failed, changed, last, runs = _follow(archive)
    input_name = next((member.name for member in manifest.members if member.role == "input"), "")
    input_text = _text(archive, input_name)
    diagnosis = diagnose(_failing_run(archive, call))
    location = diagnosis.location or ""
    crashed = failed is None and manifest.signature is not None
    reduced = manifest.reduction.input if manifest.reduction is not None else ""
    return Story(
        manifest=manifest,
        completeness=check(archive),
        call=call,
        location=location,
        remedies=diagnosis.remedies,
        source=_source(archive, call, location, input_text),
        pointed=_pointed(PurePosixPath(input_name).name, location, input_text),
        runs=runs,
        failure=_change(failed),
        last_change=_change(changed) if changed is not None and changed is not failed else None,
        last_seen=_left(last) if crashed else None,
        reduced=_excerpt(PurePosixPath(reduced).name, _text(archive, reduced)) if reduced else None,
    )


def change_of(step: Step, context: int = 3, most_rows: int = _MOST_ROWS) -> Change:
    """What a pass did, by structure; where it did nothing, all of the IR."""
    before = _decoded(step.before or b"")
    after = _decoded(step.after)
    if step.before is None:
        rows: list[Row | Gap] = list(diff_ir(after, after))
        is_changed = False
    else:
        every = diff_ir(before, after)
        is_changed = differs(every)
        rows = fold(every, context) if is_changed else list(every)
    return Change(
        run=step.run,
        rows=tuple(rows[:most_rows]),
        changed=is_changed,
        had_before=step.before is not None,
        left_out=max(len(rows) - most_rows, 0),
    )


def _follow(archive: Archive) -> tuple[Step | None, Step | None, Step | None, tuple[PassRun, ...]]:
    """The failing step, the last one before it that changed something, the last one at all, and all runs."""
    tracker = Tracker()
    runs: list[PassRun] = []
    failed: Step | None = None
    changed: Step | None = None
    last: Step | None = None
    for dump in read_dumps(member_chunks(archive, _AFTER_ALL)):
        step = tracker.feed(dump)
        if step is None:
            continue
        if len(runs) < _MOST_RUNS:
            runs.append(step.run)
        failed = step if step.run.failed else None  # a failure that is retried is not the end
        if step.run.changed and not step.run.failed:
            changed = step
        last = step
    if failed is None:
        dump_at_end = _last_failed(archive)
        if dump_at_end is not None:
            failed = tracker.feed(dump_at_end)
    return failed, changed, last, tuple(runs)


def _last_failed(archive: Archive) -> RawDump | None:
    found = None
    for dump in read_dumps(member_chunks(archive, _AFTER_FAILURE)):
        found = dump if dump.failed else found
    return found


def _change(step: Step | None) -> Change | None:
    return change_of(step) if step is not None else None


def _left(step: Step | None) -> Change | None:
    return change_of(Step(step.run, None, step.after)) if step is not None else None


def _failing_run(archive: Archive, call: CallRecord | None) -> ToolRun:
    log = b""
    if _AFTER_FAILURE in archive.names:
        log = _both_ends(member_chunks(archive, _AFTER_FAILURE)).partition(_STDERR)[2]
    elif call is not None and call.stderr is not None:
        log = _both_ends(member_chunks(archive, call.stderr))
    argv = call.argv if call is not None else ("bishengir-compile",)
    return ToolRun(argv=argv, returncode=1, stderr=_decoded(log))


def _both_ends(chunks: Iterator[bytes]) -> bytes:
    """A log's beginning and end: what the compiler says stands around its dumps."""
    head, tail = b"", b""
    for chunk in chunks:
        if len(head) < _MOST_TEXT:
            head += chunk
        else:
            tail = (tail + chunk)[-_MOST_TEXT:]
    return head + tail


def _source(archive: Archive, call: CallRecord | None, location: str, ir: str) -> Excerpt | None:
    """The kernel's own lines: around the failing one, or else from its `def` on."""
    frame = user_frame(location, ir)
    sources = [member.name for member in archive.manifest.members if member.role == "source"]
    for name in sources:
        base = PurePosixPath(name).name
        lines = _text(archive, name).splitlines()
        if frame is not None and PurePosixPath(frame.file).name == base and frame.line <= len(lines):
            return _around(base, lines, frame.line)
        kernel = call.kernel if call is not None else None
        start = next(
            (i for i, line in enumerate(lines) if kernel and line.startswith(f"def {kernel}(")), None
        )
        if start is not None:
            return _definition(base, lines, start)
    return None


def _definition(name: str, lines: list[str], start: int) -> Excerpt:
    """A function of a Python file, with its decorators, to the next thing that is not indented."""
    first, end = start, start + 1
    while first > 0 and lines[first - 1].startswith("@"):
        first -= 1
    while end < min(len(lines), start + 80) and (lines[end].strip() == "" or lines[end][0] in " \t)"):
        end += 1
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return Excerpt(name, tuple(lines[first:end]), first + 1)


def _pointed(name: str, location: str, ir: str) -> Excerpt | None:
    lines = ir.splitlines()
    for frame in frames_of(location, ir) if location else ():
        if is_ir(frame.file) and 0 < frame.line <= len(lines):
            return _around(name, lines, frame.line, 2)
    return None


def _around(name: str, lines: list[str], line: int, context: int = 5) -> Excerpt:
    first = max(line - context, 1)
    return Excerpt(name, tuple(lines[first - 1 : line + context]), first, line)


def _excerpt(name: str, text: str, most: int = 400) -> Excerpt:
    lines = text.splitlines()
    return Excerpt(name, tuple(lines[:most]), left_out=max(len(lines) - most, 0))


def _text(archive: Archive, name: str) -> str:
    return _decoded(archive.head(name, _MOST_TEXT)) if name in archive.names else ""


def _decoded(data: bytes) -> str:
    return data[:_MOST_DIFF_TEXT].decode(errors="replace")
