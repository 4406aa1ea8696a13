"""`npubug passes`: what each pass of the failing compile did to the IR."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bundler.archive import ARCHIVE_NAME, open_archive
from bundler.archive.streams import CHUNK
from bundler.compiler.lifetime import lives
from bundler.compiler.passes import Step, index, steps
from bundler.errors import ExitCode, NpubugError
from bundler.printable import printable

_LOG = "logs/after-all.log"
_Log = Callable[[], Iterator[bytes]]


def run(file: Path, everything: bool, diff: str | None, grep: str | None, as_json: bool) -> int:
    """List the passes of an archive or of a log file, or show one (`diff`), or search all dumps (`grep`).

    Returns OK; with `grep`, NOTHING_FAILED when no dump holds it, as grep itself does with another number.
    """
    if diff is not None and grep is not None:
        raise NpubugError("--diff and --grep are two questions", hint="ask one", code=ExitCode.USAGE)
    log = _log(file)
    if diff is not None:
        return _diff(log, diff, as_json)
    if grep is not None:
        return _grep(log, grep, as_json)
    return _list(log, file, everything, as_json)


def _list(log: _Log, file: Path, everything: bool, as_json: bool) -> int:
    from bundler.report.passes import JSON_VERSION, plain_run, render_list

    runs = index(log())
    first = next(runs, None)
    if first is None:
        raise NpubugError(
            f"'{printable(file.name, 200)}' shows the IR after no pass",
            why="it holds no log made with --mlir-print-ir-after-all",
            hint="npubug bundle makes that log; npubug check tells what else is missing",
            code=ExitCode.INCOMPLETE,
        )

    every = itertools.chain((first,), runs)
    if as_json:
        # Written one by one: there may be a hundred thousand.
        sys.stdout.write(f'{{"version": {JSON_VERSION}, "passes": [')
        for number, each in enumerate(every):
            comma = "," if number else ""
            sys.stdout.write(f"{comma}\n{json.dumps(plain_run(each), ensure_ascii=False)}")
        sys.stdout.write("\n]}\n")
        return ExitCode.OK
    for line in render_list(every, everything=everything):
        print(line)
    return ExitCode.OK


def _diff(log: _Log, wanted: str, as_json: bool) -> int:
    from bundler.report.passes import plain_change, render_change
    from bundler.report.story import change_of

    chosen: Step | None = None
    numbers: list[int] = []
    for step in steps(log()):
        if wanted.isdigit():
            if step.run.order == int(wanted):
                chosen = step
                break
        elif wanted in (step.run.name, step.run.pass_class):
            numbers.append(step.run.order)
            # The last one that did something says most; of a pass that never does, the last.
            if chosen is None or _tells(step) or not _tells(chosen):
                chosen = step
    if chosen is None:
        raise NpubugError(
            f"no pass '{printable(wanted, 80)}' in the log",
            hint="npubug passes ARCHIVE --all lists them; a pass is named by its argument or its number",
            code=ExitCode.INVALID_INPUT,
        )
    change = change_of(chosen, most_rows=5000)
    if as_json:
        print(json.dumps({"version": 1, **plain_change(change)}, ensure_ascii=False))
        return ExitCode.OK
    from bundler.report.terminal import console

    others = [number for number in numbers if number != chosen.run.order]
    render_change(change, others, console())
    return ExitCode.OK


def _tells(step: Step) -> bool:
    return step.run.changed or step.run.failed


def _grep(log: _Log, pattern: str, as_json: bool) -> int:
    from bundler.report.passes import plain_life, render_lives

    try:
        compiled = re.compile(pattern.encode("utf-8", "surrogateescape"), re.MULTILINE)
    except re.error as error:
        raise NpubugError(
            f"'{printable(pattern, 80)}' is not a regular expression",
            why=str(error),
            hint="put a backslash before each of . * + ? ( ) [ ] { } that is meant as it stands",
            code=ExitCode.USAGE,
        ) from error
    found = list(lives(log(), compiled))
    if as_json:
        document = {"version": 1, "pattern": pattern, "lives": [plain_life(life) for life in found]}
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        for line in render_lives(found, pattern):
            print(line)
    return ExitCode.OK if found else ExitCode.NOTHING_FAILED


def _log(file: Path) -> _Log:
    """How to stream the log of a file: the archive's, or the file itself."""
    if ARCHIVE_NAME.search(file.name):
        from bundler.report.story import member_chunks

        archive = open_archive(file)
        return lambda: member_chunks(archive, _LOG)
    if not file.is_file():
        raise NpubugError(f"no file {printable(str(file), 200)}", code=ExitCode.INVALID_INPUT)
    return lambda: _file_chunks(file)


def _file_chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            yield chunk
