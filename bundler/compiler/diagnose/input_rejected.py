"""The input never reached a pass: it does not parse, or its first verification fails.

`bishengir-compile` says so itself, in all versions: `[ERROR] Failed to parse input file:  PATH`. The opt
tools only print the error, so there it is told from a pass's error by the parser's own wording, or by a
command line that has the failing pass dumped and yet no dump. For a reducer this is an invalid candidate.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._crash import crash_signal
from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log, Report, passes_of
from bundler.compiler.outcome import Diagnosis, Outcome, Stage

_MARK = "Failed to parse input file"
# mlir/lib/AsmParser and the op parsers it calls; none of these is worded like this by a pass.
_PARSER = re.compile(
    r"expected (?:'|[a-z-]+ (?:in|after|before|to|name|type|attribute)|SSA|operation|.*\bor\b)"
    r"|custom op '|use of (?:undeclared|value)|redefinition of|undefined symbol alias"
    r"|unknown (?:token|attribute)|unregistered dialect|Dialect `|operation being parsed|unexpected"
    r"|invalid (?:escape|properties|SSA)"
    r"|block with no terminator|reference to an? (?:undefined|unknown)|definition of SSA value"
    r"|attribute '[^']*' occurs more than once|cannot name an operation with no results"
)


# The verifier of `func.return`, which no pass can be waiting for.
_VERIFIER = re.compile(r"type of return operand \d+ ")


def match(log: Log) -> Diagnosis | None:
    if crash_signal(log) is not None:
        return None
    if log.has(_MARK):
        line = log.line_with(_MARK).strip()
        return _rejected(log, log.leading or Report("", line, line, 0))
    if log.stage not in (Stage.PASS, Stage.ADAPTER) or log.leading is None or log.failed_pass is not None:
        return None
    if _is_about_input(log.leading.message) or not _runs_a_pass(log) or _would_have_dumped(log):
        return _rejected(log, log.leading)
    return None


def _is_about_input(message: str) -> bool:
    return bool(_PARSER.match(message) or _VERIFIER.match(message))


def _runs_a_pass(log: Log) -> bool:
    """Whether an opt tool was asked for any pass; without one only the parser and the verifier speak."""
    argv = log.run.argv
    named = ("--run-reproducer", "--pass-pipeline")
    return not argv or bool(passes_of(argv)) or any(word.startswith(named) for word in argv)


def _would_have_dumped(log: Log) -> bool:
    """Whether a pass that failed would have left a dump, which is not there."""
    return any(word.startswith("--mlir-print-ir-after-failure") for word in log.run.argv)


def _rejected(log: Log, report: Report) -> Diagnosis:
    return Diagnosis(
        Outcome.INVALID_INPUT,
        log.stage,
        "parse-error" if _PARSER.match(report.message) else "input-verifier",
        message=report.message,
        lines=tuple(each.line for each in log.errors[:8]) or (report.line,),
        location=report.location or None,
        remedies=("The input itself is not valid IR for this compiler version; no pass ran.",),
    )


KIND = Kind("input-rejected", Tier.INPUT, match)
