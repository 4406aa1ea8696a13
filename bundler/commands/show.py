"""`npubug show`: the story of an archive on one screen, or as a page."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bundler.archive import ARCHIVE_NAME, open_archive
from bundler.archive.atomic import replacing
from bundler.errors import ExitCode, NpubugError
from bundler.manifest_json import manifest_to_json
from bundler.printable import printable


def run(archive: Path | None, as_json: bool, html: str | None) -> int:
    """Print the story, or with `as_json` the manifest as it is in the archive, or with `html` write a page.

    Args:
        html: the page's file, `-` for standard output, empty for a name after the archive's. Without an
            archive, it is the archive: `--html ARCHIVE` reads as `--html` without a value.
    """
    if archive is None and html and ARCHIVE_NAME.search(html):
        archive, html = Path(html), ""
    if archive is None:
        raise NpubugError(
            "give the archive to show", hint="npubug show X.npubug.tar.zst --html", code=ExitCode.USAGE
        )
    if html is not None:
        return _page(archive, html)
    manifest = open_archive(archive).manifest
    if as_json:
        sys.stdout.write(manifest_to_json(manifest).decode().rstrip("\n") + "\n")
        return ExitCode.OK
    from bundler.report.terminal import console, render_story

    render_story(manifest, console())
    return ExitCode.OK


def _page(archive: Path, file: str) -> int:
    from bundler.report.html import render_page

    page = render_page(open_archive(archive)).encode("utf-8", "replace")
    if file == "-":
        sys.stdout.buffer.write(page)
        return ExitCode.OK
    if ARCHIVE_NAME.search(file):
        raise NpubugError(
            f"'{printable(file, 200)}' is an archive's name, not a page's",
            hint="npubug show ARCHIVE --html page.html",
            code=ExitCode.USAGE,
        )
    target = Path(file) if file else archive.with_name(ARCHIVE_NAME.sub("", archive.name) + ".html")
    if target.exists() and archive.exists() and os.path.samefile(target, archive):  # noqa: PTH121
        raise NpubugError("the page would replace the archive", code=ExitCode.USAGE)
    with replacing(target) as out:
        out.write(page)
    print(f"npubug: wrote {printable(str(target))} ({len(page) / 1000:.0f} kB)", file=sys.stderr)
    return ExitCode.OK
