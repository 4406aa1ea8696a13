"""Nothing knew the text: say so, and still name the leading error, the pass and the lines that matter."""

from __future__ import annotations

from bundler.compiler.diagnose._kind import Kind, Tier, failed
from bundler.compiler.diagnose._log import Log, Report
from bundler.compiler.outcome import Diagnosis, Outcome

_NOISE = ("Cannot find hivmc", "Failed to run `hivmc --version`", "Failed to detect hivmc version")


def match(log: Log) -> Diagnosis | None:
    if log.errors:
        return failed(log, log.errors[0], "error", recognised=False)
    if log.pass_name is not None:
        silent = Report("", "the pass failed and printed no error", "", 0)
        return failed(log, silent, "silent-pass-failure")
    lines = [line.strip() for line in log.text[-4000:].splitlines() if line.strip()]
    said = [line for line in lines if not any(noise in line for noise in _NOISE)]
    return Diagnosis(
        Outcome.FAILED,
        log.stage,
        "unknown",
        message=said[-1] if said else f"ended with exit code {log.run.returncode} and printed nothing",
        lines=tuple(said[-8:]),
        recognised=False,
    )


KIND = Kind("generic", Tier.FALLBACK, match)
