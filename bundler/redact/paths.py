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

_SEPARATOR = rb"(?:\\/|\\{1,4}|%(?:25)?2[Ff])"
_UNIT = (
    rb"(?:[^\s/\\\"'`<>|:;,?*()\[\]{}$%&=#!\x00]"
    rb"|\\u[0-9a-fA-F]{4}|\\x[0-9a-f]{2}|\\[0-9A-F]{2}|%(?:25)?(?!2[Ff])[0-9A-Fa-f]{2})"
)
# The plain form is one that `re` finds at memory speed. The others are rare; their literal comes first for
# the same reason, and what must stand before it is checked afterwards.
_PLAIN = tuple(
    (needle, re.compile(needle + rb"(?P<name>" + _UNIT + rb"+)")) for needle in (b"/home/", b"/Users/")
)
_ESCAPED = tuple(
    (word, re.compile(word + rb"(?P<separator>" + _SEPARATOR + rb")(?P<name>" + _UNIT + rb"+)"))
    for word in (b"home", b"Users")
)
_SYSTEM = frozenset(("", "/", "/root", "/tmp", "/usr", "/var", "/opt", "/home", "/nonexistent", "/dev/null"))


def names(data: bytes) -> Iterator[bytes]:
    """The account names that occur as home folders."""
    found: set[bytes] = set()
    for needle, pattern in _PLAIN:
        if needle in data:
            found.update(pattern.findall(data))
    if _may_be_escaped(data):
        for _, pattern in _ESCAPED:
            found.update(match["name"] for match in pattern.finditer(data) if _is_home(match))
    for name in sorted(found):  # sorted: what is learned first must not hang on hash seeds
        trimmed = name.rstrip(b".")
        if _is_name(trimmed) and not is_pseudonym(trimmed):
            yield trimmed


def redact_homes(data: bytes, table: Pseudonyms) -> bytes:
    """Replace the account's name in every home folder."""
    known: dict[bytes, bytes] = {}

    def new_name(name: bytes) -> bytes:
        trimmed = name.rstrip(b".")
        if _is_name(trimmed):
            known[name] = table.of("user", trimmed) + name[len(trimmed) :]
        else:
            known[name] = name
        return known[name]

    for needle, pattern in _PLAIN:
        if needle in data:

            def plain(match: re.Match[bytes], needle: bytes = needle) -> bytes:
                name = match[1]
                return needle + (known.get(name) or new_name(name))

            data = pattern.sub(plain, data)

    def escaped(match: re.Match[bytes]) -> bytes:
        if not _is_home(match):
            return match[0]
        return match[0][: match.start("name") - match.start()] + new_name(match["name"])

    if _may_be_escaped(data):
        for _, pattern in _ESCAPED:
            data = pattern.sub(escaped, data)
    return data


def _is_name(name: bytes) -> bool:
    return bool(name) and not name.startswith(b".")


def _may_be_escaped(data: bytes) -> bool:
    # The marks first: one byte is found at memory speed, and most logs have neither.
    return any(mark in data and (b"home" + mark in data or b"Users" + mark in data) for mark in (b"\\", b"%"))


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
