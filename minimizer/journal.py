"""Every verdict of one reduction, in a SQLite file, so that a reduction that was ended can go on.

The search is deterministic: asked the same questions it takes the same way. So nothing but the verdicts needs to be
kept: the next start runs the same search, and everything that was judged before is answered from here at once. A
`kill -9` at any moment loses the candidates in flight and nothing else, and the result is the one an undisturbed run
would have had.

The file can be queried by a person: table `verdicts` (hash of the candidate, verdict, seconds), table `finds` (other
failures, with the text that showed them), table `meta` (what the journal is about).
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from minimizer.oracle import Judgement, Verdict

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS verdicts (hash TEXT PRIMARY KEY, verdict TEXT NOT NULL, seconds REAL NOT NULL);
CREATE TABLE IF NOT EXISTS finds (id TEXT PRIMARY KEY, text TEXT NOT NULL);
"""


class Journal:
    """The journal of one reduction. May be used from several threads.

    Args:
        path: the file; made if it is not there.
        about: what the verdicts hold for (input, command line, signature, ...). A journal about something else, or
            one that cannot be read, is set aside under another name and a new one is begun.
        say: told, in a line, when that happens or when the journal cannot be written any more.
    """

    def __init__(self, path: Path, about: Mapping[str, str], say: Callable[[str], None]) -> None:
        self.path = path
        self._say = say
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        try:
            self._open(about)
        except sqlite3.DatabaseError as error:
            self._set_aside("corrupt", str(error))
            self._begin(about)

    def _open(self, about: Mapping[str, str]) -> None:
        self._connect()
        assert self._connection is not None
        found = dict(self._connection.execute("SELECT name, value FROM meta"))
        if found and found != dict(about):
            self._set_aside("old", "it is about another input, compiler or version")
            self._begin(about)
        elif not found:
            self._note(about)
        self._connection.execute("SELECT count(*) FROM verdicts JOIN finds").fetchone()

    def _begin(self, about: Mapping[str, str]) -> None:
        try:
            self._connect()
            self._note(about)
        except sqlite3.DatabaseError as error:
            self._give_up(error)

    def _connect(self) -> None:
        self._connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.executescript(_SCHEMA)

    def _note(self, about: Mapping[str, str]) -> None:
        assert self._connection is not None
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", about.items())

    def verdicts(self) -> dict[str, Judgement]:
        """The verdicts known so far, by the candidate's hash."""
        if self._connection is None:
            return {}
        rows = self._connection.execute("SELECT hash, verdict, seconds FROM verdicts")
        return {hash: Judgement(Verdict(verdict), seconds) for hash, verdict, seconds in rows}

    def finds(self) -> dict[str, str]:
        """Other failures met so far: signature id to the first text that showed it."""
        return (
            dict(self._connection.execute("SELECT id, text FROM finds"))
            if self._connection is not None
            else {}
        )

    def put(self, hash: str, judgement: Judgement, text: str) -> None:
        """Keep a verdict; and, for another failure, its text."""
        with self._lock:
            if self._connection is None:
                return
            try:
                row = (hash, judgement.verdict.value, judgement.seconds)
                self._connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", row)
                if judgement.verdict is Verdict.OTHER and judgement.signature is not None:
                    find = (judgement.signature.id, text)
                    self._connection.execute("INSERT OR IGNORE INTO finds VALUES (?, ?)", find)
            except (sqlite3.DatabaseError, UnicodeEncodeError) as error:
                self._give_up(error)

    def close(self, *, discard: bool = False) -> None:
        """Close the file; with `discard` remove it, as a finished reduction does not need it."""
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(sqlite3.DatabaseError):
                    self._connection.close()
                self._connection = None
        if discard:
            for path in self._files():
                path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return [self.path.with_name(self.path.name + end) for end in ("", "-wal", "-shm")]

    def _set_aside(self, why: str, reason: str) -> None:
        self.close()
        kept = self.path.with_name(f"{self.path.name}.{why}")
        self._say(f"{self.path.name} cannot be used ({reason}): set aside as {kept.name}, starting afresh")
        with contextlib.suppress(OSError):
            self.path.replace(kept)
        for path in self._files()[1:]:
            path.unlink(missing_ok=True)

    def _give_up(self, error: Exception) -> None:
        # A full disk must not end the reduction; it only cannot be resumed any more.
        self._say(f"the journal {self.path.name} cannot be written ({error}): going on without")
        if self._connection is not None:
            with contextlib.suppress(sqlite3.DatabaseError):
                self._connection.close()
        self._connection = None
