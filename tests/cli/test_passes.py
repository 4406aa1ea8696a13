"""`npubug passes` on the log of the real compiler."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bundler.archive import open_archive
from bundler.errors import ExitCode
from tests.cli.command import npubug
from tests.places import case

ARCHIVE = "k.npubug.tar.zst"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("passes")
    ir = case("failing/reshape_128.ttadapter")
    assert npubug("bundle", "--ir", ir, "-o", ARCHIVE, cwd=folder).code == ExitCode.OK
    (folder / "after-all.log").write_bytes(open_archive(folder / ARCHIVE).read("logs/after-all.log"))
    return folder


def test_the_list_tells_what_changed_and_where_it_fails(folder: Path) -> None:
    done = npubug("passes", ARCHIVE, cwd=folder)
    assert done.code == ExitCode.OK
    lines = done.out.splitlines()
    assert lines[1].split()[:2] == ["1", "22"]
    assert "hivm-plan-memory  on reshape_chain FAILS" in done.out
    assert "passes changed nothing" in done.out
    assert "in 3 attempts" in lines[-1]
    everything = npubug("passes", ARCHIVE, "--all", cwd=folder).out.splitlines()
    assert len(everything) > 600 and "changed nothing" not in "\n".join(everything)


def test_a_log_file_alone_gives_the_same(folder: Path) -> None:
    assert npubug("passes", "after-all.log", cwd=folder).out == npubug("passes", ARCHIVE, cwd=folder).out


def test_the_json_has_every_pass(folder: Path) -> None:
    document = json.loads(npubug("passes", ARCHIVE, "--json", cwd=folder).out)
    passes = document["passes"]
    banners = (folder / "after-all.log").read_text().count("// -----// IR Dump After ")
    assert len(passes) == banners
    assert [each["order"] for each in passes] == list(range(1, len(passes) + 1))
    assert passes[-1]["name"] == "hivm-plan-memory" and passes[-1]["failed"]
    assert passes[0]["ops"] == 22
    assert 10 < sum(each["changed"] for each in passes) < len(passes) / 3


def test_one_pass_is_shown_by_argument_class_or_number(folder: Path) -> None:
    by_name = npubug("passes", ARCHIVE, "--diff", "one-shot-bufferize", cwd=folder)
    assert by_name.code == ExitCode.OK
    assert any(line.startswith("- ") and "tensor.empty" in line for line in by_name.out.splitlines())
    assert any(line.startswith("+ ") and "memref.alloc" in line for line in by_name.out.splitlines())
    assert "\x1b" not in by_name.out
    by_class = npubug("passes", ARCHIVE, "--diff", "OneShotBufferize", cwd=folder)
    assert by_class.out == by_name.out
    number = by_name.out.split()[1].rstrip(",")
    by_number = npubug("passes", ARCHIVE, "--diff", number, cwd=folder)
    assert by_number.out.splitlines()[0] == by_name.out.splitlines()[0]


def test_the_diff_as_json(folder: Path) -> None:
    document = json.loads(npubug("passes", ARCHIVE, "--diff", "one-shot-bufferize", "--json", cwd=folder).out)
    assert document["changed"] and document["pass"]["name"] == "one-shot-bufferize"
    assert {"kind", "before", "after"} in [set(row) for row in document["rows"]]


def test_grep_says_where_a_thing_first_appeared_and_last_lived(folder: Path) -> None:
    done = npubug("passes", ARCHIVE, "--grep", r"tensor\.empty", cwd=folder)
    assert done.code == ExitCode.OK
    assert "there from the start; last lives after" in done.out
    assert "one-shot-bufferize takes it out" in done.out
    lives = json.loads(npubug("passes", ARCHIVE, "--grep", "memref.alloc", "--json", cwd=folder).out)["lives"]
    assert lives[-1]["last"]["failed"] and lives[-1]["gone"] is None
    assert npubug("passes", ARCHIVE, "--grep", "no such op", cwd=folder).code == ExitCode.NOTHING_FAILED


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--grep", "("], ExitCode.USAGE, "not a regular expression"),
        (["--grep", "a", "--diff", "b"], ExitCode.USAGE, "two questions"),
        (["--diff", "no-such-pass"], ExitCode.INVALID_INPUT, "no pass 'no-such-pass'"),
        (["--diff", "99999"], ExitCode.INVALID_INPUT, "no pass '99999'"),
    ],
)
def test_a_wrong_question_is_told(folder: Path, words: list[str], code: ExitCode, says: str) -> None:
    done = npubug("passes", ARCHIVE, *words, cwd=folder)
    assert done.code == code
    assert says in done.err


def test_a_file_without_dumps_is_told(folder: Path) -> None:
    (folder / "empty.log").write_text("nothing\n")
    done = npubug("passes", "empty.log", cwd=folder)
    assert done.code == ExitCode.INCOMPLETE and "shows the IR after no pass" in done.err
    assert npubug("passes", "none.log", cwd=folder).code == ExitCode.INVALID_INPUT
