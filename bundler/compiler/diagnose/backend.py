"""Every pass ran, and then the closed backend `hivmc` was missing, or failed.

Missing is not a bug. The versions say it differently: 1.2.0 ends 1 with `External hivmc run fails, ...`;
1.0.0 and 1.1.0 end 0 with `Cannot find hivmc under $PATH` and no output file; the a5 compiler says `Cannot
find hivmc-a5` five times and ends 1. One `Cannot find hivmc` with two lines after it stands at the top of
*every* run without hivmc, failing ones too: that one is noise. A backend that was found and failed has its
command line in the text: `[ERROR] Executing: .../hivmc ...`, even where the compiler then ends 0.
"""

from __future__ import annotations

from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome, Stage


def match(log: Log) -> Diagnosis | None:
    if log.stage is not Stage.COMPILE or log.errors or log.run.output_written:
        return None
    executed = [line for _, line in log.lines_with("[ERROR] Executing: ") if "hivmc" in line]
    if executed:
        return _backend_failed(log, executed[-1])
    missing = [line.strip() for _, line in log.lines_with("Cannot find hivmc")]
    a5 = any("hivmc-a5" in line for line in missing)
    ended_without = log.run.returncode == 0 or log.has("External hivmc run fails") or a5
    if missing and ended_without:
        return Diagnosis(
            Outcome.BACKEND_MISSING,
            Stage.BACKEND,
            "backend-missing",
            message="Cannot find hivmc-a5 under $PATH" if a5 else "Cannot find hivmc under $PATH",
            lines=tuple(dict.fromkeys(missing)),
            remedies=("hivmc comes with CANN: source its set_env.sh. No pass of the compiler failed.",),
        )
    return None


def _backend_failed(log: Log, executed: str) -> Diagnosis:
    before = log.text[: log.text.find(executed)].splitlines()[-12:]
    said = [
        line for line in before if line.strip() and not line.startswith(("[ERROR]", "[WARNING]", "[NOTE]"))
    ]
    return Diagnosis(
        Outcome.FAILED,
        Stage.BACKEND,
        "backend-failed",
        message=said[-1].strip() if said else "External hivmc run fails",
        lines=(*said, executed),
    )


KIND = Kind("backend", Tier.BACKEND, match)
