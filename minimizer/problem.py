"""The reduction problem: what is to be made small, and what must stay true of it.

`Problem.of_failure` does everything that must be known before the first candidate: it compiles the input once with
the original command line, and finds the cheapest equivalent flags.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from xdsl.utils.exceptions import ParseError

from bundler.compiler.examine import Examination, examine, require_failure
from bundler.compiler.inputs import check_readable
from bundler.compiler.invoke import CompileCommand
from bundler.compiler.signature import Level, matches
from bundler.compiler.toolchain import find_opt
from bundler.errors import ExitCode, NpubugError
from minimizer.ir.convert import to_generic
from minimizer.ir.program import Program
from minimizer.oracle import Judgement, Oracle, ReadableOracle, RepeatingOracle, SignatureOracle, Verdict
from minimizer.steadiness import Steadiness

# 1.2.0 retries an overflowing compile with these off, one after the other; given outright, the same failure
# comes at once. One kernel gives several threads nothing to do, and candidates run side by side already.
# Whether that holds for an input is tried, not assumed.
_CHEAPER = ("--enable-code-motion=false", "--enable-auto-multi-buffer=false", "--mlir-disable-threading")
_MORE_RUNS = 9  # further compiles of an input whose failure did not come again at once


@dataclass(frozen=True)
class Problem:
    """A failing input and how to ask whether a candidate still fails.

    Attributes:
        program: the input, parsed.
        oracle: the cheap question, asked of every candidate.
        judge: the expensive question: the original flags. Asked of the result.
        opt: the tool that prints the readable form.
        failure: how the input failed, or None for a script oracle.
        steadiness: how often it did.
        finds: other failures met, filled by the oracles.
    """

    program: Program
    oracle: Oracle
    judge: Oracle
    opt: Path
    failure: Examination | None
    steadiness: Steadiness
    finds: dict[str, str]

    @classmethod
    def of_failure(
        cls,
        path: Path,
        commands: Sequence[CompileCommand],
        first: Future[tuple[Examination, Steadiness]],
        *,
        level: Level,
        timeout: float,
    ) -> Problem:
        """A problem whose oracle is the input's own failure signature.

        Args:
            commands: the original command line or lines (see `bundler.compiler.examine`).
            first: how the input fails, see `minimizer.steadiness.first_failure`; it may still be running. One
                compile is enough for a steady failure: it is asked again, in another print and with other flags,
                before the search begins.
            timeout: seconds for the first compile; candidates get a multiple of what that took.

        Raises:
            NpubugError: the input does not fail (NOTHING_FAILED), is not MLIR (INVALID_INPUT), or a tool is
                missing.
        """
        check_readable(path)
        opt = find_opt(commands[0].tool).path
        cheap = [command.with_flags(*filter(command.supports, _CHEAPER)) for command in commands]
        # The first compile can take seconds; parsing, and asking the cheaper question, run meanwhile.
        try:
            program = parse(opt, path)
        except NpubugError:
            _require_failure(first.result()[0], path)  # a better answer, if it is "this is healthy"
            raise
        quick = _examine_text(cheap, program.text, timeout)
        failure, steadiness = first.result()
        _require_failure(failure, path)
        same = matches(quick.signature, failure.signature, level)
        limit = timeout if failure.run.timed_out else max(10.0, 5 * failure.run.seconds)
        finds: dict[str, str] = {}
        original = SignatureOracle(commands, failure.signature, level, limit, finds=finds)
        if steadiness.is_steady and same:
            quickly = SignatureOracle(cheap, failure.signature, level, limit, finds=finds)
            return cls(program, quickly, original, opt, failure, steadiness, finds)
        if steadiness.is_steady and _holds(original.judge(program.text)):
            return cls(program, original, original, opt, failure, steadiness, finds)
        # It did not come again: either it comes only sometimes, or the new print made it go away.
        again = [examine(commands, path, timeout=limit).signature for _ in range(_MORE_RUNS)]
        came = sum(matches(signature, failure.signature, level) for signature in again)
        steadiness = steadiness.more(came, _MORE_RUNS)
        patient = RepeatingOracle(original, steadiness.repeats)
        if steadiness.is_steady or not _holds(patient.judge(program.text)):
            raise _lost_by_printing()
        return cls(program, patient, patient, opt, failure, steadiness, finds)

    @classmethod
    def of_script(cls, path: Path, oracle: Oracle, compiler: Path) -> Problem:
        """A problem whose oracle is a user's script; the script sees candidates in the readable form if it must.

        Raises:
            NpubugError: the script finds the input uninteresting once it is printed again (NOTHING_FAILED), or
                the input is not MLIR (INVALID_INPUT).
        """
        opt = find_opt(compiler).path
        program = parse(opt, path)
        for form in (oracle, ReadableOracle(oracle, opt)):
            if _holds(form.judge(program.text)):
                return cls(program, form, oracle, opt, None, Steadiness(1, 1), {})
        raise _lost_by_printing()


def check_interesting(path: Path, oracle: Oracle) -> None:
    """Make sure that the oracle wants the input as it is.

    Raises:
        NpubugError: it does not (NOTHING_FAILED), or the file cannot be read (INVALID_INPUT).
    """
    check_readable(path)
    if oracle.judge(path.read_text(errors="surrogateescape")).verdict is not Verdict.INTERESTING:
        raise NpubugError(
            f"the test does not find {path.name} itself interesting",
            why="it must exit with 0 for the input as it is",
            hint=f"run it by hand: SCRIPT {path}; echo $?",
            code=ExitCode.NOTHING_FAILED,
        )


def parse(opt: Path, path: Path) -> Program:
    """Read an IR file through the opt tool.

    Raises:
        NpubugError: it is not MLIR, or uses what xDSL does not know; exit code INVALID_INPUT.
    """
    try:
        return Program.parse(to_generic(opt, path))
    except ParseError as error:
        raise NpubugError(
            f"{path.name} is MLIR, but has a construct that the reducer's IR library does not know",
            why=str(error).strip().splitlines()[-1][:300] if str(error).strip() else "",
            hint="reduce it with --text, which works on lines and brackets",
            code=ExitCode.INVALID_INPUT,
        ) from error


def _require_failure(seen: Examination, path: Path) -> None:
    require_failure(seen.diagnosis, seen.command.tool.name, path.name)


def _examine_text(commands: Sequence[CompileCommand], text: str, timeout: float) -> Examination:
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        path = Path(scratch) / "kernel.mlir"
        path.write_text(text)
        return examine(commands, path, timeout=timeout)


def _lost_by_printing() -> NpubugError:
    return NpubugError(
        "the input is interesting as it is written, but not once its MLIR is printed again",
        why="what makes it so is in the text: locations, names or syntax",
        hint="reduce it with --text --test SCRIPT, which works on lines and brackets",
        code=ExitCode.NOTHING_FAILED,
    )


def _holds(judgement: Judgement) -> bool:
    return judgement.verdict is Verdict.INTERESTING
