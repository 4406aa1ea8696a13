"""The tool ended well, and nothing it printed says otherwise."""

from __future__ import annotations

from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome


def match(log: Log) -> Diagnosis | None:
    if log.run.returncode == 0 and not log.errors:
        return Diagnosis(Outcome.HEALTHY, log.stage, "healthy")
    return None


KIND = Kind("healthy", Tier.FALLBACK, match)
