from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from bundler.archive import write_archive
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import Fact, Manifest
from bundler.report.issue import TRACKERS, IssueText, issue_text, route
from bundler.report.markdown import code_block, code_span
from tests.archive.samples import (
    MANIFEST,
    MEMBERS,
    REDUCED,
    REDUCED_MANIFEST,
    REDUCED_MEMBERS,
)

pytest.importorskip("jinja2")
pytest.importorskip("bundler.templates")

HOSTILE = "`</details><script>alert(1)</script>` @all #1 | [x](http://y) \x1b[2J\n## owned"


@pytest.fixture
def written(tmp_path: Path) -> Manifest:
    return write_archive(tmp_path / "a.zip", REDUCED_MANIFEST, (*MEMBERS, *REDUCED_MEMBERS))


def filled(manifest: Manifest, text: str | None = REDUCED.decode(), **options: Any) -> IssueText:
    options = {"lang": "en", "attachment": "a.npubug.zip", "attachment_size": 11018, **options}
    return issue_text(manifest, text, **options)


def signed(**changes: Any) -> Manifest:
    assert MANIFEST.signature is not None
    return dataclasses.replace(MANIFEST, signature=dataclasses.replace(MANIFEST.signature, **changes))


@pytest.mark.parametrize(
    ("changes", "tracker"),
    [
        ({"stage": "compile"}, "npuir"),
        ({"stage": "pass"}, "npuir"),
        ({"stage": "backend"}, "npuir"),
        ({"stage": "adapter"}, "triton-ascend"),
        ({"stage": "front-end"}, "triton-ascend"),
        ({"stage": "runtime"}, "triton-ascend"),
        ({"stage": "compile", "outcome": "invalid-input"}, "triton-ascend"),
    ],
)
def test_the_stage_decides_who_gets_the_issue(changes: dict[str, str], tracker: str) -> None:
    assert route(signed(**changes))[0] == tracker


def test_a_kernel_that_barriers_fix_is_the_compilers() -> None:
    assert MANIFEST.workaround is not None
    fixed = dataclasses.replace(MANIFEST.workaround, verdict="fixed")
    assert route(dataclasses.replace(signed(stage="runtime"), workaround=fixed))[0] == "npuir"


def test_the_title_names_pass_and_message_on_one_short_line(written: Manifest) -> None:
    title = filled(written).title
    assert title.startswith("[Bug] hivm-plan-memory: ub overflow, requires")
    assert len(filled(signed(message="x" * 999 + "\n")).title) <= 120


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("lang", ["zh", "en", "both"])
def test_every_form_holds_what_a_reader_needs(written: Manifest, tracker: str, lang: str) -> None:
    issue = filled(written, tracker=tracker, lang=lang)
    assert issue.url == TRACKERS[tracker]
    for part in (
        "hivm-plan-memory",
        "1f2e3d4c",
        "requires 52428800 bits",
        "bishengir-compile kernel.ttadapter --target=Ascend910B3",
        "func.func @k()",
        "a.npubug.zip",
        "| CANN |",
        "no NPU on this machine",
        "--enable-hivm-inject-barrier-all-sync=true",
    ):
        assert part in issue.body
    assert "{{" not in issue.body
    assert "\n\n\n" not in issue.body


def test_the_compilers_form_has_its_six_sections(written: Manifest) -> None:
    assert re.findall(r"^### (\d)\.", filled(written, tracker="npuir").body, re.M) == list("123456")
    assert (
        len(re.findall(r"^### [一二三四五六]、", filled(written, tracker="npuir", lang="zh").body, re.M)) == 6
    )


def test_in_both_languages_the_evidence_is_given_once(written: Manifest) -> None:
    body = filled(written, lang="both").body
    assert body.count("func.func @k()") == 1
    assert body.index("问题现象") < body.index("Current behaviour")


def test_what_a_person_must_still_write_is_marked(written: Manifest) -> None:
    body = filled(written).body
    assert "| CANN | **[please fill in]** not available" in body
    assert "please confirm" in body
    healthy = Manifest(name="add", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")
    assert "**[please fill in]** No compile" in filled(healthy, None, tracker="npuir").body


def test_a_longer_input_is_folded_and_a_huge_one_attached(written: Manifest) -> None:
    assert "<details>" in filled(written, "line\n" * 200).body
    body = filled(written, "line\n" * 20_000).body
    assert "line\nline" not in body
    assert "Take `reduced/kernel.ttadapter` out of the attachment" in body
    assert len(body) < 65_536


def test_hostile_text_stays_inside_code(written: Manifest) -> None:
    assert written.signature is not None
    assert written.workaround is not None
    hostile = dataclasses.replace(
        written,
        name=HOSTILE,
        command=("python", HOSTILE),
        signature=dataclasses.replace(written.signature, message=HOSTILE, pass_name=HOSTILE, kind=HOSTILE),
        calls=(dataclasses.replace(written.calls[0], kernel=HOSTILE, argv=("x", f"--y={HOSTILE}")),),
        environment=(Fact("cann.version", HOSTILE), Fact("npu.model", None, "", HOSTILE)),
        workaround=dataclasses.replace(written.workaround, note=HOSTILE),
    )
    for tracker in TRACKERS:
        issue = filled(hostile, HOSTILE, tracker=tracker, lang="both")
        assert issue.title.isprintable()
        outside = without_code(issue.body)
        for mark in ("script", "@all", "http", "owned", "\x1b"):
            assert mark not in outside


def without_code(markdown: str) -> str:
    """What is left when fenced blocks and code spans are taken out, as CommonMark finds them."""
    text = re.sub(r"^(`{3,})[^\n]*\n.*?^\1`*$", "", markdown, flags=re.M | re.S)
    return re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", text)


@pytest.mark.parametrize("text", ["a", "`", "``", "a`b``c", "`a`", "|", "", "\n", " "])
def test_a_code_span_holds_any_text(text: str) -> None:
    span = code_span(f"x{text}y")
    assert without_code(span) == ""
    assert "\n" not in span


def test_a_code_block_outlasts_the_fences_in_it() -> None:
    block = code_block("a\n```\n````\nb")
    assert block.startswith("`````\n")
    assert block.endswith("\n`````")


def test_an_unknown_tracker_or_language_is_a_usage_error(written: Manifest) -> None:
    for options in ({"tracker": "jira"}, {"lang": "fr"}):
        with pytest.raises(NpubugError) as caught:
            filled(written, **options)
        assert caught.value.code is ExitCode.USAGE
