"""The gitcode API v5 (https://docs.gitcode.com/docs/openapi/issues).

The token goes into the documented PRIVATE-TOKEN header and not into the `access_token` parameter, as addresses
end up in logs. No labels are sent: people report that a token without the right to label is refused as a whole.
"""

from __future__ import annotations

from urllib.parse import quote

from bundler.tracker.api import PER_PAGE, Api, Found
from bundler.tracker.token import Token

BASE = "https://api.gitcode.com/api/v5"


def header(token: Token) -> tuple[str, str]:
    """The header that carries the token."""
    return "PRIVATE-TOKEN", token.reveal()


class GitCode(Api):
    """A repository's issues on gitcode."""

    def create(self, title: str, body: str) -> Found:
        content = {"repo": self.tracker.repo, "title": title, "body": body}
        return self.issue(self.client.post_form(f"/repos/{quote(self.tracker.owner)}/issues", content))

    def search(self, phrase: str) -> list[Found]:
        query: dict[str, str | int] = {"state": "open", "search": phrase, "per_page": PER_PAGE}
        return self.issues(self.client.get(self.issues_path(), query))
