"""What `npubug passes` says: the list of passes, one pass's change, and where a thing lives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from bundler.compiler.irdiff import Gap, Kind, Row
from bundler.compiler.lifetime import Life
from bundler.compiler.passes import PassRun
from bundler.printable import printable
from bundler.report.story import Change
from bundler.report.syntax import tokens
from bundler.report.terminal import size_text

JSON_VERSION = 1
_LINE = 400
_STYLES = {
    "op": "bold magenta", "value": "cyan", "symbol": "yellow", "string": "green", "keyword": "red",
    "type": "bright_black", "attribute": "bright_black", "comment": "bright_black",
}  # fmt: skip


def render_list(runs: Iterable[PassRun], *, everything: bool) -> Iterator[str]:
    """Yield the lines of the list: passes that changed the IR or failed, the others counted, or all of them."""
    yield f"{'no.':>6}  {'operations':>10}  {'size':>9}  pass"
    total = changed = quiet = 0
    attempt, before, remark = 1, 0, ""
    for run in runs:
        total += 1
        changed += run.changed
        first = total == 1 or run.attempt != attempt
        if first and total > 1:
            if quiet:
                yield _quiet(quiet)
                quiet = 0
            attempt = run.attempt
            yield f"attempt {attempt}: {printable(remark.rpartition(chr(10))[2], _LINE)}"
        if everything or run.changed or run.failed or first:
            if quiet:
                yield _quiet(quiet)
                quiet = 0
            yield _line(run, 0 if first else run.ops - before, first=first)
        else:
            quiet += 1
        before, remark = run.ops, run.remark
    if quiet:
        yield _quiet(quiet)
    attempts = f" in {attempt} attempts" if attempt > 1 else ""
    yield f"{total} passes{attempts}, {changed} changed the IR"


def plain_run(run: PassRun) -> dict[str, object]:
    """A pass as JSON has it."""
    return asdict(run)


def plain_change(change: Change) -> dict[str, object]:
    """A pass's change as JSON has it: the rows that are shown, gaps as a number of lines."""
    rows: list[object] = []
    for row in change.rows:
        if isinstance(row, Gap):
            rows.append({"unchanged": row.lines})
        else:
            rows.append({"kind": row.kind.value, "before": row.left, "after": row.right})
    return {
        "pass": plain_run(change.run),
        "changed": change.changed,
        "rows": rows,
        "left_out": change.left_out,
    }


def plain_life(life: Life) -> dict[str, object]:
    """A stretch of life as JSON has it."""
    return {
        "first": plain_run(life.first),
        "last": plain_run(life.last),
        "gone": plain_run(life.gone) if life.gone is not None else None,
        "from_start": life.from_start,
        "lines": life.most,
        "sample": life.sample,
    }


def render_change(change: Change, others: Sequence[int], console: Console) -> None:
    """Print what a pass did, in colours where the terminal has them; `others` are its other runs' numbers."""
    run = change.run
    ending = "fails" if run.failed else "changes the IR" if change.changed else "changes nothing"
    scope = f" on {printable(run.scope, 80)}" if run.scope else ""
    _print(console, Text(f"pass {run.order}, {printable(run.name, 200)}{scope}: {ending}", style="bold"))
    if others:
        shown = ", ".join(map(str, others[:12])) + (", …" if len(others) > 12 else "")
        _print(console, Text(f"it also runs as number {shown}: give a number to see that one"))
    if not change.had_before:
        _print(console, Text("the IR before it is not in the log; this is the IR after it"))
    elif not change.changed:
        _print(console, Text("the IR after it, which is that before it:"))
    for row in change.rows:
        if isinstance(row, Gap):
            noun = "line" if row.lines == 1 else "lines"
            _print(console, Text(f"  … {row.lines} unchanged {noun}", style="bright_black"))
        else:
            _row(row, console)
    if change.left_out:
        _print(console, Text(f"… {change.left_out} more lines"))


def render_lives(found: Sequence[Life], pattern: str) -> Iterator[str]:
    """Yield where a thing first appeared and last lived, attempt by attempt."""
    shown = printable(pattern, 200)
    if not found:
        yield f"'{shown}' is in no dump"
        return
    by_attempt: dict[int, list[Life]] = {}
    for life in found:
        by_attempt.setdefault(life.first.attempt, []).append(life)
    told: dict[tuple[object, ...], list[int]] = {}
    for attempt, stretches in by_attempt.items():
        told.setdefault(tuple(map(_alike, stretches)), []).append(attempt)
    for attempts in told.values():  # an attempt that goes as an earlier one did is told once, with its last
        if len(by_attempt) > 1 or attempts[-1] > 1:
            noun = "attempts" if len(attempts) > 1 else "attempt"
            yield f"{noun} {', '.join(map(str, attempts))} (numbers of the last):"
        for life in by_attempt[attempts[-1]]:
            came = "there from the start" if life.from_start else f"first appears after {_named(life.first)}"
            end = (
                f"last lives after {_named(life.last)}; {_named(life.gone)} takes it out"
                if life.gone is not None
                else f"lives to the end, {_named(life.last)}"
            )
            yield f"{came}; {end}; on {life.most} {'line' if life.most == 1 else 'lines'} at most"
            yield f"    {printable(life.sample, _LINE)}"


def _alike(life: Life) -> tuple[object, ...]:
    gone = life.gone.name if life.gone is not None else ""
    return life.first.name, life.last.name, gone, life.from_start, life.most


def _named(run: PassRun) -> str:
    return f"pass {run.order}, {printable(run.name, 120)}{' (fails)' if run.failed else ''}"


def _line(run: PassRun, moved: int, *, first: bool) -> str:
    jump = f"{run.ops}{f' ({moved:+d})' if moved else ''}"
    what = " FAILS" if run.failed else "" if run.changed else "  (first dump)" if first else "  (no change)"
    scope = f"  on {printable(run.scope, 80)}" if run.scope else ""
    return f"{run.order:>6}  {jump:>10}  {size_text(run.size):>9}  {printable(run.name, 120)}{scope}{what}"


def _quiet(count: int) -> str:
    return f"{'':>6}  {'':>10}  {'':>9}  … {count} {'pass' if count == 1 else 'passes'} changed nothing"


def _row(row: Row, console: Console) -> None:
    if row.kind is Kind.SAME:
        _print(console, _coloured("  ", row.right or "", ""))
        return
    if row.left is not None:
        _print(console, _coloured("- ", row.left, "red"))
    if row.right is not None:
        _print(console, _coloured("+ ", row.right, "green"))


def _coloured(mark: str, line: str, style: str) -> Text:
    line = printable(line.replace("\t", "    "), 4000)
    if style:
        return Text(mark + line, style=style)
    return Text.assemble(mark, *((token.text, _STYLES.get(token.kind, "")) for token in tokens(line)))


def _print(console: Console, what: Text) -> None:
    console.print(what, markup=False, highlight=False, emoji=False, soft_wrap=True)
