"""One HTTP request to a tracker's API, and what its failure means for trying again.

A failure is one of four, because that is what decides whether a post may be repeated: `NotSent` (it never
arrived), `Busy` (it was turned away, come back later), `Unsure` (it may have been carried out) and an
`NpubugError` (refused for good). Redirects are followed to the same server only: the token is for nobody else.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from email.message import Message
from typing import IO, Any

from bundler import __version__
from bundler.errors import ExitCode, NpubugError
from bundler.printable import printable
from bundler.tracker.token import Token

_MOST = 16 << 20  # bytes of an answer
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class NotSent(Exception):
    """The request did not reach the server."""


class Unsure(Exception):
    """The request may have been carried out, but no proper answer came."""


class Busy(Exception):
    """The server turned the request away for now. `wait` is how many seconds it asked for, or None."""

    def __init__(self, what: str, wait: float | None) -> None:
        super().__init__(what)
        self.wait = wait


class Client:
    """Requests to one API.

    Args:
        base: the API's address.
        token: what to authenticate with, or None for what the public may read.
        header: sets the header that carries the token.
        timeout: seconds without a sign of life.
        clock: the time now, for answers that name a moment.

    Raises:
        NpubugError: (usage) the address would send the token unencrypted, or is none.
    """

    def __init__(
        self,
        base: str,
        token: Token | None,
        header: Callable[[Token], tuple[str, str]],
        *,
        timeout: float = 30.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        parts = urllib.parse.urlsplit(base)
        local = parts.hostname in _LOOPBACK
        if not (parts.scheme == "https" or (parts.scheme == "http" and local)) or parts.username:
            raise NpubugError(
                f"'{printable(parts.hostname or base, 80)}' cannot be used as the address of a tracker's API",
                why="a token is only sent over https, and an address holds no user name",
                hint="give an address like https://api.github.com",
                code=ExitCode.USAGE,
            )
        self._base = base.rstrip("/")
        self._token = token
        self._header = header
        self._timeout = timeout
        self._clock = clock
        handlers: list[urllib.request.BaseHandler] = [_SameServer()]
        if local:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def __repr__(self) -> str:
        return f"Client({self._base!r})"

    def get(self, path: str, query: Mapping[str, str | int]) -> Any:
        """The JSON at `path`. Raises as `_call` does."""
        return self._call("GET", f"{path}?{urllib.parse.urlencode(query)}", None, "")

    def post_json(self, path: str, content: Mapping[str, str]) -> Any:
        """Post JSON and return the answer's. Raises as `_call` does."""
        return self._call("POST", path, json.dumps(content).encode(), "application/json")

    def post_form(self, path: str, content: Mapping[str, str]) -> Any:
        """Post a form and return the answer's JSON. Raises as `_call` does."""
        body = urllib.parse.urlencode(content).encode()
        return self._call("POST", path, body, "application/x-www-form-urlencoded")

    def _call(self, method: str, path: str, body: bytes | None, media_type: str) -> Any:
        """Raises NotSent, Unsure, Busy or NpubugError; see the module's docstring."""
        request = urllib.request.Request(f"{self._base}{path}", data=body, method=method)
        request.add_header("User-Agent", f"npubug/{__version__}")
        request.add_header("Accept", "application/json")
        if media_type:
            request.add_header("Content-Type", media_type)
        if self._token is not None:
            request.add_header(*self._header(self._token))
        # `from None` throughout: a chained exception would bring the request, headers included, along.
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                text = answer.read(_MOST)
        except urllib.error.HTTPError as error:
            raise self._meaning(error) from None
        except urllib.error.URLError as error:
            raise self._unreachable(error.reason) from None
        except (OSError, http.client.HTTPException) as error:
            raise Unsure(self._clean(f"no whole answer: {error or type(error).__name__}")) from None
        try:
            return json.loads(text)
        except ValueError:
            raise Unsure("the answer is not JSON") from None

    def _unreachable(self, reason: object) -> Exception:
        if isinstance(reason, ssl.SSLCertVerificationError):
            return NpubugError(
                f"the certificate of {self._host()} does not hold",
                why=self._clean(str(reason)),
                hint="a proxy that inspects traffic needs its certificate in SSL_CERT_FILE",
            )
        # On 3.9 `socket.timeout` is not yet TimeoutError.
        if isinstance(reason, (TimeoutError, socket.timeout, ConnectionResetError, BrokenPipeError)):
            return Unsure(f"no answer from {self._host()} within {self._timeout:.0f} s, or it hung up")
        return NotSent(self._clean(f"cannot reach {self._host()}: {reason}"))

    def _meaning(self, error: urllib.error.HTTPError) -> Exception:
        status, said = error.code, self._said(error)
        limited = error.headers.get("x-ratelimit-remaining") == "0" or "rate limit" in said.lower()
        if status == 429 or (status == 403 and (limited or error.headers.get("Retry-After"))):
            return Busy(f"{self._host()} limits the rate: {said}", self._wait(error.headers))
        if status >= 500:
            return Unsure(f"{self._host()} answers with an error of its own: {status} {said}")
        hints = {
            401: "the token is wrong or has expired: make a new one",
            403: "the token may not write issues here: give it that right, or make a new one",
            404: "the token may not see this repository, or --api-url is wrong",
            410: "issues are switched off there: choose another tracker with --to",
            422: "shorten the text, or post it by hand",
        }
        why = f"{status} {said}".strip()
        moved = "it points elsewhere, where the token is not sent: give the right address with --api-url"
        hint = moved if 300 <= status < 400 else hints.get(status, "")
        return NpubugError(f"{self._host()} refuses the request", why=why, hint=hint)

    def _said(self, error: urllib.error.HTTPError) -> str:
        try:
            text = error.read(1 << 16).decode(errors="replace")
            content = json.loads(text)
            text = str(content["message"] if isinstance(content, dict) and "message" in content else text)
        except (OSError, http.client.HTTPException, ValueError):
            text = str(error.reason)
        return self._clean(text)

    def _wait(self, headers: Message) -> float | None:
        """Seconds to wait, from Retry-After (seconds or a date) or GitHub's moment of reset."""
        after, reset = headers.get("Retry-After", ""), headers.get("x-ratelimit-reset", "")
        if after.isdecimal():
            return float(after)
        if after:
            moment = email.utils.parsedate_tz(after)
            return max(0.0, email.utils.mktime_tz(moment) - self._clock()) if moment else None
        return max(0.0, float(reset) - self._clock()) if reset.isdecimal() else None

    def _host(self) -> str:
        return urllib.parse.urlsplit(self._base).netloc

    def _clean(self, text: str) -> str:
        if self._token is not None:
            text = self._token.scrub(text)
        return printable(" ".join(text.split()), 300)


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows a redirect within one server (a renamed repository), with the method and content it had."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        here, there = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        same = (here.scheme, here.netloc) == (there.scheme, there.netloc)
        if not same or (req.get_method() != "GET" and code not in (307, 308)):
            return None  # the redirect itself becomes the error
        return urllib.request.Request(newurl, data=req.data, headers=req.headers, method=req.get_method())

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_307
