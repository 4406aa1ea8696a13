"""The pass timeline as SVG geometry: how many operations, and how many bytes, the program has after each pass.

Positions are percentages and the lines do not scale their width, so the same drawing fits a phone and a wide
screen with letters that stay readable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bundler.compiler.passes import PassRun

_MOST_POINTS = 2000  # of a line
_MOST_MARKS = 240
_SCALE = 1000


@dataclass(frozen=True)
class Mark:
    """A pass worth a dot: where it is, and its words. `x` and `y` in percent of the plot."""

    x: str
    y: str
    label: str
    failed: bool


@dataclass(frozen=True)
class Plot:
    """One line over all passes: path data in a square of `scale`, its largest value, and dots."""

    line: str
    area: str
    top: int
    marks: tuple[Mark, ...]
    scale: int = _SCALE


@dataclass(frozen=True)
class Attempt:
    """Where an attempt of the compiler begins (percent), and why it was made."""

    number: int
    x: str
    label: str


@dataclass(frozen=True)
class Timeline:
    """Both plots, the attempts, and the sentence that says the same in words."""

    ops: Plot
    size: Plot
    attempts: tuple[Attempt, ...]
    words: str


def timeline(runs: Sequence[PassRun]) -> Timeline | None:
    """Draw the passes; None if there are fewer than two."""
    if len(runs) < 2:
        return None
    ops, sizes = [run.ops for run in runs], [run.size for run in runs]
    changing = sum(run.changed for run in runs)
    attempts = _attempts(runs)
    words = (
        f"{len(runs)} passes, of which {changing or 'none'} changed the IR"
        f"{f', in {len(attempts)} attempts' if len(attempts) > 1 else ''}: "
        f"from {ops[0]} operations to {ops[-1]} (most: {max(ops)})"
    )
    return Timeline(_plot(runs, ops, with_marks=True), _plot(runs, sizes, with_marks=False), attempts, words)


def _plot(runs: Sequence[PassRun], values: Sequence[int], *, with_marks: bool) -> Plot:
    top = max(*values, 1)
    points = _corners(values)
    path: list[str] = []
    for number, (index, value) in enumerate(points):
        x, y = _number(_x(index, len(values)) * _SCALE), _number((1 - value / top) * _SCALE)
        path.append(f"M{x} {y}" if number == 0 else f"H{x}V{y}")
    path.append(f"H{_SCALE}")
    line = "".join(path)
    marks = _marks(runs, values, top) if with_marks else ()
    return Plot(line, f"{line}V{_SCALE}H0Z", top, marks)


def _corners(values: Sequence[int]) -> list[tuple[int, int]]:
    """The places where the value changes; of too many, every n-th."""
    corners = [(i, value) for i, value in enumerate(values) if i == 0 or value != values[i - 1]]
    every = -(-len(corners) // _MOST_POINTS)
    return corners[::every]


def _marks(runs: Sequence[PassRun], values: Sequence[int], top: int) -> tuple[Mark, ...]:
    """The failures, and the passes that changed the IR, largest jumps first where there are too many."""
    telling = [i for i, run in enumerate(runs) if run.changed or run.failed]
    by_weight = sorted(
        telling, key=lambda i: (not runs[i].failed, -abs(values[i] - values[max(i - 1, 0)]), i)
    )
    chosen = sorted(by_weight[:_MOST_MARKS])
    marks = []
    for i in chosen:
        run, jump = runs[i], values[i] - values[i - 1] if i else 0
        moved = f" ({jump:+d})" if jump else ""
        label = f"{run.order}. {run.name}{' fails' if run.failed else ''}: {values[i]} operations{moved}"
        x, y = _number(_x(i, len(runs)) * 100), _number((1 - values[i] / top) * 100)
        marks.append(Mark(f"{x}%", f"{y}%", label, run.failed))
    return tuple(marks)


def _attempts(runs: Sequence[PassRun]) -> tuple[Attempt, ...]:
    found: list[Attempt] = []
    remark = ""
    for i, run in enumerate(runs):
        if not found or run.attempt != found[-1].number:
            found.append(Attempt(run.attempt, f"{_number(_x(i, len(runs)) * 100)}%", remark))
        remark = run.remark.rpartition("\n")[2].replace("[NOTE] ", "")
    return tuple(found)


def _x(index: int, count: int) -> float:
    return index / max(count - 1, 1)


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".") or "0"
