from __future__ import annotations

import dataclasses
import io
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from bundler.archive import NewMember, write_archive
from bundler.manifest import Drop, Fact, Launch, Manifest, NamedValue, RankRecord
from bundler.report.terminal import render_story, size_text
from tests.archive.samples import MANIFEST, MEMBERS, REDUCED_MANIFEST, REDUCED_MEMBERS

HOSTILE = "[bold red]k[/] \x1b[2J\x1b]0;owned\x07 :smile: [link=http://x]y[/link]\r\n\u202e"


def story(manifest: Manifest, width: int = 80, **options: Any) -> str:
    out = io.StringIO()
    render_story(manifest, Console(file=out, width=width, **options))
    return out.getvalue()


@pytest.fixture
def written(tmp_path: Path) -> Manifest:
    return write_archive(tmp_path / "a.zip", REDUCED_MANIFEST, (*MEMBERS, *REDUCED_MEMBERS))


def test_the_first_lines_say_what_failed_and_where(written: Manifest) -> None:
    lines = story(written).splitlines()
    assert lines[0] == "fold_pairs-1f2e3d4c: ub-overflow in hivm-plan-memory (compile stage, failed)"
    assert "requires 52428800 bits" in lines[1]


@pytest.mark.parametrize(
    "part",
    [
        "1f2e3d4c",
        "python fold_pairs.py (exit code 1)",
        "/opt/bishengir/bin/bishengir-compile",
        "from 22 to 6 operations, 4.2 kB to 610 B; minimal, confirmed",
        "barriers everywhere: not-applicable",
        "- (no NPU on this machine)",
        "3 home-path, 2 user-name",
        "reduced/kernel.ttadapter",
        "recorded with the start-up hook",
    ],
)
def test_the_story_is_told(written: Manifest, part: str) -> None:
    assert part in " ".join(story(written).split())


def test_it_fits_on_one_screen_of_eighty_columns(written: Manifest) -> None:
    lines = story(written).splitlines()
    assert len(lines) <= 50
    assert all(cell_len(line) <= 80 for line in lines)


def test_piped_it_is_plain_text_without_blanks_at_the_ends(written: Manifest) -> None:
    text = story(written)
    assert text.replace("\n", "").isprintable()
    assert all(line == line.rstrip() for line in text.splitlines())


def test_many_members_are_summed_up_by_role(tmp_path: Path) -> None:
    many = [NewMember(f"calls/call-{n}/stderr", "call-stderr", b"x" * 100) for n in range(400)]
    lines = story(write_archive(tmp_path / "a.zip", MANIFEST, (*MEMBERS, *many))).splitlines()
    assert len(lines) <= 50
    assert any("401 members with the role call-stderr" in line for line in lines)


def test_nothing_in_a_hostile_archive_acts_on_the_terminal(written: Manifest) -> None:
    assert written.signature is not None
    assert written.workaround is not None
    facts = (Fact("cann.version", HOSTILE), Fact("warning.x", HOSTILE), Fact("npu.model", None, "", HOSTILE))
    hostile = dataclasses.replace(
        written,
        name=HOSTILE,
        command=("python", HOSTILE),
        signature=dataclasses.replace(written.signature, message=HOSTILE, pass_name=HOSTILE, id=HOSTILE),
        calls=(dataclasses.replace(written.calls[0], kernel=HOSTILE, argv=(HOSTILE,)),),
        environment=facts,
        workaround=dataclasses.replace(written.workaround, note=HOSTILE),
        members=tuple(dataclasses.replace(member, name=HOSTILE) for member in written.members),
        redactions=((HOSTILE, 1),),
        drops=(Drop(HOSTILE, HOSTILE, 3),),
        notes=(HOSTILE,),
    )
    text = story(hostile)
    assert text.replace("\n", "").isprintable()
    assert "[bold red]" in text
    assert ":smile:" in text
    coloured = story(hostile, force_terminal=True, color_system="truecolor")
    assert "\x1b[2J" not in coloured
    assert "\x1b]" not in coloured
    assert "\x07" not in coloured


def test_a_message_without_end_does_not_fill_the_screen(written: Manifest) -> None:
    signature = dataclasses.replace(written.signature, message="x" * 1_000_000)  # type: ignore[type-var]
    assert len(story(dataclasses.replace(written, signature=signature)).splitlines()) < 60


def test_wide_characters_keep_to_the_width(written: Manifest) -> None:
    note = dataclasses.replace(written.workaround, note="内核编译失败" * 40)  # type: ignore[type-var]
    lines = story(dataclasses.replace(written, workaround=note)).splitlines()
    assert all(cell_len(line) <= 80 for line in lines)


def test_how_the_kernel_was_launched_and_how_each_rank_ended_are_told(written: Manifest) -> None:
    launch = Launch(
        "k", grid="(8,)", arguments=(NamedValue("x", "float16 [16]"),), constants=(NamedValue("B", "128"),)
    )
    ranks = (RankRecord(0, "killed", calls=1), RankRecord(1, "failed", device="5", calls=2, note="E: no"))
    shown = story(dataclasses.replace(written, launch=launch, ranks=ranks))
    assert "k(x: float16 [16], B=128) on grid (8,)" in shown
    assert "killed, 1 compile calls" in shown
    assert "failed on device 5, 2 compile calls: E: no" in shown


def test_a_run_without_failure_says_so() -> None:
    healthy = Manifest(name="add", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")
    assert story(healthy).startswith("add: no compile of this run failed")


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1 << 31, "2.1 GB")]
)
def test_sizes_are_written_for_people(size: int, text: str) -> None:
    assert size_text(size) == text
