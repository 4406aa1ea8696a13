"""Code spans and blocks hold any text."""

from __future__ import annotations

import pytest

from bundler.report.issue_evidence import without_dumps
from bundler.report.markdown import code_block, code_cell, code_span, excerpt
from tests.report.markdown_reading import outside_code


@pytest.mark.parametrize("text", ["a", "`", "``", "a`b``c", "`a`", "|", "", "\n", " "])
def test_a_code_span_holds_any_text(text: str) -> None:
    for span in (code_span(f"x{text}y"), code_cell(f"x{text}y")):
        assert outside_code(span) == ""
        assert "\n" not in span


def test_a_bar_is_escaped_only_where_it_would_end_a_cell() -> None:
    assert code_cell("a|b") == "`a\\|b`"
    assert code_span("a|b") == "`a|b`"


def test_a_code_block_outlasts_the_fences_in_it() -> None:
    block = code_block("a\n```\n````\nb")
    assert block.startswith("`````\n")
    assert block.endswith("\n`````")


def test_an_excerpt_keeps_whole_lines_of_both_ends() -> None:
    text = "".join(f"line {number}\n" for number in range(1000))
    short = excerpt(text, 300)
    assert short.startswith("line 0\n") and short.endswith("line 999")
    assert len(short) < 350
    kept = [line for line in short.splitlines() if line.startswith("line ")]
    left_out = next(line for line in short.splitlines() if line.startswith("["))
    assert (
        left_out == f"[... {len(text) - 1 - sum(len(line) + 1 for line in kept) + 1} characters left out ...]"
    )
    assert excerpt("short\n", 300) == "short"


def test_a_log_without_its_dumps_is_its_diagnostics() -> None:
    log = (
        "[ERROR] Cannot find hivmc\n// -----// IR Dump After A (a) //----- //\nfunc.func @f() {\n}\n\n"
        "// -----// IR Dump After B Failed (b) //----- //\nfunc.func @f() {\n}\n\n[NOTE] x\n"
        'loc("k":1:1): error: y\n'
    )
    assert without_dumps(log).splitlines() == [
        "[ERROR] Cannot find hivmc",
        "[NOTE] x",
        'loc("k":1:1): error: y',
    ]
