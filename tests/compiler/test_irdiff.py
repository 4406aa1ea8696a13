from __future__ import annotations

import time

import pytest

from bundler.compiler.irdiff import Gap, Kind, diff_ir, differs, fold

BEFORE = """func.func @f(%arg0: i32) {
  %0 = a.load %arg0 : i32
  %1 = a.add %0, %0 : i32
  %2 = a.mul %1, %0 : i32
  a.store %2 : i32
}"""


def kinds(before: str, after: str) -> str:
    letters = {Kind.SAME: ".", Kind.CHANGED: "c", Kind.REMOVED: "-", Kind.ADDED: "+"}
    return "".join(letters[row.kind] for row in diff_ir(before, after))


def test_renumbered_values_are_no_difference() -> None:
    after = BEFORE.replace("%0", "%x").replace("%1", "%y").replace("%arg0", "%in")
    assert not differs(diff_ir(BEFORE, after))


def test_an_inserted_operation_leaves_those_behind_it_alone() -> None:
    after = BEFORE.replace("%2", "%3").replace("%1", "%2").replace("%0", "%1")
    after = after.replace("  %1 = a.load", "  %0 = a.constant 7 : i32\n  %1 = a.load")
    assert kinds(BEFORE, after) == ".+....."


def test_another_operand_is_a_change_though_only_names_differ() -> None:
    assert kinds(BEFORE, BEFORE.replace("a.mul %1, %0", "a.mul %0, %1")) == "...c.."


def test_another_type_is_a_change_of_the_same_operation() -> None:
    assert kinds(BEFORE, BEFORE.replace("a.mul %1, %0 : i32", "a.mul %1, %0 : f32")) == "...c.."


def test_another_operation_is_one_removed_and_one_added() -> None:
    assert kinds(BEFORE, BEFORE.replace("a.mul", "a.div")) in ("...-+..", "...+-..")


def test_values_of_another_function_do_not_count() -> None:
    two = BEFORE + "\n" + BEFORE.replace("@f", "@g")
    after = BEFORE + "\n" + BEFORE.replace("@f", "@g").replace("%0", "%9")
    assert not differs(diff_ir(two, after))


def test_every_line_of_both_sides_is_in_the_rows_once_and_in_order() -> None:
    after = "\n".join(BEFORE.splitlines()[::-1])
    rows = diff_ir(BEFORE, after)
    assert [row.left for row in rows if row.left is not None] == BEFORE.splitlines()
    assert [row.right for row in rows if row.right is not None] == after.splitlines()


def test_folding_keeps_the_difference_with_some_lines_around_it() -> None:
    lines = [f"  a.op{i}" for i in range(100)]
    after = [*lines[:50], "  a.new", *lines[50:]]
    folded = fold(diff_ir("\n".join(lines), "\n".join(after)), context=2)
    assert [row.lines if isinstance(row, Gap) else row.right for row in folded] == [
        *(48, "  a.op48", "  a.op49", "  a.new", "  a.op50", "  a.op51", 48),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  a.b\n" * 20_000, "  a.b\n" * 10_000 + "  a.c\n" * 10_000),
        ("  a.b\n  a.c\n" * 5_000, "  a.c\n  a.d\n" * 5_000),
        ("", "x\n" * 50_000),
    ],
)
def test_a_monstrous_pair_takes_bounded_time(before: str, after: str) -> None:
    start = time.monotonic()
    diff_ir(before, after)
    assert time.monotonic() - start < 20
