"""How often a failure comes, and how many quiet runs it takes to believe that it is gone.

A single run decides nothing about a failure that comes one time in five: the next candidate of a reduction
would look fixed four times out of five. So the rate is measured first, with its uncertainty, and a "no" is
believed only after as many quiet runs as that rate demands.

Compiles that succeed can be unsteady too: one input giving two binaries. That is asked here as well, of the
IR that the compiler hands to its backend, which needs no backend.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bundler.compiler.diagnose import diagnose
from bundler.compiler.outcome import Diagnosis, ToolRun
from bundler.compiler.signature import Level, Signature, matches, signature_of

STEADY_RUNS = 3  # a failure that came this often in a row counts as reproducible
FLAKY_RUNS = 10  # compiles to tell the rate of one that did not
DEFAULT_RUNS = STEADY_RUNS
DEFAULT_CONFIDENCE = 0.95
MOST_REPEATS = 1000  # a failure rarer than this costs more to chase than a bisection by hand


@dataclass(frozen=True)
class Observed:
    """One way in which the runs ended: its signature, how often, and one diagnosis as the example."""

    signature: Signature
    count: int
    example: Diagnosis


@dataclass(frozen=True)
class Reproducibility:
    """What repeated runs of one compile showed. `observed` is sorted, the most frequent first."""

    runs: int
    failures: int  # of the failure in question, not of any other
    observed: tuple[Observed, ...]

    @property
    def rate(self) -> float:
        """The share of runs that failed in the way in question."""
        return self.failures / self.runs if self.runs else 0.0

    @property
    def is_steady(self) -> bool:
        """Whether every run ended in the same way."""
        return len(self.observed) <= 1

    @property
    def is_reproducible(self) -> bool:
        """Whether every run failed, in the way in question."""
        return self.runs > 0 and self.failures == self.runs

    @property
    def least_rate(self) -> float:
        """The rate that is still plausible on these runs: plan repeats with it, not with the average."""
        return rate_at_least(self.failures, self.runs)


def rerun(
    run_once: Callable[[], ToolRun],
    n: int = DEFAULT_RUNS,
    *,
    expected: Signature | None = None,
    level: Level = Level.NORMAL,
) -> Reproducibility:
    """Run a compile `n` times and count its endings.

    Args:
        run_once: one run, from scratch.
        expected: the failure in question; by default the most frequent ending that is a bug.
        level: how alike an ending must be to count as that failure.
    """
    return reproducibility([diagnose(run_once()) for _ in range(max(n, 0))], expected=expected, level=level)


def reproducibility(
    diagnoses: Sequence[Diagnosis],
    *,
    expected: Signature | None = None,
    level: Level = Level.NORMAL,
) -> Reproducibility:
    """The same, of runs that have been made."""
    counts: Counter[str] = Counter()
    examples: dict[str, tuple[Signature, Diagnosis]] = {}
    for diagnosis in diagnoses:
        signature = signature_of(diagnosis)
        counts[signature.id] += 1
        examples.setdefault(signature.id, (signature, diagnosis))
    observed = tuple(
        Observed(examples[id_][0], count, examples[id_][1]) for id_, count in counts.most_common()
    )
    wanted = expected or next((each.signature for each in observed if each.example.outcome.is_bug), None)
    failures = sum(
        each.count for each in observed if wanted is not None and matches(each.signature, wanted, level)
    )
    return Reproducibility(len(diagnoses), failures, observed)


def rate_at_least(failures: int, runs: int, confidence: float = DEFAULT_CONFIDENCE) -> float:
    """The lowest failure rate that fits `failures` of `runs`, one-sided (Wilson's score interval).

    Raises:
        ValueError: counts that cannot be.
    """
    if not 0 <= failures <= runs:
        raise ValueError(f"{failures} failures of {runs} runs")
    if failures == 0:
        return 0.0
    z = _normal_quantile(confidence)
    share = failures / runs
    centre = share + z * z / (2 * runs)
    spread = z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return max(0.0, (centre - spread) / (1 + z * z / runs))


def repeats_to_believe_no(rate: float, confidence: float = DEFAULT_CONFIDENCE) -> int:
    """How many quiet runs it takes to say with `confidence` that a failure of this rate is gone.

    A failure that always comes needs one. The number is capped at MOST_REPEATS.

    Raises:
        ValueError: a rate outside (0, 1], or a confidence outside (0, 1).
    """
    if not 0 < rate <= 1 or not 0 < confidence < 1:
        raise ValueError(f"rate {rate}, confidence {confidence}")
    if rate == 1:
        return 1
    return min(MOST_REPEATS, max(1, math.ceil(math.log(1 - confidence) / math.log1p(-rate) - 1e-9)))


def confidence_in_no(rate: float, quiet_runs: int) -> float:
    """How sure one may be that a failure of `rate` is gone after so many runs without it."""
    if quiet_runs <= 0 or rate <= 0:
        return 0.0
    return 1.0 - (1.0 - min(rate, 1.0)) ** quiet_runs


@dataclass(frozen=True)
class Determinism:
    """Whether a compile that succeeds gives the same output each time.

    `outputs` pairs a digest with how often it came, the most frequent first; `missing` counts runs without.
    """

    runs: int
    outputs: tuple[tuple[str, int], ...]
    missing: int = 0

    @property
    def is_deterministic(self) -> bool | None:
        """None where fewer than two outputs can be compared."""
        if self.runs - self.missing < 2:
            return None
        return len(self.outputs) == 1


def determinism(output_once: Callable[[], bytes | None], n: int = DEFAULT_RUNS) -> Determinism:
    """Compile `n` times and compare the outputs, byte for byte; None stands for a run without one."""
    digests: Counter[str] = Counter()
    missing = 0
    for _ in range(max(n, 0)):
        output = output_once()
        if output is None:
            missing += 1
        else:
            digests[hashlib.sha256(output).hexdigest()] += 1
    return Determinism(max(n, 0), tuple(digests.most_common()), missing)


def _normal_quantile(probability: float) -> float:
    """The normal distribution's quantile, by bisection on `erf`: good to more digits than a rate needs."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        if 0.5 * (1 + math.erf(middle / math.sqrt(2))) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2
