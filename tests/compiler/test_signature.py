"""A signature is the same for the same failure, wherever, and another for another one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from confusion import PAGE
from hypothesis import given, settings
from hypothesis import strategies as st

from bundler.compiler.diagnose import diagnose
from bundler.compiler.outcome import Diagnosis, Outcome, Stage, ToolRun
from bundler.compiler.signature import Level, matches, normalise, signature_of

names = st.from_regex(r"[a-z_][a-z_0-9]{0,10}", fullmatch=True)
paths = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts) + ".mlir")
sizes = st.integers(1, 10**12)


def failure(message: str, **more: object) -> Diagnosis:
    return replace(Diagnosis(Outcome.FAILED, Stage.COMPILE, "error", message, "hivm-x"), **more)


def overflow(path: str, line: int, need: int, have: int) -> ToolRun:
    text = (
        f'loc("{path}":1:1): error: Failed to run BiShengHIR pipeline\n\n'
        f'loc("{path}":{line}:3): error: ub overflow, requires {need} bits while {have} bits available!\n'
    )
    return ToolRun(("bishengir-compile", path), 1, stderr=text)


@given(st.text())
def test_normalising_twice_is_normalising_once(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(
    st.lists(
        st.sampled_from(
            [
                "/a/b",
                "%x",
                "@f",
                "3",
                "0x1f",
                "2x4xf32",
                "strided<[1]>",
                "<",
                " ",
                ":",
                "#1",
                "x",
                ">",
                "[1, 2]",
                "loc(",
                ")",
                "-",
                ".",
                "e5",
            ]
        )
    ).map("".join)
)
def test_normalising_twice_is_normalising_once_for_what_it_replaces(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(paths, paths, st.tuples(sizes, sizes), st.tuples(sizes, sizes))
def test_the_same_overflow_elsewhere_and_at_another_size_has_the_same_id(p, q, a, b) -> None:
    first, second = (signature_of(diagnose(run)) for run in (overflow(p, 2, *a), overflow(q, 9, *b)))
    assert first.id == second.id


@given(paths, names, sizes, st.lists(sizes, min_size=1, max_size=4), names)
def test_renaming_paths_values_sizes_and_kernels_never_changes_the_id(
    path, value, size, dims, kernel
) -> None:
    shape = "x".join(map(str, dims))
    message = (
        f"'memref.alloc' op at {path}:{size}:3 in @{kernel}: "
        f"%{value} of memref<{shape}xf32, strided<[{size}, 1], "
        f"offset: ?>> at 0x{size:x} needs {size} bytes"
    )
    other = (
        "'memref.alloc' op at /x.py:1:3 in @k: %0 of memref<1x2xf32, strided<[1], offset: ?>> "
        "at 0x0 needs 7 bytes"
    )
    assert signature_of(failure(message)).id == signature_of(failure(other)).id


@pytest.mark.parametrize(
    "other",
    [
        failure("'memref.load' op is odd"),
        failure("'memref.alloc' op is even"),
        failure("'memref.alloc' op is odd", pass_name="hivm-y"),
        failure("'memref.alloc' op is odd", stage=Stage.ADAPTER),
        failure("'memref.alloc' op is odd", outcome=Outcome.CRASHED),
    ],
)
def test_another_op_wording_pass_stage_or_outcome_has_another_id(other: Diagnosis) -> None:
    one = signature_of(failure("'memref.alloc' op is odd"))
    assert signature_of(other).id != one.id
    assert not matches(one, signature_of(other), Level.NORMAL)


def test_element_types_are_kept() -> None:
    assert normalise("tensor<16x8xf32>") == normalise("tensor<4xf32>") != normalise("tensor<4xbf16>")


def test_the_pages_example_is_a_real_id() -> None:
    run = overflow("/k.mlir", 3, 4194304, 1572864)
    assert signature_of(diagnose(run)).id in PAGE.read_text()


def test_an_id_is_short_and_readable() -> None:
    id_ = signature_of(diagnose(overflow("/k.mlir", 2, 5, 3))).id
    assert re.fullmatch(r"ub-overflow@hivm-plan-memory-[0-9a-f]{6}", id_)


def crash(*frames: str, kind: str = "segfault", message: str = "SIGSEGV") -> Diagnosis:
    return Diagnosis(Outcome.CRASHED, Stage.COMPILE, kind, message, frames=frames)


def test_a_wordless_crash_is_known_by_its_frames() -> None:
    here, there = signature_of(crash("tool+0x10")), signature_of(crash("tool+0x20"))
    assert here.id != there.id
    assert not matches(here, there)
    assert matches(here, there, Level.KIND)


def test_an_assertion_is_known_by_its_words_not_by_offsets() -> None:
    one, other = (signature_of(crash(at, kind="assertion", message="F.h: f: x")) for at in ("t+0x1", "t+0x2"))
    assert one.id == other.id


def test_symbols_count_where_they_are_present() -> None:
    one, other = (signature_of(crash(at, kind="assertion", message="F.h: f: x")) for at in ("a::b", "c::d"))
    assert one.id != other.id


def test_a_replayed_pass_is_the_same_failure() -> None:
    whole = signature_of(failure("x"))
    alone = signature_of(failure("x", stage=Stage.PASS))
    assert matches(whole, alone) and not matches(whole, alone, Level.EXACT)


def test_an_unknown_pass_does_not_part_two_failures() -> None:
    assert matches(signature_of(failure("x")), signature_of(failure("x", pass_name=None)))


def test_the_asserting_line_of_the_compiler_may_move() -> None:
    text = "tool: /b{0}/UseDefLists.h:{0}: ~T() [O = B]: Assertion `use_empty()' failed.\n"
    runs = [ToolRun(("triton-adapter-opt",), -6, stderr=text.format(number)) for number in (198, 201)]
    assert len({signature_of(diagnose(run)).id for run in runs}) == 1


def pieces() -> st.SearchStrategy[str]:
    words = [
        "error: ",
        'loc("k":1:2): ',
        "LLVM ERROR: ",
        "UNREACHABLE executed at ",
        "!",
        ": Assertion `",
        "' failed",
        "// -----// IR Dump After X Failed (",
        ") //----- //",
        "\n",
        "\r",
        "\x1b[31m",
        " #0 0x1 ",
        "(a+0x1)",
        '"',
        "'",
        "ub overflow, requires 1 bits while 2 bits ava",
        "Cannot find hivmc",
        "[ERROR] Executing: hivmc",
        "errorStr: ",
        "error code is 507035",
        "errors.CompilationError: ",
        "InferCoreType Fail!",
        "1:2",
        ":::",
        "Pipeline failed while executing [`",
    ]
    return st.lists(st.one_of(st.sampled_from(words), st.text(max_size=5))).map("".join)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["bishengir-compile", "bishengir-opt", "triton-adapter-opt", "python", "g++", ""]),
    st.one_of(st.none(), st.integers(-70, 300)),
    pieces(),
)
def test_no_text_makes_diagnosis_raise(tool: str, code: int | None, text: str) -> None:
    found = diagnose(ToolRun((tool, "k") if tool else (), code, stderr=text))
    assert signature_of(found).id
