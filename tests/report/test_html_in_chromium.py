"""The page as a browser sees it: nothing runs, everything fits, every letter can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bundler.report.html import render_page
from tests.report.browser import DARK, LIGHT, framed, load, screenshot
from tests.report.pages import hostile, sample

pytestmark = pytest.mark.chromium

SCRIPT = "<script>document.title = 'it ran'</script>"
# Measures contrast as WCAG 2 defines it, for each text on its background, and what is wider than the window.
PROBE = """<script>
const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b };
const numbers = s => s.match(/[\\d.]+/g).map(Number);
const behind = e => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor);
  if (c.length < 4 || c[3] > 0) return c.slice(0, 3) } return [255, 255, 255] };
const faint = {};
document.querySelectorAll('details').forEach(d => d.open = true);
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let seen = 0;
while (texts.nextNode()) {
  const e = texts.currentNode.parentElement;
  if (!texts.currentNode.data.trim() || e.closest('script, svg')) continue;
  seen++;
  const a = light(numbers(getComputedStyle(e).color).slice(0, 3)), b = light(behind(e));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) faint[e.tagName + '.' + e.className] = ratio.toFixed(2);
}
const inside = '.frame, .scroll, nav, .hidden, .skip, svg';
const wide = [...document.querySelectorAll('body *')].filter(e =>
  e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(inside)).map(e => e.tagName + '.' + e.className);
const sideBySide = getComputedStyle(document.querySelector('.pair thead')).display != 'none';
document.title = JSON.stringify({ seen, faint, wide, sideBySide, width: innerWidth,
  dark: matchMedia('(prefers-color-scheme: dark)').matches });
</script>"""


def probed(page: str) -> str:
    """The page with the probe, which its own policy would not let run."""
    page = re.sub("<meta http-equiv=Content-Security-Policy[^>]*>", "", page)
    return page.replace("</body>", PROBE + "</body>")


@pytest.mark.parametrize("scheme", [DARK, LIGHT], ids=["dark", "light"])
@pytest.mark.parametrize("width", [390, 1280])
def test_every_text_can_be_read_and_fits(tmp_path: Path, width: int, scheme: int) -> None:
    page = probed(render_page(sample(tmp_path)))
    target = framed(page, width, tmp_path / "probe.html")
    found = json.loads(load(target, tmp_path, scheme=scheme).title)
    assert found["width"] == width
    assert found["dark"] is (scheme == DARK)
    assert found["seen"] > 100
    assert found["faint"] == {}
    assert found["wide"] == []
    assert found["sideBySide"] is (width > 1000)


def test_the_style_applies_under_the_page_s_own_policy(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text(render_page(sample(tmp_path)))
    seen = load(target, tmp_path)
    assert "ub-overflow" in seen.title
    assert "Content Security Policy" not in seen.console


def test_the_policy_stops_a_script_that_got_into_the_page(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    page = render_page(sample(tmp_path))
    target.write_text(page.replace("</main>", SCRIPT + "</main>"))
    seen = load(target, tmp_path)
    assert seen.title != "it ran"
    assert "Content Security Policy" in seen.console
    # ... and without the policy it would have run, so the test can fail.
    target.write_text(re.sub("<meta http-equiv=[^>]*>", "", page).replace("</main>", SCRIPT + "</main>"))
    assert load(target, tmp_path).title == "it ran"


def test_a_hostile_archive_gets_nothing_into_the_page(tmp_path: Path) -> None:
    page = re.sub("<meta http-equiv=Content-Security-Policy[^>]*>", "", render_page(hostile(tmp_path)))
    target = tmp_path / "page.html"
    target.write_text(page)
    seen = load(target, tmp_path)
    assert seen.title != "owned"
    for element in ("<script", "<img", '<a href="javascript'):
        assert element not in seen.dom


def test_the_picture_is_not_blank_and_follows_the_colour_scheme(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text(render_page(sample(tmp_path)))
    pictures = [screenshot(target, tmp_path, width=1280, height=2000, scheme=s) for s in (DARK, LIGHT)]
    assert all(picture.startswith(b"\x89PNG") and len(picture) > 50_000 for picture in pictures)
    assert pictures[0] != pictures[1]
