"""The archive: one file that holds the evidence of one failure, the same bytes for the same evidence.

    write_archive(path, manifest, members)     make one
    open_archive(path) -> Archive              check all of one, then read it
    add_members(path, members, change)         rewrite one with more in it (a reduction)
    repack(source, target)                     the same content in another format

Where to look: `writer` and `reader` are the two directions, `rewrite` joins them; `formats` knows the three
containers (`tar`, `zipped`, `zstd`); `names`, `limits` and `consistency` say what an archive may hold, for
both directions alike, so that nothing is written that would not be read; `atomic` replaces files all or
nothing.
"""

from __future__ import annotations

from bundler.archive.formats import ARCHIVE_NAME, Format, format_for
from bundler.archive.limits import Limits
from bundler.archive.reader import Archive, open_archive
from bundler.archive.rewrite import add_members, repack
from bundler.archive.writer import NewMember, write_archive

__all__ = [
    "ARCHIVE_NAME",
    "Archive",
    "Format",
    "Limits",
    "NewMember",
    "add_members",
    "format_for",
    "open_archive",
    "repack",
    "write_archive",
]
