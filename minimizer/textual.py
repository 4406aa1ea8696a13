"""Reduce any text for a script: brackets, then lines, then tokens; for inputs that no parser accepts.

Hierarchical delta debugging: a bracketed group goes as a whole before what is in it is looked at, so that what
remains is balanced.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from bundler.manifest import ReductionStep
from minimizer.ir.program import Measure
from minimizer.oracle import Oracle, Verdict
from minimizer.reduce import Progress, Result
from minimizer.workers import Evaluator, OutOfTime

_ABREAST = 4
_OPEN, _CLOSE = "({[<", ")}]>"
_TOKEN = re.compile(r"\s+|\w+|.", re.DOTALL)


def reduce_text(
    text: str,
    oracle: Oracle,
    *,
    jobs: int,
    deadline: float | None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Result:
    """Make `text` small while the oracle finds it interesting; counts lines where `reduce` counts operations."""
    start = time.monotonic()
    before, best = _measure(text), text
    steps: list[ReductionStep] = []
    finished, interrupted = True, False
    with Evaluator(oracle, jobs, None if deadline is None else start + deadline) as evaluator:
        try:
            while True:
                size = len(best)
                for name, split in (("brackets", _brackets), ("lines", _lines), ("tokens", _tokens)):

                    def accepted(shorter: str, name: str = name) -> None:
                        nonlocal best
                        best = shorter
                        measure = _measure(best)
                        elapsed = time.monotonic() - start
                        steps.append(ReductionStep(name, measure.ops, measure.size, round(elapsed, 2)))
                        left = None if deadline is None else max(deadline - elapsed, 0.0)
                        on_progress(Progress(name, before, measure, evaluator.tally, elapsed, left))

                    _remove(best, split(best), evaluator, accepted)
                if len(best) == size:
                    break
        except OutOfTime:
            finished = False
        except KeyboardInterrupt:
            finished, interrupted = False, True
    confirmed = oracle.judge(best).verdict is Verdict.INTERESTING
    return Result(
        text=best,
        before=before,
        after=_measure(best),
        tally=evaluator.tally,
        seconds=time.monotonic() - start,
        finished=finished,
        interrupted=interrupted,
        confirmed=confirmed,
        steps=tuple(steps),
        finds=(),
    )


def _measure(text: str) -> Measure:
    return Measure(sum(1 for line in text.splitlines() if line.strip()), len(text))


def _remove(
    text: str, spans: list[tuple[int, int]], evaluator: Evaluator, accepted: Callable[[str], None]
) -> None:
    """Remove as many spans of `text` as can go, many at once first."""
    taken: set[int] = set()
    size = (len(spans) + 1) // 2
    while size:
        left = [number for number in range(len(spans)) if number not in taken]
        chunks = [left[start : start + size] for start in range(0, len(left), size)]
        for start in range(0, len(chunks), _ABREAST):
            group = chunks[start : start + _ABREAST]
            current = _without(text, spans, taken)
            texts = [_without(text, spans, {*taken, *chunk}) for chunk in group]
            answers = evaluator.judge_all(t if t.strip() else current for t in texts)
            for chunk, shorter, answer in zip(group, texts, answers):
                together = _without(text, spans, {*taken, *chunk})
                if answer.verdict is not Verdict.INTERESTING or not together.strip():
                    continue
                # What was accepted in between is gone as well: ask again when that makes a difference.
                if len(together) < len(current) and (
                    together == shorter or evaluator.judge_all([together])[0].verdict is Verdict.INTERESTING
                ):
                    taken.update(chunk)
                    current = together
                    accepted(current)
        size = 0 if size == 1 else (size + 1) // 2


def _without(text: str, spans: list[tuple[int, int]], gone: set[int]) -> str:
    kept: list[str] = []
    end = 0
    for number in sorted(gone, key=lambda n: spans[n]):
        first, last = spans[number]
        if last <= end:
            continue  # inside one that is gone already
        kept.append(text[end : max(first, end)])
        end = last
    kept.append(text[end:])
    return "".join(kept)


def _brackets(text: str) -> list[tuple[int, int]]:
    """Spans of balanced groups, outermost and largest first; `->` is no bracket."""
    spans: list[tuple[int, int]] = []
    open_at: list[tuple[str, int]] = []
    for index, char in enumerate(text):
        if char in _OPEN:
            open_at.append((char, index))
        elif char in _CLOSE and text[index - 1 : index + 1] != "->":
            partner = _OPEN[_CLOSE.index(char)]
            if open_at and open_at[-1][0] == partner:
                spans.append((open_at.pop()[1], index + 1))
    return sorted(spans, key=lambda span: (span[0] - span[1], span))


def _lines(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for line in text.splitlines(keepends=True):
        spans.append((start, start + len(line)))
        start += len(line)
    return spans


def _tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _TOKEN.finditer(text)]
