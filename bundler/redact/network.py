"""Hosts and addresses: URLs, e-mail, `user@host`, IPv4, IPv6, MAC.

Hosts in URLs are replaced unless they belong to a site that everybody knows (`PUBLIC`).

Four numbers with dots are an address or a version (`8.2.0.1`); what decides:
1. five or more numbers, or a letter or dash touching it: a version;
2. a word like version, driver, `==`, `v` just before it: a version;
3. a port or prefix length behind it, or a word like addr, host, peer, inet, `//`, `@` just before it: an
address; 4. else an address if it is of a private range, or begins with 30 or more, as versions hardly do.
Loopback, 0.0.0.0 and netmasks say nothing about anybody and stay.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from functools import lru_cache

from bundler.redact.pseudonyms import PSEUDONYM, Pseudonyms, is_pseudonym
from bundler.redact.vocabulary import GENERIC, words

PUBLIC = words(
    """
    github.com githubusercontent.com github.io gitlab.com gitee.com gitcode.com gitcode.net atomgit.com
    pypi.org pythonhosted.org python.org anaconda.org conda.io pytorch.org llvm.org huggingface.co
    hf-mirror.com modelscope.cn hiascend.com huawei.com huaweicloud.com myhuaweicloud.com
    openeuler.org mindspore.cn
    readthedocs.io readthedocs.org docs.rs aliyun.com tsinghua.edu.cn ustc.edu.cn debian.org ubuntu.com
    kernel.org gnu.org sourceware.org wikipedia.org stackoverflow.com arxiv.org example.com example.org
    apache.org w3.org json-schema.org bitbucket.org docker.io docker.com quay.io nvidia.com openai.com
    """
)

_URL = tuple(
    (
        needle,
        re.compile(
            re.escape(needle)
            + rb"(?P<auth>[^\s/\"'<>\\?#]{1,512}@)?(?P<host>[A-Za-z0-9_][A-Za-z0-9._-]{0,252})?"
            rb"(?P<port>:\d{1,5})?"
        ),
    )
    for needle in (b"://", b"%3A%2F%2F", b"%3a%2f%2f")
)
_INDEX = re.compile(
    rb"(?P<before>index[-_]url(?:\\?[\"'])?[ \t]{0,4}[:= \t][ \t]{0,4}(?:\\?[\"'])?|INDEX_URL=)"
    rb"(?P<url>https?://[^\s\"'\\,;<>)]{1,2048})"
)
_TOKEN_IN_PATH = re.compile(rb"[/?&=](?=[A-Za-z_-]{0,63}[0-9])[A-Za-z0-9_-]{16,}")
_AT = re.compile(
    rb"@(?<=[A-Za-z0-9_+-]@)(?P<domain>(?:[A-Za-z0-9-]{1,63}\.){1,8}(?P<last>[a-z]{2,12}|[A-Z]{2,12}))"
    rb"(?![\w(-])"
)
_SHELL = re.compile(rb"@(?<=[A-Za-z0-9_]@)(?P<host>[A-Za-z][A-Za-z0-9._-]{1,252})(?=:[~/])")
_HOLDS_PSEUDONYM = re.compile(PSEUDONYM)
_LOCAL_PART = re.compile(rb"[A-Za-z0-9._%+\x80-\xff-]{1,64}\Z")
# Not every top-level domain: `q@k.values` in a kernel's source is a matrix product.
_DOMAINS = frozenset(
    b"com org net edu gov mil int info biz name dev app cloud tech local internal lan intra corp home email "
    b"xyz site online top ltd group wang".split()
)

_FLAT = bytes.maketrans(b"123456789", b"000000000")
_QUAD = re.compile(rb"\.(?<=0\.)0{1,3}\.0{1,3}\.0{1,3}(?![0A-Za-z_]|-[0A-Za-z]|\.0)")
# Words that decide when they stand just before the number, blanks and quotes between them not counted.
_VERSION_WORDS = (
    *b"version versions ver release rev cann driver firmware build toolkit package == >= <= ~= !=".split(),
    b" v",
    b"\tv",
    b"(v",
)
_ADDRESS_WORDS = tuple(
    b"ip addr address host hostname inet peer master server gateway dns node proxy ssh scp ping connect "
    b"connected connecting connection bind binding bound listen listening route subnet endpoint src dst "
    b"// @".split()
)
_BETWEEN = b" \t:=[\"'("
_FILLERS = (b" to", b" at", b" on", b" is", b" from")
_PORT_OR_PREFIX = re.compile(rb":\d{2,5}(?!\d)|/\d{1,2}(?!\d)")

# Five groups with colons, or a double colon between hexadecimal digits: then the whole run is looked at.
_COLONS = re.compile(rb":[0-9a-fA-F]{1,4}:[0-9a-fA-F]{1,4}:[0-9a-fA-F]{1,4}:")
_DOUBLE = re.compile(rb"::(?<=[0-9a-fA-F]::)(?:[0-9a-fA-F]{1,4}(?![0-9A-Za-z_])|(?![0-9A-Za-z_:]))")
_RUN = re.compile(rb"[0-9A-Za-z_:.]{1,64}")
_RUN_BACK = re.compile(rb"[0-9A-Za-z_:]{1,48}\Z")
_MAC = re.compile(rb"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\Z")
_MAC_DASHES = re.compile(
    rb"-(?<=[0-9A-Fa-f]{2}-)(?<![\w-][0-9A-Fa-f]{2}-)(?:[0-9A-Fa-f]{2}-){4}[0-9A-Fa-f]{2}(?![\w-])"
)


@lru_cache(maxsize=4096)
def is_public(host: bytes) -> bool:
    """Whether a host belongs to a site that says nothing about who uses it."""
    name = host.decode("ascii", "replace").lower().rstrip(".")
    labels = name.split(".")
    return any(".".join(labels[index:]) in PUBLIC for index in range(len(labels)))


def redact_urls(data: bytes, table: Pseudonyms) -> bytes:
    """Credentials and private hosts in URLs; the whole address of a private package index."""

    def index(match: re.Match[bytes]) -> bytes:
        inner = _URL[0][1].search(match["url"])
        host = (inner["host"] or b"") if inner else b""
        if inner is None or is_pseudonym(host) or is_public(host):
            return match[0]
        # Credentials are not part of the address: that one is kept in the owner's map, and they must not be.
        scheme, _, rest = match["url"].partition(b"://")
        auth = inner["auth"] or b""
        rest = rest[len(auth) :]
        kind = "secret" if _TOKEN_IN_PATH.search(rest) else "url"
        return match["before"] + scheme + b"://" + auth + table.of(kind, rest)

    def replace(match: re.Match[bytes]) -> bytes:
        auth, host = match["auth"] or b"", match["host"] or b""
        if auth and not is_pseudonym(auth[:-1]):
            auth = table.of("secret", auth[:-1]) + b"@"
        if host and not _stays(host):
            trimmed = host.rstrip(b".-_")
            host = table.of("host", trimmed, key=trimmed.lower()) + host[len(trimmed) :]
        start = match.start("auth" if match["auth"] else "host" if match["host"] else 0) - match.start()
        return match[0][: max(start, 0)] + auth + host + (match["port"] or b"") if auth or host else match[0]

    if b"index" in data or b"INDEX_URL" in data:
        data = _INDEX.sub(index, data)
    for needle, pattern in _URL:
        if needle in data:
            data = pattern.sub(replace, data)
    return data


def shell_hosts(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Pairs of user and host in prompts and remote paths: `name@host:~$`, `name@host:/path`."""
    if b"@" in data and (b":~" in data or b":/" in data):
        for match in _SHELL.finditer(data):
            local = _LOCAL_PART.search(data, max(0, match.start() - 64), match.start())
            private = not is_public(match["host"]) and not _HOLDS_PSEUDONYM.search(match["host"])
            if local and private and not is_pseudonym(local[0]):
                yield local[0], match["host"]


