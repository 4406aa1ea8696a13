"""The one way npubug runs another program.

Every child gets its own process group, a time limit, capped output and no terminal input; whatever happens,
the group is gone when `run` returns or raises. Output is read as it comes, so a caller can end the child as
soon as what it printed has decided the question (`stop_when`).
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DEFAULT_OUTPUT_CAP = 64 << 20
_CHUNK = 1 << 16


@dataclass(frozen=True)
class ProcessResult:
    """How a child ended. `returncode` is None when `run` ended it (see `timed_out`, `stopped`)."""

    returncode: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False
    stopped: bool = False  # `stop_when` was satisfied, or `cancel` set
    truncated: bool = False  # output beyond the cap was read and thrown away


class Cancelled(Exception):
    """`kill_all` ended the child: how it ended says nothing, so there is no result."""


_ended_by_us: set[int] = set()
_live: dict[int, subprocess.Popen[bytes]] = {}
_live_lock = threading.Lock()


def kill_all() -> None:
    """End every child that is still running, with its whole group. Safe to call from a signal handler."""
    for child in list(_live.values()):
        _ended_by_us.add(child.pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)  # reaped by the thread that waits for it


def run(
    argv: Sequence[str],
    *,
    timeout: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    input: bytes | None = None,
    output_cap: int = DEFAULT_OUTPUT_CAP,
    memory_limit: int | None = None,
    stop_when: Callable[[bytes], bool] | None = None,
    cancel: threading.Event | None = None,
) -> ProcessResult:
    """Run `argv` to its end, its time limit, or until `stop_when` holds.

    Args:
        argv: program and arguments; no shell.
        timeout: seconds until the whole process group is killed.
        input: bytes for its standard input (default: none, `/dev/null`).
        output_cap: bytes kept of stdout and of stderr, each.
        memory_limit: bytes of address space (RLIMIT_AS), or None.
        stop_when: called with all of stderr so far whenever more arrives; True ends the child.
        cancel: set by another thread to end the child; looked at every 50 ms.

    Raises:
        OSError: the program cannot be started (not found, not executable, wrong machine).
        Cancelled: `kill_all` was called meanwhile.
    """
    start = time.monotonic()
    child = subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=None if env is None else dict(env),
        start_new_session=True,
    )
    with _live_lock:
        _live[child.pid] = child
    try:
        if memory_limit is not None:
            # From outside, after the start: a preexec_fn is not safe with threads.
            with contextlib.suppress(OSError, AttributeError):
                resource.prlimit(child.pid, resource.RLIMIT_AS, (memory_limit, memory_limit))
        result = _pump(child, start, timeout, input, output_cap, stop_when, cancel)
        if child.pid in _ended_by_us:
            raise Cancelled
        return result
    finally:
        _ended_by_us.discard(child.pid)
        _kill_group(child)
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        with _live_lock:
            _live.pop(child.pid, None)


def _pump(
    child: subprocess.Popen[bytes],
    start: float,
    timeout: float,
    input: bytes | None,
    cap: int,
    stop_when: Callable[[bytes], bool] | None,
    cancel: threading.Event | None,
) -> ProcessResult:
    assert child.stdout is not None and child.stderr is not None
    kept = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
    errors = child.stderr.fileno()
    truncated = timed_out = stopped = False
    if input is not None:
        # A thread, so that a child that does not read cannot block us.
        threading.Thread(target=_feed, args=(child, input), daemon=True).start()
    with selectors.DefaultSelector() as selector:
        for descriptor in kept:
            selector.register(descriptor, selectors.EVENT_READ)
        deadline = start + timeout
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                timed_out = True
                break
            # A grandchild may hold the pipes open after the child itself has ended.
            ready = selector.select(min(left, 0.5 if cancel is None else 0.05))
            if cancel is not None and cancel.is_set():
                stopped = True
                break
            if not ready and _has_ended(child):
                break
            for key, _ in ready:
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fd)
                    continue
                buffer = kept[key.fd]
                room = cap - len(buffer)
                truncated |= len(data) > room
                buffer += data[: max(room, 0)]
                if stop_when is not None and key.fd == errors and stop_when(bytes(buffer)):
                    stopped = True
            if stopped:
                break
    while not (timed_out or stopped or _has_ended(child)):
        timed_out = time.monotonic() > deadline
        time.sleep(0.001)
    _kill_group(child)
    return ProcessResult(
        returncode=None if timed_out or stopped else child.returncode,
        stdout=bytes(kept[child.stdout.fileno()]),
        stderr=bytes(kept[child.stderr.fileno()]),
        seconds=time.monotonic() - start,
        timed_out=timed_out,
        stopped=stopped,
        truncated=truncated,
    )


def _feed(child: subprocess.Popen[bytes], data: bytes) -> None:
    assert child.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        child.stdin.write(data)
        child.stdin.close()


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether the child has ended, without reaping it: its pid, and so its group's id, stays ours."""
    if child.returncode is not None:
        return True
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    # Only before the child is reaped: afterwards its group id may belong to a stranger.
    if child.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(5)
