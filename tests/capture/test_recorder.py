"""The recorder inside a program: it sees every compile, and the program sees nothing of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bundler.capture import record

from .conftest import FAILING_IR, PROJECT, Stage, interpreters

WRITES_OUTPUTS = """
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
echo told; echo warned >&2
printf object > "$out.o"; printf reloc > "${out}_reloc.o"
"""


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: path.parts[-3])
def test_a_failing_compile_is_recorded_whole(real_stage: Stage, python: Path) -> None:
    script = real_stage.script("import triton_like; triton_like.compile(triton_like.FAILING)")
    result = real_stage.capture(python, script)
    assert result.exit_code == 1
    assert result.lost == ()
    (call,) = result.calls
    assert (call.tool, call.kernel, call.finished, call.returncode) == (
        "bishengir-compile",
        "cumsum",
        True,
        1,
    )
    assert call.input is not None and call.input.read_bytes() == FAILING_IR.read_bytes()
    assert call.input.name == "kernel.ttadapter.mlir"
    assert call.stderr is not None and b"ub overflow" in call.stderr.read_bytes()
    assert call.stdout is not None and b"loc(" in call.stdout.read_bytes()
    assert call.argv[2] == "--target=Ascend910B3" and call.argv[-2] == "-o"
    assert 0.01 < call.seconds < 30
    assert dict(call.environment)["TRITON_CACHE_DIR"] == str(result.cache_dir)
    (exception,) = result.exceptions
    assert exception.type == "subprocess.CalledProcessError"
    assert "program.py" in exception.text and exception.argv == (str(script),)


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: path.parts[-3])
def test_output_and_exit_code_are_the_same_with_and_without(stage: Stage, python: Path) -> None:
    stage.tool("exec sleep 5")
    script = stage.script(
        """
import sys
print(sys.path, sys.meta_path, "sitecustomize" in sys.modules)
try:
    import sitecustomize
    print(sitecustomize)
except ImportError as error:
    print(error)
import subprocess, triton_like
print(subprocess.Popen, subprocess.__loader__, subprocess.__spec__, sys.meta_path, sys.dont_write_bytecode)
try:
    subprocess.run(["no-such-program"])
except FileNotFoundError:
    import traceback; traceback.print_exc()
process = subprocess.Popen(["true"])
print(type(process), repr(process), process.wait())
print([name for name in sys.modules if "npubug" in name and not name.startswith("_npubug")])
triton_like.compile("x", timeout=0.2)
"""
    )
    plain, recorded = stage.both_ways(python, script)
    assert _comparable(recorded.stdout) == _comparable(plain.stdout)
    assert _comparable(recorded.stderr) == _comparable(plain.stderr)
    assert b"_npubug" not in recorded.stderr
    assert recorded.returncode == plain.returncode == 1


def test_outputs_that_the_tool_wrote_are_kept_and_others_are_not(stage: Stage) -> None:
    stage.tool(WRITES_OUTPUTS)
    script = stage.script(
        """
