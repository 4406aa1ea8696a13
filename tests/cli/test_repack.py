"""`npubug repack` and `npubug bundle --max-size`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bundler.archive import Format, open_archive, write_archive
from bundler.errors import ExitCode
from tests.archive.samples import MEMBERS, REDUCED_MANIFEST, REDUCED_MEMBERS
from tests.cli.command import files, npubug
from tests.places import case

NAME = "k.npubug.tar.zst"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_archive(tmp_path / NAME, REDUCED_MANIFEST, (*MEMBERS, *REDUCED_MEMBERS))
    return tmp_path


@pytest.mark.parametrize("format", ["zip", "tar.gz", "tar.zst"])
def test_another_format_holds_the_same(folder: Path, format: str) -> None:
    done = npubug("repack", NAME, "--format", format, "-o", "out.npubug." + format, cwd=folder)
    assert done.code == ExitCode.OK, done.err
    old, new = open_archive(folder / NAME), open_archive(folder / f"out.npubug.{format}")
    assert new.format is Format(format)
    assert new.manifest == old.manifest
    assert all(new.read(name) == old.read(name) for name in old.names)


def test_it_stands_beside_the_archive_by_default(folder: Path) -> None:
    done = npubug("repack", NAME, "--format", "zip", "--json", cwd=folder)
    assert files(folder) == {NAME, "k.npubug.zip"}
    answer = json.loads(done.out)
    assert answer == {
        "archive": "k.npubug.zip", "size": (folder / "k.npubug.zip").stat().st_size, "dropped": []
    }  # fmt: skip


def test_nothing_is_dropped_from_what_fits(folder: Path) -> None:
    done = npubug("repack", NAME, "--max-size", "20M", "--json", cwd=folder)
    assert json.loads(done.out)["dropped"] == []
    assert open_archive(folder / NAME).manifest.drops == ()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], ExitCode.USAGE),
        (["--max-size", "lots"], ExitCode.USAGE),
        (["--format", "rar"], ExitCode.USAGE),
        (["--max-size", "100"], ExitCode.FAILED),
    ],
)
def test_what_cannot_be_done_leaves_the_archive_alone(folder: Path, words: list[str], code: ExitCode) -> None:
    before = (folder / NAME).read_bytes()
    assert npubug("repack", NAME, *words, cwd=folder).code == code
    assert (folder / NAME).read_bytes() == before
    assert files(folder) == {NAME}


def test_bundle_makes_it_fit_at_once(folder: Path) -> None:
    ir = case("failing/reshape_128.ttadapter")
    done = npubug("bundle", "--ir", ir, "--max-size", "10k", "-o", "b.npubug.zip", cwd=folder)
    assert done.code == ExitCode.OK, done.err
    assert (folder / "b.npubug.zip").stat().st_size <= 10_000
    archive = open_archive(folder / "b.npubug.zip")
    assert [drop.what for drop in archive.manifest.drops] == ["the IR after every pass: logs/after-all.log"]
    assert "left out to fit: the IR after every pass" in done.err
    assert npubug("check", "b.npubug.zip", cwd=folder).code == ExitCode.INCOMPLETE
