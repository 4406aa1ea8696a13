"""How a problem's input fails at first, and how often: before anything of the reducer is needed.

Nothing here imports xDSL, which takes a third of a second: the first compile can run meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bundler.compiler.examine import Examination, examine
from bundler.compiler.flakiness import confidence_in_no, repeats_to_believe_no
from bundler.compiler.invoke import CompileCommand


@dataclass(frozen=True)
class Steadiness:
    """How often a failure came: `failures` of `runs` compiles of the same input."""

    failures: int
    runs: int

    @property
    def is_steady(self) -> bool:
        return self.failures == self.runs

    @property
    def repeats(self) -> int:
        """How many quiet compiles in a row it takes to believe that the failure is gone."""
        return 1 if self.is_steady else repeats_to_believe_no(self.failures / self.runs)

    @property
    def confidence(self) -> float:
        """How sure such a "no" is, from 0 to 1."""
        return 1.0 if self.is_steady else confidence_in_no(self.failures / self.runs, self.repeats)

    def more(self, failures: int, runs: int) -> Steadiness:
        """With further compiles of the same input."""
        return Steadiness(self.failures + failures, self.runs + runs)


def first_failure(
    commands: Sequence[CompileCommand], path: Path, timeout: float, runs: int
) -> tuple[Examination, Steadiness]:
    """Compile the input `runs` times; the failure that came most often, and how often it came."""
    seen = [examine(commands, path, timeout=timeout) for _ in range(runs)]
    failing = [each for each in seen if each.diagnosis.outcome.is_bug]
    if not failing:
        return seen[0], Steadiness(runs, runs)
    ids = [each.signature.id for each in failing]
    chosen = max(failing, key=lambda each: ids.count(each.signature.id))
    return chosen, Steadiness(ids.count(chosen.signature.id), runs)
