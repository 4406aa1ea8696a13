"""`npubug diff`: what differs between two archives."""

from __future__ import annotations

import sys
from pathlib import Path

from bundler.archive import open_archive
from bundler.errors import ExitCode


def run(a: Path, b: Path, as_json: bool) -> int:
    """Print what differs. Returns OK, whether or not anything does."""
    from bundler.report.comparison import compare
    from bundler.report.comparison_text import render_json, render_text

    found = compare(open_archive(a), open_archive(b))
    sys.stdout.write(render_json(found) if as_json else render_text(found))
    return ExitCode.OK
