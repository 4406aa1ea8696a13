"""The zstd streams of an archive: pinned parameters one way, bounded and strict the other."""

from __future__ import annotations

from types import TracebackType
from typing import IO

import zstandard

from bundler.archive.streams import Damaged

MAGIC = b"\x28\xb5\x2f\xfd"

# Every parameter is given, so that a zstd that changes what a level means gives the same bytes, and one
# thread only, because blocks cut for threads depend on their number. A log of `print-ir-after-all` repeats
# the module after each of 700 passes: long-distance matching over a 64 MiB window finds those copies, `btopt`
# does the rest. Level 19 with the same window would be 12 % smaller at three times the time.
_PARAMETERS = {
    "window_log": 26,
    "hash_log": 20,
    "chain_log": 21,
    "search_log": 5,
    "min_match": 4,
    "target_length": 64,
    "strategy": zstandard.STRATEGY_BTOPT,
    "enable_ldm": 1,
    "ldm_hash_log": 20,
    "ldm_min_match": 32,
    "ldm_bucket_size_log": 4,
    "ldm_hash_rate_log": 4,
    "write_content_size": 0,
    "write_checksum": 1,
    "write_dict_id": 0,
    "threads": 0,
}
_MAX_WINDOW = 1 << 27
_STEP = 1 << 10  # compressed bytes a step: at most 32 MiB come out, since a block of 128 KiB takes 4 bytes


def compressor(out: IO[bytes]) -> zstandard.ZstdCompressionWriter:
    """Return a writer that compresses into `out`; closing it ends the frame and leaves `out` open."""
    parameters = zstandard.ZstdCompressionParameters(**_PARAMETERS)
    return zstandard.ZstdCompressor(compression_params=parameters).stream_writer(out, closefd=False)


class Decompressor:
    """Reads one zstd frame that fills all of `source`.

    `zstandard`'s own stream reader takes a truncated frame for a short one, and skips what follows; this one
    raises `Damaged` for both.
    """

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._frame = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj()
        self._ready = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; nothing at the end of a complete frame."""
        while not self._ready:
            if self._frame.eof:
                if self._frame.unused_data or self._source.read(1):
                    raise Damaged("there is something after its end")
                return b""
            packed = self._source.read(_STEP)
            if not packed:
                raise Damaged("it ends too early")
            try:
                self._ready = memoryview(self._frame.decompress(packed))
            except zstandard.ZstdError as error:
                raise Damaged(str(error)) from None
        taken = self._ready[:size]
        self._ready = self._ready[size:]
        return bytes(taken)

    def __enter__(self) -> Decompressor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ready = memoryview(b"")
