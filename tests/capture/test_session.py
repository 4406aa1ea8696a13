"""A captured command is a plain child: streams, terminal, signals and exit code are its own."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from bundler.capture.session import capture
from bundler.errors import ExitCode, NpubugError

from .conftest import FAILING_IR, PROJECT, Stage

DRIVER = """
import sys
from pathlib import Path
from bundler.capture.session import capture
result = capture(sys.argv[2:], Path(sys.argv[1]))
print("driver:", result.exit_code, len(result.calls), flush=True)
"""


def driver(stage: Stage, *command: str | Path) -> list[str]:
    """A command line that captures `command` in a process of its own."""
    return [sys.executable, "-c", DRIVER, str(stage.work), *map(str, command)]


def wait_for(path: Path, seconds: float = 10) -> str:
    """The text of a file, once there is any."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.02)
    raise AssertionError(f"{path} was never written")


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_exit_code_is_that_of_the_command(stage: Stage, code: int) -> None:
    assert stage.capture(stage.script(f"raise SystemExit({code})")).exit_code == code


def test_a_signal_gives_128_and_its_number(stage: Stage) -> None:
    assert stage.capture("sh", "-c", "kill -SEGV $$").exit_code == 128 + signal.SIGSEGV


def test_standard_input_reaches_the_command(stage: Stage) -> None:
    shown = subprocess.run(
        driver(stage, "cat"), input=b"typed\n", capture_output=True, cwd=PROJECT, check=True
    )
    assert shown.stdout == b"typed\ndriver: 0 0\n"


def test_files_opened_by_the_shell_reach_the_command(stage: Stage) -> None:
    with (stage.folder / "three").open("wb") as file:
        os.set_inheritable(file.fileno(), True)
        stage.capture("sh", "-c", f"echo kept > /dev/fd/{file.fileno()}")
    assert (stage.folder / "three").read_text() == "kept\n"


def test_on_a_terminal_the_command_sees_a_terminal_and_gets_one_ctrl_c(stage: Stage) -> None:
    script = stage.script(
        f"""
import os, sys, time
from pathlib import Path
seen = []
try:
    Path({str(stage.folder)!r}, "ready").write_text(str([os.isatty(n) for n in range(3)]))
    time.sleep(30)
except KeyboardInterrupt:
    seen.append(1)
try:
    time.sleep(0.5)  # a second interrupt would come here
except KeyboardInterrupt:
    seen.append(2)
Path({str(stage.folder)!r}, "seen").write_text(str(seen))
raise SystemExit(7)
"""
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(PROJECT)
        os.execv(sys.executable, driver(stage, sys.executable, script))
    assert wait_for(stage.folder / "ready") == "[True, True, True]"
    os.write(terminal, b"\x03")
    assert wait_for(stage.folder / "seen") == "[1]"
    shown = b""
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.waitpid(pid, 0)
    assert b"driver: 7 0" in shown


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_us_alone_goes_to_the_command_and_what_was_recorded_is_kept(
    stage: Stage, number: signal.Signals
) -> None:
    stage.tool("exit 1")
    script = stage.script(
        f"""
import signal, subprocess, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.SIG_DFL)
subprocess.call(["bishengir-compile", "--version"])
Path({str(stage.folder)!r}, "ready").write_text("ready")
time.sleep(30)
"""
    )
    process = subprocess.Popen(
        driver(stage, sys.executable, script), stdout=subprocess.PIPE, cwd=PROJECT, start_new_session=True
    )
    wait_for(stage.folder / "ready")
    process.send_signal(number)
    shown, _ = process.communicate(timeout=20)
    assert shown == f"driver: {128 + number} 1\n".encode()


def test_our_own_handlers_are_back_afterwards(stage: Stage) -> None:
    before = signal.getsignal(signal.SIGINT)
    stage.capture("true")
    assert signal.getsignal(signal.SIGINT) is before


def test_at_the_time_limit_everything_is_ended(stage: Stage) -> None:
    stage.tool("exec sleep 60")
    script = stage.script(
        f"""
import subprocess, triton_like
from pathlib import Path
daemon = subprocess.Popen(["sleep", "61"], start_new_session=True)
Path({str(stage.folder)!r}, "pid").write_text(str(daemon.pid))
triton_like.compile(triton_like.FAILING)
"""
    )
    result = stage.capture(script, timeout=1.5)
    assert result.timed_out and result.exit_code == 128 + signal.SIGTERM
    (call,) = result.calls
    assert not call.finished and call.seconds > 0.3 and call.kernel == "cumsum"
    daemon = int((stage.folder / "pid").read_text())
    assert not psutil.pid_exists(daemon) or psutil.Process(daemon).status() == psutil.STATUS_ZOMBIE


def test_a_background_process_of_a_command_that_ended_is_left_alone(stage: Stage) -> None:
    result = stage.capture("sh", "-c", f"sleep 3 & echo $! > {stage.folder}/pid")
    assert result.exit_code == 0 and not result.timed_out
    daemon = psutil.Process(int((stage.folder / "pid").read_text()))
    assert daemon.is_running()
    daemon.kill()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("no-such-command", "not found on PATH"),
        ("./no/such/file", "no such file"),
        ("/", "it is a folder"),
        ("./plain.py", "not executable"),
        ("./garbage", "Exec format error"),
        ("with\0nul", "embedded null byte"),
    ],
)
def test_a_command_that_cannot_start_is_one_clear_error(stage: Stage, command: str, why: str) -> None:
    stage.script("", "plain.py")
    stage.script("\x7fELF", "garbage").chmod(0o755)
    stage.monkeypatch.chdir(stage.folder)
    with pytest.raises(NpubugError) as caught:
        stage.capture(command, "argument")
    assert caught.value.code == ExitCode.USAGE
    assert why in caught.value.why and caught.value.hint


