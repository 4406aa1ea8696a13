"""How a kernel is launched is read from objects that look like triton's; nothing of triton is needed for that."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from bundler.capture.launch import facts, launched

from .conftest import FAILING_IR, Stage, interpreters

# What triton 3.2 and 3.4 have in common, by name: JITFunction.run calls compile, which calls the compiler.
TRITON_SHAPED = """
class Target: backend = "npu"; arch = "Ascend910B3"
class Options:
    def __init__(self): self.num_warps = 4; self.multibuffer = True; self.lib = object()
class Tensor:
    dtype = "torch.float16"; shape = (16, 1024); device = "npu:3"
    def stride(self): return (1024, 1)
    def data_ptr(self): return 0x7f0000000140
    def __repr__(self): raise RuntimeError("the contents were looked at")
class Source:
    def __init__(self, fn):
        self.fn, self.name = fn, fn.__name__
        self.signature = {"x": "*fp16", "n": "i32"}; self.constants = {(2,): 128}
def compile(call, src, target=None, options=None):
    return call()
class JIT:
    def __init__(self, fn): self.fn = fn; self.__name__ = fn.__name__; self.arg_names = ["x", "n", "BLOCK"]
    def run(self, *args, grid, call):
        bound_args = dict(zip(self.arg_names, args))
        return compile(call, Source(self), Target, Options())
def kernel(x, n, BLOCK): pass
"""


def triton_shaped() -> dict[str, object]:
    names: dict[str, object] = {}
    exec(builtin_compile(TRITON_SHAPED, "triton_shaped.py", "exec"), names)
    return names


builtin_compile = compile


def launch(call: object, grid: object = (8, 1)) -> object:
    names = triton_shaped()
    jit = names["JIT"](names["kernel"])  # type: ignore[operator]
    return jit.run(names["Tensor"](), 99, 128, grid=grid, call=call)  # type: ignore[operator]


def test_all_that_can_be_known_of_a_launch_and_nothing_of_the_contents() -> None:
    found = launch(lambda: facts(sys._getframe()))
    assert found == {
        "kernel": "kernel",
        "source": "triton_shaped.py:21",
        "target": "npu Ascend910B3",
        "signature": [["x", "*fp16"], ["n", "i32"]],
        "constants": [["BLOCK", "128"]],
        "options": [["num_warps", "4"], ["multibuffer", "True"], ["lib", "<object>"]],
        "arguments": [
            ["x", "float16 [16, 1024] strides [1024, 1] npu:3 aligned 64"],
            ["n", "99"],
        ],
        "grid": "(8, 1)",
    }


def test_a_grid_that_is_a_function_is_not_called() -> None:
    def grid(_: object) -> None:
        raise AssertionError("called")

    found = launch(lambda: facts(sys._getframe()), grid)
    assert isinstance(found, dict) and "grid" not in found


def test_frames_that_are_not_tritons_tell_nothing() -> None:
    def compile(src: object) -> object:
        return facts(sys._getframe())

    assert compile("print()") is None


def test_the_launch_that_an_exception_came_out_of_is_named() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        launch(lambda: 1 / 0)
    assert launched(caught.value) == "kernel"
    later = ValueError("later")
    later.__cause__ = caught.value
    assert launched(later) == "kernel"
    assert launched(ValueError("elsewhere")) is None


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: path.parts[-3])
def test_launch_memory_and_process_are_recorded_with_the_call(real_stage: Stage, python: Path) -> None:
    real_stage.monkeypatch.setenv("LOCAL_RANK", "5")
    script = real_stage.script(
        TRITON_SHAPED
        + """
import triton_like
JIT(kernel).run(Tensor(), 99, 128, grid=(8,), call=lambda: triton_like.compile(triton_like.FAILING))
"""
    )
    result = real_stage.capture(python, script)
    (call,) = result.calls
    assert call.launch is not None and call.launch["constants"] == [["BLOCK", "128"]]
    assert call.input is not None and call.input.read_bytes() == FAILING_IR.read_bytes()
    assert call.peak_memory is None or 10 << 20 < call.peak_memory < 8 << 30
    (process,) = result.processes
    assert (process.pid, process.ended, process.argv) == (call.pid, True, (str(script),))
    assert dict(process.environment)["LOCAL_RANK"] == "5"
    assert result.exceptions[0].launched == "kernel"
    assert result.lost == ()


def test_the_memory_of_a_tool_that_takes_more_than_the_program_is_known(stage: Stage) -> None:
    stage.tool(f"exec {sys.executable} -S -c 'x = bytearray(300 << 20)'")
    script = stage.script("import triton_like; triton_like.compile('x', capture_output=True)")
    (call,) = stage.capture(script).calls
    assert call.peak_memory is not None and 300 << 20 <= call.peak_memory < 400 << 20


def test_an_object_that_fails_when_it_is_looked_at_costs_only_that_fact(stage: Stage) -> None:
    stage.tool("exit 0")
    script = stage.script(
        TRITON_SHAPED.replace("return (1024, 1)", "raise SystemError")
        + """
import triton_like
JIT(kernel).run(Tensor(), 99, 128, grid=(8,), call=lambda: triton_like.compile("x"))
"""
    )
    result = stage.capture(script)
    assert result.exit_code == 0
    (call,) = result.calls
    assert call.launch is not None and call.launch["arguments"] == [["x", "<Tensor>"], ["n", "99"]]
    assert result.lost == ()


def test_a_killed_process_has_no_end(stage: Stage) -> None:
    stage.tool("exit 0")
    script = stage.script("import os, triton_like; triton_like.compile('x'); os.kill(os.getpid(), 9)")
    result = stage.capture(script)
    assert result.exit_code == 128 + signal.SIGKILL
    assert [process.ended for process in result.processes] == [False]


def test_where_a_hanging_program_stands_is_written_before_it_is_ended(stage: Stage) -> None:
    stage.tool("exit 0")
    script = stage.script(
        "import time, triton_like\ndef waits():\n    time.sleep(60)\ntriton_like.compile('x')\nwaits()\n"
    )
    result = stage.capture(script, timeout=1.5)
    (process,) = result.processes
    assert result.timed_out and process.ended is False
    assert f'File "{script}", line 3 in waits' in process.stack


def test_a_program_with_its_own_use_for_the_signal_keeps_it(stage: Stage) -> None:
    stage.tool("exit 0")
    script = stage.script(
        """
import os, signal, triton_like
signal.signal(signal.SIGUSR2, lambda *_: print("own"))
triton_like.compile("x")
os.kill(os.getpid(), signal.SIGUSR2)
"""
    )
    plain, recorded = stage.both_ways(script)
    assert recorded.stdout == plain.stdout == b"own\n"
