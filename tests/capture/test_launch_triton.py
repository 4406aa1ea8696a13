"""Launch facts from triton-ascend itself: a launch through JITFunction.run, up to the compile that fails."""

from __future__ import annotations

import os
import sys

import pytest

from .conftest import Stage

# All that a launch asks of the driver before it compiles; no NPU is needed for that.
PROGRAM = """
import types, torch, triton, triton.language as tl
from triton.backends import backends
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
utils = types.SimpleNamespace(get_arch=lambda: "Ascend910B3")
backends["ascend"].compiler.add_stages.__globals__["NPUUtils"] = lambda: utils
driver.set_active(types.SimpleNamespace(
    get_current_device=lambda: 0, get_current_stream=lambda device: 0,
    get_current_target=lambda: GPUTarget("npu", "Ascend910B3", 0)))

@triton.jit
def fold_pairs(x, o, scale, B: tl.constexpr):
    i = tl.arange(0, B * B)
    v = tl.load(x + i)
    a = tl.trans(tl.reshape(v, (B, B)))
    d = tl.sum(tl.reshape(a, (B // 2, 2, B)), 1)
    e = tl.broadcast_to(d[:, None, :], (B // 2, 2, B))
    tl.store(o + i, tl.reshape(e, (B * B,)) + v * scale)

x = torch.zeros(128, 128)
fold_pairs[(4, 2)](x, x.t(), 3, B=128, num_warps=8)
"""


@pytest.mark.triton
def test_a_launch_through_triton_tells_arguments_constants_options_and_grid(real_stage: Stage) -> None:
    python = os.environ.get("NPUBUG_TRITON_PYTHON", sys.executable)
    result = real_stage.capture(python, real_stage.script(PROGRAM))
    assert result.lost == ()
    launch = result.calls[-1].launch
    assert result.calls[-1].kernel == "fold_pairs" and launch is not None
    assert (launch["kernel"], launch["target"]) == ("fold_pairs", "npu Ascend910B3")
    assert dict(launch["signature"]) == {"x": "*fp32", "o": "*fp32", "scale": "i32"}
    assert dict(launch["constants"]) == {"B": "128"}
    assert dict(launch["options"])["num_warps"] == "8"
    assert launch["grid"] == "(4, 2)"
    assert launch["source"].endswith("program.py:12")
    arguments = dict(launch["arguments"])
    assert arguments["x"].startswith("float32 [128, 128] strides [128, 1] cpu aligned ")
    assert arguments["o"].startswith("float32 [128, 128] strides [1, 128] cpu aligned ")
    assert arguments["scale"] == "3"
    assert result.exceptions[0].launched == "fold_pairs"
