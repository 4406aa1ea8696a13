"""The three containers an archive may have: the same members in each, told apart by their first bytes."""

from __future__ import annotations

import contextlib
import gzip
import re
import zipfile
import zlib
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import IO, Protocol

import zstandard

from bundler.archive import tar, zipped, zstd
from bundler.archive.streams import Damaged, Entry, Readable
from bundler.errors import ExitCode, NpubugError

# How an archive of ours is called, whatever its format.
ARCHIVE_NAME = re.compile(r"\.npubug\.(tar\.zst|tar\.gz|tgz|zip)$")


class Format(str, Enum):
    """How an archive is packed. The value is its file name's ending, without the first dot."""

    TAR_ZST = "tar.zst"
    TAR_GZ = "tar.gz"
    ZIP = "zip"


_MAGIC = {zstd.MAGIC: Format.TAR_ZST, b"\x1f\x8b": Format.TAR_GZ, b"PK\x03\x04": Format.ZIP}


class Sink(Protocol):
    """Takes members one after the other."""

    def add(self, name: str, size: int, chunks: Iterator[bytes]) -> None:
        """Append a file of exactly `size` bytes."""
        ...


def format_for(path: Path) -> Format:
    """Return the format that a file name asks for.

    Raises:
        NpubugError: (usage) it has none of the known endings.
    """
    for candidate in Format:
        if path.name.lower().endswith("." + candidate.value):
            return candidate
    raise NpubugError(
        f"'{path.name}' does not say which kind of archive it is",
        hint="end the name in " + ", ".join("." + f.value for f in Format),
        code=ExitCode.USAGE,
    )


def sniff(start: bytes) -> Format | None:
    """Return the format of a file that begins with `start`, or None."""
    return next((found for magic, found in _MAGIC.items() if start.startswith(magic)), None)


@contextlib.contextmanager
def entries_of(source: IO[bytes], packed_as: Format) -> Iterator[Iterator[Entry]]:
    """Give the entries of an archive one after the other; damage is raised as `Damaged` on the way."""
    if packed_as is Format.ZIP:
        yield zipped.entries(source)
    elif packed_as is Format.TAR_GZ:
        with gzip.GzipFile(fileobj=source, mode="rb") as unpacked:
            yield tar.entries(_Gunzip(unpacked))
    else:
        with zstd.Decompressor(source) as frame:
            yield tar.entries(frame)


@contextlib.contextmanager
def sink_for(out: IO[bytes], packed_as: Format) -> Iterator[Sink]:
    """Give a sink that packs into `out`, and finish the container when the block ends well."""
    if packed_as is Format.ZIP:
        with zipfile.ZipFile(out, "w") as archive:
            yield _ZipSink(archive)
        return
    stream = (
        gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=out, mtime=0)
        if packed_as is Format.TAR_GZ
        else zstd.compressor(out)
    )
    try:
        yield _TarSink(stream)
        stream.write(tar.END)
        stream.close()
    except BaseException:
        # Closed later, by the garbage collector, gzip would complain on stderr that `out` is gone.
        with contextlib.suppress(OSError, ValueError, zstandard.ZstdError):
            stream.close()
        raise


class _Writable(Protocol):
    def write(self, data: bytes, /) -> int: ...


class _TarSink:
    def __init__(self, stream: _Writable) -> None:
        self._stream = stream

    def add(self, name: str, size: int, chunks: Iterator[bytes]) -> None:
        self._stream.write(tar.header(name, size))
        for chunk in chunks:
            self._stream.write(chunk)
        self._stream.write(tar.padding(size))


class _ZipSink:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def add(self, name: str, size: int, chunks: Iterator[bytes]) -> None:
        with self._archive.open(zipped.new_entry(name, size), "w") as part:
            for chunk in chunks:
                part.write(chunk)


class _Gunzip:
    def __init__(self, source: Readable) -> None:
        self._source = source

    def read(self, size: int, /) -> bytes:
        try:
            return self._source.read(size)
        except EOFError:
            raise Damaged("it ends too early") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise Damaged(str(error)) from None
