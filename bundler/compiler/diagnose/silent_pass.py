"""A pass failed and said nothing.

`bishengir-compile` then prints only its own `Failed to run BiShengHIR pipeline`; the opt tools print
nothing at all and end 1. The pass is known from the dump after the failure, or from a command line with one
pass.
"""

from __future__ import annotations

from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome, Stage


def match(log: Log) -> Diagnosis | None:
    if log.errors or log.run.returncode in (0, None):
        return None
    dumped = log.failed_pass is not None
    nothing_said = log.stage is Stage.PASS and not log.text.strip()
    if not (dumped or nothing_said or (log.failed_without_words and not log.has("External hivmc run fails"))):
        return None
    return Diagnosis(
        Outcome.FAILED,
        log.stage,
        "silent-pass-failure",
        message="the pass failed and printed no error",
        pass_name=log.pass_name,
        lines=tuple(report.line for report in log.reports[:1]),
        remedies=() if log.pass_name else ("Add --mlir-print-ir-after-failure to learn which pass it is.",),
    )


KIND = Kind("silent-pass", Tier.BACKEND, match)
