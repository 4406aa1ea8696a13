"""`npubug replay`: does the failure come back here, with this compiler or with all that are here?"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

from bundler.compiler.flakiness import FLAKY_RUNS
from bundler.compiler.toolchain import find_all
from bundler.errors import ExitCode, NpubugError
from bundler.evidence.replay import replay, worst
from bundler.pipeline.subject import subject_of
from bundler.report.replay import render_json, render_text


def run(
    file: Path,
    compilers: tuple[Path, ...],
    all_compilers: bool,
    reduced: bool,
    runs: int | None,
    flags: str | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Returns OK reproduced, INCOMPLETE different failure, NOTHING_FAILED fixed, TOOL_MISSING cannot run."""
    if compilers and all_compilers:
        raise NpubugError(
            "--compiler and --all-compilers exclude each other",
            hint="--compiler can be given several times",
            code=ExitCode.USAGE,
        )
    chosen = shlex.split(flags) if flags is not None else None
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        first = compilers[0] if compilers else None
        subject = subject_of(file, Path(scratch), flags=chosen, compiler=first, reduced=reduced)
        tools: list[Path | None] = list(compilers)
        if all_compilers:
            tools = [tool.path for tool in find_all(subject.tool)]
        many = runs or (1 if subject.steady else FLAKY_RUNS)
        done = [replay(subject, tool, runs=many, timeout=timeout) for tool in tools or [None]]
    sys.stdout.write(render_json(subject.name, done) if as_json else render_text(subject.name, done))
    return worst(done).exit_code
