"""`npubug dedupe`: the archives of a folder, grouped by failure."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from bundler.archive import ARCHIVE_NAME, open_archive
from bundler.errors import ExitCode, NpubugError
from bundler.printable import printable


def run(folder: Path, as_json: bool) -> int:
    """Print the groups. Returns OK, or INVALID_INPUT if an archive is not valid; the others are told then too."""
    from bundler.report.groups import entry_of, group, render_json, render_text

    if not folder.is_dir():
        raise NpubugError(f"no folder {printable(str(folder), 200)}", code=ExitCode.INVALID_INPUT)
    entries, invalid = [], []
    for path in _archives(folder):
        name = str(path.relative_to(folder))
        try:
            entries.append(entry_of(open_archive(path), name))
        except NpubugError as error:
            invalid.append((name, error.why or error.what))
    if not entries and not invalid:
        raise NpubugError(
            f"no archive in {printable(str(folder), 200)}",
            hint="npubug bundle makes one: its name ends in .npubug.tar.zst",
            code=ExitCode.INVALID_INPUT,
        )
    groups = group(entries)
    sys.stdout.write(render_json(groups, invalid) if as_json else render_text(groups, invalid))
    return ExitCode.INVALID_INPUT if invalid else ExitCode.OK


def _archives(folder: Path) -> Iterator[Path]:
    """Every archive below a folder, in the order of names; linked folders are not followed."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if ARCHIVE_NAME.search(name):
                yield Path(place, name)
