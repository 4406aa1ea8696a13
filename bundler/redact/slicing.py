"""Cut a stream into slices that can be redacted one after the other as if it were read whole.

Where the cuts are hangs on the bytes alone, not on how they arrive; so a file read in pieces and the same
bytes in memory give the same result. A cut is at a line's end, but never inside what spans lines: a private
key, or a known value with line ends in it. Binary data has no lines; it is cut at a NUL, which no name holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

SLICE = 4 << 20
LONGEST = 2 * SLICE  # a longer line, or pile of keys, is cut nevertheless: memory must have an end
_KEY = b"PRIVATE KEY"
_KEY_REACH = 64 << 10  # an RSA key of 16384 bits has 13 kB
_BLANKS = (b" ", b",", b"\t", b'"')
_CHUNK = 1 << 20

Read = Callable[[int], bytes]


def text_slices(
    read: Read, several_lines: Sequence[bytes] = (), size: int = SLICE, longest: int = LONGEST
) -> Iterator[bytes]:
    """Slices of about `size` bytes, at most `longest`, each ending at a line's end.

    Args:
        read: hands out up to so many bytes; nothing at the end.
        several_lines: known values with line ends in them, which no cut may divide.
    """

    def cut(buffer: bytes) -> int:
        end = buffer.find(b"\n", size - 1, longest) + 1
        while end:
            moved = _not_inside(buffer, end, several_lines, longest)
            if moved == end:
                return end
            end = moved
        blank = max(buffer.rfind(mark, size, longest) for mark in _BLANKS) + 1
        return blank or longest

    return _slices(read, cut, longest)


def binary_slices(read: Read, size: int = SLICE, longest: int = LONGEST) -> Iterator[bytes]:
    """Slices of about `size` bytes, at most `longest`, each ending with a NUL where there is one."""
    return _slices(read, lambda buffer: buffer.find(b"\0", size - 1, longest) + 1 or longest, longest)


def pieces_of(data: bytes, size: int) -> Iterator[bytes]:
    """Cut data into parts of about `size` that end at a line's end."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + size) + 1
        if end == 0:
            end = len(data)
        yield data[start:end]
        start = end


def reader_of(chunks: Iterable[bytes]) -> Read:
    """A `read` for chunks of any size."""
    source = iter(chunks)

    def read(size: int) -> bytes:
        return next((chunk for chunk in source if chunk), b"")

    return read


def _slices(read: Read, cut: Callable[[bytes], int], longest: int) -> Iterator[bytes]:
    """The longest slice is always read before a cut is looked for, so that no cut hangs on what came so far."""
    held: list[bytes] = []
    length = 0
    while True:
        while length < longest and (chunk := read(_CHUNK)):
            held.append(chunk)
            length += len(chunk)
        buffer = b"".join(held)
        held.clear()
        if length < longest:
            break
        end = cut(buffer)
        part = buffer[:end]
        held.append(buffer[end:])
        length -= end
        del buffer
        yield part
    if buffer:
        yield buffer


def _not_inside(buffer: bytes, end: int, several_lines: Sequence[bytes], longest: int) -> int:
    """`end`, or the next line's end that is beyond a key or value begun before it; 0 if there is none."""
    key = buffer.rfind(_KEY, max(0, end - _KEY_REACH), end)
    if key >= 0:
        return buffer.find(b"\n", max(end, key + _KEY_REACH), longest) + 1
    for value in several_lines:
        start = buffer.find(value, max(0, end - len(value) + 1), end + len(value) - 1)
        if start >= 0:
            return buffer.find(b"\n", start + len(value) - 1, longest) + 1
    return end
