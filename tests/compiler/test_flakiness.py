"""How often a failure comes, and when a "no" may be believed."""

from __future__ import annotations

import itertools

import pytest
from confusion import IR, tool
from hypothesis import given
from hypothesis import strategies as st

from bundler.compiler.flakiness import (
    confidence_in_no,
    determinism,
    rate_at_least,
    repeats_to_believe_no,
    rerun,
)
from bundler.compiler.handoff import ir_for_backend
from bundler.compiler.invoke import default_command
from bundler.compiler.outcome import ToolRun
from bundler.compiler.signature import Level, signature_of
from bundler.report.diagnosis import render_reproducibility

BAD = ToolRun(
    ("bishengir-opt", "k", "--cse", "--canonicalize"), 1, stderr="k.mlir:1:1: error: 'a.b' op is odd\n"
)
OTHER = ToolRun(("bishengir-opt", "k", "--cse", "--canonicalize"), -11)
GOOD = ToolRun(("bishengir-opt", "k", "--cse", "--canonicalize"), 0)


def cycle(*runs: ToolRun):
    return itertools.cycle(runs).__next__


def test_a_steady_failure_is_reproducible() -> None:
    seen = rerun(cycle(BAD), 3)
    assert seen.is_reproducible and seen.is_steady and seen.rate == 1


def test_a_failure_that_comes_and_goes_has_a_rate() -> None:
    seen = rerun(cycle(BAD, GOOD, GOOD, GOOD, OTHER), 20)
    assert (seen.runs, seen.failures, seen.rate) == (20, 4, 0.2)
    assert [each.count for each in seen.observed] == [12, 4, 4]
    assert not seen.is_reproducible and "20%" in render_reproducibility(seen)


def test_only_the_failure_in_question_counts() -> None:
    expected = rerun(cycle(OTHER), 1).observed[0].signature
    assert rerun(cycle(BAD, BAD, OTHER), 6, expected=expected, level=Level.EXACT).failures == 2


def test_a_failure_that_never_comes_back_has_rate_0() -> None:
    seen = rerun(cycle(GOOD), 3)
    assert (seen.failures, seen.rate, seen.least_rate) == (0, 0.0, 0.0)
    assert signature_of(seen.observed[0].example).kind == "healthy"


def test_one_in_five_needs_fourteen_quiet_runs() -> None:
    assert repeats_to_believe_no(0.2) == 14
    assert repeats_to_believe_no(1.0) == 1


def test_three_of_three_is_no_proof_of_always() -> None:
    assert 0.5 < rate_at_least(3, 3) < 0.6


@given(st.floats(0.01, 1), st.floats(0.5, 0.999))
def test_so_many_repeats_give_the_confidence_asked_for_and_one_less_does_not(rate, confidence) -> None:
    repeats = repeats_to_believe_no(rate, confidence)
    assert confidence_in_no(rate, repeats) >= confidence - 1e-6
    assert repeats == 1 or confidence_in_no(rate, repeats - 1) < confidence + 1e-6


@given(st.integers(0, 200).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs + 1))))
def test_the_plausible_rate_is_below_the_measured_one(counts) -> None:
    failures, runs = counts
    assert 0 <= rate_at_least(failures, runs) <= failures / runs + 1e-12


@pytest.mark.parametrize(("rate", "confidence"), [(0, 0.9), (1.1, 0.9), (0.5, 1.0)])
def test_impossible_questions_are_refused(rate, confidence) -> None:
    with pytest.raises(ValueError):
        repeats_to_believe_no(rate, confidence)


def test_equal_outputs_are_deterministic_and_different_ones_are_not() -> None:
    assert determinism(lambda: b"x", 3).is_deterministic is True
    assert determinism(itertools.cycle([b"x", b"y"]).__next__, 4).is_deterministic is False
    assert determinism(lambda: None, 3).is_deterministic is None


@pytest.mark.parametrize("compiler", ["1.0.0", "1.2.0", "1.2.0 a5"])
def test_what_the_compiler_hands_to_its_backend_can_be_compared(compiler) -> None:
    command = default_command(IR / "add_1024.ttadapter", tool(compiler, "bishengir-compile"), None)
    seen = determinism(lambda: ir_for_backend(command, IR / "add_1024.ttadapter", timeout=60), 2)
    assert seen.is_deterministic is True


def test_a_compile_that_fails_hands_nothing_over() -> None:
    command = default_command(IR / "core_type.mlir", tool("1.2.0", "bishengir-compile"), None)
    assert ir_for_backend(command, IR / "core_type.mlir", timeout=60) is None
