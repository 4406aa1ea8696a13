"""Issue texts: the form is filled, what is missing is marked, and nothing from outside breaks the structure."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from bundler.archive import NewMember, open_archive, write_archive
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import Fact, Manifest
from bundler.report.issue import issue_text, report_id_of
from bundler.report.issue_evidence import Evidence, evidence_of
from bundler.report.issue_render import source_of
from bundler.tracker.places import TRACKERS
from tests.archive.samples import MANIFEST, MEMBERS, REDUCED, REDUCED_MANIFEST, REDUCED_MEMBERS
from tests.places import ROOT
from tests.report.issue_samples import filled, signed
from tests.report.markdown_reading import blocks, outside_code

HOSTILE = (
    "`</details><script>alert(1)</script>` @all #1 | [x](http://y) \x1b[2J\n## owned\n\n```\n**[please x]**"
)
NPUIR_HEADINGS = [
    "Describe the current behavior / 问题描述",
    "Environment / 环境信息",
    "Steps to reproduce the issue / 重现步骤",
    "Describe the expected behavior / 预期结果",
    "Related log / screenshot / 日志 / 截图",
    "Special notes for this issue / 备注",
]


def test_the_templates_are_part_of_the_installed_package() -> None:
    """Fails, and does not skip, when pyproject no longer maps or ships them."""
    project = (ROOT / "pyproject.toml").read_text()
    assert '"bundler.templates" = "templates"' in project
    assert '"bundler.templates" = ["*.j2"]' in project
    for name in ("issue_npuir", "issue_triton", "words.zh", "words.en"):
        assert source_of(f"{name}.md.j2")


def test_both_languages_say_the_same_things() -> None:
    macros = [
        re.findall(r"{% macro (\w+)\((.*?)\)", source_of(f"words.{each}.md.j2")) for each in ("zh", "en")
    ]
    assert macros[0] == macros[1]


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("lang", ["zh", "en", "both"])
def test_every_form_holds_what_a_reader_needs(written: Manifest, tracker: str, lang: str) -> None:
    issue = filled(written, tracker=tracker, lang=lang)
    assert issue.tracker is TRACKERS[tracker]
    for part in (
        "hivm-plan-memory",
        "1f2e3d4c",
        "requires 52428800 bits",
        "bishengir-compile kernel.ttadapter --target=Ascend910B3 \\\n    --enable-triton-kernel-compile=true",
        "func.func @k()",
        "a.npubug.zip",
        "11.0 kB",
        "| CANN |",
        "no NPU on this machine",
        "--enable-hivm-inject-barrier-all-sync=true",
        "`python fold_pairs.py`",
        issue.report_id,
    ):
        assert part in issue.body
    assert "{{" not in issue.body and "\0" not in issue.body
    assert "\n\n\n" not in issue.body
    assert not re.search(r"[^\n]\n#+ ", issue.body), "a heading needs a blank line before it"


def test_the_compilers_form_has_its_six_headings_in_every_language(written: Manifest) -> None:
    for lang in ("zh", "en", "both"):
        body = filled(written, tracker="npuir", lang=lang).body
        assert re.findall(r"^### (.*)$", body, re.M) == NPUIR_HEADINGS


def test_the_front_ends_form_has_its_two_headings(written: Manifest) -> None:
    body = filled(written, tracker="triton-ascend").body
    assert re.findall(r"^### (.*)$", body, re.M) == ["Describe the bug", "Environment details"]


def test_in_both_languages_the_evidence_is_given_once(written: Manifest) -> None:
    body = filled(written, tracker="npuir", lang="both").body
    assert body.count("func.func @k()") == 1
    assert body.count("-o kernel") == 1
    assert body.index("报错信息") < body.index("fails while compiling")
    assert "CANN / CANN" not in body


def test_a_text_in_one_language_has_no_sentence_of_the_other(written: Manifest) -> None:
    headings_off = re.compile(r"^#.*$", re.M)
    english = headings_off.sub("", filled(written, tracker="npuir", lang="en").body)
    assert not re.search(r"[\u4e00-\u9fff]", english)
    chinese = outside_code(headings_off.sub("", filled(written, tracker="npuir", lang="zh").body))
    assert not re.search(r"\b(the|is|was|please|with)\b", chinese)


@pytest.mark.parametrize(
    ("tracker", "lang", "title"),
    [
        ("npuir", "zh", "[Bug-Report|缺陷反馈]: hivm-plan-memory 报错：ub overflow, requires 52428800"),
        ("npuir", "both", "[Bug-Report|缺陷反馈]: hivm-plan-memory 报错：ub overflow, requires 52428800"),
        ("npuir", "en", "[Bug-Report|缺陷反馈]: hivm-plan-memory: ub overflow, requires 52428800"),
        ("triton-ascend", "both", "[Bug]: hivm-plan-memory: ub overflow, requires 52428800"),
    ],
)
def test_the_title_is_in_the_trackers_style(written: Manifest, tracker: str, lang: str, title: str) -> None:
    issue = filled(written, tracker=tracker, lang=lang)
    assert issue.title.startswith(title)
    assert issue.title.endswith("(kernel fold_pairs)")


def test_a_title_stays_one_line_of_bearable_length(written: Manifest) -> None:
    issue = filled(signed(written, message="x" * 999 + "\n" + HOSTILE, pass_name=HOSTILE))
    assert len(issue.title) <= 160
    assert issue.title.isprintable()


def test_what_a_person_must_still_write_is_marked_and_counted(written: Manifest) -> None:
    english = filled(written, tracker="npuir")
    assert "| CANN | **[please fill in]** not available" in english.body
    assert "**[please confirm or change]**" in english.body
    assert english.to_fill == len(re.findall(r"\*\*\[please", english.body)) >= 4
    assert filled(written, tracker="npuir", lang="both").to_fill == english.to_fill
    assert filled(written, tracker="npuir", lang="zh").to_fill == english.to_fill


@pytest.mark.parametrize("tracker", ["npuir", "triton-ascend"])
@pytest.mark.parametrize("lang", ["zh", "en", "both"])
def test_an_archive_without_a_failure_asks_for_the_story(tracker: str, lang: str) -> None:
    healthy = Manifest(name="add", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")
    issue = issue_text(healthy, tracker=tracker, lang=lang)
    assert issue.to_fill >= 4
    assert "\n\n\n" not in issue.body


def test_a_value_that_was_only_derived_says_from_what(written: Manifest) -> None:
    facts = (Fact("npu.model", "Ascend910B3", "--target of the compile line (npu-smi not found)"),)
    derived = filled(dataclasses.replace(written, environment=facts)).body
    assert "`Ascend910B3` (derived from `--target of the compile line`; **[please confirm]**)" in derived
    facts = (Fact("npu.model", "910B3", "npu-smi info"),)
    assert "| NPU model | `910B3` |" in filled(dataclasses.replace(written, environment=facts)).body


def test_a_longer_input_is_folded_and_a_huge_one_attached(written: Manifest) -> None:
    assert "<details>\n<summary>Show the IR" in filled(written, Evidence(ir="line\n" * 200)).body
    body = filled(
        written, Evidence("line\n" * 20_000, "error\n" * 20_000, "Error\n" * 20_000, "x\n" * 20_000)
    ).body
    assert "line\nline" not in body
    assert "take `reduced/kernel.ttadapter` out of the attachment" in body
    assert "characters left out" in body
    assert len(body) < 65_536


def test_what_is_copied_out_of_the_issue_is_what_was_in_the_archive(written: Manifest) -> None:
    ir = 'module {  \n\n\n\n  "a.b"() {x = "`` ``` `````", y = "\\09"} : () -> ()  \n}\n'
    assert blocks(filled(written, Evidence(ir=ir)).body, "mlir") == [ir]


@pytest.mark.parametrize("ir", ['"a\tb"', "x\x0cy", "a\r\nb", "\u202e"])
def test_an_input_that_would_not_survive_the_copying_is_attached_instead(written: Manifest, ir: str) -> None:
    body = filled(written, Evidence(ir=ir)).body
    assert blocks(body, "mlir") == []
    assert "out of the attachment" in body


@pytest.mark.parametrize(
    ("name", "size", "says"),
    [
        ("a.npubug.tar.zst", 9, "run `npubug repack a.npubug.tar.zst --format zip` first"),
        ("a.npubug.zip", 9, "please upload the attachment by hand"),
        ("a.npubug.tar.gz", 9, "please upload the attachment by hand"),
        ("a.npubug.zip", 26_000_000, "larger than GitHub takes"),
    ],
)
def test_it_says_how_to_attach_the_archive(written: Manifest, name: str, size: int, says: str) -> None:
    issue = filled(written, tracker="triton-ascend", attachment=name, attachment_size=size)
    assert says in issue.body


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("lang", ["zh", "en", "both"])
def test_hostile_text_stays_inside_code(written: Manifest, tracker: str, lang: str) -> None:
    assert written.signature is not None
    assert written.workaround is not None and written.reduction is not None
    hostile = dataclasses.replace(
        written,
        name=HOSTILE,
        npubug_version=HOSTILE,
        command=("python", HOSTILE),
        signature=dataclasses.replace(
            written.signature, message=HOSTILE, pass_name=HOSTILE, kind=HOSTILE, id=HOSTILE, stage=HOSTILE
        ),
        calls=(
            dataclasses.replace(
                written.calls[0], kernel=HOSTILE, tool=HOSTILE, argv=(HOSTILE, f"--y={HOSTILE}")
            ),
        ),
        environment=(
            Fact("cann.version", HOSTILE),
            Fact("driver.version", None, "", HOSTILE),
            Fact("npu.model", HOSTILE, HOSTILE),
        ),
        workaround=dataclasses.replace(written.workaround, verdict=HOSTILE, flag=HOSTILE),
        reduction=dataclasses.replace(written.reduction, finds=(HOSTILE,)),
    )
    issue = filled(
        hostile, Evidence(*[HOSTILE + "Error"] * 4), tracker=tracker, lang=lang, attachment=HOSTILE
    )
    innocent = filled(written, tracker=tracker, lang=lang)
    assert issue.title.isprintable()
    assert issue.to_fill < 12, "marks of others do not count"
    outside = outside_code(issue.body)
    for mark in ("script>", "@all", "http", "owned", "\x1b", "please x"):
        assert mark not in outside
    assert re.findall(r"^#+ .*$", outside, re.M) == re.findall(r"^#+ .*$", outside_code(innocent.body), re.M)
    assert outside.count("<details>") == outside.count("</details>")
    rows = [line for line in outside.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {3}, "every row of the table keeps its two cells"


def test_a_report_keeps_its_id_when_the_archive_is_reduced_but_not_elsewhere(written: Manifest) -> None:
    before = report_id_of(dataclasses.replace(written, reduction=None), TRACKERS["npuir"])
    assert report_id_of(written, TRACKERS["npuir"]) == before
    assert report_id_of(written, TRACKERS["triton-ascend"]) != before
    assert report_id_of(signed(written, id="other"), TRACKERS["npuir"]) != before


def test_an_unknown_tracker_or_language_is_a_usage_error(written: Manifest) -> None:
    wrong: list[dict[str, Any]] = [{"tracker": "jira"}, {"lang": "fr"}]
    for options in wrong:
        with pytest.raises(NpubugError) as caught:
            filled(written, **options)
        assert caught.value.code is ExitCode.USAGE


def test_the_evidence_comes_out_of_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.npubug.zip"
    write_archive(path, REDUCED_MANIFEST, (*MEMBERS, *REDUCED_MEMBERS))
    found = evidence_of(open_archive(path))
    assert found.ir == REDUCED.decode()
    assert found.output.startswith("error: ub overflow, requires 52428800 bits")
    assert "IR Dump" not in found.output and "func.func" not in found.output
    assert found.program == "MLIRCompilationError\n"
    assert found.source == "import triton\n"


def test_an_oversized_member_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npubug.zip"
    big = NewMember("input/kernel.ttadapter", "input", b"x" * (2 << 20))
    write_archive(path, MANIFEST, (big, *MEMBERS[1:]))
    assert evidence_of(open_archive(path)).ir is None
