"""`npubug repack`: an archive in another format, or small enough for a tracker."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bundler.archive import ARCHIVE_NAME, open_archive, repack
from bundler.archive.formats import Format, format_for
from bundler.archive.shed import fit, size_of
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import Drop
from bundler.printable import printable
from bundler.report.terminal import size_text


def run(archive: Path, format: str | None, max_size: str | None, output: Path | None, as_json: bool) -> int:
    """Write the archive anew: beside it with another ending, in its place, or as `output`. Returns OK."""
    if format is None and max_size is None and output is None:
        raise NpubugError(
            "nothing to do", hint="give --format zip, --max-size 20M or --output", code=ExitCode.USAGE
        )
    limit = size_of(max_size) if max_size is not None else None
    target = _target(archive, format, output)
    packed_as = Format(format) if format is not None else format_for(target)
    if limit is None:
        drops: tuple[Drop, ...] = ()
        repack(archive, target, format=packed_as)
    else:
        before = open_archive(archive).manifest.drops
        drops = fit(archive, target, limit, packed_as).drops[len(before) :]
    size = target.stat().st_size
    tell(drops)
    print(f"npubug: wrote {printable(str(target))} ({size_text(size)})", file=sys.stderr)
    if as_json:
        left_out = [{"what": drop.what, "size": drop.size} for drop in drops]
        print(json.dumps({"archive": str(target), "size": size, "dropped": left_out}, ensure_ascii=False))
    return ExitCode.OK


def tell(drops: tuple[Drop, ...]) -> None:
    """Say on stderr what was left out."""
    for drop in drops:
        what = f"{printable(drop.what, 200)} ({size_text(drop.size)} unpacked)"
        print(f"npubug: left out to fit: {what}", file=sys.stderr)


def _target(archive: Path, format: str | None, output: Path | None) -> Path:
    if output is not None and not output.is_dir():
        return output
    name = archive.name
    if format is not None:
        stem = ARCHIVE_NAME.sub("", name)
        name = f"{stem}.npubug.{format}"
    return (output or archive.parent) / name
