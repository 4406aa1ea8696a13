"""The story of an archive as one page that needs nothing else: no script, no network, no file beside it.

Jinja escapes every value, and a Content-Security-Policy allows nothing but the page's own style sheet, by its
hash; so whatever a hostile archive holds is text. What is shown is capped (`bundler.report.story`), which keeps
a page under a megabyte.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib import resources
from typing import Any

from bundler.archive import Archive
from bundler.compiler.invoke import command_of
from bundler.compiler.irdiff import Gap, Kind, Row
from bundler.compiler.passes import PassRun
from bundler.printable import printable
from bundler.report.chart import reduction_curve, timeline
from bundler.report.facts import environment_rows
from bundler.report.story import Change, Excerpt, Story, tell
from bundler.report.syntax import Token, tokens
from bundler.report.terminal import size_text

_LONGEST_LINE = 1500
_LONGEST_VALUE = 600
_LONGEST_MESSAGE = 4000
_MOST_MEMBERS = 300
_MOST_CALLS = 100
_MOST_PASSES = 200
_MOST_WORD_PAIRS = 10_000  # weighed in one line; beyond, all of what differs is marked
_MOST_PAGE_CODE = 400_000  # characters of coloured IR in one block; the rest of it is plain
# Class names of tokens, short because there are thousands; plain text has none.
_CLASSES = {
    "op": "o", "value": "v", "symbol": "y", "type": "t", "attribute": "t", "string": "s", "number": "n",
    "keyword": "k", "comment": "c", "block": "y",
}  # fmt: skip
_WHERE_TO = {
    "log": "compiler log", "program-log": "what the program printed", "input": "the input that fails",
    "ir": "cached IR", "reduced": "the reduction", "source": "the program", "environment": "the facts",
    "find": "another failure met while reducing",
}  # fmt: skip


@dataclass(frozen=True)
class _Piece:
    """Some characters of a line, with the class of their colour; `new` where the other side has others."""

    css: str
    text: str
    new: bool = False


@dataclass(frozen=True)
class _Line:
    """A row of a diff, ready to be shown; a gap has only `gap`."""

    kind: str = ""
    left_number: int | None = None
    right_number: int | None = None
    left: tuple[_Piece, ...] | None = None
    right: tuple[_Piece, ...] | None = None
    gap: int = 0


def render_page(archive: Archive) -> str:
    """The page, as a text to write in UTF-8.

    Raises:
        NpubugError: the archive changed on disk.
    """
    return page_of(tell(archive), archive.path.name, archive.path.stat().st_size)


def page_of(story: Story, file_name: str, file_size: int) -> str:
    """The page of a story; `file_name` and `file_size` are the archive's."""
    import jinja2  # noqa: PLC0415

    style = _template("_report.css.j2")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        size=size_text, code=_code, side_by_side=_side_by_side, one_column=_one_column, short=_short
    )
    manifest = story.manifest
    call = story.call
    command = (
        command_of(call.argv)[0].shell("kernel" + _suffix(story), "kernel") if call and call.argv else ""
    )
    return environment.get_template("report.html.j2").render(
        m=manifest,
        s=manifest.signature,
        story=story,
        style=style,
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        file_name=file_name,
        file_size=file_size,
        message=_short(manifest.signature.message, _LONGEST_MESSAGE) if manifest.signature else "",
        command=command,
        chart=timeline(story.runs),
        curve=reduction_curve(manifest.reduction) if manifest.reduction is not None else None,
        passes=tuple(_changing(story.runs)),
        rows=tuple(environment_rows(manifest)),
        members=manifest.members[:_MOST_MEMBERS],
        more_members=max(len(manifest.members) - _MOST_MEMBERS, 0),
        calls=manifest.calls[:_MOST_CALLS],
        more_calls=max(len(manifest.calls) - _MOST_CALLS, 0),
        where_to=_WHERE_TO,
    )


@dataclass(frozen=True)
class _PassRow:
    run: PassRun
    ops_before: int
    share: int  # of the largest count, in percent


