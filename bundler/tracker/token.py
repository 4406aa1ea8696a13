"""Access tokens: where they come from, and how they are kept from showing up anywhere.

A token lives in a `Token`, whose every text form is a placeholder; only the one line that sets the request's
header asks for the value. Tokens go into headers, never into addresses, which end up in logs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from bundler.errors import ExitCode, NpubugError
from bundler.tracker.places import Host

VARIABLES = {Host.GITCODE: "NPUBUG_GITCODE_TOKEN", Host.GITHUB: "NPUBUG_GITHUB_TOKEN"}
PAGES = {
    Host.GITCODE: "https://gitcode.com/setting/token-classic",
    Host.GITHUB: "https://github.com/settings/tokens (it must be allowed to write issues)",
}
_HIDDEN = "[token]"


class Token:
    """A secret that does not print, format, compare or pickle as itself."""

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        """Take a token, without the blank space around it.

        Raises:
            NpubugError: (usage) no token looks like this; the message does not tell the value.
        """
        value = value.strip()
        # Also keeps line breaks out of the header, and http.client from quoting the value in its complaint.
        if not value or not value.isascii() or not value.isprintable() or " " in value:
            raise NpubugError(
                "this is not a token",
                why="it is empty, or has blanks or characters that no token has",
                hint="copy it again from the site that issued it",
                code=ExitCode.USAGE,
            )
        self.__value = value

    def reveal(self) -> str:
        """The value itself, for a request's header."""
        return self.__value

    def scrub(self, text: str) -> str:
        """`text` without the value, should a server have repeated it."""
        return text.replace(self.__value, _HIDDEN)

    def __repr__(self) -> str:
        return f"Token({_HIDDEN})"

    def __str__(self) -> str:
        return _HIDDEN

    def __format__(self, spec: str) -> str:
        return _HIDDEN

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not pickled")


def find_token(host: Host, environ: Mapping[str, str]) -> Token | None:
    """The token that the environment holds for a site, or None."""
    value = environ.get(VARIABLES[host], "")
    return Token(value) if value.strip() else None


def require_token(host: Host, environ: Mapping[str, str], prompt: Callable[[str], str] | None) -> Token:
    """The token for a site, asked for with `prompt` (which does not echo) where the environment has none.

    Raises:
        NpubugError: (usage) there is none and nobody to ask.
    """
    token = find_token(host, environ)
    if token is not None:
        return token
    if prompt is None:
        raise NpubugError(
            f"posting to {host.value} needs a token",
            why=f"{VARIABLES[host]} is not set, and there is no terminal to ask at",
            hint=f"make one at {PAGES[host]} and put it into {VARIABLES[host]}",
            code=ExitCode.USAGE,
        )
    return Token(prompt(f"Token for {host.value} (not shown; make one at {PAGES[host]}): "))
