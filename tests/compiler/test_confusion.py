"""Every case with every compiler, live: the diagnosis is the one that docs/diagnosis.md prints."""

from __future__ import annotations

import pytest
from confusion import CASES, COMPILERS, Case, measure, printed

_HEALTHY = {"add_1024", "softmax_1024", "matmul_128", "attn_64_64_64"}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_cell_of_the_table_is_what_the_compiler_gives(case: Case, compiler: str) -> None:
    assert measure(case, compiler) == printed()[case.name, compiler]


def test_the_page_has_every_case_and_compiler() -> None:
    assert set(printed()) == {(case.name, compiler) for case in CASES for compiler in COMPILERS}


def test_every_failure_of_the_table_is_recognised() -> None:
    assert [key for key, cell in printed().items() if "(?)" in cell] == []


def test_a_missing_backend_is_never_called_a_bug() -> None:
    assert {cell for (name, _), cell in printed().items() if name in _HEALTHY} == {"backend-missing"}


def test_every_overflow_is_blamed_on_memory_planning() -> None:
    overflows = {cell for cell in printed().values() if "overflow" in cell}
    assert overflows == {f"failed: {buffer}-overflow @hivm-plan-memory" for buffer in ("ub", "cc")}
