"""GitHub's REST API (https://docs.github.com/rest/issues)."""

from __future__ import annotations

from typing import Any

from bundler.tracker.api import PER_PAGE, Api, Found
from bundler.tracker.token import Token

BASE = "https://api.github.com"


def header(token: Token) -> tuple[str, str]:
    """The header that carries the token."""
    return "Authorization", f"Bearer {token.reveal()}"


class GitHub(Api):
    """A repository's issues on GitHub."""

    def create(self, title: str, body: str) -> Found:
        return self.issue(self.client.post_json(self.issues_path(), {"title": title, "body": body}))

    def search(self, phrase: str) -> list[Found]:
        # A quote would end the phrase; GitHub has no escape for it.
        words = phrase.replace('"', " ")
        scope = f"repo:{self.tracker.owner}/{self.tracker.repo} is:issue is:open"
        answer: Any = self.client.get("/search/issues", {"q": f'{scope} "{words}"', "per_page": PER_PAGE})
        return self.issues(answer.get("items") if isinstance(answer, dict) else answer)
