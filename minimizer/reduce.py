"""Reduce one problem from start to confirmed result.

The search asks the cheap oracle; the result is then compiled as it will be written, with the original flags. If
that does not hold, the search goes back along its own steps to the last one that does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bundler.manifest import ReductionStep
from minimizer.ir.convert import to_readable
from minimizer.ir.program import Measure, Program
from minimizer.journal import Journal
from minimizer.oracle import Verdict
from minimizer.problem import Problem
from minimizer.schedule import TRANSFORMS
from minimizer.search import Search, Step
from minimizer.workers import Evaluator, Tally

_TIMES = 3  # a result must fail this often in a row


@dataclass(frozen=True)
class Progress:
    """Where a reduction stands. Times in seconds; `left` is None without a deadline."""

    transform: str
    start: Measure
    best: Measure
    tally: Tally
    elapsed: float
    left: float | None


@dataclass(frozen=True)
class Result:
    """What a reduction came to.

    Attributes:
        text: the reduced input, readable where the tools can print it so, as it was confirmed.
        finished: no single edit of any transform gives a smaller interesting program.
        interrupted: Ctrl-C ended the search.
        confirmed: `text` fails with the original flags in the same way, three times out of three (for a
            failure that comes only sometimes: as surely as its rate allows).
        steps: each accepted step.
    """

    text: str
    before: Measure
    after: Measure
    tally: Tally
    seconds: float
    finished: bool
    interrupted: bool
    confirmed: bool
    steps: tuple[ReductionStep, ...]
    finds: tuple[tuple[str, str], ...]


def reduce(
    problem: Problem,
    *,
    jobs: int,
    deadline: float | None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    journal: Journal | None = None,
) -> Result:
    """Make the problem's program as small as the deadline allows.

    Args:
        jobs: compiles at the same time.
        deadline: seconds the search may take, or None.
        on_progress: called after each step and at the start of each transform.
        journal: keeps the verdicts, so that the same reduction can go on from there.
    """
    start = time.monotonic()
    if journal is not None:
        problem.finds.update(journal.finds())
    before = problem.program.measure
    interrupted = False
    end = None if deadline is None else start + deadline
    with Evaluator(problem.oracle, jobs, end, journal) as evaluator:

        def report(search: Search) -> None:
            elapsed = time.monotonic() - start
            left = None if deadline is None else max(deadline - elapsed, 0.0)
            on_progress(Progress(search.current, before, search.best.measure, evaluator.tally, elapsed, left))

        search = Search(problem.program, evaluator, TRANSFORMS, report)
        try:
            finished = search.run()
        except KeyboardInterrupt:
            finished, interrupted = False, True
    search.current = "confirm"
    report(search)
    chain = [problem.program, *(step.program for step in search.steps)]
    best, text, confirmed = _confirm(problem, chain)
    return Result(
        text=text,
        before=before,
        after=best.measure,
        tally=evaluator.tally,
        seconds=time.monotonic() - start,
        finished=finished and best is search.best,
        interrupted=interrupted,
        confirmed=confirmed,
        steps=tuple(_record(step, start) for step in search.steps),
        finds=tuple(sorted(problem.finds.items())),
    )


def _record(step: Step, start: float) -> ReductionStep:
    size = step.program.measure
    return ReductionStep(step.transform, size.ops, size.size, round(step.at - start, 2))


def _confirm(problem: Problem, chain: Sequence[Program]) -> tuple[Program, str, bool]:
    """The last program of the chain that holds with the original flags, in the form in which it holds."""
    text = to_readable(problem.opt, chain[-1].text)
    if text is not None and _holds_each_time(problem, text):
        return chain[-1], text, True
    low, high = 0, len(chain) - 1
    probe = high
    found: tuple[Program, str] | None = None
    while low <= high:
        text = _holding_text(problem, chain[probe])
        if text is None:
            high = probe - 1
        else:
            found, low = (chain[probe], text), probe + 1
        probe = (low + high) // 2
    if found is None:
        return chain[0], chain[0].text, False
    return (*found, _holds_each_time(problem, found[1]))


def _holds_each_time(problem: Problem, text: str) -> bool:
    with ThreadPoolExecutor(_TIMES) as pool:
        verdicts = pool.map(lambda _: problem.judge.judge(text).verdict, range(_TIMES))
        return all(verdict is Verdict.INTERESTING for verdict in verdicts)


def _holding_text(problem: Problem, program: Program) -> str | None:
    for text in (to_readable(problem.opt, program.text), program.text):
        if text is not None and problem.judge.judge(text).verdict is Verdict.INTERESTING:
            return text
    return None
