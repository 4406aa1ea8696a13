"""Recording through PATH, for callers that the hook cannot reach."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bundler.capture.session import Capture, capture
from bundler.capture.via_path import is_needed

from .conftest import FAILING_IR, Stage

WRITES_OUTPUTS = """
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
echo told; echo warned >&2
printf object > "$out.o"
exit ${CODE:-0}
"""


def via_path(stage: Stage, *command: str | Path, timeout: float | None = 60) -> Capture:
    return capture([str(word) for word in command], stage.work, timeout=timeout, via_path=True)


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("python x.py", False),
        ("python3.11 -u -m torch.distributed.run x.py", False),
        ("python -W error -X dev x.py -I", False),
        ("python -I x.py", True),
        ("python -uS x.py", True),
        ("python -W error -E -c pass", True),
        ("bishengir-compile x.mlir", False),
        ("bash run.sh", True),
        ("make", True),
        ("./plain", False),
        ("./isolated", True),
        ("./through-env", False),
        ("./shell", True),
        ("./missing", True),
    ],
)
def test_it_is_chosen_where_the_command_is_not_plainly_a_python(
    stage: Stage, command: str, needed: bool
) -> None:
    for name, line in [
        ("plain", "#!/usr/bin/python3"),
        ("isolated", "#!/usr/bin/python3 -I"),
        ("through-env", "#!/usr/bin/env python3"),
        ("shell", "#!/bin/sh"),
    ]:
        stage.script(f"{line}\n", name).chmod(0o755)
    stage.monkeypatch.chdir(stage.folder)
    assert is_needed(command.split(), dict(os.environ)) is needed


@pytest.mark.parametrize("option", ["-I", "-S", "-E", "-IS"])
def test_an_isolated_python_is_recorded(stage: Stage, option: str) -> None:
    stage.tool(WRITES_OUTPUTS)
    (stage.folder / "k.mlir").write_text("func.func @k() { return }")
    stage.monkeypatch.chdir(stage.folder)
    script = stage.script(
        """
import subprocess
done = subprocess.run(["bishengir-compile", "k.mlir", "-o", "k"], capture_output=True, check=True)
assert (done.stdout, done.stderr) == (b"told\\n", b"warned\\n"), done
"""
    )
    result = capture([sys.executable, option, str(script)], stage.work, timeout=60, via_path=None)
    assert (result.exit_code, result.lost) == (0, ())
    (call,) = result.calls
    assert (call.kernel, call.returncode, call.finished) == ("k", 0, True)
    assert call.argv == (str(stage.folder / "tools" / "bishengir-compile"), "k.mlir", "-o", "k")
    assert [path.name for path in call.outputs] == ["k.o"]
    assert call.peak_memory is None  # a shell takes less than the stand-in, so its own is not known


@pytest.mark.parametrize(
    "way",
    [
        "subprocess.run(argv)",
        "subprocess.run(' '.join(argv), shell=True)",
        "subprocess.run(argv[:1] + argv[1:])",
    ],
)
def test_hook_and_path_together_record_a_call_once(stage: Stage, way: str) -> None:
    stage.tool(WRITES_OUTPUTS)
    (stage.folder / "k.mlir").write_text("func.func @k() { return }")
    stage.monkeypatch.chdir(stage.folder)
    script = stage.script(
        f"""
