"""The search: apply transforms until none of their single edits gives a smaller interesting program.

Sets are tried in halves: many independent edits at once, then fewer. Edits of a set always refer to the program
the set was made on, so the ones accepted so far and a new chunk are simply applied together, and two chunks that
succeed side by side are united. Choices are big steps, the first that works is taken.

Single edits, of all sets together, are tried in one sweep at the end of a round: near the minimum most of them
fail, and one long list keeps all cores busy where many short ones would not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from minimizer.ir.program import Measure, Program
from minimizer.ir.verify import is_valid
from minimizer.oracle import Verdict
from minimizer.transforms.arguments import order_arguments
from minimizer.transforms.edit import Edit, Transform, apply_all
from minimizer.workers import Evaluator, OutOfTime

_FEW = 6  # a set of so few edits is not worth halving
_ABREAST = 4  # chunks of a set judged side by side; fixed, so that the result does not depend on the jobs

_Edits = Sequence[tuple[Transform, Edit]]


def _sizes(count: int, transform: Transform) -> list[int]:
    """The chunk sizes in which a set of `count` edits is tried, before the sweep."""
    if count <= _FEW and transform.smallest > 1:
        return [count] if transform.whole and count > 1 else []
    size = count if transform.whole else (count + 1) // 2
    sizes = []
    while size > transform.smallest:
        sizes.append(size)
        size = (size + 1) // 2
    return [*sizes, transform.smallest] if count else []


@dataclass(frozen=True)
class Step:
    """One accepted change."""

    transform: str
    program: Program
    at: float  # `time.monotonic()`


class Search:
    """Reduces one program.

    Args:
        program: interesting to begin with.
        evaluator: judges candidates.
        transforms: in the order in which they are tried.
        on_step: called after each accepted step and each transform, for progress.
    """

    def __init__(
        self,
        program: Program,
        evaluator: Evaluator,
        transforms: Sequence[Transform],
        on_step: Callable[[Search], None] = lambda search: None,
    ) -> None:
        self.best = program
        self.steps: list[Step] = []
        self.current = ""
        self._evaluator = evaluator
        self._transforms = transforms
        self._on_step = on_step

    def run(self) -> bool:
        """Search to the fixed point; False if the deadline came first. `best` holds the result either way."""
        try:
            while self._round():
                pass
            self._tidy()
        except OutOfTime:
            return False
        return True

    def _tidy(self) -> None:
        """Bring the result into the order in which every way to it ends, if it is interesting so."""
        tidy = apply_all(self.best, order_arguments(self.best))
        if tidy is not None and is_valid(tidy):
            (answer,) = self._evaluator.judge_all([tidy.text])
            if answer.verdict is Verdict.INTERESTING:
                self.best = tidy
                self.steps.append(Step("order arguments", tidy, time.monotonic()))

    def _round(self) -> bool:
        before = self.best.measure
        for transform in self._transforms:
            self._begin(transform.name)
            if transform.kind == "choice":
                while self._choose(transform):
                    pass
            else:
                self._halve(transform)
        self._sweep()
        return self.best.measure < before

    def _begin(self, name: str) -> None:
        self.current = name
        self._on_step(self)

    def _choose(self, transform: Transform) -> bool:
        made: list[Program] = []

        def texts() -> Iterator[str]:
            for edit in transform.edits(self.best):
                program = self._candidate(self.best, [edit], self.best.measure)
                if program is not None:
                    made.append(program)
                    yield program.text

        found = self._evaluator.first(texts())
        if found is None:
            return False
        self._accept(transform, made[found])
        return True

    def _halve(self, transform: Transform, largest: int | None = None) -> None:
        """Try a set's edits many at once, then fewer, in chunks of at most `largest`."""
        base = self.best
        edits = [(transform, edit) for edit in transform.edits(base)]
        taken: set[int] = set()
        for size in _sizes(len(edits), transform):
            if largest is not None and size > largest:
                continue
            left = [number for number in range(len(edits)) if number not in taken]
            chunks = [left[start : start + size] for start in range(0, len(left), size)]
            for start in range(0, len(chunks), _ABREAST):
                self._try_chunks(base, edits, taken, chunks[start : start + _ABREAST])
                if self.best.measure.ops * 2 < base.measure.ops:
                    # Go on from the small program: copying the big one each time would cost more than compiling.
                    self._halve(transform, size)
                    return

    def _sweep(self) -> None:
        """Try every single edit of every set."""
        self._begin("sweep")
        base = self.best
        sets = [transform for transform in self._transforms if transform.kind == "set"]
        edits = [(transform, edit) for transform in sets for edit in transform.edits(base)]
        taken: set[int] = set()
        for start in range(0, len(edits), _ABREAST):
            batch = range(start, min(start + _ABREAST, len(edits)))
            self._try_chunks(base, edits, taken, [[number] for number in batch])

    def _try_chunks(
        self,
        base: Program,
        edits: _Edits,
        taken: set[int],
        chunks: Sequence[Sequence[int]],
    ) -> None:
        winners = self._interesting(base, edits, taken, chunks)
        if len(winners) > 1:
            everything = [number for chunk, _ in winners for number in chunk]
            united = self._interesting(base, edits, taken, [everything])
            if united:
                winners = united
        while winners:
            chunk, program = winners.pop(0)
            taken.update(chunk)
            self._accept(edits[chunk[0]][0], program)
            # The others were judged without this one: ask again, one at a time.
            winners = winners and self._interesting(base, edits, taken, [c for c, _ in winners])

    def _interesting(
        self, base: Program, edits: _Edits, taken: set[int], chunks: Sequence[Sequence[int]]
    ) -> list[tuple[Sequence[int], Program]]:
        made: list[tuple[Sequence[int], Program]] = []

        def texts() -> Iterator[str]:
            for chunk in chunks:
                chosen = [edits[number][1] for number in sorted({*taken, *chunk})]
                program = self._candidate(base, chosen, self.best.measure)
                if program is not None:
                    made.append((chunk, program))
                    yield program.text

        answers = self._evaluator.judge_all(texts())
        return [m for m, answer in zip(made, answers) if answer.verdict is Verdict.INTERESTING]

    def _candidate(self, base: Program, edits: Sequence[Edit], bound: Measure) -> Program | None:
        """The edited program, if it is smaller than `bound` and passes our own verifier."""
        program = apply_all(base, edits)
        if program is None or not program.measure < bound:
            return None
        if not is_valid(program):
            self._evaluator.tally.malformed += 1
            return None
        return program

    def _accept(self, transform: Transform, program: Program) -> None:
        self.best = program
        self.steps.append(Step(transform.name, program, time.monotonic()))
        self._on_step(self)
