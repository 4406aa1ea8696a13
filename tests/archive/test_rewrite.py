from __future__ import annotations

import dataclasses
import os
import resource
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from bundler.archive import Format, NewMember, add_members, open_archive, repack, write_archive
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import Manifest
from tests.archive.samples import IR, MANIFEST, MEMBERS, REDUCED, REDUCED_MEMBERS, REDUCTION

ENDINGS = [f.value for f in Format]


def with_reduction(manifest: Manifest) -> Manifest:
    return dataclasses.replace(manifest, reduction=REDUCTION)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_reduction_joins_what_was_there(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    write_archive(path, MANIFEST, MEMBERS)
    written = add_members(path, REDUCED_MEMBERS, with_reduction)
    archive = open_archive(path)
    assert archive.manifest == written
    assert archive.manifest.reduction == REDUCTION
    for member in (*MEMBERS, *REDUCED_MEMBERS):
        assert archive.read(member.name) == member.content


def test_adding_gives_the_same_bytes_as_writing_it_all_at_once(tmp_path: Path) -> None:
    grown, whole = tmp_path / "grown.tar.zst", tmp_path / "whole.tar.zst"
    write_archive(grown, MANIFEST, MEMBERS)
    add_members(grown, REDUCED_MEMBERS, with_reduction)
    write_archive(whole, with_reduction(MANIFEST), (*REDUCED_MEMBERS, *MEMBERS))
    assert grown.read_bytes() == whole.read_bytes()


def test_an_existing_member_is_only_replaced_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.zst"
    write_archive(path, MANIFEST, (*MEMBERS, *REDUCED_MEMBERS))
    smaller = NewMember("reduced/kernel.ttadapter", "reduced", b"module {}\n")
    with pytest.raises(NpubugError) as caught:
        add_members(path, [smaller])
    assert "reduced/kernel.ttadapter" in caught.value.what
    assert open_archive(path).read("reduced/kernel.ttadapter") == REDUCED
    add_members(path, [smaller], replace=True)
    assert open_archive(path).read("reduced/kernel.ttadapter") == b"module {}\n"
    assert open_archive(path).read("input/kernel.ttadapter") == IR


def test_a_failing_change_leaves_the_archive_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.zst"
    write_archive(path, MANIFEST, MEMBERS)
    before = path.read_bytes()
    with pytest.raises(NpubugError):  # the reduction names members that are not added
        add_members(path, [], with_reduction)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.tar.zst"]


def test_a_change_by_another_program_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.zst"
    write_archive(path, MANIFEST, MEMBERS)

    def meanwhile(manifest: Manifest) -> Manifest:
        write_archive(path, dataclasses.replace(MANIFEST, notes=("other",)), MEMBERS)
        return manifest

    with pytest.raises(NpubugError) as caught:
        add_members(path, REDUCED_MEMBERS, meanwhile)
    assert "changed by another program" in caught.value.what
    assert open_archive(path).manifest.notes == ("other",)


def test_a_damaged_archive_is_not_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"not an archive")
    with pytest.raises(NpubugError) as caught:
        add_members(path, REDUCED_MEMBERS)
    assert caught.value.code is ExitCode.INVALID_INPUT
    assert path.read_bytes() == b"not an archive"
    with pytest.raises(NpubugError):
        add_members(tmp_path / "none.zip", REDUCED_MEMBERS)


def test_a_disk_that_fills_while_rewriting_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.zst"
    write_archive(path, MANIFEST, (*MEMBERS, NewMember("logs/noise.log", "log", os.urandom(800_000))))
    before = path.read_bytes()

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    code = """
        import os, sys
        from pathlib import Path
        from bundler.archive import NewMember, add_members
        from bundler.errors import NpubugError
        try:
            add_members(Path(sys.argv[1]), [NewMember("reduced/k", "reduced", os.urandom(800_000))])
        except NpubugError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        preexec_fn=limit,
    )
    assert "cannot write" in done.stdout, done.stderr
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.tar.zst"]


@pytest.mark.parametrize("through", ["tar.gz", "zip"])
def test_repacking_there_and_back_gives_the_same_bytes(tmp_path: Path, through: str) -> None:
    first, between, last = tmp_path / "a.tar.zst", tmp_path / f"b.{through}", tmp_path / "c.tar.zst"
    write_archive(first, MANIFEST, MEMBERS)
    assert repack(first, between) == open_archive(first).manifest
    repack(between, last)
    assert last.read_bytes() == first.read_bytes()


def test_repacking_onto_itself_keeps_the_content(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.zst"
    write_archive(path, MANIFEST, MEMBERS)
    repack(path, path, format=Format.ZIP)
    assert open_archive(path).format is Format.ZIP
    assert open_archive(path).read("input/kernel.ttadapter") == IR
