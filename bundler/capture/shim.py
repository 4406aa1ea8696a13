"""Stands in for a compiler tool on PATH: records the call, unless the hook does, and runs the real tool.

For callers that the hook cannot reach (`via_path` says which). Runs in npubug's own Python, by a shell script of the
tool's name (`via_path` writes it), with the copied recorder's modules beside it. The tool has the caller's streams,
and its end is passed on: exit code or signal. What it prints is its own business, so it is not recorded here.
"""

# ruff: noqa: PLC0415, PTH109, PTH118, PTH123, PTH208
from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from types import FrameType

from .recording import Call
from .store import CALL_FILE, Store

INSIDE_VARIABLE = "NPUBUG_INSIDE_CALL"
_MOST_ANCESTORS = 3  # a shell or two may stand between the caller and the tool
_MOST_CALLS = 64
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_PR_SET_PDEATHSIG = 1


def main(folder: str) -> None:
    """Run the tool `sys.argv[1:]`, recording below `folder`. Does not return."""
    argv = sys.argv[1:]
    call = None
    if INSIDE_VARIABLE not in os.environ:
        store = Store(folder)
        try:
            if not is_recorded(folder, argv, os.getppid()):
                call = Call(store, argv, os.getcwd(), os.environ)
        except Exception as error:
            store.note(f"a call of {argv[0]} was not recorded: {error!r}")
    if call is None:
        _become(argv)
    else:
        _run(call, argv)


def is_recorded(folder: str, argv: list[str], caller: int) -> bool:
    """Whether a call with these arguments, made by `caller` or a parent of it, is being recorded already."""
    for _ in range(_MOST_ANCESTORS):
        names = [name for name in os.listdir(os.path.join(folder, "calls")) if name.startswith(f"{caller}-")]
        names.sort(key=lambda name: int(name.partition("-")[2]))
        for name in names[-_MOST_CALLS:]:
            with open(os.path.join(folder, "calls", name, CALL_FILE), encoding="utf-8") as file:
                lines = file.readlines()
            if len(lines) == 1 and json.loads(lines[0])["argv"][1:] == argv[1:]:
                return True
        parent = _parent(caller)
        if parent is None:
            return False
        caller = parent
    return False


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _become(argv: list[str]) -> None:
    # Python ignores these two, and what it ignores the tool would ignore.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(126)


def _run(call: Call, argv: list[str]) -> None:
    child = 0

    def forward(number: int, frame: FrameType | None) -> None:
        if child:
            os.kill(child, number)

    for number in _FORWARDED:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, forward)
    prctl = _prctl()
    child = os.fork()
    if child == 0:
        os.environ[INSIDE_VARIABLE] = "1"  # tools that it starts are part of this call
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # who kills us means the tool
        _become(argv)
    _, status, usage = os.wait4(child, 0)
    try:
        # Linux counts for the child what we had when it was made, so only what is more is the tool's.
        if usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
            call.peak = usage.ru_maxrss * 1024
        call.end(-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
    except Exception as error:
        call.store.note(f"the end of call {call.id} was not recorded: {error!r}")
    _end_as(status)


def _end_as(status: int) -> None:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core file is enough, and it is the tool's
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def _prctl() -> Callable[[int, int], int] | None:
    try:
        import ctypes

        prctl: Callable[[int, int], int] = ctypes.CDLL(None).prctl
        return prctl
    except (ImportError, OSError, AttributeError):
        return None