import subprocess
open("kernel.in", "w").write("in"); open("kernel.old", "w").write("old")
subprocess.run(["bishengir-compile", "kernel.in", "-o", "kernel"], capture_output=True, check=True)
"""
    )
    stage.monkeypatch.chdir(stage.folder)
    (call,) = stage.capture(script).calls
    assert {path.name: path.read_text() for path in call.outputs} == {
        "kernel.o": "object",
        "kernel_reloc.o": "reloc",
    }
    assert call.input is not None and call.input.read_text() == "in"


def test_relative_paths_are_those_of_the_cwd_argument(stage: Stage) -> None:
    stage.tool(WRITES_OUTPUTS)
    (stage.folder / "elsewhere").mkdir()
    (stage.folder / "elsewhere" / "k.mlir").write_text("there")
    script = stage.script(
        "import subprocess as s; s.check_output(['bishengir-compile', 'k.mlir', '-o', 'k'], cwd='elsewhere')"
    )
    stage.monkeypatch.chdir(stage.folder)
    (call,) = stage.capture(script).calls
    assert call.input is not None and call.input.read_text() == "there"
    assert call.cwd == str(stage.folder / "elsewhere")
    assert [path.name for path in call.outputs] == ["k.o", "k_reloc.o"]


def _comparable(text: bytes) -> list[bytes]:
    # Object addresses and temporary names differ anyway.
    return [line for line in text.splitlines() if b"0x" not in line and b"/tmp" not in line]


def test_inherited_streams_stay_untouched(stage: Stage) -> None:
    stage.tool(WRITES_OUTPUTS)
    script = stage.script(
        "import subprocess as s, triton_like; triton_like.compile('x', run=s.check_call, env=None)"
    )
    plain, recorded = stage.both_ways(script)
    assert (recorded.stdout, recorded.stderr) == (plain.stdout, plain.stderr) == (b"told\n", b"warned\n")


@pytest.mark.parametrize(
    "way",
    [
        "subprocess.run(argv, capture_output=True, text=True)",
        "subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20)",
        "subprocess.Popen(argv, stdout=-1, stderr=-1).communicate()",
        "p = subprocess.Popen(argv, stdout=-1, stderr=-1)\nwhile p.poll() is None: pass\np.communicate()",
        "with subprocess.Popen(argv, stdout=-1, stderr=-1, encoding='ascii') as p: p.communicate(timeout=20)",
        "subprocess.run(' '.join(argv), shell=True, capture_output=True)",
        "subprocess.run([w.encode() for w in argv], capture_output=True)",
        "class Own(subprocess.Popen): pass\nOwn(argv, -1, None, None, -1, -1).communicate()",
    ],
)
def test_every_way_to_call_is_recorded_with_its_output(stage: Stage, way: str) -> None:
    stage.tool(WRITES_OUTPUTS)
    (stage.folder / "k.mlir").write_text("func.func @k() { return }")
    stage.monkeypatch.chdir(stage.folder)
    script = stage.script(f"import subprocess\nargv = ['bishengir-compile', 'k.mlir', '-o', 'k']\n{way}\n")
    result = stage.capture(script)
    assert (result.exit_code, result.lost) == (0, ())
    (call,) = result.calls
    assert call.stdout is not None and call.stdout.read_text() == "told\n"
    assert call.stderr is not None and call.stderr.read_text() == "warned\n"
    assert (call.returncode, call.kernel, len(call.outputs)) == (0, "k", 2)


def test_input_from_a_pipe_is_kept(stage: Stage) -> None:
    stage.tool("cat >/dev/null", "triton-adapter-opt")
    script = stage.script(
        "import subprocess; subprocess.run(['triton-adapter-opt', '-'], input=b'tt.func @piped() {}')"
    )
    (call,) = stage.capture(script).calls
    assert call.kernel == "piped"


def test_a_compile_that_the_program_gave_up_on_keeps_what_it_printed(stage: Stage) -> None:
    stage.tool("echo early; exec sleep 20")
    script = stage.script("import triton_like; triton_like.compile('x', capture_output=True, timeout=0.3)")
    result = stage.capture(script)
    (call,) = result.calls
    assert (call.returncode, call.finished) == (-signal.SIGKILL, True)
    assert call.stdout is not None and call.stdout.read_text() == "early\n"
    assert result.exceptions[0].type == "subprocess.TimeoutExpired"


def test_a_killed_program_leaves_its_input(stage: Stage) -> None:
    stage.tool("kill -9 $PPID")
    script = stage.script("import triton_like; triton_like.compile(triton_like.FAILING)")
    result = stage.capture(script)
    assert result.exit_code == 128 + signal.SIGKILL
    (call,) = result.calls
    assert (call.finished, call.returncode, call.kernel) == (False, None, "cumsum")
    assert call.input is not None and call.input.read_bytes() == FAILING_IR.read_bytes()


@pytest.mark.parametrize(
    "pool",
    [
        "from concurrent.futures import ThreadPoolExecutor as Pool; context = {}",
        "from concurrent.futures import ProcessPoolExecutor as Pool; import multiprocessing as m\n"
        "context = {'mp_context': m.get_context('fork')}",
        "from concurrent.futures import ProcessPoolExecutor as Pool; import multiprocessing as m\n"
        "context = {'mp_context': m.get_context('spawn')}",
        "from concurrent.futures import ProcessPoolExecutor as Pool; import multiprocessing as m\n"
        "context = {'mp_context': m.get_context('forkserver')}",
    ],
    ids=["threads", "fork", "spawn", "forkserver"],
)
def test_compiles_in_workers_are_recorded(stage: Stage, pool: str) -> None:
    stage.tool(WRITES_OUTPUTS)
    script = stage.script(
        f"""
import triton_like
{pool}
def work(n):
    triton_like.compile("func.func @k%d() {{ return }}" % n)
if __name__ == "__main__":
    work(0)
    with Pool(4, **context) as workers:
        list(workers.map(work, range(1, 13)))
