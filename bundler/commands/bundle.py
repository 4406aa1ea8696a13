"""`npubug bundle`: run a command or take an IR file, and write the archive of its failing compile."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from bundler import bundle as pipeline
from bundler.errors import ExitCode, NpubugError
from bundler.redact import Redactor


def run(
    command: tuple[str, ...],
    ir: Path | None,
    output: Path,
    always: bool,
    redact: str,
    words: tuple[str, ...],
    run_timeout: float | None,
    compiler: Path | None,
    flags: str | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Returns the exit code: the command's own when a failure was bundled, NOTHING_FAILED when nothing was."""
    if bool(command) == (ir is not None):
        raise NpubugError(
            "give a command after --, or an IR file with --ir",
            hint="npubug bundle -- python my_kernel.py",
            code=ExitCode.USAGE,
        )
    redactor = Redactor(words=words) if redact == "full" else None
    plan = pipeline.Plan(output=output, timeout=timeout, say=_say, redactor=redactor)
    if ir is not None:
        case = pipeline.case_of_file(ir, compiler, shlex.split(flags) if flags is not None else None)
        return _report(pipeline.bundle(case, plan), as_json, 0)
    with pipeline.work_folder() as folder:
        seen = pipeline.run_recorded(command, Path(folder) / "run", timeout=run_timeout)
        judged = pipeline.judge_capture(seen)
        chosen = pipeline.choose_failing(judged, seen)
        for line in seen.lost:
            _say(f"lost while recording: {line}")
        if chosen is None:
            _say("nothing failed in the compiler" + (f" ({len(judged)} compile calls)" if judged else ""))
            if not judged:
                _say("no compile call was seen: was the kernel compiled by this command at all?")
            for name in pipeline.names(judged):
                _say(f"  {name}")
            if always:
                path = pipeline.bundle_healthy(pipeline.run_name(command) or "run", seen, plan)
                _say(f"wrote {path}")
            if as_json:
                print(json.dumps({"archive": str(path) if always else None, "command_exit": seen.exit_code}))
            return ExitCode.NOTHING_FAILED
        case = pipeline.case_of_capture(seen, *chosen)
        return _report(pipeline.bundle(case, plan), as_json, seen.exit_code)


def _report(done: pipeline.Bundle, as_json: bool, exit_code: int) -> int:
    signature = done.manifest.signature
    assert signature is not None
    place = signature.pass_name or signature.stage
    _say(
        f"{signature.kind} in {place}: {signature.message.splitlines()[0][:160] if signature.message else ''}"
    )
    if not signature.recognised:
        _say("npubug did not recognise this failure; the archive holds the whole log")
    if done.manifest.workaround is not None:
        _say(f"barrier workaround: {done.manifest.workaround.verdict} ({done.manifest.workaround.note})")
    redactions = sum(count for _, count in done.manifest.redactions)
    _say(f"wrote {done.path} ({done.path.stat().st_size / 1024:.0f} KiB, {redactions} redactions)")
    _say(f"next: npubug check {done.path}   npubug minimize {done.path}")
    if as_json:
        result = {
            "archive": str(done.path),
            "signature": signature.id,
            "workaround": done.manifest.workaround.verdict if done.manifest.workaround else None,
            "command_exit": done.manifest.command_exit,
        }
        print(json.dumps(result))
    return exit_code


def _say(line: str) -> None:
    # On stderr, so that the command's own output stays as it is.
    print(f"npubug: {line}", file=sys.stderr, flush=True)
