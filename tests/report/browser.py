"""Open a page in Chromium, headless and without a network. A missing browser fails the test, loudly."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
)
DARK, LIGHT = 0, 1


@dataclass(frozen=True)
class Seen:
    """The page after it was loaded: its DOM as text, and what the browser's console said."""

    dom: str
    console: str

    @property
    def title(self) -> str:
        found = re.search(r"<title>(.*?)</title>", self.dom, re.DOTALL)
        return html.unescape(found[1]) if found else ""


def load(page: Path, folder: Path, *, width: int = 1280, height: int = 900, scheme: int = LIGHT) -> Seen:
    """Load a page and return what it became."""
    done = _chromium(page, folder, width, height, scheme, "--dump-dom")
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return Seen(done.stdout, console)


def screenshot(page: Path, folder: Path, *, width: int, height: int, scheme: int) -> bytes:
    """Load a page and return its picture as PNG."""
    target = folder / f"{page.stem}-{width}-{scheme}.png"
    _chromium(page, folder, width, height, scheme, f"--screenshot={target}")
    return target.read_bytes()


def framed(page: str, width: int, target: Path) -> Path:
    """A page that shows `page` at the width of a phone (a window has at least 500) and takes over its title."""
    target.write_text(
        "<!doctype html><meta charset=utf-8><body style='margin:0'>"
        f'<iframe srcdoc="{html.escape(page)}" style="border:0;width:{width}px;height:900px"'
        ' onload="document.title = this.contentDocument.title"></iframe>'
    )
    return target


def _chromium(
    page: Path, folder: Path, width: int, height: int, scheme: int, what: str
) -> subprocess.CompletedProcess[str]:
    program = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.fail("Chromium is missing, and the page must be seen: apt-get install -y chromium")
    profile = folder / "profile"
    done = subprocess.run(
        [
            program,
            *_FLAGS,
            f"--user-data-dir={profile}",
            f"--blink-settings=preferredColorScheme={scheme}",
            f"--window-size={width},{height}",
            what,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done