def _changing(runs: Sequence[PassRun]) -> Iterator[_PassRow]:
    """The passes of the last attempt that changed the IR or failed; the largest steps, if they are many."""
    last = [run for run in runs if run.attempt == runs[-1].attempt]
    top = max((run.ops for run in last), default=1) or 1
    rows = [
        _PassRow(run, last[max(i - 1, 0)].ops, 100 * run.ops // top)
        for i, run in enumerate(last)
        if run.changed or run.failed
    ]
    weight = sorted(rows, key=lambda row: (not row.run.failed, -abs(row.run.ops - row.ops_before)))
    kept = {id(row) for row in weight[:_MOST_PASSES]}
    return (row for row in rows if id(row) in kept)


def _side_by_side(change: Change) -> Iterator[_Line]:
    """The rows of a diff, both sides coloured; in a changed line, the words that differ are marked."""
    budget = _MOST_PAGE_CODE
    for row in change.rows:
        if isinstance(row, Gap):
            yield _Line(gap=row.lines)
            continue
        budget -= len(row.left or "") + len(row.right or "")
        left = _tokens(row.left, plain=budget < 0) if row.left is not None else None
        right = _tokens(row.right, plain=budget < 0) if row.right is not None else None
        marks = _new_words(left, right) if row.kind is Kind.CHANGED and left and right else None
        yield _Line(
            row.kind.value,
            row.left_number,
            row.right_number,
            _pieces(left, marks[0] if marks else None),
            _pieces(right, marks[1] if marks else None),
        )


def _one_column(change: Change) -> Iterator[_Line]:
    """The IR that a pass left, where there is nothing to compare."""
    budget = _MOST_PAGE_CODE
    for row in change.rows:
        if isinstance(row, Row) and row.right is not None:
            budget -= len(row.right)
            pieces = _pieces(_tokens(row.right, plain=budget < 0), None)
            yield _Line("same", None, row.right_number, None, pieces)


def _code(excerpt: Excerpt, language: str = "ir") -> Iterator[_Line]:
    """The lines of a file, with colours where it is IR."""
    for number, line in enumerate(excerpt.lines, excerpt.first):
        kind = "marked" if number == excerpt.marked else "same"
        yield _Line(kind, None, number, None, _pieces(_tokens(line, plain=language != "ir"), None))


def _tokens(line: str, *, plain: bool) -> list[Token]:
    line = printable(line.replace("\t", "    "), _LONGEST_LINE)
    return [Token("plain", line)] if plain else tokens(line)


def _pieces(found: Sequence[Token] | None, new: Sequence[bool] | None) -> tuple[_Piece, ...] | None:
    if found is None:
        return None
    return tuple(
        _Piece(_CLASSES.get(token.kind, ""), token.text, bool(new and new[index]))
        for index, token in enumerate(found)
    )


def _new_words(left: Sequence[Token], right: Sequence[Token]) -> tuple[list[bool], list[bool]]:
    """Which tokens of each side have no counterpart. Value names do not count: they are only numbers."""
    a, b = ([token.text if token.kind != "value" else "%" for token in side] for side in (left, right))
    start = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    most = min(len(a), len(b)) - start
    end = next((i for i, (x, y) in enumerate(zip(reversed(a), reversed(b))) if x != y or i >= most), most)
    marks = (
        [start <= i < len(a) - end for i in range(len(a))],
        [start <= i < len(b) - end for i in range(len(b))],
    )
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    if len(middle_a) * len(middle_b) > _MOST_WORD_PAIRS:
        return marks
    for block in SequenceMatcher(None, middle_a, middle_b, autojunk=False).get_matching_blocks():
        for offset in range(start, start + block.size):
            marks[0][block.a + offset] = marks[1][block.b + offset] = False
    return marks


def _suffix(story: Story) -> str:
    name = next((member.name for member in story.manifest.members if member.role == "input"), ".ttadapter")
    return name[name.rfind(".") :] if "." in name.rpartition("/")[2] else ""


def _short(text: str, limit: int = _LONGEST_VALUE) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _visible(value: Any) -> Any:
    """Write out what is not plainly visible (controls, bidi overrides), so that nothing can pose as other text."""
    if isinstance(value, str) and not hasattr(value, "__html__") and not value.isprintable():
        return "\n".join(printable(line) for line in value.split("\n"))
    return value


def _template(name: str) -> str:
    return resources.files("bundler.templates").joinpath(name).read_text(encoding="utf-8")
