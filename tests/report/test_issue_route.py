"""Who gets an issue."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from bundler.manifest import Manifest
from bundler.report.issue_route import route
from tests.archive.samples import MANIFEST

TTIR = 'tt.func @k() {\n  %0 = distributed.symm_at %arg0, %1\n  "x"() : () -> ()\n}'


def signed(**changes: Any) -> Manifest:
    assert MANIFEST.signature is not None
    return dataclasses.replace(MANIFEST, signature=dataclasses.replace(MANIFEST.signature, **changes))


@pytest.mark.parametrize(
    ("changes", "tracker", "why"),
    [
        ({"stage": "compile"}, "npuir", "the pass hivm-plan-memory (HIVM), inside the compiler"),
        ({"stage": "pass"}, "npuir", "inside the compiler"),
        ({"stage": "backend"}, "npuir", "the backend hivmc"),
        ({"stage": "adapter"}, "triton-ascend", "the adapter (ttir to ttadapter), before the compiler"),
        ({"stage": "front-end"}, "triton-ascend", "front end"),
        ({"stage": "launcher"}, "triton-ascend", "host compiler"),
        ({"stage": "runtime"}, "triton-ascend", "while running the kernel"),
        ({"stage": "compile", "outcome": "invalid-input"}, "triton-ascend", "could not read its input"),
    ],
)
def test_the_stage_decides_who_gets_the_issue(changes: dict[str, str], tracker: str, why: str) -> None:
    chosen, reason = route(signed(**changes))
    assert chosen == tracker
    assert why in reason


def test_a_kernel_that_barriers_fix_is_the_compilers() -> None:
    assert MANIFEST.workaround is not None
    fixed = dataclasses.replace(MANIFEST.workaround, verdict="fixed")
    assert route(dataclasses.replace(signed(stage="runtime"), workaround=fixed))[0] == "npuir"


def test_a_distributed_kernel_goes_to_triton_distributed_unless_the_compiler_failed() -> None:
    assert route(signed(stage="adapter"), TTIR)[0] == "triton-distributed"
    assert (
        route(signed(stage="adapter"), "", "import triton_dist.language as dl\n")[0] == "triton-distributed"
    )
    assert route(signed(stage="compile"), TTIR)[0] == "npuir"


def test_a_mention_of_distributed_is_not_enough() -> None:
    assert route(signed(stage="adapter"), "// distributed.docs", "# import triton_dist")[0] == "triton-ascend"


def test_a_run_without_a_failure_goes_to_the_front_end() -> None:
    assert route(dataclasses.replace(MANIFEST, signature=None))[0] == "triton-ascend"
