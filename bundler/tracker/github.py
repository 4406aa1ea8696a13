"""GitHub's REST API (https://docs.github.com/rest/issues)."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from bundler.tracker.api import PER_PAGE, Api, Found
from bundler.tracker.token import Token

BASE = "https://api.github.com"


def header(token: Token) -> tuple[str, str]:
    """The header that carries the token."""
    return "Authorization", f"Bearer {token.reveal()}"


class GitHub(Api):
    """A repository's issues on GitHub."""

    def create(self, title: str, body: str) -> Found:
        return self.issue(self.client.post_json(self._path(), {"title": title, "body": body}))

    def search(self, phrase: str) -> list[Found]:
        # A quote would end the phrase; GitHub has no escape for it.
        words = phrase.replace('"', " ")
        scope = f"repo:{self.tracker.owner}/{self.tracker.repo} is:issue is:open"
        answer: Any = self.client.get("/search/issues", {"q": f'{scope} "{words}"', "per_page": PER_PAGE})
        return self.issues(answer.get("items") if isinstance(answer, dict) else answer)

    def page(self, number: int, state: str) -> list[Found]:
        query: dict[str, str | int] = {
            "state": state,
            "sort": "created",
            "direction": "desc",
            "per_page": PER_PAGE,
            "page": number,
        }
        return self.issues(self.client.get(self._path(), query))

    def read(self, number: str) -> Found:
        return self.issue(self.client.get(f"{self._path()}/{quote(number)}", {}))

    def _path(self) -> str:
        return f"/repos/{quote(self.tracker.owner)}/{quote(self.tracker.repo)}/issues"
