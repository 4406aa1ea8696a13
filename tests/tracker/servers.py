"""Two trackers on 127.0.0.1 that behave as gitcode and GitHub document it, and misbehave as they are told.

`faults` is what happens to the coming posts, one each; when it is empty, posts are well. `read_faults` is the
same for look-ups. A fault that ends in `-stored` carries the post out before it goes wrong.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
import urllib.parse
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "s3cret-T0ken-0123456789abcdef"
Json = dict[str, Any]


@dataclass
class Seen:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: str


@dataclass
class Tracker:
    """One repository's issues, and what befalls the requests for them."""

    site: str
    owner: str
    repo: str
    issues: list[Json] = field(default_factory=list)
    faults: deque[str] = field(default_factory=deque)
    read_faults: deque[str] = field(default_factory=deque)
    seen: list[Seen] = field(default_factory=list)
    bodies_in_lists: bool = True
    null_links: bool = False
    elsewhere: str = ""
    hang: float = 1.0
    url: str = ""

    @property
    def base(self) -> str:
        return self.url + ("/api/v5" if self.site == "gitcode" else "")

    @property
    def posts(self) -> list[Seen]:
        return [each for each in self.seen if each.method == "POST"]

    def add(self, title: str, body: str, **more: Any) -> Json:
        number = len(self.issues) + 1
        link = f"https://{self.site}.example/{self.owner}/{self.repo}/issues/{number}"
        issue = {"number": number, "title": title, "body": body, "state": "open", "html_url": link, **more}
        if self.site == "gitcode":
            issue["number"] = str(number)
        if self.null_links:
            issue["html_url"] = None
        self.issues.append(issue)
        return issue


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tracker: Tracker

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        parts = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        query = dict(urllib.parse.parse_qsl(parts.query))
        tracker = self.tracker
        tracker.seen.append(Seen(self.command, parts.path, query, dict(self.headers), body))
        faults = tracker.faults if self.command == "POST" else tracker.read_faults
        fault = faults.popleft() if faults else ""
        if fault:
            self._misbehave(fault, body)
        elif self.command == "POST":
            self._post(body)
        else:
            self._get(parts.path, query)

    def _misbehave(self, fault: str, body: str) -> None:
        name, _, detail = fault.partition(":")
        if name.endswith("-stored"):
            self.tracker.add(**self._content(body))
        if name.startswith("hang"):
            time.sleep(self.tracker.hang)
            self._drop()
        elif name.startswith("drop"):
            self._drop()
        elif name.startswith("half"):
            self.send_response(201)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"number": 1')
            self._drop()
        elif name.startswith("garbage"):
            self._send(201, "<html>created</html>")
        elif name == "limit":
            self._send(429, {"message": "API rate limit exceeded"}, {"Retry-After": detail} if detail else {})
        elif name == "limit403":
            headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": detail}
            self._send(403, {"message": "API rate limit exceeded for user"}, headers)
        elif name == "echo":
            self._send(400, {"message": f"bad request with {dict(self.headers)} and {body}"})
        elif name == "redirect":
            self._send(int(detail), {"message": "Moved"}, {"Location": self.tracker.elsewhere})
        else:
            self._send(int(name.partition("-")[0]), {"message": f"fault {name}"})

    def _post(self, body: str) -> None:
        if not self._authorised():
            self._send(401, {"message": "401 Unauthorized"})
        elif self._path_of_posts() != self.path or not self._content(body).get("title"):
            self._send(404, {"message": "404 Not Found"})
        else:
            self._send(201, self.tracker.add(**self._content(body)))

    def _get(self, path: str, query: dict[str, str]) -> None:
        tracker = self.tracker
        issues = (
            f"{'/api/v5' if tracker.site == 'gitcode' else ''}/repos/{tracker.owner}/{tracker.repo}/issues"
        )
        if tracker.site == "github" and path == "/search/issues":
            phrase = query["q"].partition('"')[2].rstrip('"').lower()
            assert query["q"].startswith(f"repo:{tracker.owner}/{tracker.repo} is:issue is:open ")
            held = [each for each in tracker.issues if each["state"] == "open"]
            found = [each for each in held if phrase in f"{each['title']} {each['body']}".lower()]
            self._send(200, {"total_count": len(found), "items": found})
        elif path == issues:
            newest = [each for each in reversed(tracker.issues) if query["state"] in ("all", each["state"])]
            if "search" in query:
                newest = [each for each in newest if query["search"].lower() in each["title"].lower()]
            size, page = int(query["per_page"]), int(query.get("page", "1"))
            shown = newest[(page - 1) * size : page * size]
            if not tracker.bodies_in_lists:
                shown = [{key: each[key] for key in each if key != "body"} for each in shown]
            self._send(200, shown)
        elif path.startswith(issues + "/"):
            self._send(200, tracker.issues[int(path.rpartition("/")[2]) - 1])
        else:
            self._send(404, {"message": "404 Not Found"})

    def _authorised(self) -> bool:
        if self.tracker.site == "gitcode":
            return self.headers.get("PRIVATE-TOKEN") == TOKEN
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _path_of_posts(self) -> str:
        tracker = self.tracker
        if tracker.site == "gitcode":
            return f"/api/v5/repos/{tracker.owner}/issues"
        return f"/repos/{tracker.owner}/{tracker.repo}/issues"

    def _content(self, body: str) -> dict[str, str]:
        if self.tracker.site == "gitcode":
            form = dict(urllib.parse.parse_qsl(body))
            if form.get("repo") != self.tracker.repo:
                return {}
            return {"title": form["title"], "body": form["body"]}
        content = json.loads(body)
        return {"title": content["title"], "body": content["body"]}

    def _send(self, status: int, content: object, headers: dict[str, str] | None = None) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def _drop(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def serving(tracker: Tracker) -> Iterator[Tracker]:
    """Serve a tracker on a free port of 127.0.0.1 for as long as the block lasts."""
    handler = type("Handler", (_Handler,), {"tracker": tracker})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    tracker.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield tracker
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def closed_port() -> int:
    """A port of 127.0.0.1 at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
