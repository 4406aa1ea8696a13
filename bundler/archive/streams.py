"""What the containers have in common: entries read one after the other, and the error for damage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

CHUNK = 1 << 18


class Damaged(Exception):
    """A container is not what it should be; the message completes "the archive cannot be read: ..."."""


class Readable(Protocol):
    """Anything that hands out bytes."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; nothing at the end."""
        ...


@dataclass(frozen=True)
class Entry:
    """One file of a container. `stream` is good until the next entry is asked for."""

    name: str
    size: int
    stream: Readable


def read_exactly(stream: Readable, size: int) -> bytes:
    """Return `size` bytes, or fewer only where the stream ends."""
    parts = []
    while size > 0:
        part = stream.read(min(size, CHUNK))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
