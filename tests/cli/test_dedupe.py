"""`npubug dedupe` on a folder of archives, one of them damaged."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from bundler.archive import write_archive
from bundler.errors import ExitCode
from tests.archive.samples import MANIFEST, MEMBERS, REDUCED_MANIFEST, REDUCED_MEMBERS
from tests.cli.command import npubug


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "more").mkdir()
    write_archive(tmp_path / "a.npubug.zip", MANIFEST, MEMBERS)
    write_archive(tmp_path / "more" / "b.npubug.zip", REDUCED_MANIFEST, (*MEMBERS, *REDUCED_MEMBERS))
    assert MANIFEST.signature is not None
    other = dataclasses.replace(MANIFEST, signature=dataclasses.replace(MANIFEST.signature, id="other"))
    write_archive(tmp_path / "c.npubug.tar.gz", other, MEMBERS)
    (tmp_path / "notes.txt").write_text("not an archive")
    return tmp_path


def test_the_largest_group_comes_first_with_the_reduced_one_on_top(folder: Path) -> None:
    done = npubug("dedupe", ".", cwd=folder)
    assert done.code == ExitCode.OK
    assert done.out.startswith("2 archives  1f2e3d4c\n")
    assert done.out.index("more/b.npubug.zip") < done.out.index("a.npubug.zip  ")
    assert done.out.endswith("3 archives, 2 different failures\n")


def test_a_damaged_archive_is_told_and_the_others_are_grouped(folder: Path) -> None:
    (folder / "bad.npubug.zip").write_bytes(b"PK\x03\x04")
    done = npubug("dedupe", ".", "--json", cwd=folder)
    assert done.code == ExitCode.INVALID_INPUT
    document = json.loads(done.out)
    assert [(each["signature"], each["count"]) for each in document["groups"]] == [
        ("1f2e3d4c", 2),
        ("other", 1),
    ]
    assert [each["path"] for each in document["invalid"]] == ["bad.npubug.zip"]


def test_a_folder_without_archives_is_an_error(tmp_path: Path) -> None:
    assert npubug("dedupe", ".", cwd=tmp_path).code == ExitCode.INVALID_INPUT
    assert npubug("dedupe", "none", cwd=tmp_path).code == ExitCode.INVALID_INPUT
