"""Stable replacements: the same user is `user-1` in every member of an archive.

A pseudonym has the form `kind-N`. Text that already has this form is never replaced, so redacting twice
changes nothing the second time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

KINDS = ("user", "host", "path", "ip", "mac", "email", "secret", "serial", "url", "word")
# Trailing underscores: the same-length form that binary members get.
PSEUDONYM = rb"(?:" + "|".join(KINDS).encode() + rb")-[0-9]{1,6}_*"
_MARKS = tuple((kind, kind.encode() + b"-") for kind in KINDS)
_BEGINS = re.compile(PSEUDONYM + rb"(?![A-Za-z0-9])")


class Pseudonyms:
    """The table of replacements made so far. One per archive; not for use by several threads at once.

    Args:
        allow: values that are left alone, as the user wishes.
    """

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._allowed = {value.encode("utf-8", "surrogatepass") for value in allow}
        self._names: dict[tuple[str, bytes], bytes] = {}
        self._aliases: dict[tuple[str, bytes], bytes] = {}
        self._originals: dict[str, str] = {}
        self._last: dict[str, int] = {}
        self._counts: dict[str, int] = {}

    def alias(self, kind: str, key: bytes, same_as: bytes) -> None:
        """Make `key` another name of `same_as`: a host's full and short name are one host."""
        self._aliases[kind, key] = same_as

    def of(self, kind: str, original: bytes, key: bytes | None = None) -> bytes:
        """The pseudonym of `original`; what must stay comes back as it is.

        Args:
            key: what makes two originals the same, if not their bytes (a host name in lower case).
        """
        if original in self._allowed or is_pseudonym(original):
            return original
        key = original if key is None else key
        key = self._aliases.get((kind, key), key)
        name = self._names.get((kind, key))
        if name is None:
            self._last[kind] = self._last.get(kind, 0) + 1
            text = f"{kind}-{self._last[kind]}"
            name = self._names[kind, key] = text.encode()
            # A live token must not get a second home on the disk, not even in the map.
            if kind != "secret":
                self._originals[text] = original.decode("utf-8", "backslashreplace")
        return name

    def count(self, kind: str, times: int) -> None:
        """Note that replacements were made."""
        self._counts[kind] = self._counts.get(kind, 0) + times

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """How many replacements were made, by kind."""
        return tuple(sorted(self._counts.items()))

    @property
    def mapping(self) -> dict[str, str]:
        """Pseudonym to original; secrets are left out."""
        return dict(self._originals)

    def write_map(self, path: Path) -> None:
        """Write the mapping as JSON, for its owner's eyes only, whole or not at all."""
        write_private(path, json.dumps(self.mapping, indent=2, ensure_ascii=False, sort_keys=True) + "\n")


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    scratch = path.with_name(f".{os.getpid()}.{path.name}"[:250])
    try:
        # O_EXCL, and the mode at creation: it is never readable by others, and follows no planted link.
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def added(before: bytes, after: bytes) -> tuple[tuple[str, int], ...]:
    """How many pseudonyms of each kind `after` has and `before` has not."""
    return tuple(
        (kind, number) for kind, mark in _MARKS if (number := after.count(mark) - before.count(mark)) > 0
    )


def is_pseudonym(value: bytes) -> bool:
    """Whether this is one of our replacements, or begins with one: a detector may see `secret-1:` as one value."""
    return _BEGINS.match(value) is not None
