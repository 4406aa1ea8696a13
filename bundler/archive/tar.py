"""A tar of plain files, and nothing else.

Python's `tarfile` supplies the header format both ways, one block at a time. Its own reader is not used: it
follows extensions whose sizes the file chooses.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator

from bundler.archive.streams import Damaged, Entry, Readable, read_exactly
from bundler.printable import printable

BLOCK = 512
END = bytes(2 * BLOCK)
_MAX_PADDING = 1 << 20  # zeros after the end: other tools fill up to their record size
_MAX_EXTENSION = 1 << 16
_MTIME = 946684800  # 2000-01-01: GNU tar warns about 1970 as "implausibly old"
_KINDS = {
    tarfile.LNKTYPE: "a hard link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a named pipe",
    tarfile.DIRTYPE: "a folder",
}


def header(name: str, size: int) -> bytes:
    """Return the header blocks of a file: owner, mode and time fixed, long or non-ASCII names as pax."""
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o644
    info.mtime = _MTIME
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def padding(size: int) -> bytes:
    """Return the zeros that follow `size` bytes of content."""
    return bytes(-size % BLOCK)


def entries(stream: Readable) -> Iterator[Entry]:
    """Yield the files in a tar.

    Raises:
        Damaged: it is cut off, a header is wrong, or an entry is not a plain file.
    """
    while True:
        block = _block(stream)
        if block == bytes(BLOCK):
            return _end(stream)
        info = _parse(block)
        name = info.name
        if info.type == tarfile.XHDTYPE:
            name = _long_name(stream, info.size)
            info = _parse(_block(stream))
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            kind = _KINDS.get(info.type, "an entry of an unknown kind")
            raise Damaged(f"'{printable(name, 80)}' is {kind}; archives hold plain files only")
        if info.size < 0:
            raise Damaged(f"'{printable(name, 80)}' has a negative size")
        part = _Part(stream, info.size)
        yield Entry(name, info.size, part)
        part.skip()
        read_exactly(stream, -info.size % BLOCK)


class _Part:
    """The content of one file inside the stream of the whole tar."""

    def __init__(self, stream: Readable, size: int) -> None:
        self._stream = stream
        self._left = size

    def read(self, size: int, /) -> bytes:
        data = self._stream.read(min(size, self._left)) if self._left else b""
        if self._left and not data:
            raise Damaged("it ends in the middle of a file")
        self._left -= len(data)
        return data

    def skip(self) -> None:
        while self._left:
            self.read(1 << 18)


def _block(stream: Readable) -> bytes:
    block = read_exactly(stream, BLOCK)
    if len(block) < BLOCK:
        raise Damaged("it ends before the end-of-archive mark")
    return block


def _parse(block: bytes) -> tarfile.TarInfo:
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "strict")
    except (tarfile.TarError, ValueError):
        raise Damaged("a tar header is broken") from None


def _long_name(stream: Readable, size: int) -> str:
    """Read a pax extension and return the path it gives; it may hold nothing else that matters here."""
    if not 0 < size <= _MAX_EXTENSION:
        raise Damaged("a tar extension is too large")
    data = read_exactly(stream, size)
    read_exactly(stream, -size % BLOCK)
    records = {}
    while data:
        length, _, _ = data.partition(b" ")
        if not length.isdigit() or len(length) > 5 or not len(length) + 3 < int(length) <= len(data):
            raise Damaged("a tar extension is broken")
        record, data = data[len(length) + 1 : int(length)], data[int(length) :]
        key, _, value = record.partition(b"=")
        records[key] = value.rstrip(b"\n")
    if b"path" not in records or b"size" in records:
        raise Damaged("a tar extension is of an unknown kind")
    try:
        return records[b"path"].decode("utf-8")
    except UnicodeDecodeError:
        raise Damaged("a name is not UTF-8") from None


def _end(stream: Readable) -> None:
    seen = 0
    while True:
        data = stream.read(1 << 16)
        if not data:
            break
        seen += len(data)
        if seen > _MAX_PADDING or data.count(0) != len(data):
            raise Damaged("there is something after the end-of-archive mark")
    if seen < BLOCK:
        raise Damaged("it ends before the end-of-archive mark")