def redact_emails(data: bytes, table: Pseudonyms) -> bytes:
    """E-mail addresses, and user and host of `name@host:`."""
    if b"@" not in data:
        return data
    pieces: list[bytes] = []
    last = 0
    for match in _AT.finditer(data):
        final = match["last"].lower()
        local = _LOCAL_PART.search(data, max(last, match.start() - 64), match.start())
        # `secret-1@host` is what an earlier detector left.
        if local is None or is_pseudonym(local[0]) or (len(final) > 2 and final not in _DOMAINS):
            continue
        if local[0] == b"git" and is_public(match["domain"]):
            continue
        pieces += (data[last : local.start()], table.of("email", data[local.start() : match.end()]))
        last = match.end()
    return b"".join((*pieces, data[last:])) if pieces else data


def redact_ipv4(data: bytes, table: Pseudonyms) -> bytes:
    """IPv4 addresses, by the rules above."""
    flat = data.translate(_FLAT)
    if b".0." not in flat and b".00." not in flat and b".000." not in flat:
        return data
    pieces: list[bytes] = []
    last = 0
    for match in _QUAD.finditer(flat):
        start = match.start()
        while start > last and match.start() - start < 4 and flat[start - 1 : start] == b"0":
            start -= 1
        if _is_ipv4(data, start, match.end()):
            pieces += (data[last:start], table.of("ip", data[start : match.end()]))
            last = match.end()
    return b"".join((*pieces, data[last:])) if pieces else data


