"""Reading a triton cache that is alive, large, or not ours."""

from __future__ import annotations

import os
import threading
import time
import unittest.mock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bundler.capture.cache import cached_ir, find, listing
from bundler.report.kernels import render_text

IR = 'func.func @{name}() attributes {{a = "b", mix_mode = "aiv", parallel_mode = "simd"}} {{ }}'


def put(cache: Path, hash: str, name: str, *stages: str, age: float = 0, text: str | None = None) -> Path:
    """Make one kernel's folder."""
    folder = cache / hash
    folder.mkdir(parents=True, exist_ok=True)
    for stage in stages:
        path = folder / f"{name}.{stage}"
        path.write_text(IR.format(name=name) if text is None else text)
        os.utime(path, (1e9 - age, 1e9 - age))
    return folder


def test_both_generations_are_listed_newest_first_in_lowering_order(tmp_path: Path) -> None:
    put(tmp_path, "h1", "old", "npubin", "json", "ttadapter", "ttir", age=10)
    put(tmp_path, "h2", "new", "bcmlir", "mlirbc", "ttir", "ttadapter")
    new, old = find(tmp_path)
    assert (new.name, new.hash, [stage for stage, _ in new.files]) == (
        "new",
        "h2",
        ["ttir", "ttadapter", "mlirbc", "bcmlir"],
    )
    assert [stage for stage, _ in old.files] == ["ttir", "ttadapter", "npubin", "json"]
    assert [path.name for path in old.ir] == ["old.ttir", "old.ttadapter"]


def test_what_is_no_kernel_is_not_listed(tmp_path: Path) -> None:
    put(tmp_path, "launcher", "launcher", "so", "cpp")
    put(tmp_path, "group", "__grp__add", "json")
    put(tmp_path, "metadata", "add", "json")
    put(tmp_path, "half", "add", "ttir", text="")
    put(tmp_path / "running", "tmp.pid_1_2", "add", "ttir")
    (tmp_path / "lock").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (put(tmp_path, "linked", "x") / "add.ttir").symlink_to(tmp_path / "nowhere")
    (put(tmp_path, "folder", "x") / "add.ttir").mkdir()
    assert find(tmp_path) == ()


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_cache_that_is_not_there_holds_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    assert find(tmp_path / name) == ()
    assert cached_ir(tmp_path / name, "add") == ()


def test_a_cache_that_changes_while_it_is_read_never_raises(tmp_path: Path) -> None:
    put(tmp_path, "stays", "kept", "ttir")
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            for number in range(20):
                folder = put(tmp_path, f"h{number}", "add", "ttir", "ttadapter")
                (folder / "add.ttir").unlink()
                (folder / "add.ttadapter").unlink()
                folder.rmdir()

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            assert "kept" in {kernel.name for kernel in find(tmp_path)}
            cached_ir(tmp_path, "add", input=tmp_path / "stays" / "kept.ttir")
    finally:
        stop.set()
        thread.join()


def test_ten_thousand_kernels_are_listed_in_two_seconds(tmp_path: Path) -> None:
    for number in range(10_000):
        folder = tmp_path / f"h{number}"
        folder.mkdir()
        for name in ("k.ttir", "k.ttadapter", "k.json", "__grp__k.json"):
            (folder / name).write_bytes(b"x")
    start = time.process_time()  # of this process alone: the machine may be busy with other tests
    found = find(tmp_path)
    assert len(render_text(found).splitlines()) == 10_001
    assert time.process_time() - start < 2


def test_folders_closed_to_us_are_counted_and_the_others_listed(tmp_path: Path) -> None:
    put(tmp_path, "h1", "mine", "ttir")
    put(tmp_path, "h2", "theirs", "ttir")
    # Root may read everything, so a folder that the system refuses to list stands in for another user's.
    with unittest.mock.patch("bundler.capture.cache.os.scandir", refusing(tmp_path / "h2")):
        found = listing(tmp_path)
    assert [kernel.name for kernel in found.kernels] == ["mine"]
    assert found.unreadable == 1


def refusing(closed: Path) -> Callable[[Path], Any]:
    real = os.scandir

    def scandir(path: Path) -> Any:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied")
        return real(path)

    return scandir


@pytest.mark.parametrize("root", [".", "0f3a"])
def test_a_dump_is_listed_by_the_names_in_its_texts(tmp_path: Path, root: str) -> None:
    folder = tmp_path / "0f3a"
    folder.mkdir()
    (folder / "kernel.ttir.mlir").write_text("module { tt.func public @softmax(%a: i32) { tt.return } }")
    (folder / "kernel.ttadapter.mlir").write_text(IR.format(name="softmax"))
    (kernel,) = listing(tmp_path / root).kernels
    assert (kernel.name, [stage for stage, _ in kernel.files]) == ("softmax", ["ttir", "ttadapter"])


def test_a_dump_of_bytecode_alone_keeps_its_file_name(tmp_path: Path) -> None:
    (tmp_path / "kernel.bcmlir.mlir").write_bytes(b"ML\xefR" + bytes(100))
    assert [kernel.name for kernel in listing(tmp_path).kernels] == ["kernel"]


def test_the_kernel_is_found_by_what_the_compiler_was_given(tmp_path: Path) -> None:
    put(
        tmp_path, "h1", "add", "ttir", "ttadapter", text=IR.format(name="add").replace("simd", "first"), age=5
    )
    put(tmp_path, "h2", "add", "ttir", "ttadapter", text=IR.format(name="add").replace("simd", "second"))
    given = tmp_path / "kernel.ttadapter.mlir"
    given.write_text(IR.format(name="add").replace("simd", "first").replace(', mix_mode = "aiv"', ""))
    assert {path.parent.name for path in cached_ir(tmp_path, "add", input=given)} == {"h1"}


def test_without_the_content_the_newest_of_that_name_is_taken(tmp_path: Path) -> None:
    put(tmp_path, "h1", "add", "ttir", age=5)
    put(tmp_path, "h2", "add", "ttir", age=1)
    put(tmp_path, "h3", "other", "ttir")
    given = tmp_path / "gone.mlir"
    assert [path.parent.name for path in cached_ir(tmp_path, "add", input=given)] == ["h2"]
    assert [path.parent.name for path in cached_ir(tmp_path)] == ["h3"]
    assert cached_ir(tmp_path, "none-of-that-name") == ()


def test_reading_changes_nothing(tmp_path: Path) -> None:
    put(tmp_path, "h1", "add", "ttir", "ttadapter")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    cached_ir(tmp_path, "add", input=next(tmp_path.rglob("*.ttir")))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
