"""`npubug show --html` on an archive of the real compiler."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bundler.errors import ExitCode
from tests.cli.command import files, npubug
from tests.places import case


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    ir = case("failing/reshape_128.ttadapter")
    assert npubug("bundle", "--ir", ir, "-o", "k.npubug.tar.zst", cwd=folder).code == ExitCode.OK
    return folder / "k.npubug.tar.zst"


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copy(made, tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", [["k.npubug.tar.zst", "--html"], ["--html", "k.npubug.tar.zst"]])
def test_the_page_stands_beside_the_archive(folder: Path, words: list[str]) -> None:
    before = (folder / "k.npubug.tar.zst").read_bytes()
    done = npubug("show", *words, cwd=folder)
    assert done.code == ExitCode.OK, done.err
    assert files(folder) == {"k.npubug.tar.zst", "k.html"}
    assert (folder / "k.npubug.tar.zst").read_bytes() == before
    page = (folder / "k.html").read_text()
    assert "in hivm-plan-memory" in page and "ub overflow, requires" in page
    assert "hivm-infer-mem-scope" in page  # the last pass that changed the IR
    assert len(page.encode()) < 1_000_000


def test_the_page_goes_where_it_is_told(folder: Path) -> None:
    assert npubug("show", "k.npubug.tar.zst", "--html", "p.html", cwd=folder).code == ExitCode.OK
    to_output = npubug("show", "k.npubug.tar.zst", "--html", "-", cwd=folder)
    assert to_output.out == (folder / "p.html").read_text()


def test_no_archive_is_overwritten_by_a_page(folder: Path) -> None:
    before = (folder / "k.npubug.tar.zst").read_bytes()
    for name in ("k.npubug.tar.zst", "other.npubug.zip"):
        assert npubug("show", "k.npubug.tar.zst", "--html", name, cwd=folder).code == ExitCode.USAGE
    assert (folder / "k.npubug.tar.zst").read_bytes() == before


def test_without_an_archive_it_says_so(folder: Path) -> None:
    for words in (["--html"], []):
        done = npubug("show", *words, cwd=folder)
        assert done.code == ExitCode.USAGE
        assert "give the archive" in done.err


def test_a_damaged_archive_makes_no_page(folder: Path) -> None:
    path = folder / "k.npubug.tar.zst"
    path.write_bytes(path.read_bytes()[:-100])
    assert npubug("show", path.name, "--html", cwd=folder).code == ExitCode.INVALID_INPUT
    assert files(folder) == {path.name}
