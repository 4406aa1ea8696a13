"""The redactor: every detector in its order, over text or bytes.

All work is on bytes, so that a log in any encoding passes through with only the found parts changed. Three
things make it fast: every distinct line is looked at once (a log of 700 passes repeats itself); so are lines
that differ only in their digits, where digits cannot matter; and a detector first asks whether its anchor
occurs at all in a block of lines (`in`, at memory speed, the block being in the processor's cache).

What is never changed: SSA names, symbols, hexadecimal constants, shapes, versions, locations' line numbers.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from bundler.redact import binary, hardware, literals, network, paths, secrets
from bundler.redact.literals import Literal
from bundler.redact.pseudonyms import Pseudonyms, added
from bundler.redact.vocabulary import may_stand_alone

LEVELS = ("off", "paths", "full")
_BLOCK = 1 << 18
_SLICE = 8 << 20
_ROUNDS = 4
_MEMORY = 64 << 20  # bytes of distinct lines to remember
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
# Where another digit can make another verdict: addresses, hosts, URL escapes, tokens with digits in their prefix.
_DIGITS_MATTER = re.compile(rb"\.0{1,3}\.0{1,3}\.0|://|::|(?::[0-9a-fA-F]{1,4}){3}|ya00|%(?:00)?0|AAAA")
_Detector = Callable[[bytes, Pseudonyms], bytes]
_BY_SHAPE: tuple[_Detector, ...] = (
    secrets.redact_tokens,
    secrets.redact_assignments,
    network.redact_urls,
    network.redact_emails,
    hardware.redact_serials,
    network.redact_ipv4,
    network.redact_ipv6_and_mac,
)


class Redactor:
    """Replaces what is private by stable pseudonyms; one for all members of an archive.

    What is not given is asked of this machine, so that nobody forgets it; "" or {} says that there is none.

    Args:
        environ: variables whose secret values are to be found, and the names in HOME, USER, LOGNAME, SUDO_USER.
        home: the home folder, else of `environ`.
        user: the account's name, else of `environ` or of the running process.
        hostname: this machine's name.
        words: further words to replace wherever they occur.
        allow: values to leave alone.
        level: "full", "paths" (home folders, user names and `words` only) or "off".
    """

    def __init__(
        self,
        *,
        environ: Mapping[str, str] | None = None,
        home: str | Path | None = None,
        user: str | None = None,
        hostname: str | None = None,
        words: Iterable[str] = (),
        allow: Iterable[str] = (),
        level: str = "full",
    ) -> None:
        if level not in LEVELS:
            raise ValueError(f"redaction level {level!r}, expected one of {', '.join(LEVELS)}")
        if environ is None:
            environ = os.environ
        home_text = str(home) if home is not None else environ.get("HOME", "")
        account = user if user is not None else environ.get("USER") or environ.get("LOGNAME") or _account()
        hostname = socket.gethostname() if hostname is None else hostname
        self._table = Pseudonyms(allow)
        self._level = level
        self._known: set[tuple[str, bytes]] = set()
        self._values: list[Literal] = list(literals.word_literals(tuple(words)))
        self._names: list[Literal] = []
        self._clean: set[bytes] = set()
        self._clean_shapes: set[bytes] = set()
        self._changed: dict[bytes, tuple[bytes, tuple[tuple[str, int], ...]]] = {}
        self._remembered = 0
        if level == "full":
            self._values += literals.secret_literals(environ)
        odd = paths.odd_home(home_text, account)
        if odd is not None:
            key = odd.encode("utf-8", "surrogatepass")
            self._names += (literals.folder(form, key) for form in paths.odd_home_forms(odd))
        accounts = [account, environ.get("USER"), environ.get("LOGNAME"), environ.get("SUDO_USER")]
        if home_text:
            accounts.append(Path(home_text).name)
        for name in dict.fromkeys(filter(None, accounts)):
            self._known.add(("user", name.encode("utf-8", "surrogatepass")))
            if name != "root":
                self._names += literals.account_literals(name)
        if hostname and level == "full":
            self._names += literals.host_literals(hostname)
            full, short = hostname.lower(), hostname.lower().partition(".")[0]
            self._table.alias(
                "host", full.encode("utf-8", "surrogatepass"), short.encode("utf-8", "surrogatepass")
            )

    def learn(self, data: bytes) -> bool:
        """Note the accounts and hosts that `data` shows, for use in every member; say whether one was new.

        `data` and `text` do this themselves; whoever has several members calls it for all of them first, so
        that a name found in the last is also replaced in the first.
        """
        if self._level == "off" or binary.is_binary(data):
            return False
        before = len(self._names)
        for name in paths.names(data):
            self._learn("user", name)
        if self._level == "full":
            for user, host in network.shell_hosts(data):
                self._learn("user", user)
                self._learn("host", host)
        return len(self._names) > before

    def text(self, text: str) -> str:
        """Redact a string."""
        return self.data(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Redact a member's bytes; binary data keeps its length (see `bundler.redact.binary`)."""
        if self._level == "off" or not data:
            return data
        if binary.is_binary(data):
            values = [(literal.kind, literal.needle) for literal in (*self._values, *self._names)]
            values = [value for value in values if not value[1].startswith(b"/")]
            return self._counted(data, binary.redact_binary(data, values, self._table))
        if len(data) > _SLICE:
            self.learn(data)  # else a slice would not know the names in later ones
        joined = self._several_lines(data)
        if joined is not data:
            data = self._counted(data, joined)
        return b"".join([self._lines(part) for part in _parts(data, _SLICE)])

    def _several_lines(self, data: bytes) -> bytes:
        """What can span lines: keys in PEM, and values of variables that have line ends."""
        for literal in self._values:
            if b"\n" in literal.needle:
                data = literal.redact(data, self._table)
        return secrets.redact_private_keys(data, self._table) if self._level == "full" else data

    def _lines(self, data: bytes) -> bytes:
        """Redact whole lines, each distinct one once: a log of passes repeats most of them."""
        lines = data.split(b"\n")
        times = Counter(lines)
        new = [line for line in times if line not in self._clean and line not in self._changed]
        learned = self.learn(b"\n".join(new))
        if learned or self._remembered > _MEMORY:
            self._forget()
            new = list(times)
        if new:
            self._redact_new(self._of_new_shape(b"\n".join(new)))
        changed = self._changed
        hits = [line for line in times if line in changed]
        if not hits:
            return data
        for line in hits:
            for kind, number in changed[line][1]:
                self._table.count(kind, number * times[line])
        return b"\n".join([changed[line][0] if line in changed else line for line in lines])

    def _of_new_shape(self, joined: bytes) -> list[bytes]:
        """The lines that must be looked at: not those that differ only in digits from a line without a hit."""
        lines = joined.split(b"\n")
        if any(needle in joined for needle in self._needles_with_digits()):
            return lines
        shapes = joined.translate(_DIGITS).split(b"\n")
        first: dict[bytes, bytes] = {}
        for shape, line in zip(shapes, lines):
            if shape not in self._clean_shapes:
                first.setdefault(shape, line)
        self._redact_new(list(first.values()))
        self._clean_shapes.update(
            shape for shape, line in first.items() if line in self._clean and not _DIGITS_MATTER.search(shape)
        )
        self._remembered += sum(map(len, first))
        return [
            line
            for shape, line in zip(shapes, lines)
            if shape not in self._clean_shapes and line not in self._clean and line not in self._changed
        ]

    def _needles_with_digits(self) -> Iterator[bytes]:
        for literal in (*self._values, *self._names):
            if literal.needle.translate(_DIGITS) != literal.needle:
                yield literal.needle

    def _redact_new(self, lines: list[bytes]) -> None:
        if not lines:
            return
        joined = b"\n".join(lines)
        self._remembered += len(joined)
        for block in _parts(joined, _BLOCK):
            after = self._block(block)
            if after == block:
                self._clean.update(block.split(b"\n"))
                continue
            pairs = list(zip(block.split(b"\n"), after.split(b"\n")))
            self._clean.update(old for old, new in pairs if old == new)
            hits = [(old, new) for old, new in pairs if old != new]
            for (old, _), settled in zip(hits, self._settled([new for _, new in hits])):
                self._changed[old] = (settled, added(old, settled))

    def _settled(self, lines: list[bytes]) -> list[bytes]:
        """Redact changed lines until nothing changes: a replacement can make its neighbour look private."""
        before = b"\n".join(lines)
        for _ in range(_ROUNDS):
            after = self._block(before)
            if after == before:
                break
            before = after
        return before.split(b"\n")

    def _forget(self) -> None:
        """Drop what is known of lines: a new name makes it wrong, and there must be an end to its size."""
        self._clean.clear()
        self._clean_shapes.clear()
        self._changed.clear()
        self._remembered = 0

    def _counted(self, before: bytes, after: bytes) -> bytes:
        for kind, number in added(before, after):
            self._table.count(kind, number)
        return after

    def _block(self, block: bytes) -> bytes:
        for literal in self._values:
            if b"\n" not in literal.needle:  # distinct lines that happen to be neighbours here
                block = literal.redact(block, self._table)
        if self._level == "full":
            for detector in _BY_SHAPE:
                block = detector(block, self._table)
        block = paths.redact_homes(block, self._table)
        for literal in self._names:
            block = literal.redact(block, self._table)
        return block

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """How many replacements were made, by kind."""
        return self._table.counts

    @property
    def mapping(self) -> dict[str, str]:
        """Pseudonym to original, without secrets."""
        return self._table.mapping

    def write_map(self, path: Path) -> None:
        """Write `mapping` to a file that only its owner can read."""
        self._table.write_map(path)

    def _learn(self, kind: str, name: bytes) -> None:
        if (kind, name) in self._known:
            return
        self._known.add((kind, name))
        if kind == "user" and len(name) >= 3 and name != b"root":
            self._names.append(literals.folder_name(name))
        elif kind == "host" and may_stand_alone(name, at_least=4):
            self._names.append(literals.word("host", name))


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return ""


def _parts(data: bytes, size: int) -> Iterator[bytes]:
    """Cut data into parts of about `size` that end at a line's end."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + size) + 1
        if end == 0:
            end = len(data)
        yield data[start:end]
        start = end
