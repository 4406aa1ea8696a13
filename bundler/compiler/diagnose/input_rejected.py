"""The input never reached a pass: it does not parse, or its first verification fails.

`bishengir-compile` says so itself, in all versions: `[ERROR] Failed to parse input file:  PATH`. The opt
tools only print the error, so there it is told from a pass's error by the parser's own wording, or by a
command line that has the failing pass dumped and yet no dump. For a reducer this is an invalid candidate.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log, Report
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
_OWN_OPTIONS = ("-o", "--mlir-print", "--allow-unregistered", "--split-input", "--verify", "--emit-bytecode")


def match(log: Log) -> Diagnosis | None:
    if log.has(_MARK):
        report = log.errors[0] if log.errors else Report("", log.line_with(_MARK), log.line_with(_MARK), 0)
        return _rejected(log, report)
    if log.stage not in (Stage.PASS, Stage.ADAPTER) or not log.errors or log.pass_name is not None:
        return None
    if _PARSER.match(log.errors[0].message) or not _runs_a_pass(log) or _would_have_dumped(log):
        return _rejected(log, log.errors[0])
    return None


def _runs_a_pass(log: Log) -> bool:
    """Whether the command line of an opt tool names any pass; without one only parser and verifier speak."""
    options = [arg for arg in log.run.argv[1:] if arg.startswith("-") and arg != "-"]
    return any(not arg.startswith(_OWN_OPTIONS) for arg in options) or not log.run.argv


def _would_have_dumped(log: Log) -> bool:
    asked = any(arg.startswith("--mlir-print-ir-after-failure") for arg in log.run.argv)
    return asked and log.run.returncode is not None and log.run.returncode > 0


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
