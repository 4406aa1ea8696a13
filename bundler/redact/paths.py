"""Home folders: `/home/NAME`, `/Users/NAME`, and a `$HOME` that lies elsewhere.

The account's name is replaced and the rest of the path stays, so that a path inside `loc("...")`, a traceback
or an argument is still a path. Also found: JSON's `\\/home\\/NAME`, Windows' `C:\\Users\\NAME` (plain or
doubled), URL encoding (`%2Fhome%2FNAME`, `%252F`), and names that JSON (`\\u5f20`), MLIR (`\\E5\\BC`), Python
(`\\xe5`) or URLs escaped. `/root` names nobody and stays, unless it is the home of a named user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from bundler.redact.pseudonyms import Pseudonyms, is_pseudonym

_SEPARATOR = rb"(?:/|\\/|\\{1,4}|%(?:25)?2[Ff])"
_UNIT = (
    rb"(?:[^\s/\\\"'`<>|:;,?*()\[\]{}$%&=#!\x00]"
    rb"|\\u[0-9a-fA-F]{4}|\\x[0-9a-f]{2}|\\[0-9A-F]{2}|%(?:25)?(?!2[Ff])[0-9A-Fa-f]{2})"
)
# The literal comes first because `re` then looks for it at memory speed; what is before it is checked
# afterwards.
_ROOTS = tuple(
    (word, re.compile(re.escape(word) + rb"(?P<separator>" + _SEPARATOR + rb")(?P<name>" + _UNIT + rb"+)"))
    for word in (b"home", b"Users")
)
_SYSTEM = frozenset(("", "/", "/root", "/tmp", "/usr", "/var", "/opt", "/home", "/nonexistent", "/dev/null"))


def names(data: bytes) -> Iterator[bytes]:
    """The account names that occur as home folders."""
    for word, pattern in _ROOTS:
        if word in data:
            for name in {match["name"] for match in pattern.finditer(data) if _is_home(match)}:
                trimmed = name.rstrip(b".")
                if trimmed and not is_pseudonym(trimmed):
                    yield trimmed


def redact_homes(data: bytes, table: Pseudonyms) -> bytes:
    """Replace the account's name in every home folder."""

    def replace(match: re.Match[bytes]) -> bytes:
        name = match["name"].rstrip(b".")
        if not name or name.startswith(b".") or not _is_home(match):
            return match[0]
        start, end = match.start("name") - match.start(), match.start("name") - match.start() + len(name)
        return match[0][:start] + table.of("user", name) + match[0][end:]

    for word, pattern in _ROOTS:
        if word in data:
            data = pattern.sub(replace, data)
    return data


def _is_home(match: re.Match[bytes]) -> bool:
    """Whether the separator that follows `home` also stands before it."""
    separator = match["separator"]
    return match.string.endswith(separator, 0, match.start()) or (
        # C:\Users in a raw string, \\Users in an escaped one: any number of backslashes
        separator.startswith(b"\\") and match.string[match.start() - 1 : match.start()] == b"\\"
    )


def odd_home(home: str | None, user: str | None) -> str | None:
    """`home` if it must be replaced as a whole: not below /home or /Users, and not a folder of the system."""
    if not home:
        return None
    home = home.rstrip("/")
    if home == "/root":
        return home if user and user != "root" else None
    if home in _SYSTEM or home.count("/") < 1 or re.search(r"/(?:home|Users)/[^/]", home):
        return None
    return home


def odd_home_forms(home: str) -> tuple[bytes, ...]:
    """How this path can be written: plain, JSON-escaped, URL-encoded."""
    forms = (home, home.replace("/", "\\/"), quote(home, safe=""))
    return tuple(dict.fromkeys(form.encode("utf-8", "surrogatepass") for form in forms))
