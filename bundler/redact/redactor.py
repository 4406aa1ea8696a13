"""The redactor: every detector in its order, over text or bytes.

All work is on bytes, so that a log in any encoding passes through with only the found parts changed. Text is
worked on in blocks of whole lines: detectors first ask whether their anchor occurs at all (`in`, at memory
speed), and a block fits into the processor's cache while twenty of them ask.

What is never changed: SSA names, symbols, hexadecimal constants, shapes, versions, locations' line numbers.
"""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from bundler.redact import binary, hardware, literals, network, paths, secrets
from bundler.redact.literals import Literal
from bundler.redact.pseudonyms import Pseudonyms
from bundler.redact.vocabulary import may_stand_alone

LEVELS = ("off", "paths", "full")
_BLOCK = 1 << 18
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

    Args:
        environ: variables whose secret values are to be found; HOME, USER and LOGNAME are taken from it too.
        home, user, hostname: of the machine, where they differ from `environ`'s or are not there.
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
        environ = environ or {}
        home_text = str(home) if home is not None else environ.get("HOME")
        self._table = Pseudonyms(allow)
        self._level = level
        self._known: set[tuple[str, bytes]] = set()
        self._secrets: list[Literal] = list(literals.word_literals(tuple(words)))
        self._names: list[Literal] = []
        if level == "full":
            self._secrets += literals.secret_literals(environ)
        account = user or environ.get("USER") or environ.get("LOGNAME")
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

    @classmethod
    def for_this_machine(
        cls, *, words: Iterable[str] = (), allow: Iterable[str] = (), level: str = "full"
    ) -> Redactor:
        """With this process's environment, user and host."""
        try:
            user = getpass.getuser()
        except (KeyError, OSError):  # a container's user may have no name
            user = None
        home = str(Path("~").expanduser())
        return cls(
            environ=os.environ,
            home=home,
            user=user,
            hostname=socket.gethostname(),
            words=words,
            allow=allow,
            level=level,
        )

    def learn(self, data: bytes) -> None:
        """Note the accounts and hosts that `data` shows, for use in every member.

        `data` and `text` do this themselves; whoever has several members calls it for all of them first, so
        that a name found in the last is also replaced in the first.
        """
        if self._level == "off" or binary.is_binary(data):
            return
        for name in paths.names(data):
            self._learn("user", name)
        if self._level == "full":
            for user, host in network.shell_hosts(data):
                self._learn("user", user)
                self._learn("host", host)

    def text(self, text: str) -> str:
        """Redact a string."""
        return self.data(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Redact a member's bytes; binary data keeps its length (see `bundler.redact.binary`)."""
        if self._level == "off" or not data:
            return data
        if binary.is_binary(data):
            values = [(literal.kind, literal.needle) for literal in (*self._secrets, *self._names)]
            return binary.redact_binary(data, [v for v in values if not v[1].startswith(b"/")], self._table)
        self.learn(data)
        if self._level == "full":
            data = secrets.redact_private_keys(data, self._table)
        return b"".join(self._block(block) for block in _blocks(data))

    def _block(self, block: bytes) -> bytes:
        for literal in self._secrets:
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


def _blocks(data: bytes) -> Iterator[bytes]:
    """Cut data into blocks that end at a line's end."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _BLOCK) + 1
        if end == 0:
            end = len(data)
        yield data[start:end]
        start = end
