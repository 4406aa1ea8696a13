"""Which member names an archive may hold: relative, plain, and distinct on every file system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from bundler.printable import printable

MANIFEST = "manifest.json"

_MAX_NAME = 1000
_MAX_PART = 250
_MAX_DEPTH = 16


def name_problem(name: str) -> str | None:
    """Say why `name` is not a good member name, or return None."""
    shown = printable(name, 80)
    if not name or not name.isprintable() or "\\" in name:
        return f"the member name '{shown}' is empty or has characters that are not allowed"
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return f"the member name '{shown}' is absolute"
    parts = name.split("/")
    if ".." in parts:
        return f"the member name '{shown}' leads out of the archive"
    if "" in parts or "." in parts:
        return f"the member name '{shown}' is not in its simple form"
    sizes = [len(part.encode()) for part in parts]
    if sum(sizes) > _MAX_NAME or max(sizes) > _MAX_PART or len(parts) > _MAX_DEPTH:
        return f"the member name '{shown}' is too long or too deep"
    return None


def names_problem(names: Iterable[str]) -> str | None:
    """Say why these names cannot stand beside each other and the manifest, or return None.

    Two names clash when a file system that folds case or Unicode forms takes them for one, or when one is the
    folder of the other.
    """
    seen = {_fold(MANIFEST): MANIFEST}
    folders: set[str] = set()
    for name in names:
        problem = name_problem(name)
        if problem:
            return problem
        folded = _fold(name)
        if folded in seen:
            other = seen[folded]
            if other == name:
                return f"the member name '{printable(name, 80)}' is there twice"
            return f"'{printable(name, 80)}' and '{printable(other, 80)}' differ only in case or form"
        seen[folded] = name
        parts = folded.split("/")
        folders.update("/".join(parts[:end]) for end in range(1, len(parts)))
    for folder in folders:
        if folder in seen:
            return f"the member '{printable(seen[folder], 80)}' is also a folder"
    return None


def _fold(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
