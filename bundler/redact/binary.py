"""Binary members (MLIR bytecode, kernels, shared objects): names are replaced by others of the same length.

Formats with offsets and length-prefixed strings stay readable only if no byte moves, so this is all that is
done there: account names in home folders, and the literal values that the caller knows. Patterns that need
context (addresses, assignments) are not looked for in binary data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bundler.redact.pseudonyms import Pseudonyms, is_pseudonym

_HOME = tuple(
    (needle, re.compile(re.escape(needle) + rb"(?P<name>[A-Za-z0-9_.\x80-\xff-]{1,64})"))
    for needle in (b"/home/", b"/Users/")
)


_MAGIC = (b"ML\xefR", b"\x7fELF", b"PK\x03\x04", b"!<arch>", b"BC\xc0\xde", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
# What text has none of; NUL apart, as a log of a machine that went down can end in a block of them.
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\0\a\b\t\n\v\f\r\x1b")


class Classifier:
    """Tells binary data from text, however it arrives.

    Binary is what has a NUL and begins like a known format, or has other control characters or many NULs. A
    text with a stray NUL is still a text: patterns must be looked for in it.
    """

    def __init__(self) -> None:
        self._head = b""
        self._size = self._nuls = self._controls = 0

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        self._head = (self._head + chunk[:8])[:8]
        self._size += len(chunk)
        nuls = chunk.count(b"\0")
        self._controls += len(chunk) - len(chunk.translate(None, _CONTROLS))
        self._nuls += nuls

    @property
    def is_binary(self) -> bool:
        """The verdict on what came so far."""
        if not self._nuls:
            return False
        many = self._controls * 100 > self._size or self._nuls * 4 > self._size
        return self._head.startswith(_MAGIC) or many


def is_binary(data: bytes) -> bool:
    """Whether data is not text, see `Classifier`."""
    if b"\0" not in data:
        return False
    seen = Classifier()
    seen.feed(data)
    return seen.is_binary


def redact_binary(data: bytes, values: Iterable[tuple[str, bytes]], table: Pseudonyms) -> bytes:
    """Replace home folders' names and `values` (kind, bytes) without moving a byte."""

    def home(match: re.Match[bytes]) -> bytes:
        start = match.start("name") - match.start()
        return match[0][:start] + same_length("user", match["name"], table)

    for needle, pattern in _HOME:
        if needle in data:
            data = pattern.sub(home, data)
    for kind, value in values:
        if len(value) >= 6 and value in data:
            data = data.replace(value, same_length(kind, value, table))
    return data


def same_length(kind: str, original: bytes, table: Pseudonyms) -> bytes:
    """A pseudonym padded with `_`, or only `x` where there is no room for one."""
    if is_pseudonym(original) or original.strip(b"x") == b"":
        return original
    name = table.of(kind, original)
    return name.ljust(len(original), b"_") if len(name) <= len(original) else b"x" * len(original)
