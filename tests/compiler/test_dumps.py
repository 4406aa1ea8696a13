from __future__ import annotations

import pytest

from bundler.compiler.dumps import count_ops, parts_of, read_dumps
from tests.places import DATA

MODULE = b"""#map = affine_map<(d0) -> (d0)>
module attributes {a.b = 1} {
  memref.global "private" @table : memref<4xf32>
  func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
  func.func @k(%arg0: memref<?xf32>) {
    %0 = affine.apply #map(%c)
    %1:2 = scf.for %i = %a to %b step %c iter_args(%x = %y) -> (f32, f32) {
      %2 = call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %2 : f32
    }
    return
  }
}"""


def banner(name: str, argument: str, when: str = "After") -> bytes:
    return f"// -----// IR Dump {when} {name} ({argument}) //----- //\n".encode()


LOG = (
    b"[WARNING] no hivmc\n"
    + banner("CSE", "cse")
    + MODULE
    + b"\n\n\n"
    + banner("PlanMemory Failed", "hivm-plan-memory")
    + b"func.func @k() {\n  return\n}\n\n[NOTE] retrying compilation.\n"
    + banner("Canonicalizer", "canonicalize", "Before")
    + MODULE
    + b"\n\n\n"
)


def test_dumps_come_with_pass_ir_and_what_the_compiler_said_after_them() -> None:
    first, second, third = read_dumps([LOG])
    assert (first.pass_class, first.pass_name, first.failed, first.before) == ("CSE", "cse", False, False)
    assert first.text == MODULE
    assert (second.pass_class, second.failed) == ("PlanMemory", True)
    assert second.remark == "[NOTE] retrying compilation."
    assert third.before


@pytest.mark.parametrize("size", [1, 2, 7, 64, 100, 4096])
def test_where_the_log_is_cut_into_pieces_makes_no_difference(size: int) -> None:
    pieces = [LOG[i : i + size] for i in range(0, len(LOG), size)]
    assert list(read_dumps(pieces)) == list(read_dumps([LOG]))


def test_a_log_without_dumps_has_none_and_is_not_held() -> None:
    def lines() -> object:
        for _ in range(3000):
            yield b"x" * 10_000 + b"\n"

    assert list(read_dumps(lines())) == []  # type: ignore[arg-type]


def test_words_that_only_look_like_a_banner_are_ir() -> None:
    odd = banner("CSE", "cse") + b"module {\n  // -----// IR Dump of mine\n}\n\n"
    (dump,) = read_dumps([odd])
    assert b"IR Dump of mine" in dump.text


def test_a_dump_longer_than_is_held_is_cut_and_the_next_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bundler.compiler.dumps._LONGEST_DUMP", 10_000)
    log = banner("A", "a") + b"module {\n" + b"  x.y\n" * 100_000 + b"}\n\n" + banner("B", "b") + MODULE
    first, second = read_dumps(log[i : i + 1000] for i in range(0, len(log), 1000))
    assert first.cut and len(first.text) < 12_000
    assert not second.cut and second.text == MODULE


def test_a_module_is_taken_apart_into_functions_and_the_rest() -> None:
    parts = parts_of(MODULE)
    assert parts.is_module
    assert [(f.name, f.ops) for f in parts.functions] == [("outside", 0), ("k", 3)]
    assert b"table" in b"".join(parts.frame) and b"#map" not in b"".join(parts.frame)
    assert parts.functions[1].text.startswith(b"func.func @k") and parts.functions[1].text.endswith(b"\n}")


def test_a_function_alone_is_the_same_as_in_its_module() -> None:
    alone = b"""func.func @k(%arg0: memref<?xf32>) {
  %0 = affine.apply affine_map<(d0) -> (d0)>(%c)
  %1:2 = scf.for %i = %a to %b step %c iter_args(%x = %y) -> (f32, f32) {
    %2 = call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %2 : f32
  }
  return
}"""
    parts = parts_of(alone)
    assert not parts.is_module
    assert parts.functions[0] == parts_of(MODULE).functions[1]


def test_the_generic_form_is_understood() -> None:
    generic = b"""module {
  "func.func"() <{function_type = () -> (), sym_name = "k"}> ({
  ^bb0(%arg0: i32):
    %0 = "arith.addi"(%arg0, %arg0) : (i32, i32) -> i32
    "func.return"() : () -> ()
  }) : () -> ()
}"""
    (function,) = parts_of(generic).functions
    assert (function.name, function.ops) == ("k", 1)


@pytest.mark.parametrize(
    ("name", "ops"),
    [("reshape_128", 22), ("cumsum_64_1024_1", 9), ("adamw_16384_2", 167), ("matmul_256", 60)],
)
def test_operations_are_counted_as_printed(name: str, ops: int) -> None:
    # The minimizer counts the same, but for matmul, whose implied body (4 operations) it has before it.
    assert count_ops((DATA / "ir" / f"{name}.ttadapter").read_bytes()) == ops


@pytest.mark.parametrize(
    "text", [b"", b"{", b"func.func @", b"func.func @f(", b"#a = #a\nmodule { #a }", b"\xff\xfe", b"}" * 100]
)
def test_broken_ir_is_taken_as_it_is(text: bytes) -> None:
    parts_of(text)


def test_aliases_that_double_each_time_do_not_grow_without_end() -> None:
    lines = [b"#a0 = #b<1>"] + [b"#a%d = #b<#a%d, #a%d>" % (i, i - 1, i - 1) for i in range(1, 200)]
    parts = parts_of(b"\n".join(lines) + b"\nmodule {\n  func.func @f() {\n    x.y #a199\n  }\n}")
    assert len(parts.functions[0].text) < 20_000
