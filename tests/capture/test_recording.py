"""One call's folder: what is kept of inputs, outputs and streams."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bundler.capture import record
from bundler.capture.record import CapturedCall
from bundler.capture.recording import Call, middle_cut
from bundler.capture.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "record" / "calls").mkdir(parents=True)
    return tmp_path


def begin(folder: Path, *argv: str, cap: int = 64 << 20) -> Call:
    return Call(Store(str(folder / "record"), call_cap=cap), ["npuc", *argv], str(folder), {})


def read(folder: Path) -> CapturedCall:
    ((call,), _, _) = record.read(folder / "record")
    return call


def test_a_pipe_named_as_input_is_not_read(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    begin(folder, "pipe", "/dev/stdin", "-o", "out").end(0)
    assert read(folder).input is None


def test_inputs_of_the_same_name_do_not_overwrite_each_other(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "k.mlir").write_text(name)
    begin(folder, "a/k.mlir", "b/k.mlir").end(0)
    kept = (folder / "record").rglob("*k.mlir")
    assert sorted(path.read_text() for path in kept) == ["a", "b"]
    source = read(folder).input
    assert source is not None and source.read_text() == "a"


def test_a_file_named_as_output_is_no_input(folder: Path) -> None:
    (folder / "out").write_text("from last time")
    begin(folder, "-o", "out").end(0)
    assert (read(folder).input, read(folder).outputs) == (None, ())


@pytest.mark.parametrize("option", [["-o", "k"], ["-o=k"], ["--o=k"], ["--o", "k"]])
def test_outputs_are_found_for_each_spelling_of_the_option(folder: Path, option: list[str]) -> None:
    call = begin(folder, *option)
    for name in ("k", "k.o", "k_reloc.o", "libk.so", "other"):
        (folder / name).write_text(name)
    call.end(0)
    assert [path.name for path in read(folder).outputs] == ["k", "k.o", "k_reloc.o", "libk.so"]


def test_an_output_that_was_there_before_counts_once_it_is_rewritten(folder: Path) -> None:
    (folder / "k").write_text("old")
    (folder / "k.o").write_text("old")
    call = begin(folder, "-o", "k")
    (folder / "k.o").write_text("newer")
    call.end(0)
    assert [path.read_text() for path in read(folder).outputs] == ["newer"]


def test_names_that_are_not_unicode_are_kept(folder: Path) -> None:
    name = os.fsdecode(b"k\xff.mlir")
    (folder / name).write_text("func.func @k() {}")
    begin(folder, name).end(0)
    call = read(folder)
    assert call.kernel == "k" and call.argv[1] == name


def test_an_input_beyond_the_cap_is_left_out_and_noted(folder: Path) -> None:
    (folder / "k.mlir").write_text("x" * 101)
    begin(folder, "k.mlir", cap=100).end(0)
    assert read(folder).input is None
    (note,) = read(folder).notes
    assert "101 bytes" in note


def test_a_long_log_keeps_its_beginning_and_its_end(folder: Path) -> None:
    call = begin(folder, cap=1000)
    call.stream("stderr", b"first" + b"." * 5000 + b"last")
    call.end(1)
    kept = read(folder).stderr
    assert kept is not None
    assert kept.read_bytes().startswith(b"first") and kept.read_bytes().endswith(b"last")
    assert kept.stat().st_size <= 1000
    assert "5009 bytes" in read(folder).notes[0]


@pytest.mark.parametrize("limit", [0, 1, 16, 17, 100])
def test_a_cut_is_never_longer_than_the_original(limit: int) -> None:
    data = bytes(range(100))
    assert len(middle_cut(data, limit)) <= max(limit, 17)


def test_output_that_arrives_after_the_end_is_still_kept(folder: Path) -> None:
    call = begin(folder)
    call.end(1)
    call.stream("stdout", "grün", "latin-1")
    call.end(1)
    kept = read(folder).stdout
    assert kept is not None and kept.read_bytes() == b"gr\xfcn"


def test_the_longest_of_several_readings_counts(folder: Path) -> None:
    call = begin(folder)
    for piece in (b"ear", b"early and late", b""):
        call.stream("stdout", piece)
    call.end(0)
    call.stream("stdout", b"")
    call.end(0)
    kept = read(folder).stdout
    assert kept is not None and kept.read_bytes() == b"early and late"


@pytest.mark.parametrize("name", ["call.jsonl", "stderr", "out"])
def test_an_input_named_like_a_file_of_ours_harms_nothing(folder: Path, name: str) -> None:
    (folder / name).write_text("func.func @k() {}")
    call = begin(folder, name, "-o", "k.o")
    call.stream("stderr", b"said")
    (folder / "k.o").write_text("made")
    call.end(3)
    found = read(folder)
    assert (found.kernel, found.returncode, [path.name for path in found.outputs]) == ("k", 3, ["k.o"])
    assert found.stderr is not None and found.stderr.read_bytes() == b"said"


def test_nothing_printed_is_told_apart_from_nothing_piped(folder: Path) -> None:
    call = begin(folder)
    call.stream("stdout", b"")
    call.end(0)
    found = read(folder)
    assert found.stdout is not None and found.stdout.read_bytes() == b""
    assert found.stderr is None


def test_an_empty_output_option_does_not_collect_the_folder(folder: Path) -> None:
    call = begin(folder, "-o", "")
    (folder / "unrelated.txt").write_text("new")
    call.end(0)
    assert read(folder).outputs == ()
