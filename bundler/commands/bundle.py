"""`npubug bundle`: run a command, or take what is already there, and write the archive of a failing compile."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import signal
import sys
from pathlib import Path

from bundler import bundle as pipeline
from bundler.archive import format_for, open_archive
from bundler.archive.shed import fit, size_of
from bundler.capture.cache import default_cache, default_dump, listing
from bundler.capture.choose import Choice
from bundler.commands.redaction import keeper_for, redactor_for, review_for
from bundler.commands.repack import tell
from bundler.commands.say import say
from bundler.errors import ExitCode, NpubugError
from bundler.pipeline.unrecorded import Source, case_without_rerun
from bundler.report.kernels import render_json, render_text

_ENDED_FROM_OUTSIDE = (128 + signal.SIGHUP, 128 + signal.SIGINT, 128 + signal.SIGTERM)


def run(
    command: tuple[str, ...],
    ir: Path | None,
    cache: str | None,
    dump: str | None,
    log: Path | None,
    kernel: str | None,
    hash: str | None,
    latest: bool,
    as_list: bool,
    output: Path,
    always: bool,
    max_size: str | None,
    redact: str,
    words: tuple[str, ...],
    show_redactions: bool,
    yes: bool,
    run_timeout: float | None,
    via_path: bool | None,
    compiler: Path | None,
    flags: str | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Returns the exit code: the command's own when a failure was bundled, NOTHING_FAILED when nothing was."""
    folder = _folder(cache, dump)
    _check_sources(command, ir, folder, log, chosen=bool(kernel or hash or latest or as_list))
    if as_list and folder is not None:
        return _list(folder, kernel, as_json)
    limit = size_of(max_size) if max_size is not None else None
    redactor = redactor_for(redact, words)
    plan = pipeline.Plan(
        output=output,
        timeout=timeout,
        say=say,
        redactor=redactor,
        review=review_for(redactor, show=show_redactions, yes=yes, say=say),
        written=keeper_for(redactor, say),
    )
    if command:
        return _run_command(
            command,
            plan,
            always=always,
            limit=limit,
            run_timeout=run_timeout,
            via_path=via_path,
            as_json=as_json,
        )
    source = Source(
        folder=folder,
        ir=ir,
        log=log,
        choice=Choice(kernel, hash, latest),
        compiler=compiler,
        flags=tuple(shlex.split(flags)) if flags is not None else None,
    )
    with pipeline.work_folder() as work:
        case = case_without_rerun(source, Path(work), os.environ)
        for note in case.notes:
            say(note)
        try:
            done = pipeline.bundle(case, plan)
        except NpubugError as error:
            if error.code is not ExitCode.NOTHING_FAILED or not always:
                raise
            path = pipeline.bundle_without_failure(case, plan)
            say(f"wrote {path}")
            if as_json:
                print(json.dumps({"archive": str(path), "signature": None}))
            return ExitCode.NOTHING_FAILED
        return _report(done, limit, as_json, ExitCode.OK)


def _folder(cache: str | None, dump: str | None) -> Path | None:
    if cache is not None and dump is not None:
        raise NpubugError("--cache and --dump exclude each other", hint="give one", code=ExitCode.USAGE)
    if cache is not None:
        return Path(cache) if cache else default_cache(os.environ)
    if dump is not None:
        return Path(dump) if dump else default_dump(os.environ)
    return None


def _check_sources(
    command: tuple[str, ...], ir: Path | None, folder: Path | None, log: Path | None, *, chosen: bool
) -> None:
    given = sum((bool(command), ir is not None, folder is not None))
    if given > 1 or (given == 0 and log is None) or (command and log is not None):
        raise NpubugError(
            "give one source: a command after --, --ir FILE, --cache [DIR], --dump [DIR] or --log FILE",
            why="--log goes with --ir, --cache or --dump too" if log is not None else "",
            hint="npubug bundle -- python my_kernel.py",
            code=ExitCode.USAGE,
        )
    if chosen and folder is None:
        raise NpubugError(
            "--kernel, --hash, --latest and --list choose from a cache or a dump",
            hint="npubug bundle --cache --list",
            code=ExitCode.USAGE,
        )


