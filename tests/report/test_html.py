from __future__ import annotations

import base64
import hashlib
import html
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bundler.archive import NewMember, add_members, open_archive, write_archive
from bundler.manifest import Manifest
from bundler.report.html import render_page
from tests.report.pages import AFTER, ATTACK, BEFORE, dump, hostile, sample

VOID = {"meta", "br", "col"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "nav", "main", "section", "footer", "div",
    "p", "h1", "h2", "h3", "em", "b", "i", "ul", "li", "dl", "dt", "dd", "span", "code", "pre", "br", "details",
    "summary", "table", "colgroup", "col", "thead", "tbody", "tr", "th", "td", "del", "ins", "figure", "figcaption",
    "svg", "line", "path", "circle", "rect", "text",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects elements and attributes, and checks that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (tag, self.open[-5:], self.getpos())
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return render_page(sample(tmp_path_factory.mktemp("page")))


def words(page: str) -> str:
    return " ".join("".join(read(page).text).split())


@pytest.mark.parametrize(
    "part",
    [
        "ub-overflow in hivm-plan-memory",
        "requires 52428800 bits while 1572864 bits available!",
        "The kernel in fold_pairs.py; the compiler names no line of it",
        "The compiler points to line 2 of its input",
        "before hivm-plan-memory",
        "3 passes, of which 1 changed the IR: from 2 operations to 3 (most: 3)",
        "22 operations, 4.2 kB",
        "6 operations, 610 B",
        "bishengir-compile kernel.ttadapter --target=Ascend910B3 --enable-triton-kernel-compile=true -o kernel",
        "not-applicable",
        "no NPU on this machine",
        "reduced/reproduce.sh",
        "3 home-path, 2 user-name",
    ],
)
def test_the_story_is_told(page: str, part: str) -> None:
    assert part in words(page)


def test_the_diff_marks_what_changed_and_not_what_was_renumbered(page: str) -> None:
    section = page[page.index("id=ir") : page.index("id=passes")]
    deleted = html.unescape(re.sub("<[^>]*>", "", " ".join(re.findall("<del>.*?</del>", section))))
    inserted = html.unescape(re.sub("<[^>]*>", "", " ".join(re.findall("<ins>.*?</ins>", section))))
    assert "arith.addf" in deleted and "tensor.empty" not in deleted
    assert "arith.mulf" in inserted and "arith.constant" in inserted and "tensor.empty" not in inserted


def test_the_page_needs_nothing_else(page: str) -> None:
    for tag, attributes in read(page).elements:
        assert tag in ALLOWED
        assert not {"src", "srcset", "style", "action"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#").startswith("#")  # type: ignore[union-attr]
    style = page[page.index("<style>") + 7 : page.index("</style>")]
    assert "url(" not in style and "@import" not in style


def test_the_policy_allows_the_page_s_own_style_and_nothing_else(page: str) -> None:
    style = page[page.index("<style>") + 7 : page.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(
        a["content"] for t, a in read(page).elements if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_no_text_of_a_hostile_archive_becomes_an_element(tmp_path: Path) -> None:
    page = render_page(hostile(tmp_path))
    reader = read(page)
    assert {tag for tag, _ in reader.elements} <= ALLOWED
    for _, attributes in reader.elements:
        assert not any(name.startswith("on") for name in attributes)
        assert "javascript:" not in (attributes.get("href") or "")
    assert "<script" not in page and "<img" not in page
    assert "owned" in page  # it is shown, as text
    assert "{{ 7*7 }}" in words(page)


def test_nothing_invisible_gets_through(tmp_path: Path) -> None:
    page = render_page(hostile(tmp_path))
    assert all(ch.isprintable() or ch == "\n" for ch in page)
    assert r"\u202e" in page and r"\x1b" in page


def test_it_has_landmarks_headings_and_names(page: str) -> None:
    reader = read(page)
    tags = [tag for tag, _ in reader.elements]
    assert [tags.count(t) for t in ("header", "nav", "main", "footer", "h1")] == [1, 1, 1, 1, 1]
    ids = [a["id"] for _, a in reader.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for tag, attributes in reader.elements:
        if tag == "section":
            assert attributes["aria-labelledby"] in ids
        if tag == "a":
            assert (attributes["href"] or "")[1:] in ids
        if tag == "svg" and "role" in attributes:
            assert attributes["aria-label"]
        if "tabindex" in attributes and tag == "div":
            assert attributes["role"] == "region" and attributes["aria-label"]
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(b - a <= 1 for a, b in zip(levels, levels[1:]))


def test_a_crash_shows_the_ir_after_the_last_pass_that_ended_well(tmp_path: Path) -> None:
    page = render_page(
        sample(tmp_path, dump("Canonicalizer", "canonicalize", BEFORE) + dump("CSE", "cse", AFTER))
    )
    assert "ended without showing what the failing pass left" in words(page)
    assert "after the last pass that ended well, cse (number 2)" in words(page)


def test_without_logs_the_page_is_still_made(tmp_path: Path) -> None:
    bare = Manifest(name="add", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")
    path = tmp_path / "bare.npubug.zip"
    write_archive(path, bare, [])
    page = render_page(open_archive(path))
    assert "No compile of this run failed" in words(page)


def test_in_a_changed_line_only_the_words_that_differ_are_marked(tmp_path: Path) -> None:
    changed = BEFORE.replace(b"tensor.empty() : tensor<4xf32>", b"tensor.empty() : tensor<8xf32>")
    log = dump("A", "a", BEFORE) + dump("PlanMemory Failed", "hivm-plan-memory", changed)
    page = render_page(sample(tmp_path, log))
    marked = re.findall("<b><i class=t>(.*?)</i></b>", page)
    assert marked == ["tensor&lt;4xf32&gt;", "tensor&lt;8xf32&gt;"]
    assert len(re.findall("<tr class=changed>", page)) == 1


def test_lines_of_many_words_take_bounded_time(tmp_path: Path) -> None:
    line = b"    a.b " + b", ".join(b"%%x : i%d" % n for n in range(300)) + b"\n"
    other = b"    a.b " + b", ".join(b"i%d : %%x" % n for n in range(300)) + b"\n"
    log = dump("A", "a", b"module {\n" + line * 400 + b"}")
    log += dump("PlanMemory Failed", "hivm-plan-memory", b"module {\n" + other * 400 + b"}")
    archive = sample(tmp_path, log)
    start = time.monotonic()
    render_page(archive)
    assert time.monotonic() - start < 20


def test_an_archive_of_monstrous_content_makes_a_page_under_a_megabyte(tmp_path: Path) -> None:
    lines = "\n".join(f"    %{i} = arith.addf %a, %b : tensor<{i}x{'9' * 300}xf32>" for i in range(20_000))
    big = f"module {{\n  func.func @f() {{\n{lines}\n    return\n  }}\n}}".encode()
    log = dump("Canonicalizer", "canonicalize", big) + dump(
        "PlanMemory Failed", "hivm-plan-memory", big.replace(b"addf", b"mulf")
    )
    archive = sample(tmp_path, log)
    many = [NewMember(f"calls/{n}/stderr", "call-stderr", b"x") for n in range(3000)]
    reduced = NewMember("reduced/kernel.ttadapter", "reduced", big)
    add_members(archive.path, [*many, reduced], replace=True)
    assert len(render_page(open_archive(archive.path)).encode()) < 1_000_000


def test_the_message_and_kernel_are_shown_as_they_are(tmp_path: Path) -> None:
    page = render_page(hostile(tmp_path))
    shown = ATTACK.replace("\x00", r"\x00").replace("\x1b", r"\x1b").replace("\u202e", r"\u202e")
    assert html.escape(shown, quote=False)[:40].replace("'", "&#39;").replace('"', "&#34;") in page
