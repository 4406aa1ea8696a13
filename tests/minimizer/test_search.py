"""The search, with oracles that need no compiler."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from minimizer.ir.program import Program
from minimizer.oracle import Judgement, Verdict
from minimizer.schedule import TRANSFORMS
from minimizer.search import Search
from minimizer.transforms.edit import apply_all
from minimizer.workers import Evaluator
from tests.minimizer.programs import REAL, real


class TextOracle:
    """Interesting: the text has what `wanted` wants. Counts its calls."""

    def __init__(
        self, wanted: Callable[[str], bool], pause: Callable[[str], float] = lambda text: 0.0
    ) -> None:
        self.wanted = wanted
        self.pause = pause
        self.calls = 0

    def judge(self, text: str, cancel: threading.Event | None = None) -> Judgement:
        self.calls += 1
        time.sleep(self.pause(text))
        return Judgement(Verdict.INTERESTING if self.wanted(text) else Verdict.BORING)


def reduced(program: Program, oracle: TextOracle, jobs: int = 2, deadline: float | None = None) -> Search:
    with Evaluator(oracle, jobs, deadline) as evaluator:
        search = Search(program, evaluator, TRANSFORMS)
        search.finished = search.run()  # type: ignore[attr-defined]
    return search


def test_one_operation_is_all_that_remains_when_one_matters() -> None:
    oracle = TextOracle(lambda text: '"math.exp"' in text)
    search = reduced(real("failing/attn_64_256_128.ttadapter"), oracle)
    assert search.best.measure.ops <= 2
    assert '"math.exp"' in search.best.text


def test_an_operation_that_must_flow_into_another_keeps_its_way() -> None:
    def wanted(text: str) -> bool:
        lines = [line.strip() for line in text.splitlines()]
        exps = [line.split(" = ")[0] for line in lines if '"math.exp"' in line]
        return any(f'"linalg.reduce"({e}' in line for e in exps for line in lines)

    search = reduced(real("healthy/softmax_1024.ttadapter"), TextOracle(wanted))
    assert wanted(search.best.text)
    assert search.best.measure.ops <= 4


@pytest.mark.parametrize("name", REAL)
def test_the_result_is_one_minimal(name: str) -> None:
    oracle = TextOracle(lambda text: text.count("tensor<") >= 6)
    search = reduced(real(name), oracle)
    for transform in TRANSFORMS:
        for edit in transform.edits(search.best):
            made = apply_all(search.best, [edit])
            assert made is None or made.measure >= search.best.measure or not oracle.wanted(made.text)


def test_the_result_does_not_depend_on_jobs_or_timing() -> None:
    program = real("failing/argmax_64_2048.ttadapter")

    def wanted(text: str) -> bool:
        return '"linalg.reduce"' in text and '"memref.copy"' in text

    alone = reduced(program, TextOracle(wanted), jobs=1)
    uneven = reduced(program, TextOracle(wanted, pause=lambda text: (len(text) % 7) / 2000), jobs=4)
    assert alone.best.text == uneven.best.text
    assert [s.program.text for s in alone.steps] == [s.program.text for s in uneven.steps]


def test_padding_with_unrelated_operations_changes_nothing() -> None:
    program = real("failing/cumsum_64_1024_1.ttadapter")
    sink = '"bufferization.materialize_in_destination"'
    first = program.text.index("    " + sink)
    padding = "".join(
        f'    %pad{i} = "arith.constant"() <{{value = {i}.0 : f32}}> : () -> f32\n'
        f'    %more{i} = "math.exp"(%pad{i}) : (f32) -> f32\n'
        for i in range(30)
    )
    padded = Program.parse(program.text[:first] + padding + program.text[first:])
    assert padded.measure.ops == program.measure.ops + 60

    def wanted(text: str) -> bool:
        return '"func.call"' in text

    assert reduced(padded, TextOracle(wanted)).best.text == reduced(program, TextOracle(wanted)).best.text


def test_many_operations_cost_few_questions() -> None:
    oracle = TextOracle(lambda text: '"linalg.matmul"' in text)
    program = real("failing/mlp_256_256_128_4.ttadapter")
    reduced(program, oracle)
    assert oracle.calls < 60  # of 264 operations; asking for each would take hundreds


def test_a_deadline_keeps_the_best_so_far() -> None:
    oracle = TextOracle(lambda text: '"math.exp"' in text, pause=lambda text: 0.02)
    program = real("failing/attn_64_256_128.ttadapter")
    search = reduced(program, oracle, deadline=time.monotonic() + 0.3)
    assert not search.finished  # type: ignore[attr-defined]
    assert '"math.exp"' in search.best.text


def test_verdicts_are_remembered() -> None:
    oracle = TextOracle(lambda text: True)
    with Evaluator(oracle, 1, None) as evaluator:
        evaluator.judge_all(["a", "b"])
        evaluator.judge_all(["b", "a"])
        assert evaluator.tally.candidates == 4
    assert oracle.calls == 2


def test_the_first_in_order_wins_even_if_a_later_one_is_faster() -> None:
    oracle = TextOracle(lambda text: text in "bc", pause=lambda text: 0.1 if text == "b" else 0.0)
    with Evaluator(oracle, 3, None) as evaluator:
        assert evaluator.first(iter(["a", "b", "c"])) == 1
