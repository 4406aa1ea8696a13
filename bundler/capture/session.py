"""Run the user's command and come back with every compiler call it made.

The command is a plain child on the same terminal, in the same process group and with the same open files:
what it prints, reads and returns, and what Ctrl-C does to it, stay its own. The recorder reaches its Python
processes, and theirs, through a `sitecustomize` first on PYTHONPATH; compiles land in a private triton cache,
so that nothing is skipped as already compiled. See `recorder` for what happens inside.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import psutil

from bundler.capture import record, recorder
from bundler.capture.record import CapturedCall, CapturedException, CapturedProcess
from bundler.capture.recording import Call
from bundler.capture.store import Store
from bundler.capture.via_path import is_needed, put_in_front
from bundler.errors import ExitCode, NpubugError

__all__ = ["Capture", "CapturedCall", "CapturedException", "CapturedProcess", "capture"]

_STACK_PAUSE = 0.3  # seconds in which a stack is written
_GRACE = 3.0  # seconds between asking a command to end and ending it
_HOOK_FILES = {
    "startup.py": "sitecustomize.py",
    "recorder.py": "_npubug/recorder.py",
    "launch.py": "_npubug/launch.py",
    "recording.py": "_npubug/recording.py",
    "shim.py": "_npubug/shim.py",
    "store.py": "_npubug/store.py",
    "uncaught.py": "_npubug/uncaught.py",
}


@dataclass(frozen=True)
class Capture:
    """What one run of the command left behind.

    `exit_code` is 128+n for signal n. `calls` are in the order of their start. `cache_dir` is the private
    triton cache. `lost` says, a line each, what could not be recorded. `timed_out`: we ended the command.
    `processes` are those that compiled. `started` is in seconds since the epoch.
    """

    command: tuple[str, ...]
    exit_code: int
    seconds: float
    calls: tuple[CapturedCall, ...]
    cache_dir: Path
    exceptions: tuple[CapturedException, ...]
    lost: tuple[str, ...]
    timed_out: bool = False
    processes: tuple[CapturedProcess, ...] = ()
    started: float = 0.0


def capture(
    command: Sequence[str], work: Path, *, timeout: float | None = None, via_path: bool | None = False
) -> Capture:
    """Run `command` to its end and collect what the recorder saw.

    Args:
        command: program and arguments; no shell.
        work: a folder of ours; the record, the private cache and the hook are made below it and stay there.
        timeout: seconds until the command is ended, with everything it started.
        via_path: record through PATH too; None: where the command may need it. See `via_path`.

    Raises:
        NpubugError: the command cannot be started, or `work` cannot be used.
    """
    if not command:
        raise NpubugError("no command to run", hint="npubug bundle -- python my.py", code=ExitCode.USAGE)
    environment = _prepare(work.absolute())
    if timeout is not None:
        environment[recorder.STACKS_VARIABLE] = "1"
    folder = Path(environment[recorder.DIR_VARIABLE])
    tools: dict[str, str] = {}
    if via_path or (via_path is None and is_needed(command, environment)):
        with _preparing(work):
            tools = put_in_front(work.absolute() / "hook", folder, work.absolute() / "shims", environment)
    started, start = time.time(), time.monotonic()
    with _Signals() as signals:
        direct = _direct_call(command, folder, environment)
        child = _start(command, environment)
        signals.forward_to(child)
        timed_out = not _wait(child, timeout)
        if timed_out:
            _ask_for_stacks(folder)
            _end_everything(child, environment)
        seconds = time.monotonic() - start
        if direct is not None:
            with contextlib.suppress(OSError):
                direct.end(child.returncode)
        calls, exceptions, lost = record.read(folder)
        calls = tuple(_with_real_tool(call, tools) for call in calls)
    return Capture(
        command=tuple(command),
        exit_code=128 - child.returncode if child.returncode < 0 else child.returncode,
        seconds=seconds,
        calls=calls,
        cache_dir=Path(environment["TRITON_CACHE_DIR"]),
        exceptions=exceptions,
        lost=(*lost, *_general_losses(folder, calls)),
        timed_out=timed_out,
        processes=record.read_processes(folder),
        started=started,
    )


def _prepare(work: Path) -> dict[str, str]:
    """Make the folders and the hook below `work`; return the environment of the command."""
    if os.pathsep in str(work):
        raise NpubugError(
            f"cannot record below {work}",
            why=f"PYTHONPATH cannot hold a path with {os.pathsep!r} in it",
            hint="set TMPDIR to another folder",
        )
    hook, folder, cache = work / "hook", work / "record", work / "cache"
    with _preparing(work):
        for path in (hook / "_npubug", folder / "calls", cache):
            path.mkdir(parents=True)
        (hook / "_npubug" / "__init__.py").touch()
        for source, target in _HOOK_FILES.items():
            shutil.copyfile(Path(__file__).with_name(source), hook / target)
    environment = dict(os.environ)
    # An empty entry in PYTHONPATH would mean the current folder.
    path_entries = [str(hook), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(entry for entry in path_entries if entry)
    environment["TRITON_CACHE_DIR"] = str(cache)
    environment[recorder.DIR_VARIABLE] = str(folder)
    return environment


@contextlib.contextmanager
def _preparing(work: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NpubugError(
            f"cannot prepare the recording in {work}",
            why=error.strerror or str(error),
            hint="set TMPDIR to a folder with room that you may write to",
        ) from error


def _with_real_tool(call: CapturedCall, tools: Mapping[str, str]) -> CapturedCall:
    """The call with the tool itself in place of its stand-in."""
    if not call.argv or call.argv[0] not in tools:
        return call
    return dataclasses.replace(call, argv=(tools[call.argv[0]], *call.argv[1:]))


def _start(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        # close_fds=False: the command keeps what the shell opened for it; what Python opens is closed anyway.
        return subprocess.Popen(list(command), env=dict(environment), close_fds=False)
    except (OSError, ValueError) as error:
        raise _cannot_start(command[0], error) from error


def _cannot_start(program: str, error: Exception) -> NpubugError:
    hint = "check the command after `--`"
    if isinstance(error, FileNotFoundError):
        why = "no such file" if os.sep in program else "not found on PATH"
    elif isinstance(error, PermissionError):
        why = "it is a folder" if Path(program).is_dir() else "not executable"
    else:
        why = getattr(error, "strerror", None) or str(error)
    if program.endswith(".py"):
        hint = f"npubug bundle -- python {program}"
    return NpubugError(f"cannot run {program}", why=why, hint=hint, code=ExitCode.USAGE)


def _direct_call(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Call | None:
    """The record of a command that is itself a compiler tool, where no Python could notice it."""
    if Path(command[0]).name not in recorder.TOOLS:
        return None
    with contextlib.suppress(OSError):
        return Call(Store(str(folder)), list(command), str(Path.cwd()), environment)
    return None


def _wait(child: subprocess.Popen[bytes], timeout: float | None) -> bool:
    try:
        child.wait(timeout)
    except subprocess.TimeoutExpired:
        return False
    return True


def _ask_for_stacks(folder: Path) -> None:
    """Let the processes that hang write down where they stand; see `recorder`."""
    asked = False
    for path in folder.glob("stack-*.txt"):
        with contextlib.suppress(ValueError, OSError, psutil.Error):
            process = psutil.Process(int(path.stem.partition("-")[2]))
            if process.environ().get(recorder.DIR_VARIABLE) == str(folder):  # not another one by that number
                process.send_signal(signal.SIGUSR2)
                asked = True
    if asked:
        time.sleep(_STACK_PAUSE)


def _end_everything(child: subprocess.Popen[bytes], environment: Mapping[str, str]) -> None:
    """End the command, and with it all that it started, in whatever group or session that is by now."""
    child.terminate()
    if not _wait(child, _GRACE):
        child.kill()
        child.wait()
    for _ in range(5):  # a process may be born while we look
        processes = list(_recorded_processes(environment[recorder.DIR_VARIABLE]))
        if not processes:
            return
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(processes, timeout=_GRACE)


def _recorded_processes(folder: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if (
                process.environ().get(recorder.DIR_VARIABLE) == folder
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                yield process


def _general_losses(folder: Path, calls: tuple[CapturedCall, ...]) -> Iterator[str]:
    if not calls and not (folder / "seen").exists():
        yield "no Python process loaded the recorder (not a Python program, or run with -I, -S or -E)"
    try:
        if shutil.disk_usage(folder).free == 0:
            yield f"the disk that holds {folder} is full"
    except OSError:
        yield f"{folder} was removed while the command ran"


class _Signals:
    """While in force, what would end us goes to the command instead, and we live on to report.

    What the terminal sends (Ctrl-C, Ctrl-\\) reaches the command without us, as it is in our process group;
    a second copy would interrupt its clean-up. A signal that is ignored stays so, here and there.
    """

    _numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._pending: list[int] = []
        self._previous: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> _Signals:
        if threading.current_thread() is threading.main_thread():
            for number in self._numbers:
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._previous[number] = signal.signal(number, self._received)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def forward_to(self, child: subprocess.Popen[bytes]) -> None:
        """Send what has come so far, and from now on what comes, to `child`."""
        self._child = child
        while self._pending:
            child.send_signal(self._pending.pop(0))

    def _received(self, number: int, frame: FrameType | None) -> None:
        if self._child is None:
            self._pending.append(number)
        elif number not in (signal.SIGINT, signal.SIGQUIT) or not _is_foreground():
            self._child.send_signal(number)


def _is_foreground() -> bool:
    """Whether the terminal sends its signals to our process group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
