"""Judge candidates on several cores, remember every verdict, and stop when time is up.

Answers do not depend on which compile ends first, nor on the number of jobs: batches and their order are fixed by
the search, and of several interesting candidates the first in order wins.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from bundler.process import kill_all
from minimizer.journal import Journal
from minimizer.oracle import Judgement, Oracle, Verdict


class OutOfTime(Exception):
    """The deadline has passed; what was found so far is the result."""


@dataclass
class Tally:
    """What judging has cost so far."""

    candidates: int = 0  # asked for, whether or not they needed a compile
    compiles: int = 0
    invalid: int = 0  # rejected by the compiler before any pass ran
    malformed: int = 0  # stopped by our own verifier, so not compiled
    seconds: float = 0.0  # inside compiles, summed over cores


class Evaluator:
    """Runs an oracle on candidates. Use as a context manager: leaving it ends every compile under way.

    Args:
        oracle: what to ask.
        jobs: compiles at the same time.
        deadline: `time.monotonic()` at which to stop, or None.
        journal: where verdicts are kept, and taken from, or None.
    """

    def __init__(
        self, oracle: Oracle, jobs: int, deadline: float | None, journal: Journal | None = None
    ) -> None:
        self.oracle = oracle
        self.jobs = jobs
        self.deadline = deadline
        self.tally = Tally()
        self._journal = journal
        self._known: dict[str, Judgement] = journal.verdicts() if journal is not None else {}
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="compile")

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        kill_all()
        self._pool.shutdown(wait=True)

    def judge_all(self, texts: Iterable[str]) -> list[Judgement]:
        """Judge every text; the answers in the same order. Each is begun as soon as it is there.

        Raises:
            OutOfTime: the deadline passed before all were judged.
        """
        futures = [self._submit(text) for text in texts]
        return [self._await(future) for future in futures]

    def first(self, texts: Iterator[str]) -> int | None:
        """The position of the first interesting text, or None. Later ones are begun ahead, then abandoned.

        Raises:
            OutOfTime: the deadline passed first.
        """
        cancel = threading.Event()
        ahead: list[Future[Judgement]] = []
        position = 0
        try:
            for text in texts:
                ahead.append(self._submit(text, cancel))
                if len(ahead) < self.jobs:
                    continue
                if self._await(ahead.pop(0)).verdict is Verdict.INTERESTING:
                    return position
                position += 1
            for future in ahead:
                if self._await(future).verdict is Verdict.INTERESTING:
                    return position
                position += 1
            return None
        finally:
            cancel.set()

    def _submit(self, text: str, cancel: threading.Event | None = None) -> Future[Judgement]:
        self.tally.candidates += 1
        key = hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
        known = self._known.get(key)
        if known is not None:
            done: Future[Judgement] = Future()
            done.set_result(known)
            return done
        return self._pool.submit(self._judge, key, text, cancel)

    def _judge(self, key: str, text: str, cancel: threading.Event | None) -> Judgement:
        if cancel is not None and cancel.is_set():
            return Judgement(Verdict.BORING)
        judgement = self.oracle.judge(text, cancel)
        self.tally.compiles += 1
        self.tally.seconds += judgement.seconds
        if cancel is not None and cancel.is_set():
            return judgement  # cut short: not an answer to keep
        self.tally.invalid += judgement.verdict is Verdict.INVALID
        self._known[key] = judgement
        if self._journal is not None:
            self._journal.put(key, judgement, text)
        return judgement

    def _await(self, future: Future[Judgement]) -> Judgement:
        left = None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)
        try:
            return future.result(timeout=left)
        except TimeoutError as error:
            raise OutOfTime from error