def test_an_empty_command_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(NpubugError, match="no command"):
        capture([], tmp_path)


def test_a_work_folder_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NpubugError, match="cannot prepare"):
        capture(["true"], tmp_path / "file")
    with pytest.raises(NpubugError, match="cannot record below"):
        capture(["true"], tmp_path / "a:b")


def test_a_compiler_called_directly_is_recorded(real_stage: Stage) -> None:
    real_stage.monkeypatch.chdir(real_stage.folder)
    result = real_stage.capture(
        "bishengir-compile", FAILING_IR, "--enable-triton-kernel-compile=true", "-o", "k"
    )
    assert result.exit_code == 1
    (call,) = result.calls
    assert (call.kernel, call.returncode, call.finished) == ("cumsum", 1, True)


def test_a_shell_that_starts_python_is_followed(stage: Stage) -> None:
    stage.tool("exit 1")
    script = stage.script("import triton_like; triton_like.compile(triton_like.FAILING)")
    run = stage.script(f"cd /; {sys.executable} {script} || exit 9", "run.sh")
    result = stage.capture("sh", run)
    assert result.exit_code == 9 and len(result.calls) == 1


def test_isolated_interpreters_are_told_apart_from_programs_that_compile_nothing(stage: Stage) -> None:
    script = stage.script("pass")
    assert stage.capture(script).lost == ()
    isolated = capture([sys.executable, "-I", str(script)], stage.folder / "work-2")
    assert ["no Python process loaded the recorder" in line for line in isolated.lost] == [True]


def test_pythons_too_old_for_the_recorder_run_undisturbed(stage: Stage) -> None:
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    old = [path for minor in ("2.7", "3.6", "3.7") for path in root.glob(f"versions/{minor}.*/bin/python")]
    script = stage.script("import subprocess, sys; sys.stdout.write(str(subprocess.call(['true'])))")
    for number, python in enumerate([*old, sys.executable]):
        shown = subprocess.run(
            [sys.executable, "-c", DRIVER, str(stage.folder / f"w{number}"), str(python), str(script)],
            capture_output=True,
            cwd=PROJECT,
        )
        assert (shown.stdout, shown.stderr) == (b"0driver: 0 0\n", b""), python


def test_the_environment_of_the_caller_is_not_changed(stage: Stage) -> None:
    before = dict(os.environ)
    stage.capture("true")
    assert dict(os.environ) == before


def test_an_empty_pythonpath_does_not_become_the_current_folder(stage: Stage) -> None:
    stage.monkeypatch.setenv("PYTHONPATH", "")
    script = stage.script(
        "import sys; assert '' not in sys.path and not [p for p in sys.path if '/hook' in p], sys.path"
    )
    assert stage.capture(script).exit_code == 0


@pytest.mark.triton
def test_the_failing_triton_example_is_recorded_with_both_stages(real_stage: Stage) -> None:
    python = os.environ.get("NPUBUG_TRITON_PYTHON", sys.executable)
    result = real_stage.capture(python, PROJECT / "examples" / "fold_pairs.py")
    compiles = [(call.tool, call.kernel, call.returncode) for call in result.calls if call.input]
    assert compiles == [("triton-adapter-opt", "fold_pairs", 0), ("bishengir-compile", "fold_pairs", 1)]
    assert result.exceptions[0].type.endswith("MLIRCompilationError")
