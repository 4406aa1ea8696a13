"""`npubug minimize`: shrink the compiler input of an archive or of a bare file."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bundler.bundle import FLAKY_RUNS
from bundler.compiler.inputs import check_readable, is_bytecode
from bundler.compiler.invoke import CompileCommand, command_of, default_command
from bundler.compiler.signature import Level
from bundler.compiler.toolchain import ADAPTER, COMPILE, find_opt, find_tool
from bundler.errors import ExitCode, NpubugError

ARCHIVE_NAME = re.compile(r"\.npubug\.(tar\.zst|tar\.gz|tgz|zip)$")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?$")


@dataclass(frozen=True)
class _Job:
    """What to reduce: a file, its command line or lines, and where the result goes."""

    input: Path
    commands: Sequence[CompileCommand]
    archive: Path | None
    output: Path
    suffix: str
    runs: int = 1  # first compiles, to see how steady the failure is


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
    from minimizer.output import check_writable

    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        job = _job(file, output, Path(scratch), compiler, flags)
        check_writable(job.output)
        if job.archive is not None:
            check_writable(job.archive)
        if test is not None:
            return _with_script(job, test, text, jobs, seconds, timeout, as_json)
        return _with_signature(job, Level(match), jobs, seconds, timeout, runs or job.runs, as_json)


def _with_signature(
    job: _Job,
    level: Level,
    jobs: int | None,
    deadline: float | None,
    timeout: float,
    runs: int,
    as_json: bool,
) -> int:
    from bundler.report.progress import ProgressLine
    from minimizer.oracle import default_jobs
    from minimizer.output import reproduce_script, write_file, write_into_archive
    from minimizer.problem import Problem
    from minimizer.reduce import reduce

    problem = Problem.of_failure(job.input, job.commands, level=level, timeout=timeout, runs=runs)
    failure = problem.failure
    assert failure is not None
    _say(f"{job.input.name}: {failure.signature.id}, {problem.program.measure}")
    steady = problem.steadiness
    if not steady.is_steady:
        _say(
            f"it fails only sometimes ({steady.failures} of {steady.runs}): each candidate is compiled up to "
            f"{steady.repeats} times, so that a 'no' is {steady.confidence:.0%} sure"
        )
    with ProgressLine() as line:
        result = reduce(problem, jobs=jobs or default_jobs(), deadline=deadline, on_progress=line.update)
    script_path = _script_path(job.output)
    script = reproduce_script(job.commands, job.output.name, failure)
    write_file(job.output, result.text)
    write_file(script_path, script, executable=True)
    if job.archive is not None:
        inside = reproduce_script(job.commands, f"kernel{job.suffix}", failure)
        write_into_archive(job.archive, result, job.suffix, inside, failure.signature.id)
    return _report(result, job, script_path, failure.signature.id, as_json)


def _with_script(
    job: _Job, test: str, text: bool, jobs: int | None, deadline: float | None, timeout: float, as_json: bool
) -> int:
    from bundler.report.progress import ProgressLine
    from minimizer.oracle import ScriptOracle, absolute_script, default_jobs
    from minimizer.output import write_file
    from minimizer.problem import Problem, check_interesting
    from minimizer.reduce import reduce
    from minimizer.textual import reduce_text

    oracle = ScriptOracle(absolute_script(test), timeout, name=job.input.name)
    many = jobs or default_jobs()
    check_interesting(job.input, oracle)
    with ProgressLine(unit="lines" if text else "ops") as line:
        if text:
            source = job.input.read_text(errors="surrogateescape")
            result = reduce_text(source, oracle, jobs=many, deadline=deadline, on_progress=line.update)
        else:
            problem = Problem.of_script(job.input, oracle, find_opt(job.commands[0].tool).path)
            result = reduce(problem, jobs=many, deadline=deadline, on_progress=line.update)
    write_file(job.output, result.text)
    return _report(result, job, None, "", as_json)


def _job(file: Path, output: Path | None, scratch: Path, compiler: Path | None, flags: str | None) -> _Job:
    chosen = shlex.split(flags) if flags is not None else None
    if not ARCHIVE_NAME.search(file.name):
        commands = [default_command(file, compiler, chosen)]
        if commands[0].tool.name == ADAPTER and chosen is None:
            # A ttir whose adapter stage is healthy may fail in the next one.
            commands += _second_stage()
        check_readable(file)
        # Bytecode comes back as text: the opt tools read both, and people only one.
        suffix = ".mlir" if is_bytecode(file) else "".join(Path(file.name).suffixes[-1:]) or ".mlir"
        target = output or file.with_name(f"{file.name.removesuffix(file.suffix)}.reduced{suffix}")
        return _Job(file, commands, None, target, suffix)
    from bundler.archive import open_archive

    archive = open_archive(file)
    call = next((c for c in archive.manifest.calls if c.id == archive.manifest.failing_call), None)
    member = next((m for m in archive.manifest.members if m.role == "input"), None)
    if call is None or member is None:
        raise NpubugError(
            f"{file.name} holds no failing compile to minimise",
            hint="npubug check tells what is in it",
            code=ExitCode.NOTHING_FAILED,
        )
    suffix = Path(member.name).suffix
    input = scratch / f"kernel{suffix}"
    archive.extract_to(member.name, input)
    suffix = ".mlir" if is_bytecode(input) else suffix
    tool = find_tool(call.tool, compiler).path
    command, _ = command_of(call.argv, tool)
    if chosen is not None:
        command = CompileCommand(tool, tuple(chosen))
    stem = ARCHIVE_NAME.sub("", file.name)
    target = output or file.with_name(f"{stem}.reduced{suffix}")
    steady = all(run.reproduced for run in archive.manifest.evidence if run.name != "barrier")
    return _Job(input, [command], file, target, suffix, runs=1 if steady else FLAKY_RUNS)


def _second_stage() -> list[CompileCommand]:
    try:
        return [default_command(Path("kernel.ttadapter"), find_tool(COMPILE).path, None)]
    except NpubugError:
        return []


def _script_path(output: Path) -> Path:
    return output.with_name(f"{output.name.removesuffix(output.suffix)}.reproduce.sh")


def _report(result: object, job: _Job, script: Path | None, signature: str, as_json: bool) -> int:
    from minimizer.reduce import Result

    assert isinstance(result, Result)
    tally = result.tally
    end = "finished: 1-minimal" if result.finished else "stopped early"
    if result.interrupted:
        end = "interrupted"
    _say(
        f"{result.before.ops} -> {result.after.ops}, {result.before.size} -> {result.after.size} bytes, "
        f"{tally.compiles} compiles in {result.seconds:.1f} s, {tally.invalid} invalid; {end}"
    )
    if not result.confirmed:
        _say("warning: the result did not fail again with the original flags; the input was kept as it was")
    for name, _ in result.finds:
        _say(f"another failure met on the way: {name}")
    _say(f"wrote {job.output}" + (f" and {script.name}" if script is not None else ""))
    if job.archive is not None:
        _say(f"updated {job.archive}")
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


_say: Callable[[str], None] = lambda line: print(f"npubug: {line}", file=sys.stderr, flush=True)  # noqa: E731
