"""A zip of plain files, and nothing else."""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

from bundler.archive.streams import CHUNK, Damaged, Entry
from bundler.printable import printable

_MAX_INDEX = 4 << 20  # `zipfile` reads the whole index at once and makes an object of each 46 bytes in it
_DATE = (2000, 1, 1, 0, 0, 0)
_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    struct.error,
    ValueError,  # UnicodeDecodeError, negative seeks
    OverflowError,
    RuntimeError,  # NotImplementedError, encrypted members
    OSError,
)


def new_entry(name: str, size: int) -> zipfile.ZipInfo:
    """Return the header of a file: owner, mode and time fixed; the size decides whether it needs zip64."""
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # "Unix", wherever this runs
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    info.file_size = size
    return info


def entries(source: IO[bytes]) -> Iterator[Entry]:
    """Yield the files in a zip, in the order of its index.

    Raises:
        Damaged: the index or an entry is broken, or an entry is not a plain file.
    """
    with _damage():
        archive = zipfile.ZipFile(_SmallReads(source))
    with archive:
        for info in archive.infolist():
            _check(info)
            with _damage():
                part = archive.open(info)
            with part:
                yield Entry(info.filename, info.file_size, _Part(part))


class _SmallReads:
    """A file that gives `zipfile` no more at once than an honest index needs."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source

    def read(self, size: int = -1) -> bytes:
        if size > _MAX_INDEX:
            raise Damaged("its index is too large")
        return self._source.read(size if size >= 0 else _MAX_INDEX)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._source.seek(offset, whence)

    def tell(self) -> int:
        return self._source.tell()

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        """The file is closed by whoever opened it."""


class _Part:
    def __init__(self, part: IO[bytes]) -> None:
        self._part = part

    def read(self, size: int, /) -> bytes:
        with _damage():
            return self._part.read(min(size, CHUNK))


@contextlib.contextmanager
def _damage() -> Iterator[Any]:
    try:
        yield
    except _ERRORS as error:
        raise Damaged(f"the zip is broken ({printable(str(error), 120) or type(error).__name__})") from None


def _check(info: zipfile.ZipInfo) -> None:
    name = printable(info.filename, 80)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if not info.filename:  # zipfile itself stumbles over it
        raise Damaged("it has a member without a name")
    if info.is_dir() or kind not in (0, stat.S_IFREG):
        raise Damaged(f"'{name}' is a folder, a link or a device; archives hold plain files only")
    if info.filename != info.orig_filename:
        raise Damaged(f"the member name '{name}' has characters that are not allowed")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
        raise Damaged(f"'{name}' is encrypted or compressed in an unknown way")
