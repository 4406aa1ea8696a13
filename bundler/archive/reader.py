"""Read an archive that anyone may have made.

`open_archive` goes through the whole file once and checks everything before it hands out anything: the
container, the manifest, every name, size and sha256. Memory stays bounded whatever the file claims, because
the manifest is bounded, declares every size in advance, and nothing is unpacked beyond what it declares.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import stat
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

from bundler.archive.atomic import replacing
from bundler.archive.consistency import manifest_problem
from bundler.archive.formats import Format, entries_of, sniff
from bundler.archive.limits import Limits
from bundler.archive.names import MANIFEST
from bundler.archive.streams import CHUNK, Damaged, Entry, Readable, read_exactly
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import Manifest, Member
from bundler.manifest_json import manifest_from_json
from bundler.printable import printable

READ_LIMIT = 256 << 20
_AGAIN = "get the archive again from whoever made it, or make it anew with `npubug bundle`"


@dataclass(frozen=True)
class Archive:
    """An archive that was found to be valid. Its members are unpacked anew from the file each time."""

    path: Path
    format: Format
    manifest: Manifest
    limits: Limits

    @property
    def names(self) -> tuple[str, ...]:
        """The member names, sorted, without the manifest."""
        return tuple(member.name for member in self.manifest.members)

    def member(self, name: str) -> Member:
        """Return the manifest's entry for `name`.

        Raises:
            NpubugError: (invalid input) there is no such member.
        """
        for member in self.manifest.members:
            if member.name == name:
                return member
        raise NpubugError(
            f"'{self.path.name}' has no member '{printable(name, 80)}'",
            hint="`npubug show` lists the members",
            code=ExitCode.INVALID_INPUT,
        )

    def read(self, name: str, limit: int = READ_LIMIT) -> bytes:
        """Return the content of a member.

        Raises:
            NpubugError: there is no such member, it is larger than `limit`, or the file changed on disk.
        """
        member = self.member(name)
        if member.size > limit:
            raise NpubugError(
                f"'{printable(name, 80)}' in '{self.path.name}' is too large to read into memory",
                why=f"it has {member.size} bytes, and the limit here is {limit}",
                hint="unpack the archive and use the file",
                code=ExitCode.INVALID_INPUT,
            )
        with self._opened(name) as stream:
            return read_exactly(stream, member.size)

    def head(self, name: str, limit: int) -> bytes:
        """Return the first `limit` bytes of a member, or all of a shorter one."""
        self.member(name)
        with self._opened(name) as stream:
            return read_exactly(stream, limit)

    def extract_to(self, name: str, target: Path) -> None:
        """Write a member's content to the file `target`, all or nothing."""
        self.member(name)
        with self._opened(name) as stream, replacing(target) as out:
            while chunk := stream.read(CHUNK):
                out.write(chunk)

    def contents(self) -> Generator[tuple[Member, Readable], None, None]:
        """Go through all members in order; each stream is good until the next one is asked for."""
        with _reading(self.path), self.path.open("rb") as file, entries_of(file, self.format) as entries:
            first = next(entries, None)
            if first is None or first.name != MANIFEST:
                raise Damaged("it changed on disk")
            for member in self.manifest.members:
                entry = next(entries, None)
                if entry is None or (entry.name, entry.size) != (member.name, member.size):
                    raise Damaged("it changed on disk")
                yield member, _Reporting(self.path, _Verified(member, entry.stream))

    @contextlib.contextmanager
    def _opened(self, name: str) -> Iterator[Readable]:
        contents = self.contents()
        try:
            yield next(stream for member, stream in contents if member.name == name)
        finally:
            contents.close()


def open_archive(path: Path, limits: Limits | None = None) -> Archive:
    """Check all of an archive and return it.

    Raises:
        NpubugError: (invalid input) it is not an archive of ours, damaged, hostile, or of a newer version.
    """
    limits = limits or Limits()
    with _reading(path), _plain_file(path).open("rb") as file:
        start = file.read(4)
        if not start:
            raise Damaged("it is empty")
        packed_as = sniff(start)
        if packed_as is None:
            raise Damaged("it is neither a .tar.zst, a .tar.gz nor a .zip")
        file.seek(0)
        with entries_of(file, packed_as) as entries:
            manifest = _manifest(entries, limits)
            total = sum(member.size for member in manifest.members)
            problem = manifest_problem(manifest, limits) or limits.total_problem(total)
            if problem is not None:
                raise Damaged(problem)
            _check_members(manifest.members, entries)
    return Archive(path, packed_as, manifest, limits)


def _plain_file(path: Path) -> Path:
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait without end
        raise Damaged("it is not a plain file")
    return path


def _manifest(entries: Iterator[Entry], limits: Limits) -> Manifest:
    first = next(entries, None)
    if first is None or first.name != MANIFEST:
        raise Damaged(f"it does not begin with {MANIFEST}, so it was not written by npubug")
    if first.size > limits.max_manifest:
        raise Damaged(f"its {MANIFEST} is too large")
    return manifest_from_json(read_exactly(first.stream, first.size))


def _check_members(members: tuple[Member, ...], entries: Iterator[Entry]) -> None:
    expected = iter(members)
    known = {member.name for member in members}
    for entry in entries:
        name = printable(entry.name, 80)
        if entry.name not in known:
            raise Damaged(f"it holds '{name}', which its manifest does not name")
        member = next(expected, None)
        if member is None or member.name != entry.name:
            raise Damaged(f"its member '{name}' is there twice or out of order")
        if entry.size != member.size:
            raise Damaged(f"its member '{name}' has {entry.size} bytes, and its manifest says {member.size}")
        stream = _Verified(member, entry.stream)
        while stream.read(CHUNK):
            pass
    missing = next(expected, None)
    if missing is not None:
        raise Damaged(f"its member '{printable(missing.name, 80)}' is missing")


class _Verified:
    """A member's content, compared at its end with the manifest's size and sha256."""

    def __init__(self, member: Member, stream: Readable) -> None:
        self._member = member
        self._stream = stream
        self._digest = hashlib.sha256()
        self._left = member.size

    def read(self, size: int, /) -> bytes:
        data = self._stream.read(size)
        self._digest.update(data)
        self._left -= len(data)
        name = printable(self._member.name, 80)
        if self._left < 0 or (not data and self._left):
            raise Damaged(f"its member '{name}' has another size than its manifest says")
        if self._left == 0 and self._digest.hexdigest() != self._member.sha256:
            raise Damaged(f"its member '{name}' has another content than its manifest says")
        return data


class _Reporting:
    """A content handed out: what is wrong with the archive arrives as an error for a person."""

    def __init__(self, path: Path, stream: Readable) -> None:
        self._path = path
        self._stream = stream

    def read(self, size: int, /) -> bytes:
        with _reading(self._path):
            return self._stream.read(size)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn whatever a bad file causes into one error."""
    try:
        yield
    except Damaged as error:
        raise NpubugError(
            f"'{path.name}' is not a valid npubug archive",
            why=str(error),
            hint=_AGAIN,
            code=ExitCode.INVALID_INPUT,
        ) from error
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR)
        raise NpubugError(
            f"cannot read '{path}'",
            why=error.strerror or str(error),
            code=ExitCode.INVALID_INPUT if missing else ExitCode.FAILED,
        ) from error
