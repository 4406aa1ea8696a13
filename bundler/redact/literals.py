"""Things known by their value: the user's name, this host, words the user gave, secrets in variables."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from bundler.redact.pseudonyms import KINDS, PSEUDONYM, Pseudonyms
from bundler.redact.vocabulary import may_stand_alone

_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|AUTH|COOKIE"
    r"|(?:^|_)(?:PWD|KEY|PAT)$",
    re.IGNORECASE,
)
_NOT_SECRET_NAME = re.compile(r"^(?:PWD|OLDPWD)$|TOKENIZERS|_FILE$|_PATH$|_DIR$|_SOCK$", re.IGNORECASE)
_PLAIN = re.compile(
    r"^(?:true|false|yes|no|none|null|auto|default|enabled|disabled|[\d.]{1,7})$", re.IGNORECASE
)
_PSEUDONYM_PARTS = tuple(kind.encode() + b"-" for kind in KINDS)
_AFTER = rb"(?![\w-])"


@dataclass(frozen=True)
class Literal:
    """A byte string to look for and how its replacement is found. `needle` must be there before `pattern` is
    tried; `key` is the original that the pseudonym stands for."""

    kind: str
    needle: bytes
    pattern: re.Pattern[bytes]
    key: bytes
    prefix: bytes = b""

    def redact(self, data: bytes, table: Pseudonyms) -> bytes:
        if self.needle not in data:
            return data

        def replace(match: re.Match[bytes]) -> bytes:
            hit = match["hit"]
            return match[0] if hit is None else self.prefix + table.of(self.kind, self.key)

        return self.pattern.sub(replace, data)


def anywhere(kind: str, needle: bytes, key: bytes) -> Literal:
    """Replace every occurrence, also inside words; but not inside a pseudonym."""
    return Literal(kind, needle, _compile(needle, re.escape(needle)), key)


def word(kind: str, name: bytes) -> Literal:
    """Replace where the name is a whole word: not inside another word, nor as an SSA value, symbol, alias or
    attribute. After an escape (\\n, \\t, %2F) the letter before it is not part of the word."""
    text = re.escape(name)
    # What must stand before comes after the name, repeated in a look-behind: `re` is fast on a leading
    # literal.
    before = (
        rb"(?:(?<![\w.$%#!^-]TEXT)(?<![^\w]@TEXT)|(?<=\\nTEXT)|(?<=\\tTEXT)"
        rb"|(?<=%2[Ff]TEXT)|(?<=%3[AaDd]TEXT))"
    )
    pattern = text + _AFTER + before.replace(b"TEXT", text)
    return Literal(kind, name, _compile(name, pattern), name.lower() if kind == "host" else name)


def folder_name(name: bytes) -> Literal:
    """Replace an account's name only where it is one: a folder, `~name`, `torchinductor_name/`, `name@`."""
    text = re.escape(name)
    pattern = text + (
        rb"(?:(?<=[/\\~]TEXT)(?![\w.-])|(?<=[_-]TEXT)(?=/)|(?<![\w.%@-]TEXT)(?=@[A-Za-z]))"
    ).replace(b"TEXT", text)
    return Literal("user", name, _compile(name, pattern), name)


def folder(path_form: bytes, key: bytes) -> Literal:
    """Replace a whole path, and what lies below it keeps its names."""
    slash = path_form[: path_form.find(key[1:2])] if len(key) > 1 else b"/"
    text = re.escape(path_form)
    pattern = _compile(path_form, text + rb"(?![\w.-])(?<![\w.-]" + text + rb")")
    return Literal("path", path_form, pattern, key, prefix=slash)


def account_literals(name: str) -> Iterator[Literal]:
    """For the user's own account name."""
    encoded = name.encode("utf-8", "surrogatepass")
    if len(encoded) >= 2:
        yield folder_name(encoded)
    if may_stand_alone(encoded, at_least=5):
        yield word("user", encoded)


def host_literals(hostname: str) -> Iterator[Literal]:
    """For this machine's name: the full one, the short one, and its domain."""
    short, _, domain = hostname.partition(".")
    for name in dict.fromkeys((hostname, short, domain if "." in domain else "")):
        encoded = name.encode("utf-8", "surrogatepass")
        if may_stand_alone(encoded, at_least=4):
            for form in dict.fromkeys((encoded, encoded.lower())):
                yield word("host", form)


def word_literals(words: tuple[str, ...]) -> Iterator[Literal]:
    """For the words a user gave: anywhere, whatever the case of their letters; longest first."""
    for given in sorted(set(words), key=len, reverse=True):
        encoded = given.encode("utf-8", "surrogatepass")
        if encoded.strip():
            for form in dict.fromkeys((encoded, encoded.lower(), encoded.upper(), encoded.capitalize())):
                yield anywhere("word", form, encoded)


def secret_values(environ: Mapping[str, str]) -> Iterator[str]:
    """Values of variables whose name says secret, and passwords inside URLs such as a proxy's."""
    for name, value in environ.items():
        if "://" in value and "@" in value:
            yield from _url_passwords(value)
        elif (
            _SECRET_NAME.search(name)
            and not _NOT_SECRET_NAME.search(name)
            and len(value) >= 6
            and not value.startswith(("/", "~/"))
            and not _PLAIN.match(value)
        ):
            yield value


def secret_literals(environ: Mapping[str, str]) -> Iterator[Literal]:
    """For each secret value: as it is, as JSON and URLs write it, and in base64."""
    for value in sorted(set(secret_values(environ)), key=len, reverse=True):
        encoded = value.encode("utf-8", "surrogatepass")
        forms = (
            encoded,
            json.dumps(value)[1:-1].encode(),
            quote(encoded, safe="").encode(),
            base64.b64encode(encoded).rstrip(b"="),
        )
        for form in dict.fromkeys(forms):
            yield anywhere("secret", form, encoded)


def _url_passwords(value: str) -> Iterator[str]:
    try:
        password = urlsplit(value).password
    except ValueError:
        return
    for form in dict.fromkeys((password or "", unquote(password or ""))):
        if len(form) >= 6:
            yield form


def _compile(needle: bytes, hit: bytes) -> re.Pattern[bytes]:
    """The pattern, which steps over pseudonyms if the needle could occur in one."""
    hit = rb"(?P<hit>" + hit + rb")"
    if (
        any(needle in kind or kind in needle for kind in _PSEUDONYM_PARTS)
        or needle.strip(b"0123456789-_") == b""
    ):
        return re.compile(PSEUDONYM + rb"|" + hit)
    return re.compile(hit)
