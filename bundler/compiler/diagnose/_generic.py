"""Nothing knew the text: say so, and still name the leading error, the pass and the lines that matter."""

from __future__ import annotations

from bundler.compiler.diagnose._kind import failed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome

# In every run without hivmc, whatever else happened.
_NOISE = ("Cannot find hivmc", "Failed to run `hivmc --version`", "Failed to detect hivmc version")
_TAIL = 4000


def unrecognised(log: Log) -> Diagnosis:
    """The diagnosis of last resort; its signature is still the same for the same words."""
    if log.leading is not None:
        return failed(log, log.leading, "error", recognised=False)
    lines = [line.strip() for line in log.text[-_TAIL:].splitlines() if line.strip()]
    said = [line for line in lines if not any(noise in line for noise in _NOISE)]
    return Diagnosis(
        Outcome.FAILED,
        log.stage,
        "unknown",
        message=said[-1] if said else f"ended with exit code {log.run.returncode} and printed nothing",
        pass_name=log.pass_name,
        lines=tuple(said[-8:]),
        recognised=False,
    )