import shutil, subprocess
argv = [shutil.which("bishengir-compile"), "k.mlir", "-o", "k"]
{way}
{way}
"""
    )
    result = via_path(stage, "sh", "-c", f"{sys.executable} {script}; :")
    assert (result.exit_code, result.lost) == (0, ())
    assert [(call.kernel, call.finished) for call in result.calls] == [("k", True)] * 2
    assert {call.argv[0] for call in result.calls} == {str(stage.folder / "tools" / "bishengir-compile")}


def test_a_shell_and_a_python_in_it_are_recorded_each_once(real_stage: Stage) -> None:
    script = real_stage.script("import triton_like; triton_like.compile(triton_like.FAILING, check=False)")
    run = real_stage.script(
        f"bishengir-compile {FAILING_IR} --enable-triton-kernel-compile=true -o k; {sys.executable} {script}",
        "run.sh",
    )
    real_stage.monkeypatch.chdir(real_stage.folder)
    result = capture(["sh", str(run)], real_stage.work, timeout=60, via_path=None)
    assert [(call.kernel, call.returncode) for call in result.calls] == [("cumsum", 1)] * 2


def test_streams_and_exit_code_are_the_tools_own(stage: Stage) -> None:
    stage.tool("cat; [ -t 0 ] || echo piped; exit 7")
    script = stage.script("echo typed | bishengir-compile; echo $?", "run.sh")
    result = via_path(stage, "sh", "-c", f"sh {script} > {stage.folder}/printed 2>&1")
    assert (stage.folder / "printed").read_text() == "typed\npiped\n7\n"
    (call,) = result.calls
    assert (call.returncode, call.stdout, call.stderr) == (7, None, None)


def test_a_signal_that_ends_the_tool_reaches_the_caller(stage: Stage) -> None:
    stage.tool("kill -SEGV $$")
    script = stage.script("import subprocess; raise SystemExit(-subprocess.call(['bishengir-compile']))")
    result = capture([sys.executable, "-I", str(script)], stage.work, timeout=60, via_path=True)
    assert result.exit_code == signal.SIGSEGV
    assert [call.returncode for call in result.calls] == [-signal.SIGSEGV]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_whoever_ends_the_call_ends_the_tool(stage: Stage, number: signal.Signals) -> None:
    stage.tool(f"echo $$ > {stage.folder}/pid; exec sleep 60")
    script = stage.script(
        f"""
import os, subprocess, time
process = subprocess.Popen(["bishengir-compile"], stdout=subprocess.PIPE)
while not os.path.exists({str(stage.folder / "pid")!r}): time.sleep(0.02)
time.sleep(0.1)
process.send_signal({int(number)})
process.communicate(timeout=20)  # ends when nobody holds the pipe any more
raise SystemExit(-process.returncode)
"""
    )
    result = capture([sys.executable, "-I", str(script)], stage.work, timeout=60, via_path=True)
    assert result.exit_code == number
    (call,) = result.calls
    assert call.finished is (number != signal.SIGKILL)


def test_a_tool_started_by_a_tool_is_part_of_its_call(stage: Stage) -> None:
    stage.tool("npuc --version; exit 0")
    stage.tool("echo 1", "npuc")
    result = via_path(stage, "sh", "-c", "bishengir-compile; :")
    assert [call.tool for call in result.calls] == ["bishengir-compile"]


def test_the_memory_of_the_tool_is_known_where_it_is_more_than_the_stand_ins(stage: Stage) -> None:
    stage.tool(f"exec {sys.executable} -S -c 'x = bytearray(100 << 20)'")
    (call,) = via_path(stage, "sh", "-c", "bishengir-compile; :").calls
    assert call.peak_memory is not None and 100 << 20 <= call.peak_memory < 200 << 20


def test_a_tool_that_is_not_there_is_not_there(stage: Stage) -> None:
    stage.monkeypatch.setenv("PATH", "/usr/bin:/bin")
    result = via_path(stage, "sh", "-c", "command -v bishengir-compile")
    assert result.exit_code != 0 and result.calls == ()


def test_a_compiler_named_by_variable_is_recorded(stage: Stage) -> None:
    tool = stage.tool("exit 3", "npuc")
    stage.monkeypatch.setenv("TRITON_NPU_COMPILER_PATH", str(tool.parent))
    result = via_path(stage, "sh", "-c", '"$TRITON_NPU_COMPILER_PATH"/npuc k.mlir')
    assert result.exit_code == 3
    assert [call.argv for call in result.calls] == [(str(tool), "k.mlir")]


def test_a_process_that_outlives_the_session_still_compiles(stage: Stage) -> None:
    stage.tool("echo told")
    shims = via_path(
        stage, "sh", "-c", f"cp -r {stage.work}/shims {stage.folder}/kept; rm -r {stage.work}/record"
    )
    assert shims.exit_code == 0
    done = subprocess.run([stage.folder / "kept" / "bishengir-compile"], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"told\n", b"")
