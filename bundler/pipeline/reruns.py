"""How steady a failure is: compile again until it has come three times of three, or its rate is known."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from bundler.compiler.flakiness import FLAKY_RUNS, STEADY_RUNS
from bundler.compiler.outcome import Outcome
from bundler.compiler.signature import Signature
from bundler.evidence.recompile import Recompile, recompile
from bundler.pipeline.case import Case
from bundler.pipeline.plan import Plan


def reruns(case: Case, plan: Plan, signature: Signature, seen: Sequence[Recompile]) -> list[Recompile]:
    """Compile again until the failure has come three times of three, or often enough to know its rate."""
    made: list[Recompile] = []
    if signature.outcome is Outcome.TIMED_OUT:
        return made  # each would take the whole time limit
    while len(seen) + len(made) < (STEADY_RUNS if steady([*seen, *made]) else FLAKY_RUNS):
        name = f"rerun-{len(made) + 1}"
        made.append(recompile(case.command, case.input, name, (), expected=signature, timeout=plan.timeout))
    if not steady([*seen, *made]):
        plan.say("it fails only sometimes: " + steadiness_note([*seen, *made]))
    # Their logs say what the first one says; the ending and the signature are what counts.
    return [dataclasses.replace(r, entry=dataclasses.replace(r.entry, log=None)) for r in made]


def steady(runs: Sequence[Recompile]) -> bool:
    """Whether the failure came back each time."""
    return all(run.entry.reproduced for run in runs)


def steadiness_note(runs: Sequence[Recompile]) -> str:
    """`3 of 10 compiles failed in this way; the others: 7 x healthy`."""
    others = Counter(run.signature.id for run in runs if not run.entry.reproduced)
    came = sum(run.entry.reproduced for run in runs)
    rest = ", ".join(f"{count} x {id}" for id, count in sorted(others.items()))
    return f"{came} of {len(runs)} compiles failed in this way" + (f"; the others: {rest}" if rest else "")
