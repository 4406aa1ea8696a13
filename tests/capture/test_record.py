"""Reading a record folder back, in whatever state it was left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bundler.capture import record
from bundler.capture.recording import Call
from bundler.capture.store import Store

from .conftest import FAILING_IR


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (FAILING_IR.read_text(), "cumsum"),
        ("module {\n  tt.func public @add_kernel(%arg0: !tt.ptr<f32>) {", "add_kernel"),
        ("func.func private @helper()\nfunc.func @main.2$x() {", "main.2$x"),
        ('func.func @"a b"() {', "a b"),
        ("// func.func @comment() {\nfunc.func @real() {", "real"),
        ('"builtin.module"() ({\n"func.func"() <{function_type = () -> (), sym_name = "g"}> ({', "g"),
        (
            '"func.func"() <{sym_name = "p", sym_visibility = "private"}> ({'
            '\n"func.func"() <{sym_name = "q"}> ({',
            "q",
        ),
        ("func.func private @only_this()", None),
        ("", None),
        ("\udcff\0 no MLIR", None),
    ],
)
def test_the_kernel_is_the_first_function_that_is_not_private(text: str, name: str | None) -> None:
    assert record.kernel_name(text) == name


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert record.read(tmp_path / "missing") == ((), (), ())


def test_calls_are_in_the_order_of_their_start(tmp_path: Path) -> None:
    made = [make_call(tmp_path) for _ in range(12)]
    calls, _, lost = record.read(tmp_path)
    assert [call.id for call in calls] == [call.id for call in made]
    assert lost == ()


def test_unreadable_calls_are_named_and_the_others_read(tmp_path: Path) -> None:
    good = make_call(tmp_path)
    for name, text in [("1-1", ""), ("1-2", "[]"), ("1-3", "{}"), ("1-4", '{"id": 1'), ("1-5", "\udcff")]:
        (tmp_path / "calls" / name).mkdir()
        (tmp_path / "calls" / name / "call.jsonl").write_bytes(text.encode("utf-8", "surrogateescape"))
    (tmp_path / "calls" / "1-6").mkdir()
    calls, _, lost = record.read(tmp_path)
    assert [call.id for call in calls] == [good.id]
    assert len(lost) == 6 and all("nothing readable" in line for line in lost)


def test_a_file_cut_anywhere_reads_as_unfinished_or_is_named(tmp_path: Path) -> None:
    call = make_call(tmp_path)
    call.end(1)
    path = tmp_path / "calls" / call.id / "call.jsonl"
    whole = path.read_bytes()
    first = whole.index(b"\n")
    for size in range(0, len(whole) - 1):
        path.write_bytes(whole[:size])
        calls, _, lost = record.read(tmp_path)
        assert (len(calls), len(lost)) == ((1, 0) if size >= first else (0, 1))
        assert not any(found.finished for found in calls)
    path.write_bytes(whole)
    assert record.read(tmp_path)[0][0].finished


def test_a_call_without_an_end_is_unfinished(tmp_path: Path) -> None:
    make_call(tmp_path)
    ((call,), _, _) = record.read(tmp_path)
    assert (call.finished, call.returncode, call.outputs) == (False, None, ())


def test_exceptions_are_in_the_order_of_time(tmp_path: Path) -> None:
    for pid, time in ((1, 20.0), (2, 10.0)):
        value = {"pid": pid, "type": "E", "message": "m", "text": "t", "time": time, "argv": ["a"]}
        (tmp_path / f"exception-{pid}.json").write_text(json.dumps(value))
    (tmp_path / "exception-3.json").write_text("{")
    _, exceptions, lost = record.read(tmp_path)
    assert [exception.pid for exception in exceptions] == [2, 1]
    assert len(lost) == 1


def make_call(folder: Path) -> Call:
    """Begin a recording of a call below `folder`."""
    (folder / "calls").mkdir(exist_ok=True)
    source = folder / "input.mlir"
    source.write_text("func.func @k() {}")
    return Call(
        Store(str(folder)),
        ["npuc", "input.mlir", "-o", "out"],
        str(folder),
        {"TRITON_DEBUG": "1", "HOME": "/"},
    )


def test_only_the_variables_that_matter_are_kept(tmp_path: Path) -> None:
    make_call(tmp_path)
    ((call,), _, _) = record.read(tmp_path)
    assert call.environment == (("TRITON_DEBUG", "1"),)
