"""Make a new archive out of an old one. The old file stays until the new one is complete on disk."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bundler.archive.atomic import replacing
from bundler.archive.formats import Format, format_for
from bundler.archive.reader import open_archive
from bundler.archive.streams import Readable
from bundler.archive.writer import NewMember, measure, pack, streams
from bundler.errors import NpubugError
from bundler.manifest import Manifest, Member
from bundler.printable import printable


def add_members(
    path: Path,
    members: Iterable[NewMember],
    change: Callable[[Manifest], Manifest] = lambda manifest: manifest,
    *,
    replace: bool = False,
) -> Manifest:
    """Put more files into an archive and bring its manifest up to date.

    Args:
        path: the archive; it keeps its format.
        members: the files to add.
        change: takes the old manifest and returns the new one; `members` are filled in afterwards.
        replace: let a new file take the place of an old one of the same name (a second reduction); otherwise
            that is an error.

    Returns:
        The manifest as written.

    Raises:
        NpubugError: the archive is not valid, another program changed it meanwhile, or it cannot be written.
            The old archive is then as it was.
    """
    status = path.stat() if path.exists() else None
    archive = open_archive(path)
    added = sorted(members, key=lambda member: member.name)
    new_names = {member.name for member in added}
    taken = sorted(new_names.intersection(archive.names))
    if taken and not replace:
        raise NpubugError(
            f"'{path.name}' already has a member '{printable(taken[0], 80)}'",
            hint="replace it, or give the new one another name",
        )
    measured = tuple(measure(member) for member in added)
    kept = (member for member in archive.manifest.members if member.name not in new_names)
    together = tuple(sorted((*kept, *measured), key=_name))
    manifest = dataclasses.replace(change(archive.manifest), members=together)
    old: Iterator[tuple[Member, Readable]] = (
        (member, stream) for member, stream in archive.contents() if member.name not in new_names
    )
    contents = heapq.merge(old, streams(measured, added), key=lambda pair: pair[0].name)
    with replacing(path, unchanged_since=status) as out:
        pack(out, archive.format, manifest, contents, archive.limits)
    return manifest


def repack(source: Path, target: Path, *, format: Format | None = None) -> Manifest:
    """Write the content of `source` as `target`, in the format its name asks for (or `format`).

    Returns:
        The manifest, which is the same.

    Raises:
        NpubugError: `source` is not valid, or `target` cannot be written.
    """
    packed_as = format or format_for(target)
    archive = open_archive(source)
    with replacing(target) as out:
        pack(out, packed_as, archive.manifest, archive.contents(), archive.limits)
    return archive.manifest


def _name(member: Member) -> str:
    return member.name
