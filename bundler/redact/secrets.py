"""Secrets by their shape: tokens, keys, headers, passwords in assignments and on command lines.

Shapes are those that their issuers publish (GitHub, GitLab, Hugging Face, AWS, Google, Slack, PyPI, npm,
OpenAI, Alibaba Cloud), JSON web tokens (RFC 7519), PEM private keys (RFC 7468), ssh keys. Assignments are
judged by the name on their left and by what the value looks like: `max_tokens=4096`
and `token = get_token()` are not secrets.
"""

from __future__ import annotations

import re

from bundler.redact.pseudonyms import PSEUDONYM, Pseudonyms

# (bytes that must occur, pattern); few and rare bytes, as each is looked for in everything; each pattern
# begins with a literal, so that `re` skips fast.
_SHAPES: tuple[tuple[bytes, re.Pattern[bytes]], ...] = tuple(
    (needle, re.compile(pattern))
    for needle, pattern in (
        (b"gh", rb"gh[pousr]_[A-Za-z0-9]{20,255}"),
        (b"_pat_", rb"github_pat_[A-Za-z0-9_]{20,255}"),
        (b"_pat_", rb"dckr_pat_[A-Za-z0-9_-]{20,255}"),
        (b"glpat-", rb"glpat-[A-Za-z0-9_.-]{16,255}"),
        (b"gldt-", rb"gldt-[A-Za-z0-9_-]{16,255}"),
        (b"glsa_", rb"glsa_[A-Za-z0-9_]{30,255}"),
        (b"hf_", rb"hf_(?<![\w]hf_)[A-Za-z0-9]{30,255}"),
        (b"A", rb"A(?:KIA|SIA)[A-Z0-9]{16}"),
        (b"A", rb"AIza[A-Za-z0-9_-]{35}"),
        (b"LTAI", rb"LTAI[A-Za-z0-9]{12,30}"),
        (b"ya29.", rb"ya29\.[A-Za-z0-9_-]{20,2048}"),
        (b"xox", rb"xox[abeoprs]-[A-Za-z0-9-]{10,255}"),
        (b"sk-", rb"sk-(?<![\w-]sk-)[A-Za-z0-9_-]{20,255}"),
        (b"npm_", rb"npm_[A-Za-z0-9]{36}"),
        (b"pypi-", rb"pypi-[A-Za-z0-9_-]{50,1024}"),
        (b"SG.", rb"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}"),
        (b"eyJ", rb"eyJ[A-Za-z0-9_-]{8,1024}\.eyJ[A-Za-z0-9_-]{4,8192}\.[A-Za-z0-9_-]{4,8192}"),
        (b" AAAA", rb"ssh-(?:rsa|dss|ed25519) AAAA[A-Za-z0-9+/]{40,8192}={0,2}"),
        (b" AAAA", rb"ecdsa-sha2-nistp\d{3} AAAA[A-Za-z0-9+/]{40,8192}={0,2}"),
    )
)
# The body cannot run past another dash pair, so the search stays linear; without an END only base64 lines go.
_PEM = re.compile(
    rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rb"(?:(?:[^-]|-(?!-)){0,32768}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rb"|(?:(?:\s|\\r|\\n)*[A-Za-z0-9+/=]{30,})*)"
)
_QUOTED = (
    rb"(?:\\?\"(?P<double>[^\"\\\r\n]{1,4096})|\\?'(?P<single>[^'\\\r\n]{1,4096})"
    rb"|(?P<bare>[^\s\"'`,;&<>|)\]}\\]{1,4096}))"
)
_STRONG = (
    b"password", b"passwd", b"passphrase", b"secret", b"private-token", b"private_token", b"secret_key",
    b"secretkey", b"secret_access_key", b"access_token", b"auth_token", b"x-auth-token",
)  # fmt: skip
_WEAK = (
    b"token", b"api_key", b"apikey", b"api-key", b"access_key", b"accesskey", b"access-key", b"private_key",
    b"credential", b"cookie",
)  # fmt: skip
_STEMS = (b"passw", b"passph", b"secret", b"token", b"key", b"credential", b"cookie")
# Matched in lower-cased text; the value is then taken from the original.
_ASSIGNED = tuple(
    (
        name,
        strong,
        re.compile(
            re.escape(name)
            + rb"(?:\\?[\"'])?(?:[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}|(?<=--"
            + re.escape(name)
            + rb")[ \t]{1,4})"
            + _QUOTED
        ),
    )
    for names, strong in ((_STRONG, True), (_WEAK, False))
    for name in names
)
_HEADER = re.compile(
    rb"authorization(?:\\?[\"'])?[ \t]{0,4}[:=][ \t]{0,4}(?:\\?[\"'])?"
    rb"(?:(?:bearer|basic|token|digest|negotiate)[ \t]{1,4})?(?P<bare>[^\s\"'\\,;]{4,8192})"
)
_BEARER = re.compile(rb"bearer[ \t]{1,4}(?P<bare>[a-z0-9._~+/=-]{12,8192})")
_HOLDS_PSEUDONYM = re.compile(PSEUDONYM)
_CODE = re.compile(
    rb"^(?:[A-Za-z_][\w.]*[(\[]|\$|[%<{*]|(?:none|null|true|false|self|args|os|env)\b)", re.IGNORECASE
)