"""
    )
    result = stage.capture(script)
    assert (result.exit_code, result.lost) == (0, ())
    assert sorted(call.kernel or "" for call in result.calls) == sorted(f"k{n}" for n in range(13))
    assert all(call.finished and len(call.outputs) == 2 for call in result.calls)
    assert len({call.id for call in result.calls}) == 13


def test_a_compile_awaited_with_asyncio_is_recorded(stage: Stage) -> None:
    stage.tool(WRITES_OUTPUTS)
    script = stage.script(
        """
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec("bishengir-compile", "-o", "k", stdout=-1, stderr=-1)
    assert await process.communicate() == (b"told\\n", b"warned\\n")
    import os; os.unlink("k.o")  # as a temporary folder goes, at once
asyncio.run(main())
"""
    )
    stage.monkeypatch.chdir(stage.folder)
    result = stage.capture(script)
    assert (result.exit_code, result.lost) == (0, ())
    (call,) = result.calls
    assert (call.returncode, [path.name for path in call.outputs]) == (0, ["k.o", "k_reloc.o"])


def test_a_capture_within_a_capture_records_each_call_once(stage: Stage) -> None:
    stage.tool("exit 1")
    script = stage.script("import triton_like; triton_like.compile('x', capture_output=True)")
    inner = stage.script(
        f"""
import sys
sys.path.insert(0, {str(PROJECT)!r})
from pathlib import Path
from bundler.capture.session import capture
result = capture([sys.executable, {str(script)!r}], Path({str(stage.folder / "inner")!r}))
assert (result.exit_code, len(result.calls)) == (0, 1), result
""",
        "inner.py",
    )
    assert stage.capture(inner).exit_code == 0


def test_strict_warnings_find_nothing_to_warn_of(stage: Stage) -> None:
    stage.tool(WRITES_OUTPUTS)
    script = stage.script("import triton_like; triton_like.compile('x', capture_output=True)")
    plain, recorded = stage.both_ways(sys.executable, "-bb", "-X", "dev", "-W", "error", script)
    assert (recorded.stderr, recorded.returncode) == (plain.stderr, plain.returncode) == (b"", 0)


def test_ctrl_c_without_a_compile_ends_the_program_as_before(stage: Stage) -> None:
    script = stage.script("import os, signal, subprocess; os.kill(os.getpid(), signal.SIGINT)")
    plain, recorded = stage.both_ways(script)
    assert recorded.stderr == plain.stderr
    assert (plain.returncode, recorded.returncode) == (-signal.SIGINT, 128 + signal.SIGINT)


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: path.parts[-3])
def test_ctrl_c_during_a_compile_looks_as_it_did_and_keeps_the_call(stage: Stage, python: Path) -> None:
    stage.tool("sleep 0.3; kill -INT $PPID; exec sleep 20")
    script = stage.script("import triton_like; triton_like.compile(triton_like.FAILING, capture_output=True)")
    plain, recorded = stage.both_ways(python, script)
    assert _comparable(recorded.stderr) == _comparable(plain.stderr)
    assert b"KeyboardInterrupt" in recorded.stderr and b"_npubug" not in recorded.stderr
    assert (plain.returncode, recorded.returncode) == (-signal.SIGINT, 128 + signal.SIGINT)
    ((call,), (exception,), _) = record.read(stage.work / "record")
    assert call.kernel == "cumsum" and call.input is not None
    assert "in compile" in exception.text and exception.text.endswith("\nKeyboardInterrupt\n")


def test_a_compiler_that_cannot_start_fails_as_before(stage: Stage) -> None:
    script = stage.script(
        "import subprocess; subprocess.run(['./bishengir-compile', 'x'], capture_output=True)"
    )
    plain, recorded = stage.both_ways(script)
    assert recorded.stderr == plain.stderr != b""
    assert recorded.returncode == plain.returncode


def test_a_user_sitecustomize_still_runs(stage: Stage) -> None:
    own = stage.folder / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import builtins; builtins.OWN = __name__, __file__")
    stage.monkeypatch.setenv("PYTHONPATH", str(own))
    script = stage.script("import sitecustomize; print(OWN, sitecustomize.__file__)")
    result = stage.capture("sh", "-c", f"{sys.executable} {script} > {stage.folder}/printed")
    assert (
        stage.folder / "printed"
    ).read_text() == f"('sitecustomize', '{own}/sitecustomize.py') {own}/sitecustomize.py\n"
    assert result.exit_code == 0


def test_a_broken_user_sitecustomize_complains_as_before(stage: Stage) -> None:
    own = stage.folder / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("1 / 0")
    stage.monkeypatch.setenv("PYTHONPATH", str(own))
    script = stage.script("import subprocess")
    environment = {**os.environ, "PYTHONPATH": str(own)}
    plain = subprocess.run([sys.executable, script], capture_output=True, env=environment)
    result = stage.capture("sh", "-c", f"{sys.executable} {script} 2> {stage.folder}/printed")
    assert (stage.folder / "printed").read_bytes() == plain.stderr != b""
    assert result.exit_code == 0


def test_an_excepthook_of_the_program_is_kept(stage: Stage) -> None:
    stage.tool("exit 1")
    script = stage.script(
        """
