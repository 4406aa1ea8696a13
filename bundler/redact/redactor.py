"""The redactor: every detector in its order, over text, bytes or streams.

All work is on bytes, so that a log in any encoding passes through with only the found parts changed. What is in
memory is redacted as a stream of one chunk, slice by slice, so that it makes no difference whether a member
was read whole.

What is never changed: SSA names, symbols, hexadecimal constants, shapes, versions, locations' line numbers.
"""

from __future__ import annotations

import getpass
import io
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bundler.redact import literals, paths
from bundler.redact.binary import is_binary
from bundler.redact.detectors import Detectors
from bundler.redact.examples import Example, Examples
from bundler.redact.lines import Lines
from bundler.redact.pseudonyms import Pseudonyms, added
from bundler.redact.slicing import SLICE, Read, binary_slices, reader_of, text_slices

LEVELS = ("off", "paths", "full")


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
        self._level = level
        self._table = Pseudonyms(allow)
        values = list(literals.word_literals(tuple(words)))
        names: list[literals.Literal] = []
        if level == "full":
            values += literals.secret_literals(environ)
        odd = paths.odd_home(home_text, account)
        if odd is not None:
            key = odd.encode("utf-8", "surrogatepass")
            names += (literals.folder(form, key) for form in paths.odd_home_forms(odd))
        accounts = [account, environ.get("USER"), environ.get("LOGNAME"), environ.get("SUDO_USER")]
        if home_text:
            accounts.append(Path(home_text).name)
        known = [name for name in dict.fromkeys(accounts) if name]
        for name in known:
            if name != "root":
                names += literals.account_literals(name)
        if hostname and level == "full":
            names += literals.host_literals(hostname)
            full, short = hostname.lower(), hostname.lower().partition(".")[0]
            self._table.alias(
                "host", full.encode("utf-8", "surrogatepass"), short.encode("utf-8", "surrogatepass")
            )
        self._detectors = Detectors(
            self._table,
            values,
            names,
            (("user", name.encode("utf-8", "surrogatepass")) for name in known),
            by_shape=level == "full",
        )
        self._examples = Examples()
        self._lines = Lines(self._detectors, self._examples.note)

    @property
    def level(self) -> str:
        """How much is replaced; one of `LEVELS`."""
        return self._level

    def learn(self, data: bytes) -> bool:
        """Note the accounts and hosts that `data` shows, for use in every member; say whether one was new.

        `data` and `text` do this themselves; whoever has several members calls it for all of them first, so
        that a name found in the last is also replaced in the first.
        """
        return not is_binary(data) and self.learn_stream((data,))

    def learn_stream(self, chunks: Iterable[bytes]) -> bool:
        """`learn` for text that comes in chunks of any size."""
        if self._level == "off":
            return False
        learned = [self._detectors.learn(part) for part in self._text_slices(reader_of(chunks))]
        return any(learned)

    def text(self, text: str) -> str:
        """Redact a string."""
        return self.data(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Redact a member's bytes; binary data keeps its length (see `bundler.redact.binary`)."""
        if self._level == "off" or not data:
            return data
        binary = is_binary(data)
        if not binary and len(data) > SLICE:
            self.learn(data)  # else a slice would not know the names in later ones
        return b"".join(self._redacted(io.BytesIO(data).read, binary))

    def stream(self, chunks: Iterable[bytes], *, binary: bool) -> Iterator[bytes]:
        """Redact what comes in chunks of any size: the same bytes as `data` gives for all of it, in bounded memory.

        Args:
            chunks: the content; its names must have been learned, if it is text.
            binary: whether the whole content is binary, see `bundler.redact.Classifier`.
        """
        return iter(chunks) if self._level == "off" else self._redacted(reader_of(chunks), binary)

    def _redacted(self, read: Read, binary: bool) -> Iterator[bytes]:
        if binary:
            for part in binary_slices(read):
                redacted = self._detectors.redact_binary(part)
                self._count(part, redacted)
                self._examples.note_binary(part, redacted)
                yield redacted
        else:
            for part in self._text_slices(read):
                whole = self._detectors.redact_several_lines(part)
                if whole is not part and whole != part:
                    self._count(part, whole)
                    self._examples.note(part, whole)
                yield self._lines.redact(whole)

    def _text_slices(self, read: Read) -> Iterator[bytes]:
        return text_slices(read, self._detectors.values_of_several_lines)

    def _count(self, before: bytes, after: bytes) -> None:
        for kind, number in added(before, after):
            self._table.count(kind, number)

    def looks_at(self, member: str) -> None:
        """Say which member comes next, for `examples`."""
        self._examples.member = member

    @property
    def examples(self) -> tuple[Example, ...]:
        """A few of the replacements, by kind, originals included: for the owner's eyes only."""
        return self._examples.all

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


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return ""
