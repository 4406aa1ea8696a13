"""Where in a compile a thing lives: the pass that brought it in and the pass that took it out again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from bundler.compiler.dumps import read_dumps
from bundler.compiler.passes import PassRun, Tracker


@dataclass(frozen=True)
class Life:
    """One stretch of passes in which the program holds the thing.

    Attributes:
        first: the pass after which it is there for the first time; it may have been in the input already.
        last: the last pass after which it is still there.
        gone: the pass that took it out, or None if it lives to the end.
        from_start: it is in the first dump of its attempt, so that `first` did not necessarily bring it.
        most: on how many lines it was found at most.
        sample: the first line on which it was found.
    """

    first: PassRun
    last: PassRun
    gone: PassRun | None
    from_start: bool
    most: int
    sample: str


def lives(chunks: Iterable[bytes], pattern: re.Pattern[bytes]) -> Iterator[Life]:
    """Search the program after every pass, and yield each stretch in which `pattern` is found.

    Args:
        chunks: a log with the IR after every pass, in pieces.
        pattern: searched within lines if compiled with `re.MULTILINE`.
    """
    tracker = Tracker()
    life: Life | None = None
    attempt = 0
    count, sample = 0, ""
    for dump in read_dumps(chunks):
        step = tracker.feed(dump)
        if step is None:
            continue
        run = step.run
        fresh = run.attempt != attempt
        if fresh:
            if life is not None:
                yield life
            life, attempt = None, run.attempt
        if fresh or run.changed:  # otherwise the program, and so the answer, is what it was
            count, sample = _search(pattern, tracker.program())
        if count and life is None:
            life = Life(run, run, None, fresh, count, sample)
        elif count and life is not None:
            life = replace(life, last=run, most=max(life.most, count))
        elif life is not None:
            yield replace(life, gone=run)
            life = None
    if life is not None:
        yield life


def _search(pattern: re.Pattern[bytes], program: bytes) -> tuple[int, str]:
    """On how many lines the pattern is found, and the first of them."""
    lines, sample, counted_to = 0, "", -1
    for match in pattern.finditer(program):
        if match.start() < counted_to:
            continue
        end = program.find(b"\n", match.start())
        counted_to = end if end >= 0 else len(program)
        if not sample:
            start = program.rfind(b"\n", 0, match.start()) + 1
            sample = program[start:counted_to].strip().decode(errors="replace")
        lines += 1
    return lines, sample
