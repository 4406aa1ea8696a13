"""`npubug diagnose`: what failed, told from a log or from compiling an IR file."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from bundler.archive import ARCHIVE_NAME
from bundler.compiler.examine import Examination, examine
from bundler.compiler.flakiness import determinism, rerun
from bundler.compiler.handoff import ir_for_backend
from bundler.compiler.inputs import IR_ENDINGS, check_readable
from bundler.compiler.invoke import default_command
from bundler.compiler.outcome import Outcome, ToolRun
from bundler.compiler.toolchain import ADAPTER
from bundler.errors import ExitCode, NpubugError
from bundler.report.diagnosis import (
    finding_of,
    findings_in,
    render_json,
    render_reproducibility,
    render_text,
)

_LARGEST_LOG = 1 << 30
_GOOD = (Outcome.HEALTHY, Outcome.BACKEND_MISSING)


def run(file: str, runs: int, compiler: Path | None, flags: str | None, timeout: float, as_json: bool) -> int:
    """Returns OK when a failure was found, NOTHING_FAILED when none was."""
    if file != "-" and file.endswith(IR_ENDINGS):
        chosen = shlex.split(flags) if flags is not None else None
        return _compile(Path(file), runs, compiler, chosen, timeout, as_json)
    if ARCHIVE_NAME.search(file):
        raise NpubugError(
            f"{Path(file).name} is an archive, not a log",
            hint=f"npubug show {shlex.quote(file)}",
            code=ExitCode.USAGE,
        )
    findings = findings_in(_read(file), read=_source)
    sys.stdout.write(render_json(findings) if as_json else render_text(findings))
    return ExitCode.OK if any(f.diagnosis.outcome.is_bug for f in findings) else ExitCode.NOTHING_FAILED


def _compile(
    path: Path, runs: int, compiler: Path | None, flags: list[str] | None, timeout: float, as_json: bool
) -> int:
    check_readable(path)
    command = default_command(path, compiler, flags)
    examinations: list[Examination] = []

    def once() -> ToolRun:
        examinations.append(examine([command], path, timeout=timeout))
        return examinations[-1].run

    seen = rerun(once, runs)
    ir = path.read_text(errors="replace") if path.stat().st_size < _LARGEST_LOG else None
    first = {e.signature.id: e.run for e in reversed(examinations)}
    findings = [finding_of(first[each.signature.id], ir=ir, read=_source) for each in seen.observed]
    passes = all(each.example.outcome in _GOOD for each in seen.observed)
    outputs = None
    if passes and runs > 1 and command.tool.name != ADAPTER:
        outputs = determinism(lambda: ir_for_backend(command, path, timeout=timeout), runs)
    failing = any(each.example.outcome.is_bug for each in seen.observed)
    if as_json:
        document = json.loads(render_json(findings))
        document["runs"] = {"runs": seen.runs, "failures": seen.failures, "rate": seen.rate}
        document["deterministic"] = outputs.is_deterministic if outputs is not None else None
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        sys.stdout.write(render_text(findings))
        if failing or outputs is not None:
            print(render_reproducibility(seen, outputs).rstrip("\n"))
    return ExitCode.OK if failing else ExitCode.NOTHING_FAILED


def _read(file: str) -> str:
    try:
        if file == "-":
            data = sys.stdin.buffer.read(_LARGEST_LOG)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(_LARGEST_LOG)
    except OSError as error:
        raise NpubugError(
            f"cannot read {file}", why=error.strerror or str(error), code=ExitCode.INVALID_INPUT
        ) from error
    return data.decode(errors="replace")


def _source(path: str) -> str | None:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return None
