"""`npubug show`: the story of an archive on one screen."""

from __future__ import annotations

import sys
from pathlib import Path

from bundler.archive import open_archive
from bundler.errors import ExitCode
from bundler.manifest_json import manifest_to_json


def run(archive: Path, as_json: bool) -> int:
    """Print the story, or with `as_json` the manifest as it is in the archive."""
    manifest = open_archive(archive).manifest
    if as_json:
        sys.stdout.write(manifest_to_json(manifest).decode().rstrip("\n") + "\n")
        return ExitCode.OK
    from rich.console import Console

    from bundler.report.terminal import render_story

    render_story(manifest, Console(highlight=False))
    return ExitCode.OK