def redact_private_keys(data: bytes, table: Pseudonyms) -> bytes:
    """PEM blocks, which span lines."""
    if b"PRIVATE KEY" not in data:
        return data
    return _PEM.sub(lambda match: table.of("secret", match[0]), data)


def redact_tokens(data: bytes, table: Pseudonyms) -> bytes:
    """Tokens that can be told by their shape alone."""
    for needle, pattern in _SHAPES:
        if needle in data:
            data = pattern.sub(lambda match: table.of("secret", match[0]), data)
    return data


def redact_assignments(data: bytes, table: Pseudonyms) -> bytes:
    """Values that stand after a name that says secret, in code, JSON, headers, URLs and command lines."""
    lower = data.lower()
    spans: list[tuple[int, int]] = []
    if b"authorization" in lower:
        spans.extend(match.span("bare") for match in _HEADER.finditer(lower))
    if b"bearer" in lower:
        spans.extend(match.span("bare") for match in _BEARER.finditer(lower))
    stems = frozenset(stem for stem in _STEMS if stem in lower)
    for name, strong, pattern in _ASSIGNED if stems else ():
        if any(stem in name for stem in stems):
            at = 0
            while match := pattern.search(lower, at):
                group = match.lastgroup or "bare"
                start, end = match.span(group)
                is_strong = strong or _in_query(lower, match.start())
                if _is_secret(data[start:end], is_strong, quoted=group != "bare"):
                    spans.append((start, end))
                    at = end
                else:
                    at = start  # in `token: token: x7...` the second one counts
    return _replace_spans(data, spans, table)


def _is_secret(value: bytes, strong: bool, quoted: bool) -> bool:
    # Cheap questions first: a hostile text asks them of long values at every word.
    if not quoted and _CODE.match(value):
        return False
    head = value[:64]
    digits = sum(48 <= byte <= 57 for byte in head)
    if strong:
        if len(value) < 4 or value.isdigit() or head.strip(b"*x.X") == b"":
            return False
    elif len(value) < 12 or digits == 0 or digits == len(head) or b" " in head:
        return False
    # What holds a pseudonym was judged before its private part was replaced.
    return _HOLDS_PSEUDONYM.search(value) is None


def _in_query(lower: bytes, start: int) -> bool:
    return lower[start - 1 : start] in (b"?", b"&") and start > 0


def _replace_spans(data: bytes, spans: list[tuple[int, int]], table: Pseudonyms) -> bytes:
    if not spans:
        return data
    pieces: list[bytes] = []
    last = 0
    for start, end in sorted(spans):
        if start >= last and not _HOLDS_PSEUDONYM.search(data, start, end):
            pieces += (data[last:start], table.of("secret", data[start:end]))
            last = end
    return b"".join((*pieces, data[last:]))
