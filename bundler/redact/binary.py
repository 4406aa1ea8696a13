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


def is_binary(data: bytes) -> bool:
    """Whether data is not text: it has a NUL in it."""
    return b"\0" in data


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
