"""What npubug asks of a tracker's API, whichever it is."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bundler.errors import NpubugError
from bundler.printable import printable
from bundler.tracker.client import Client, Unsure
from bundler.tracker.places import Tracker

PER_PAGE = 100


@dataclass(frozen=True)
class Found:
    """An issue on a tracker. `body` is None where the API left it out."""

    number: str
    title: str
    url: str
    body: str | None = None


class Api(ABC):
    """One tracker, reached through its API. Every method raises as `Client` does."""

    def __init__(self, tracker: Tracker, client: Client) -> None:
        self.tracker = tracker
        self.client = client

    @abstractmethod
    def create(self, title: str, body: str) -> Found:
        """Post an issue. Called again only when it is known that the last call did nothing."""

    @abstractmethod
    def search(self, phrase: str) -> list[Found]:
        """Open issues in which `phrase` occurs, as the site's own search sees it."""

    def issues_path(self) -> str:
        """Where both APIs keep the tracker's issues."""
        return f"/repos/{quote(self.tracker.owner)}/{quote(self.tracker.repo)}/issues"

    def page(self, number: int, state: str) -> list[Found]:
        """A page of the issues, the newest first; `state` is open or all."""
        query: dict[str, str | int] = {
            "state": state,
            "sort": "created",
            "direction": "desc",
            "per_page": PER_PAGE,
            "page": number,
        }
        return self.issues(self.client.get(self.issues_path(), query))

    def read(self, number: str) -> Found:
        """One issue, its body included."""
        return self.issue(self.client.get(f"{self.issues_path()}/{quote(number)}", {}))

    def recent(self, pages: int, state: str = "all") -> Iterator[Found]:
        """The newest issues."""
        for number in range(1, pages + 1):
            issues = self.page(number, state)
            yield from issues
            if len(issues) < PER_PAGE:
                return

    def issue(self, answer: Any) -> Found:
        """An issue as both sites describe one; of a malformed answer to a post nobody knows what it did."""
        if not isinstance(answer, dict) or not str(answer.get("number") or "").isalnum():
            raise Unsure("the answer does not describe an issue")
        number = str(answer["number"])
        body = answer.get("body")
        url = answer.get("html_url")
        if not isinstance(url, str) or not url.startswith(("https://", "http://")):
            url = f"{self.tracker.url}/issues/{number}"
        return Found(
            number,
            printable(str(answer.get("title") or ""), 300),
            printable(url, 300),
            body if isinstance(body, str) else None,
        )

    def issues(self, answer: Any) -> list[Found]:
        """A list of issues; what else GitHub lists among them, pull requests, is left out."""
        if not isinstance(answer, list):
            raise NpubugError("the tracker's answer is not a list of issues", hint="check --api-url")
        found = []
        for each in answer:
            if isinstance(each, dict) and not each.get("pull_request"):
                with contextlib.suppress(Unsure):  # one odd entry does not hide the others
                    found.append(self.issue(each))
        return found