def _is_ipv4(data: bytes, start: int, end: int) -> bool:
    before = data[max(0, start - 40) : start].rsplit(b"\n", 1)[-1].lower()
    if before[-1:].isalnum() or before.endswith((b".", b"_", b"-", b"+")):
        return False
    numbers = [int(number) for number in data[start:end].split(b".")]
    first = numbers[0]
    if max(numbers) > 255 or first in (0, 127, 255):
        return False
    near = before.rstrip(_BETWEEN)
    if before.rstrip(b" \"'").endswith(_VERSION_WORDS) or near.endswith(_VERSION_WORDS):
        return False
    if near.endswith(_FILLERS):
        near = near[: near.rfind(b" ")].rstrip(_BETWEEN)
    if near.endswith(_ADDRESS_WORDS) or _PORT_OR_PREFIX.match(data, end):
        return True
    return first >= 30 or first == 10


def redact_ipv6_and_mac(data: bytes, table: Pseudonyms) -> bytes:
    """IPv6 and MAC addresses: anything with colons that `ipaddress` or six pairs of digits agree to."""
    if b":" in data:
        for pattern in (_COLONS, _DOUBLE):
            data = _redact_runs(data, pattern, table)
    if b"-" in data:
        data = _redact_dashed(data, table)
    return data


def _redact_runs(data: bytes, anchor: re.Pattern[bytes], table: Pseudonyms) -> bytes:
    pieces: list[bytes] = []
    last = 0
    for match in anchor.finditer(data):
        if match.start() < last:
            continue
        back = _RUN_BACK.search(data, max(last, match.start() - 48), match.start())
        start = back.start() if back else match.start()
        if data[start - 1 : start] in (b"-", b".") and start:
            continue
        whole = _RUN.match(data, start)
        run = whole[0].rstrip(b".:") if whole else b""
        kind = _kind_of_run(run)
        if kind is not None:
            pieces += (data[last:start], table.of(kind, run, key=run.lower()))
            last = start + len(run)
    return b"".join((*pieces, data[last:])) if pieces else data


def _kind_of_run(run: bytes) -> str | None:
    if _MAC.match(run):
        return None if run.strip(b"0:") == b"" else "mac"
    if not any(48 <= byte <= 57 for byte in run):
        return None  # add::fade is a C++ name
    try:
        address = ipaddress.IPv6Address(run.decode("ascii"))
    except ValueError:
        return None
    return None if address.is_loopback or address.is_unspecified else "ip"


def _redact_dashed(data: bytes, table: Pseudonyms) -> bytes:
    pieces: list[bytes] = []
    last = 0
    for match in _MAC_DASHES.finditer(data):
        start = match.start() - 2
        if start >= last:
            pieces += (data[last:start], table.of("mac", data[start : match.end()]))
            last = match.end()
    return b"".join((*pieces, data[last:])) if pieces else data


@lru_cache(maxsize=4096)
def _stays(host: bytes) -> bool:
    if is_pseudonym(host.rstrip(b".-_")) or is_public(host):
        return True
    # Addresses are another detector's; a version or a path after "://" is none of ours.
    numbers = host.replace(b".", b"").isdigit()
    return numbers or host.decode("ascii", "replace").lower() in GENERIC