def _list(folder: Path, kernel: str | None, as_json: bool) -> int:
    found = listing(folder)
    kernels = [each for each in found.kernels if kernel is None or each.name == kernel]
    sys.stdout.write(render_json(kernels, found.unreadable) if as_json else render_text(kernels))
    if found.unreadable:
        say(f"{found.unreadable} folders cannot be read: they belong to another user")
    return ExitCode.OK if kernels else ExitCode.NOTHING_FAILED


def _run_command(
    command: tuple[str, ...],
    plan: pipeline.Plan,
    *,
    always: bool,
    limit: int | None,
    run_timeout: float | None,
    via_path: bool | None,
    as_json: bool,
) -> int:
    with pipeline.work_folder() as folder:
        seen = pipeline.run_recorded(command, Path(folder) / "run", timeout=run_timeout, via_path=via_path)
        judged = pipeline.judge_capture(seen)
        for line in seen.lost:
            say(f"lost while recording: {line}")
        at_run_time = pipeline.runtime_failure(judged, seen, anything=always)
        if at_run_time is not None:
            case = pipeline.case_of_runtime(seen, at_run_time, judged)
            return _report(pipeline.bundle_runtime(case, plan), limit, as_json, seen.exit_code)
        chosen = pipeline.choose_failing(judged, seen)
        if chosen is None and not judged and seen.exit_code != 0 and _left_without_binary(seen.cache_dir):
            say(
                "the recorder saw no compile, but one left no binary: taken from the cache that this run filled"
            )
            say("npubug bundle --via-path -- COMMAND would record the call itself")
            case = case_without_rerun(Source(folder=seen.cache_dir), Path(folder), os.environ)
            ran = f"from the cache of a run of: {shlex.join(command)}"
            case = dataclasses.replace(case, notes=(*case.notes, ran))
            return _report(pipeline.bundle(case, plan), limit, as_json, seen.exit_code)
        if chosen is None:
            say("nothing failed in the compiler" + (f" ({len(judged)} compile calls)" if judged else ""))
            if not judged:
                say("no compile call was seen: was the kernel compiled by this command at all?")
            for name in pipeline.names(judged):
                say(f"  {name}")
            for line in pipeline.unexplained_end(judged, seen):
                say(line)
            if always:
                path = pipeline.bundle_healthy(pipeline.run_name(command) or "run", seen, plan)
                _shrink(path, limit)
                say(f"wrote {path}")
            if as_json:
                print(json.dumps({"archive": str(path) if always else None, "command_exit": seen.exit_code}))
            if seen.exit_code in _ENDED_FROM_OUTSIDE:
                return ExitCode.INTERRUPTED
            return ExitCode.NOTHING_FAILED
        case = pipeline.case_of_capture(seen, *chosen)
        return _report(pipeline.bundle(case, plan), limit, as_json, seen.exit_code)


def _left_without_binary(cache: Path) -> bool:
    return any(not kernel.compiled for kernel in listing(cache).kernels)


def _shrink(path: Path, limit: int | None) -> None:
    """Leave things out of a finished archive until it fits; one that cannot fit stays whole, as an error says."""
    if limit is not None and path.stat().st_size > limit:
        before = len(open_archive(path).manifest.drops)
        tell(fit(path, path, limit, format_for(path)).drops[before:])


def _report(done: pipeline.Bundle, limit: int | None, as_json: bool, exit_code: int) -> int:
    _shrink(done.path, limit)
    signature = done.manifest.signature
    assert signature is not None
    place = signature.pass_name or signature.stage
    say(
        f"{signature.kind} in {place}: {signature.message.splitlines()[0][:160] if signature.message else ''}"
    )
    if not signature.recognised:
        say("npubug did not recognise this failure; the archive holds the whole log")
    if done.manifest.workaround is not None:
        say(f"barrier workaround: {done.manifest.workaround.verdict} ({done.manifest.workaround.note})")
    redactions = sum(count for _, count in done.manifest.redactions)
    say(f"wrote {done.path} ({done.path.stat().st_size / 1024:.0f} KiB, {redactions} redactions)")
    name = shlex.quote(f"./{done.path}" if str(done.path).startswith("-") else str(done.path))
    say(f"next: npubug check {name}   npubug minimize {name}")
    if as_json:
        result = {
            "archive": str(done.path),
            "signature": signature.id,
            "workaround": done.manifest.workaround.verdict if done.manifest.workaround else None,
            "command_exit": done.manifest.command_exit,
        }
        print(json.dumps(result))
    return exit_code