import sys, triton_like
sys.excepthook = lambda kind, value, trace: print("own hook", kind.__name__, file=sys.stderr)
triton_like.compile("x")
"""
    )
    plain, recorded = stage.both_ways(script)
    assert recorded.stderr == plain.stderr == b"own hook CalledProcessError\n"
    (path,) = (stage.work / "record").glob("exception-*.json")
    assert json.loads(path.read_text())["type"] == "subprocess.CalledProcessError"


def test_the_final_exception_is_recorded_even_without_a_compile(stage: Stage) -> None:
    result = stage.capture(stage.script("assert 1 == 2, 'wrong values'"))
    assert [(e.type, e.message) for e in result.exceptions] == [("builtins.AssertionError", "wrong values")]


@pytest.mark.parametrize("text", ["raise SystemExit(3)", "try: 1/0\nexcept ZeroDivisionError: pass", "pass"])
def test_no_exception_is_recorded_where_none_ended_the_program(stage: Stage, text: str) -> None:
    assert stage.capture(stage.script(text)).exceptions == ()


def test_a_record_folder_that_is_gone_costs_the_program_nothing(stage: Stage) -> None:
    stage.tool(WRITES_OUTPUTS)
    script = stage.script(
        """
import os, shutil, triton_like
shutil.rmtree(os.environ["NPUBUG_RECORD_DIR"])
assert triton_like.compile("x").stdout == b"told\\n"
assert not os.path.exists(os.environ["NPUBUG_RECORD_DIR"])
"""
    )
    result = stage.capture(script)
    assert (result.exit_code, result.calls) == (0, ())
    assert any("was removed" in line for line in result.lost)


def test_a_full_disk_costs_the_program_nothing_and_is_told(stage: Stage) -> None:
    stage.tool("echo told")
    # A limit on the size of files is a full disk that needs no mount: what goes beyond it fails.
    script = stage.script(
        """
import resource, subprocess
open("big.mlir", "w").write("x" * 50_000)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
assert subprocess.check_output(["bishengir-compile", "big.mlir"]) == b"told\\n"
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
assert subprocess.check_output(["bishengir-compile", "big.mlir"]) == b"told\\n"
"""
    )
    stage.monkeypatch.chdir(stage.folder)
    result = stage.capture(script)
    assert result.exit_code == 0
    (call,) = result.calls  # the second one could not even be begun
    assert (call.input, call.returncode, call.finished) == (None, 0, True)
    assert call.stdout is not None and call.stdout.read_text() == "told\n"
    assert any("big.mlir" in note for note in call.notes)
    assert any("big.mlir was not kept" in line for line in result.lost)
    assert any("nothing readable" in line for line in result.lost)


def test_calls_beyond_the_caps_are_noted_and_later_ones_kept(stage: Stage) -> None:
    stage.tool("head -c 3000 /dev/zero > $3.o; exit $4", "npuc")
    stage.monkeypatch.setenv("NPUBUG_RECORD_CALL_BYTES", "20000")
    stage.monkeypatch.setenv("NPUBUG_RECORD_TOTAL_BYTES", "100000")
    script = stage.script(
        """
import subprocess
def go(size, code):
    open("in.mlir", "w").write("x" * size)
    subprocess.call(["npuc", "in.mlir", "-o", "out", code])
go(30_000, "0")
for _ in range(20): go(10_000, "0")
go(10_000, "1")
"""
    )
    stage.monkeypatch.chdir(stage.folder)
    result = stage.capture(script)
    assert len(result.calls) == 22
    assert result.calls[0].input is None and "more than" in result.calls[0].notes[0]
    failing = result.calls[-1]
    assert failing.input is not None and failing.input.stat().st_size == 10_000
    assert [path.stat().st_size for path in failing.outputs] == [3000]
    assert result.calls[1].input is None  # the oldest healthy one made room
    kept = sum(path.stat().st_size for path in (stage.work / "record").rglob("in.mlir"))
    assert kept <= 100_000
    assert any("were dropped" in line for line in result.lost)
