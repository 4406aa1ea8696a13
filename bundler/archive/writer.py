"""Write an archive: measure every member, fill in the manifest, pack, replace.

Each file is read twice, once to learn its size and sha256 (the manifest comes first and needs them) and once
to pack it; memory does not grow with its size. A file that changes between the two is an error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bundler.archive.atomic import replacing
from bundler.archive.consistency import manifest_problem
from bundler.archive.formats import Format, format_for, sink_for
from bundler.archive.limits import Limits
from bundler.archive.names import MANIFEST
from bundler.archive.streams import CHUNK, Readable
from bundler.errors import NpubugError
from bundler.manifest import Manifest, Member
from bundler.manifest_json import manifest_from_json, manifest_to_json
from bundler.printable import printable

_MEDIA_TYPES = {
    ".bcmlir": "application/x-mlir-bytecode",
    ".json": "application/json",
    ".log": "text/plain",
    ".md": "text/markdown",
    ".mlir": "text/x-mlir",
    ".mlirbc": "application/x-mlir-bytecode",
    ".py": "text/x-python",
    ".sh": "text/x-shellscript",
    ".ttadapter": "text/x-mlir",
    ".ttir": "text/x-mlir",
    ".txt": "text/plain",
}


@dataclass(frozen=True)
class NewMember:
    """A file to put into an archive: bytes, or the path of a file that is read when it is packed.

    `role` as in `bundler.manifest`; an empty `media_type` is filled in from the name.
    """

    name: str
    role: str
    content: bytes | Path
    media_type: str = ""


def write_archive(
    path: Path,
    manifest: Manifest,
    members: Iterable[NewMember],
    *,
    format: Format | None = None,
    limits: Limits | None = None,
) -> Manifest:
    """Write an archive under `path`, replacing a file of that name only when all of it is written.

    Args:
        path: the target; its ending says the format unless `format` does.
        manifest: what is known; its `members` are filled in here, whatever they were.
        members: the files, in any order.

    Returns:
        The manifest as written.

    Raises:
        NpubugError: the target cannot be written, a file cannot be read, or names and references are wrong.
    """
    packed_as = format or format_for(path)
    ordered = sorted(members, key=lambda member: member.name)
    filled = dataclasses.replace(manifest, members=tuple(measure(member) for member in ordered))
    with replacing(path) as out:
        pack(out, packed_as, filled, streams(filled.members, ordered), limits or Limits())
    return filled


def pack(
    out: IO[bytes],
    packed_as: Format,
    manifest: Manifest,
    contents: Iterable[tuple[Member, Readable]],
    limits: Limits,
) -> None:
    """Pack a finished manifest and its members' contents, which come in the manifest's order, into `out`.

    Raises:
        NpubugError: this would not be read back, or a content is not what the manifest says.
    """
    data = manifest_to_json(manifest)
    try:
        manifest_from_json(data)  # what we would not read, we do not write
    except NpubugError as error:
        raise _refused(error.why) from error
    total = sum(member.size for member in manifest.members)
    problem = manifest_problem(manifest, limits) or limits.total_problem(total)
    if problem is not None:
        raise _refused(problem)
    with sink_for(out, packed_as) as sink:
        sink.add(MANIFEST, len(data), iter((data,)))
        for member, stream in contents:
            sink.add(member.name, member.size, _checked(member, stream))


def measure(member: NewMember) -> Member:
    """Return the manifest's entry for a new member: size and sha256 of its content."""
    digest = hashlib.sha256()
    size = 0
    with opened(member) as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return Member(
        member.name, member.role, member.media_type or _media_type(member.name), size, digest.hexdigest()
    )


def streams(measured: Iterable[Member], members: Iterable[NewMember]) -> Iterator[tuple[Member, Readable]]:
    """Open one member's content after the other, in the order given."""
    for entry, member in zip(measured, members):
        with opened(member) as stream:
            yield entry, stream


def _checked(member: Member, stream: Readable) -> Iterator[bytes]:
    """Pass on a content, and make sure at its end that it is the one in the manifest."""
    digest = hashlib.sha256()
    size = 0
    while size <= member.size and (chunk := stream.read(CHUNK)):
        digest.update(chunk)
        size += len(chunk)
        yield chunk
    if size != member.size or digest.hexdigest() != member.sha256:
        raise NpubugError(
            f"'{printable(member.name, 80)}' changed while it was packed",
            why="another program writes to it",
            hint="run the command again when that program has ended",
        )


@contextlib.contextmanager
def opened(member: NewMember) -> Iterator[Readable]:
    """Open a member's content.

    Raises:
        NpubugError: its file cannot be read.
    """
    if isinstance(member.content, bytes):
        yield io.BytesIO(member.content)
        return
    try:
        if not stat.S_ISREG(member.content.stat().st_mode):  # a pipe would be waited for without end
            raise OSError(0, "it is not a plain file")
        file = member.content.open("rb")
    except OSError as error:
        raise _unreadable(member.content, error) from error
    with file:
        yield _Source(file, member.content)


class _Source:
    """A file whose read errors are about the evidence, not about the archive being written."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file = file
        self._path = path

    def read(self, size: int, /) -> bytes:
        try:
            return self._file.read(size)
        except OSError as error:
            raise _unreadable(self._path, error) from error


def _unreadable(path: Path, error: OSError) -> NpubugError:
    return NpubugError(
        f"cannot read '{path}', which belongs into the archive", why=error.strerror or str(error)
    )


def _refused(problem: str) -> NpubugError:
    return NpubugError("the archive was not written", why=problem, hint="leave out what is not needed")


def _media_type(name: str) -> str:
    suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122  (member names are not paths)
    return _MEDIA_TYPES.get(suffix, "application/octet-stream")
