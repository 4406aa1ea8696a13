"""Running other programs: limits, groups, early ends."""

from __future__ import annotations

import sys
import threading
import time
import uuid

import psutil
import pytest

from bundler.process import Cancelled, kill_all, run

SLEEP = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(61)", {!r}])
{}
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.fixture
def token() -> str:
    """What tells this test's processes from those of a test beside it."""
    return f"token-{uuid.uuid4()}"


def sleepers(token: str) -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["cmdline"]) if token in " ".join(p.info["cmdline"] or [])]


def test_output_and_code_come_back() -> None:
    done = run(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")


def test_a_signal_is_a_negative_code() -> None:
    assert run(python("import os; os.abort()"), timeout=20).returncode == -6


def test_input_is_given() -> None:
    done = run(python("import sys; print(len(sys.stdin.buffer.read()))"), timeout=20, input=b"x" * 300_000)
    assert done.stdout == b"300000\n"


@pytest.mark.parametrize("end", ["time.sleep(61)", "print('over')"])
def test_no_grandchild_outlives_a_run(end: str, token: str) -> None:
    done = run(python(SLEEP.format(token, end)), timeout=1.0)
    assert done.timed_out == (end != "print('over')")
    assert not sleepers(token)


def test_output_beyond_the_cap_is_thrown_away() -> None:
    done = run(python("print('x' * 1_000_000)"), timeout=20, output_cap=1000)
    assert len(done.stdout) == 1000 and done.truncated and done.returncode == 0


def test_the_memory_limit_is_the_childs() -> None:
    done = run(
        python("import time; time.sleep(0.3); x = bytearray(2 << 30)"), timeout=20, memory_limit=1 << 30
    )
    assert done.returncode == 1 and b"MemoryError" in done.stderr


def test_it_ends_as_soon_as_its_output_decides() -> None:
    code = "import sys, time; print('decided', file=sys.stderr, flush=True); time.sleep(61)"
    done = run(python(code), timeout=50, stop_when=lambda err: b"decided" in err)
    assert done.stopped and done.returncode is None and done.seconds < 30


def test_another_thread_can_cancel(token: str) -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    done = run(python(SLEEP.format(token, "time.sleep(61)")), timeout=50, cancel=cancel)
    assert done.stopped and done.seconds < 30
    assert not sleepers(token)


def test_kill_all_leaves_no_result_to_believe(token: str) -> None:
    caught: list[BaseException] = []

    def work() -> None:
        try:
            run(python(SLEEP.format(token, "time.sleep(61)")), timeout=50)
        except Cancelled as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(1.0)
    kill_all()
    thread.join(20)
    assert len(caught) == 1
    assert not sleepers(token)
