"""`npubug minimize`: shrink the compiler input of an archive or of a bare file."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bundler.commands.say import say
from bundler.compiler.signature import Level
from bundler.errors import ExitCode, NpubugError

if TYPE_CHECKING:
    from minimizer.job import Job
    from minimizer.journal import Journal
    from minimizer.oracle import ScriptOracle
    from minimizer.reduce import Result

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?$")


def run(
    file: Path,
    deadline: str | None,
    jobs: int | None,
    output: Path | None,
    test: str | None,
    text: bool,
    match: str,
    compiler: Path | None,
    flags: str | None,
    timeout: float,
    runs: int | None,
    as_json: bool,
) -> int:
    """Returns OK, or INTERRUPTED after Ctrl-C; the best result so far is written in both cases."""
    _require_xdsl()
    seconds = duration(deadline) if deadline is not None else None
    if text and test is None:
        raise NpubugError(
            "--text needs --test",
            why="as text, only a script can tell what is still interesting",
            hint="npubug minimize FILE --text --test ./interesting.sh",
            code=ExitCode.USAGE,
        )
    if not file.is_file():
        raise NpubugError(f"no file {file}", code=ExitCode.INVALID_INPUT)
    from minimizer.job import check_writable, job_of
    from minimizer.oracle import ScriptOracle, absolute_script, default_jobs

    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        chosen = shlex.split(flags) if flags is not None else None
        job = job_of(file, output=output, scratch=Path(scratch), compiler=compiler, flags=chosen)
        check_writable(job.output)
        if job.archive is not None:
            check_writable(job.archive)
        many = jobs or default_jobs()
        if test is not None:
            oracle = ScriptOracle(absolute_script(test), timeout, name=job.input.name)
            return _with_script(job, oracle, text, many, seconds, as_json)
        return _with_signature(job, Level(match), many, seconds, timeout, runs or job.runs, as_json)


def _with_signature(
    job: Job, level: Level, jobs: int, deadline: float | None, timeout: float, runs: int, as_json: bool
) -> int:
    from bundler.report.progress import ProgressLine
    from minimizer.steadiness import first_failure

    with ThreadPoolExecutor(1) as pool:
        # Importing the reducer takes a third of a second: the first compile runs meanwhile.
        first = pool.submit(first_failure, job.commands, job.input, timeout, runs)
        from minimizer.output import write_reduction
        from minimizer.problem import Problem
        from minimizer.reduce import reduce

        problem = Problem.of_failure(job.input, job.commands, first, level=level, timeout=timeout)
    failure = problem.failure
    assert failure is not None
    say(f"{job.input.name}: {failure.signature.id}, {problem.program.measure}")
    steady = problem.steadiness
    if not steady.is_steady:
        say(
            f"it fails only sometimes ({steady.failures} of {steady.runs}): each candidate is compiled up to "
            f"{steady.repeats} times, so that a 'no' is {steady.confidence:.0%} sure"
        )
    with _journal(job, f"{level.value} {failure.signature.id}") as journal, ProgressLine() as line:
        result = reduce(problem, jobs=jobs, deadline=deadline, on_progress=line.update, journal=journal)
        journal.close(discard=result.finished)
    write_reduction(job, result, failure)
    return _report(result, job, job.script, failure.signature.id, as_json)


def _with_script(
    job: Job, oracle: ScriptOracle, text: bool, jobs: int, deadline: float | None, as_json: bool
) -> int:
    from bundler.report.progress import ProgressLine
    from minimizer.output import write_file
    from minimizer.problem import Problem, check_interesting
    from minimizer.reduce import reduce
    from minimizer.textual import reduce_text

    check_interesting(job.input, oracle)
    with ProgressLine(unit="lines" if text else "ops") as line:
        if text:
            source = job.input.read_text(errors="surrogateescape")
            result = reduce_text(source, oracle, jobs=jobs, deadline=deadline, on_progress=line.update)
        else:
            problem = Problem.of_script(job.input, oracle, job.commands[0].tool)
            with _journal(job, _script_identity(oracle.script)) as journal:
                result = reduce(
                    problem, jobs=jobs, deadline=deadline, on_progress=line.update, journal=journal
                )
                journal.close(discard=result.finished)
    write_file(job.output, result.text)
    return _report(result, job, None, "", as_json)


@contextmanager
def _journal(job: Job, question: str) -> Iterator[Journal]:
    """The job's journal; closed at the end, and left behind unless the reduction finished."""
    from minimizer.journal import Journal

    journal = Journal(job.journal, job.about(question), say)
    known = len(journal.verdicts())
    if known:
        say(f"going on: {known} verdicts are in {job.journal.name}")
    try:
        yield journal
    finally:
        journal.close()


def _script_identity(script: str) -> str:
    """The script's words, and the content of its file if it is one: an edited test asks another question."""
    path = Path(script.partition(" ")[0])
    content = path.read_bytes() if path.is_file() else b""
    return f"{script} {hashlib.sha256(content).hexdigest()}"


def _report(result: Result, job: Job, script: Path | None, signature: str, as_json: bool) -> int:
    tally = result.tally
    end = "finished: 1-minimal" if result.finished else "stopped early; the same command goes on from here"
    if result.interrupted:
        end = "interrupted; the same command goes on from here"
    say(
        f"{result.before.ops} -> {result.after.ops}, {result.before.size} -> {result.after.size} bytes, "
        f"{tally.compiles} compiles in {result.seconds:.1f} s, {tally.invalid} invalid; {end}"
    )
    if not result.confirmed:
        say("warning: the result did not fail again with the original flags; the input was kept as it was")
    for name, _ in result.finds:
        say(f"another failure met on the way: {name}")
    say(f"wrote {job.output}" + (f" and {script.name}" if script is not None else ""))
    if job.archive is not None:
        say(f"updated {job.archive}")
    if as_json:
        print(
            json.dumps(
                {
                    "reduced": str(job.output),
                    "script": str(script) if script is not None else None,
                    "archive": str(job.archive) if job.archive is not None else None,
                    "signature": signature,
                    "ops": [result.before.ops, result.after.ops],
                    "bytes": [result.before.size, result.after.size],
                    "candidates": tally.candidates,
                    "compiles": tally.compiles,
                    "invalid": tally.invalid,
                    "seconds": round(result.seconds, 2),
                    "finished": result.finished,
                    "confirmed": result.confirmed,
                    "finds": [name for name, _ in result.finds],
                }
            )
        )
    return ExitCode.INTERRUPTED if result.interrupted else ExitCode.OK


def duration(text: str) -> float:
    """Seconds of `90`, `90s`, `30m` or `2h`.

    Raises:
        NpubugError: it is none of these.
    """
    found = _DURATION.match(text.strip())
    if found is None:
        raise NpubugError(f"{text!r} is not a time", hint="write 90s, 30m or 2h", code=ExitCode.USAGE)
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600, None: 1}[found[2]]


def _require_xdsl() -> None:
    if sys.version_info < (3, 10):
        raise NpubugError(
            "minimize needs Python 3.10 or newer",
            why="its IR library, xDSL, does; bundling works on 3.9",
            hint="run npubug minimize on the archive with another Python, on any x86_64 Linux machine",
            code=ExitCode.TOOL_MISSING,
        )
