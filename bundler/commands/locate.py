"""`npubug locate`: the failing pass, the IR just before it, and a file that makes it fail alone."""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from pathlib import Path

from bundler.compiler.examine import require_failure
from bundler.compiler.locate import Located, locate
from bundler.errors import ExitCode, NpubugError
from bundler.pipeline.subject import subject_of
from bundler.report.location import render_json, render_text


def run(
    file: Path,
    output: Path,
    reduced: bool,
    compiler: Path | None,
    flags: str | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Returns OK with a reproducer that was seen to fail alone, INCOMPLETE without one."""
    chosen = shlex.split(flags) if flags is not None else None
    if not output.is_dir():
        raise NpubugError(f"no folder {output}", hint="give a folder by -o", code=ExitCode.USAGE)
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        subject = subject_of(file, Path(scratch), flags=chosen, compiler=compiler, reduced=reduced)
        command = subject.command(compiler)
        found = locate(command, subject.input, timeout=timeout)
        require_failure(found.diagnosis, command.tool.name, file.name)
    before, reproducer = _write(output, subject.name, found)
    render = render_json if as_json else render_text
    sys.stdout.write(render(subject.name, found, before, reproducer))
    return ExitCode.OK if found.reproducer is not None else ExitCode.INCOMPLETE


def _write(folder: Path, name: str, found: Located) -> tuple[Path | None, Path | None]:
    stem = re.sub(r"[^\w.-]+", "_", name)[:100]
    before = reproducer = None
    if found.before is not None:
        before = folder / f"{stem}.before-{re.sub(r'[^a-zA-Z0-9-]+', '_', found.pass_name or 'pass')}.mlir"
        before.write_text(found.before)
    if found.reproducer is not None:
        reproducer = folder / f"{stem}.reproducer.mlir"
        reproducer.write_text(found.reproducer.text)
    return before, reproducer
