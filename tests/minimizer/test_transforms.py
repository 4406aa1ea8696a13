"""Every transform: it leaves its program alone, and what it makes is well-formed and, if taken, smaller."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minimizer.ir.draft import Draft
from minimizer.ir.program import Program, name_of
from minimizer.ir.verify import is_valid, problems
from minimizer.schedule import TRANSFORMS
from minimizer.transforms.edit import Transform, apply_all
from tests.minimizer.programs import BRANCHES, CHAIN, LOOP, REAL, real, small

_NAMES = [transform.name for transform in TRANSFORMS]


def by_name(name: str) -> Transform:
    return next(transform for transform in TRANSFORMS if transform.name == name)


def results(transform: str, program: Program) -> list[Program]:
    made = (apply_all(program, [edit]) for edit in by_name(transform).edits(program))
    return [program for program in made if program is not None]


@pytest.mark.parametrize("name", _NAMES)
def test_single_edits_leave_the_program_alone_and_make_well_formed_ones(name: str) -> None:
    for program in [*small(), *map(real, REAL[:2])]:
        before = program.text
        for edit in islice(by_name(name).edits(program), 60):
            made = apply_all(program, [edit])
            if made is not None:
                # Text is the strictest check: it must parse again to the same program.
                assert Program.parse(made.text).text == made.text
        assert Program(program.module).text == before


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_set_of_edits_of_a_transform_can_be_applied_together(data: st.DataObject) -> None:
    program = data.draw(st.sampled_from([*small(), *map(real, REAL)]), label="program")
    transform = data.draw(st.sampled_from(TRANSFORMS), label="transform")
    edits = list(transform.edits(program))
    chosen = data.draw(st.sets(st.integers(0, max(len(edits) - 1, 0)), max_size=12), label="edits")
    made = apply_all(program, [edits[i] for i in sorted(chosen) if i < len(edits)])
    if made is not None:
        assert Program.parse(made.text).text == made.text


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_erasing_any_operations_leaves_a_valid_program(data: st.DataObject) -> None:
    program = data.draw(st.sampled_from(list(map(real, REAL))), label="program")
    for name in ("cut", "erase"):
        edits = list(by_name(name).edits(program))
        chosen = data.draw(st.sets(st.integers(0, len(edits) - 1)), label=name)
        made = apply_all(program, [edits[i] for i in sorted(chosen)])
        if made is not None:
            assert is_valid(made), list(problems(made))
            assert made.measure.ops <= program.measure.ops + len(chosen)


def test_cut_keeps_what_computes_a_value_alive() -> None:
    program = Program.parse(CHAIN)
    log = next(i for i, op in enumerate(program.ops) if name_of(op) == "math.log")
    cut = next(
        made
        for e in by_name("cut").edits(program)
        if getattr(e, "index", 0) == log
        if (made := apply_all(program, [e])) is not None
    )
    names = [name_of(op) for op in cut.ops]
    assert "math.log" not in names
    assert (
        names.count("bufferization.materialize_in_destination") == 2
    )  # the old one, and the sink of the sum


def test_erase_sweeps_what_only_the_erased_operation_used() -> None:
    program = Program.parse(CHAIN)
    smallest = min(results("erase", program), key=lambda made: made.measure)
    assert smallest.measure.ops == 0  # without its sink the whole chain is dead


def test_inline_runs_a_loop_body_once_with_the_lower_bound() -> None:
    (inlined,) = results("inline regions", Program.parse(LOOP))
    names = [name_of(op) for op in inlined.ops]
    assert "scf.for" not in names
    function = inlined.ops[1]
    conversion = next(op for op in inlined.ops if name_of(op) == "arith.sitofp")
    assert conversion.operands[0] is function.regions[0].blocks[0].args[0]


def test_a_branch_taken_one_way_merges_its_blocks() -> None:
    programs = results("branches", Program.parse(BRANCHES))
    assert all(is_valid(program) for program in programs)
    assert any(len(program.ops[1].regions[0].blocks) == 1 for program in programs)


def test_short_cuts_connect_only_equal_types() -> None:
    for name in ("short-cut to operand", "short-cut to earlier value"):
        for program in small():
            assert all(is_valid(made) for made in results(name, program))


def test_new_arguments_go_before_the_grid() -> None:
    program = real("failing/reshape_128.ttadapter")
    draft = Draft(program)
    function = next(op for op in draft.ops if name_of(op) == "func.func")
    block = function.regions[0].blocks[0]
    last = list(block.args)[-6:]
    argument = draft.add_argument(function, block.args[2].type)
    assert list(block.args)[-6:] == last
    assert argument.index == len(block.args) - 7
    assert is_valid(draft.finish())


def test_grid_arguments_of_a_kernel_are_dropped_all_or_none() -> None:
    for made in results("drop arguments", real("failing/reshape_128.ttadapter")):
        function = next(op for op in made.ops if name_of(op) == "func.func")
        assert [str(type) for type in function.regions[0].blocks[0].arg_types][-6:] == ["i32"] * 6
