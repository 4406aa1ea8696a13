"""Every pass ran, and then the closed backend was missing, or failed.

Missing is not a bug. The versions say it differently: 1.2.0 ends 1 with `External hivmc run fails, ...`;
1.0.0 and 1.1.0 end 0 with `Cannot find hivmc under $PATH` and no output file; the a5 compiler says `Cannot
find hivmc-a5` five times and ends 1. One `Cannot find hivmc` with two lines after it stands at the top of
*every* run without hivmc, failing ones too: that one is noise.

A backend that was found and failed has its command line in the text: `[ERROR] Executing: .../hivmc ...`
(1.0.0 and 1.1.0 end 0 even then); before CANN 8.5 it was `error executing : .../bin/bisheng` and `Failed to
compile BiShengLIR for device`.
"""

from __future__ import annotations

from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome, Stage

_OWN_LINES = (
    "[ERROR]",
    "[WARNING]",
    "[NOTE]",
    "Thread model:",
    "InstalledDir:",
    "Target:",
    "error executing",
)


def match(log: Log) -> Diagnosis | None:
    if log.stage not in (Stage.COMPILE, Stage.BACKEND) or log.errors or log.run.output_written:
        return None
    executed = [*log.lines_with("[ERROR] Executing: "), *log.lines_with("error executing : ")]
    if executed:
        return _backend_failed(log, *executed[0])
    missing = [line.strip() for _, line in log.lines_with("Cannot find hivmc")]
    a5 = any("hivmc-a5" in line for line in missing)
    # A healthy compile without output that ended 0 cannot be told from one that wrote its file, except so.
    asked_twice = log.run.returncode == 0 and (len(missing) > 1 or log.run.output_written is False)
    if missing and (asked_twice or log.has("External hivmc run fails") or a5):
        return Diagnosis(
            Outcome.BACKEND_MISSING,
            Stage.BACKEND,
            "backend-missing",
            message="Cannot find the backend under $PATH",
            lines=tuple(dict.fromkeys(missing)),
            remedies=("hivmc comes with CANN: source its set_env.sh. No pass of the compiler failed.",),
        )
    return None


def _backend_failed(log: Log, position: int, executed: str) -> Diagnosis:
    before = log.text[max(0, position - 4000) : position].splitlines()[-20:]
    said = [line.strip() for line in before if line.strip() and not line.startswith(_OWN_LINES)]
    errors = [line for line in said if "error:" in line] or said[-1:]
    return Diagnosis(
        Outcome.FAILED,
        Stage.BACKEND,
        "backend-failed",
        message=errors[0] if errors else "the backend failed and printed nothing",
        lines=(*said[-8:], executed.strip()),
    )


KIND = Kind("backend", Tier.BACKEND, match)
