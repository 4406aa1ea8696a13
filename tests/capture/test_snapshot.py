"""A copy of a cached kernel while other processes write, rename and remove its files."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from bundler.capture import snapshot as module
from bundler.capture.cache import find
from bundler.capture.snapshot import metadata_of, snapshot
from bundler.errors import ExitCode, NpubugError


def cache(tmp_path: Path, **files: str) -> Path:
    folder = tmp_path / "cache" / "h1"
    folder.mkdir(parents=True)
    for stage, text in files.items():
        (folder / f"add.{stage}").write_text(text)
    return tmp_path / "cache"


def test_the_copy_outlives_the_cache(tmp_path: Path) -> None:
    root = cache(tmp_path, ttir="a", ttadapter="b", json='{"name": "add aiv"}', npubin="x")
    copied = snapshot(find(root)[0], tmp_path / "work")
    for path in (root / "h1").iterdir():
        path.unlink()
    assert [path.read_text() for path in copied.ir] == ["a", "b"]
    assert metadata_of(copied) == {"name": "add aiv"}
    assert copied.compiled


def test_a_file_that_vanishes_is_left_out(tmp_path: Path) -> None:
    root = cache(tmp_path, ttir="a", ttadapter="b")
    kernel = find(root)[0]
    (root / "h1" / "add.ttadapter").unlink()
    assert [path.name for path in snapshot(kernel, tmp_path / "work").ir] == ["add.ttir"]


def test_a_kernel_that_vanishes_is_said_to_have_vanished(tmp_path: Path) -> None:
    root = cache(tmp_path, ttir="a")
    kernel = find(root)[0]
    (root / "h1" / "add.ttir").unlink()
    with pytest.raises(NpubugError, match="cannot read the IR of add") as caught:
        snapshot(kernel, tmp_path / "work")
    assert caught.value.code == ExitCode.INVALID_INPUT


def test_a_file_that_is_being_written_is_copied_when_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = cache(tmp_path, ttadapter="half")
    kernel = find(root)[0]
    path = root / "h1" / "add.ttadapter"
    real = module.shutil.copyfile

    def slow(source: Path, target: Path) -> None:
        real(source, target)
        if path.read_text() == "half":
            path.write_text("half and half")

    monkeypatch.setattr(module, "_PAUSE", 0.01)
    monkeypatch.setattr(module.shutil, "copyfile", slow)
    assert snapshot(kernel, tmp_path / "work").ir[0].read_text() == "half and half"


def test_a_file_that_never_stops_changing_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = cache(tmp_path, ttir="a", ttadapter="b")
    kernel = find(root)[0]
    stop = threading.Event()

    def grow() -> None:
        with (root / "h1" / "add.ttadapter").open("a") as file:
            while not stop.is_set():
                file.write("x" * 100)
                file.flush()
                time.sleep(0)

    real = module.shutil.copyfile

    def slow(source: Path, target: Path) -> None:
        real(source, target)
        time.sleep(0.02)

    monkeypatch.setattr(module, "_PAUSE", 0.01)
    monkeypatch.setattr(module.shutil, "copyfile", slow)
    thread = threading.Thread(target=grow)
    thread.start()
    try:
        copied = snapshot(kernel, tmp_path / "work")
    finally:
        stop.set()
        thread.join()
    assert [path.name for path in copied.ir] == ["add.ttir"]


@pytest.mark.parametrize("text", ["{", "[1]", "\x00", '"add"'])
def test_metadata_that_is_half_written_or_strange_counts_as_missing(tmp_path: Path, text: str) -> None:
    root = cache(tmp_path, ttir="a", json=text)
    assert metadata_of(find(root)[0]) is None
