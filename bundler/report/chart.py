"""Plots as SVG geometry: operations and bytes after each pass, operations after each step of a reduction.

Positions are percentages and the lines do not scale their width, so the same drawing fits a phone and a wide
screen with letters that stay readable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bundler.compiler.passes import PassRun
from bundler.manifest import Reduction

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
    return Timeline(_plot(ops, _marks(runs, ops)), _plot(sizes), attempts, words)


def reduction_curve(reduction: Reduction) -> Plot | None:
    """Draw the operations after each accepted step of a reduction; None if the steps are not known."""
    steps = reduction.steps
    if not steps:
        return None
    values = [reduction.ops_before, *(step.ops for step in steps)]
    top = max(*values, 1)
    every = -(-len(steps) // _MOST_MARKS)
    marks = tuple(
        _mark(number, values, top, f"{step.seconds:.1f} s, {step.transform}: {step.ops} operations", False)
        for number, step in enumerate(steps, start=1)
        if number % every == 0
    )
    return _plot(values, marks)


def _plot(values: Sequence[int], marks: tuple[Mark, ...] = ()) -> Plot:
    top = max(*values, 1)
    points = _corners(values)
    path: list[str] = []
    for number, (index, value) in enumerate(points):
        x, y = _number(_x(index, len(values)) * _SCALE), _number((1 - value / top) * _SCALE)
        path.append(f"M{x} {y}" if number == 0 else f"H{x}V{y}")
    path.append(f"H{_SCALE}")
    line = "".join(path)
    return Plot(line, f"{line}V{_SCALE}H0Z", top, marks)


def _corners(values: Sequence[int]) -> list[tuple[int, int]]:
    """The places where the value changes; of too many, every n-th."""
    corners = [(i, value) for i, value in enumerate(values) if i == 0 or value != values[i - 1]]
    every = -(-len(corners) // _MOST_POINTS)
    return corners[::every]


def _mark(index: int, values: Sequence[int], top: int, label: str, failed: bool) -> Mark:
    x, y = _number(_x(index, len(values)) * 100), _number((1 - values[index] / top) * 100)
    return Mark(f"{x}%", f"{y}%", label, failed)


def _marks(runs: Sequence[PassRun], values: Sequence[int]) -> tuple[Mark, ...]:
    """The failures, and the passes that changed the IR, largest jumps first where there are too many."""
    telling = [i for i, run in enumerate(runs) if run.changed or run.failed]
    by_weight = sorted(
        telling, key=lambda i: (not runs[i].failed, -abs(values[i] - values[max(i - 1, 0)]), i)
    )
    chosen = sorted(by_weight[:_MOST_MARKS])
    top = max(*values, 1)
    marks = []
    for i in chosen:
        run, jump = runs[i], values[i] - values[i - 1] if i else 0
        moved = f" ({jump:+d})" if jump else ""
        label = f"{run.order}. {run.name}{' fails' if run.failed else ''}: {values[i]} operations{moved}"
        marks.append(_mark(i, values, top, label, run.failed))
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
