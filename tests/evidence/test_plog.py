"""Device logs: those of the run's processes and of its time, within a limit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bundler.evidence.plog import device_logs, log_folder

NOW = 1_700_000_000.0


def log(folder: Path, name: str, text: bytes = b"said", when: float = NOW) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    os.utime(path, (when, when))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def names(folder: Path, *pids: int) -> list[str]:
    return [each.name for each in device_logs(folder, pids, NOW)]


def test_only_the_logs_of_these_processes_are_taken(folder: Path) -> None:
    log(folder, "debug/plog/plog-10_20240101000000000.log")
    log(folder, "debug/plog/plog-100_20240101000000000.log")
    log(folder, "run/device-3/device-10_20240101000000000.log")
    log(folder, "run/plog/plog-11_20240101000000000.log")
    log(folder, "run/device-os/other.log")
    assert names(folder, 10, 11) == [
        "debug/plog/plog-10_20240101000000000.log",
        "run/device-3/device-10_20240101000000000.log",
        "run/plog/plog-11_20240101000000000.log",
    ]


def test_a_log_of_an_earlier_process_of_that_number_is_not(folder: Path) -> None:
    log(folder, "debug/plog/plog-10_20230101000000000.log", when=NOW - 60)
    assert names(folder, 10) == []


def test_a_long_log_keeps_its_beginning_and_its_end(folder: Path) -> None:
    log(folder, "debug/plog/plog-10_1.log", b"first" + b"." * (3 << 20) + b"last")
    (found,) = device_logs(folder, [10], NOW)
    assert found.text.startswith(b"first") and found.text.endswith(b"last")
    assert len(found.text) <= 1 << 20 and found.size == (3 << 20) + 9


@pytest.mark.parametrize("extra", [0, 1, 5])
def test_a_log_about_as_long_as_the_limit_loses_nothing_twice(folder: Path, extra: int) -> None:
    text = bytes(range(256)) * 4096 + b"x" * extra
    log(folder, "debug/plog/plog-10_1.log", text)
    (found,) = device_logs(folder, [10], NOW)
    assert found.text == text if not extra else found.text.endswith(text[-100:])


def test_a_folder_that_is_not_there_has_none(folder: Path) -> None:
    assert names(folder / "missing", 1) == []


def test_the_folder_is_the_variables_or_the_homes() -> None:
    assert log_folder({"ASCEND_PROCESS_LOG_PATH": "/logs", "HOME": "/root"}) == Path("/logs")
    assert log_folder({"HOME": "/root"}) == Path("/root/ascend/log")
