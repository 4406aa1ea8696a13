"""The originals put back where their stand-ins are: the inverse of redaction, for the owner alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from urllib.parse import quote

from bundler.redact.pseudonyms import KINDS

# A stand-in begins a word, or follows an escape; only a user's own word can have been the end of another.
_PATTERN = re.compile(
    rb"(?P<slash>\\/|/|%2[Ff])?"
    rb"(?P<name>word-[0-9]{1,6}|(?:(?<![A-Za-z0-9-])|(?<=\\n)|(?<=\\t)|(?<=%2[Ff]))(?:"
    + "|".join(kind for kind in KINDS if kind != "word").encode()
    + rb")-[0-9]{1,6})(?![0-9])"
)
_SAME_LENGTH = re.compile(rb"(?:" + "|".join(KINDS).encode() + rb")-[0-9]{1,6}_*")


class Restorer:
    """Puts originals back.

    Args:
        originals: stand-in to original, as `Redactor.mapping` gives them.

    Attributes:
        restored: how often each stand-in was replaced.
        unknown: how often each stand-in was met whose original is not kept; secrets are among them.
    """

    def __init__(self, originals: Mapping[str, str]) -> None:
        self._originals = {name.encode(): text.encode("utf-8") for name, text in originals.items()}
        self.restored: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """Restore a string."""
        return self.data(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Restore a text."""

        def back(match: re.Match[bytes]) -> bytes:
            slash, name = match["slash"] or b"", match["name"]
            original = self._original(name)
            if original is None:
                return match[0]
            if not name.startswith(b"path-") or not original.startswith(b"/"):
                return slash + original
            # A path's stand-in keeps the path's first slash, in the spelling that it had there.
            if slash.startswith(b"%"):
                return quote(original, safe="").encode()
            return original.replace(b"/", slash) if slash else original

        return _PATTERN.sub(back, data)

    def binary(self, data: bytes) -> bytes:
        """Restore what fills its place to the byte, in data in which no byte may move."""

        def back(match: re.Match[bytes]) -> bytes:
            original = self._originals.get(match[0].rstrip(b"_"))
            if original is None or len(original) != len(match[0]):
                return match[0]
            self.restored[match[0].rstrip(b"_").decode()] += 1
            return original

        return _SAME_LENGTH.sub(back, data)

    def _original(self, name: bytes) -> bytes | None:
        original = self._originals.get(name)
        (self.unknown if original is None else self.restored)[name.decode()] += 1
        return original
