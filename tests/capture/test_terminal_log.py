"""A saved terminal log: the argv, the kernel's folder and the failure come out of the text."""

from __future__ import annotations

import pytest

from bundler.capture.terminal_log import failure_in, kept_of
from bundler.errors import ExitCode, NpubugError
from tests.places import DATA

OVERFLOW = "error: ub overflow, requires 52428800 bits while 1572864 bits available!"
LOG = """Dumping intermediate results to /home/u/.triton/dump/0f3a
Traceback (most recent call last):
subprocess.CalledProcessError: Command '['/opt/bin/bishengir-compile', '/tmp/t/kernel.ttadapter.mlir', \
'--target=Ascend910_9382', '--enable-auto-multi-buffer=False', '-o', '/tmp/t/kernel']' \
returned non-zero exit status 1.

triton.compiler.errors.MLIRCompilationError:
///------------------[ERROR][Triton][BEG]------------------
[ConvertLinalgRToBinary] encounters error:
loc("/tmp/t/kernel.ttadapter.mlir":2:3): {error}

[INFO]: The compiled kernel cache is in /home/u/.triton/cache/xiXe

///------------------[ERROR][Triton][END]------------------
"""


def log(error: str = OVERFLOW) -> bytes:
    return LOG.replace("{error}", error).encode()


def test_a_log_tells_argv_folders_and_failure() -> None:
    found = failure_in(log())
    assert found.tool == "bishengir-compile"
    assert found.argv[2:4] == ("--target=Ascend910_9382", "--enable-auto-multi-buffer=False")
    assert [str(folder) for folder in found.folders] == [
        "/home/u/.triton/cache/xiXe",
        "/home/u/.triton/dump/0f3a",
    ]
    assert (found.diagnosis.kind, found.failures) == ("ub-overflow", 1)


def test_of_several_failures_the_last_is_taken() -> None:
    found = failure_in(log("error: failed to legalize operation 'math.erf'") + log())
    assert (found.diagnosis.kind, found.failures) == ("ub-overflow", 2)


def test_a_log_without_a_compiler_failure_is_refused() -> None:
    with pytest.raises(NpubugError) as caught:
        failure_in(b"Traceback (most recent call last):\nValueError: mine\n")
    assert caught.value.code == ExitCode.NOTHING_FAILED


@pytest.mark.parametrize("path", sorted((DATA / "logs").rglob("*.log"))[:40], ids=lambda path: path.stem)
def test_any_real_log_is_either_understood_or_refused(path) -> None:
    try:
        assert failure_in(path.read_bytes()).diagnosis.outcome.is_bug
    except NpubugError as error:
        assert error.code == ExitCode.NOTHING_FAILED


def test_a_long_log_keeps_its_beginning_and_its_end() -> None:
    kept = kept_of(b"first\n" + b"x" * (40 << 20) + b"\nlast")
    assert kept.startswith(b"first") and kept.endswith(b"last") and len(kept) <= 32 << 20
