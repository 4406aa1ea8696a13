"""Post an issue once, whatever the network does; look for similar ones first.

The text holds a mark that no other issue holds (`npubug-report-…`). Before the first post, and before each
repetition of a post that may have been carried out, the newest issues are searched for the mark: where it is
found, the issue is there and nothing is posted. Where that look-up fails, npubug gives up rather than post
twice.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from bundler.errors import NpubugError
from bundler.tracker import gitcode, github
from bundler.tracker.api import Api, Found
from bundler.tracker.client import Busy, Client, NotSent, Unsure
from bundler.tracker.places import Host, Tracker
from bundler.tracker.token import Token

Answer = TypeVar("Answer")
API_VARIABLES = {Host.GITCODE: "NPUBUG_GITCODE_API", Host.GITHUB: "NPUBUG_GITHUB_API"}
_PAGES = 2  # of the newest issues, to look for our own mark
_LOOKS = 2  # before a post that may have been carried out is repeated


@dataclass(frozen=True)
class Patience:
    """How long to go on. `pauses` are the seconds before each further try; `most` is the longest wait that a
    server may ask for."""

    pauses: tuple[float, ...] = (2.0, 5.0, 15.0)
    most: float = 120.0


@dataclass(frozen=True)
class Posted:
    """An issue that is there now. `new` is False if it was there before."""

    issue: Found
    new: bool


def connect(
    tracker: Tracker,
    token: Token | None,
    *,
    base: str | None = None,
    timeout: float = 30.0,
    environ: Mapping[str, str] = os.environ,
) -> Api:
    """The API of a tracker.

    Args:
        base: the API's address; by default the variable of `API_VARIABLES`, else the site's own.

    Raises:
        NpubugError: (usage) the address is not one that a token may be sent to.
    """
    chosen = base or environ.get(API_VARIABLES[tracker.host], "")
    if tracker.host is Host.GITCODE:
        client = Client(chosen or gitcode.BASE, token, gitcode.header, timeout=timeout)
        return gitcode.GitCode(tracker, client)
    return github.GitHub(tracker, Client(chosen or github.BASE, token, github.header, timeout=timeout))


def post_once(
    api: Api,
    title: str,
    body: str,
    mark: str,
    *,
    patience: Patience | None = None,
    sleep: Callable[[float], None] = time.sleep,
    say: Callable[[str], None] = lambda line: None,
) -> Posted:
    """Post an issue, unless one with its mark is there.

    Args:
        mark: a word that stands in `body` and in no other issue.
        sleep: waits.
        say: told about each failed try.

    Raises:
        NpubugError: it was refused, or the server cannot be reached, or it is not known whether it arrived.
    """
    assert mark in body
    patience = patience or Patience()

    def find() -> Found | None:
        return patiently(lambda: _with_mark(api, title, mark), patience, sleep, say)

    there = find()
    if there is not None:
        return Posted(there, new=False)
    for pause in (*patience.pauses, None):
        try:
            return Posted(api.create(title, body), new=True)
        except Busy as busy:
            if pause is None:
                raise _gave_up(api, busy) from None
            wait = _wait(busy, pause, patience)
            say(f"{busy}; trying again in {wait:.0f} s")
            sleep(wait)
        except NotSent as problem:
            if pause is None:
                raise _gave_up(api, problem) from None
            say(f"{problem}; trying again in {pause:.0f} s")
            sleep(pause)
        except Unsure as problem:
            say(f"{problem}; looking whether it was posted nevertheless")
            for _ in range(_LOOKS):
                sleep(pause or patience.pauses[-1])  # a slow server may still be at work on it
                try:
                    there = find()
                except NpubugError as also:
                    why = f"{problem}; then the look-up failed: {also.why or also.what}"
                    raise _unknown(api, why) from None
                if there is not None:
                    return Posted(there, new=True)
            if pause is None:
                raise _gave_up(api, problem) from None
    raise AssertionError("the last try returns or raises")


def similar(
    api: Api,
    phrases: tuple[str, ...],
    *,
    patience: Patience | None = None,
    sleep: Callable[[float], None] = time.sleep,
    say: Callable[[str], None] = lambda line: None,
) -> list[Found]:
    """Open issues that hold some of `phrases`, those with the most and the most telling first.

    Args:
        phrases: the most telling first: see `bundler.tracker.phrases`.

    Raises:
        NpubugError: the tracker cannot be asked.
    """
    patience = patience or Patience(pauses=(2.0,))
    found: dict[str, Found] = {}
    asks: list[Callable[[], list[Found]]] = [functools.partial(api.search, each) for each in phrases[:2]]
    asks.append(functools.partial(api.page, 1, "open"))  # a site's search may see less than a plain look
    for ask in asks:
        for issue in patiently(ask, patience, sleep, say):
            found.setdefault(issue.number, issue)
    scored = [(_score(issue, phrases), issue) for issue in found.values()]
    return [issue for score, issue in sorted(scored, key=lambda each: -each[0]) if score > 0]


def _score(issue: Found, phrases: tuple[str, ...]) -> int:
    text = f"{issue.title}\n{issue.body or ''}".lower()
    return sum(len(phrases) - rank for rank, phrase in enumerate(phrases) if phrase.lower() in text)


def _with_mark(api: Api, title: str, mark: str) -> Found | None:
    for issue in api.recent(_PAGES):
        # A list that leaves the bodies out: only issues of our title are worth a request each.
        body = issue.body if issue.body is not None or issue.title != title else api.read(issue.number).body
        if mark in (body or ""):
            return issue
    return None


def patiently(
    ask: Callable[[], Answer],
    patience: Patience,
    sleep: Callable[[float], None],
    say: Callable[[str], None],
) -> Answer:
    """The answer to a question that does no harm when it is asked again.

    Raises:
        NpubugError: there is none in time.
    """
    for pause in patience.pauses:
        try:
            return ask()
        except Busy as busy:
            wait = _wait(busy, pause, patience)
            say(f"{busy}; asking again in {wait:.0f} s")
            sleep(wait)
        except (NotSent, Unsure) as problem:
            say(f"{problem}; asking again in {pause:.0f} s")
            sleep(pause)
    try:
        return ask()
    except (Busy, NotSent, Unsure) as problem:
        raise NpubugError(
            "the tracker does not answer", why=str(problem), hint="try again later, or search by hand"
        ) from None


def _wait(busy: Busy, pause: float, patience: Patience) -> float:
    if busy.wait is None:
        return pause
    if busy.wait > patience.most:
        raise NpubugError(
            "the tracker asks to wait",
            why=str(busy),
            hint=f"try again in {busy.wait / 60:.0f} minutes; nothing was posted",
        )
    return max(busy.wait, 0.1)


def _gave_up(api: Api, problem: Exception) -> NpubugError:
    return NpubugError(
        "the issue was not posted",
        why=str(problem),
        hint=f"try again later, or post the text by hand: {api.tracker.url}/issues/new",
    )


def _unknown(api: Api, why: str) -> NpubugError:
    return NpubugError(
        "it is not known whether the issue was posted",
        why=why,
        hint=f"look at {api.tracker.url}/issues; the same command finds it there and does not post it again",
    )
