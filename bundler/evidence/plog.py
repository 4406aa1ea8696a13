"""The device logs of a run: those of its own processes and its own time, within a limit.

CANN's runtime writes `plog-<pid>_<time>.log` for each host process below `run/plog` and `debug/plog`, and
`device-<pid>_<time>.log` below `device-<n>`: in $ASCEND_PROCESS_LOG_PATH, or else in ~/ascend/log.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bundler.capture.recording import middle_cut

_NAME = re.compile(r"(?:plog|device)-(\d+)_\d+\.log\Z")
_MOST_FILES = 64
_FILE_CAP = 1 << 20
_SLACK = 2.0  # seconds: clocks of files are coarse


@dataclass(frozen=True)
class DeviceLog:
    """One log: `name` below the log folder, and its text, cut in the middle when it is long."""

    name: str
    text: bytes
    size: int


def log_folder(environ: Mapping[str, str]) -> Path:
    """Where a process with this environment has its device logs."""
    return Path(environ.get("ASCEND_PROCESS_LOG_PATH") or Path(environ.get("HOME", "~")) / "ascend" / "log")


def device_logs(folder: Path, pids: Collection[int], since: float) -> tuple[DeviceLog, ...]:
    """The logs below `folder` of these processes that were written after `since`, by name.

    Files that vanish, or may not be read, are left out.

    Args:
        pids: only theirs; numbers are used again, hence the time too.
        since: seconds since the epoch.
    """
    found: list[DeviceLog] = []
    for path in _candidates(folder):
        match = _NAME.search(path.name)
        if match is None or int(match[1]) not in pids or len(found) >= _MOST_FILES:
            continue
        try:
            status = path.stat()
            if status.st_mtime >= since - _SLACK:
                found.append(DeviceLog(path.relative_to(folder).as_posix(), _cut(path), status.st_size))
        except OSError:
            continue
    return tuple(found)


def _candidates(folder: Path) -> Iterator[Path]:
    for kind in ("debug", "run", "security", "."):
        try:
            parts = sorted(path for path in (folder / kind).iterdir() if path.is_dir())
        except OSError:
            continue
        for part in parts:
            if part.name == "plog" or part.name.startswith("device-"):
                try:
                    yield from sorted(part.glob("*.log"))
                except OSError:
                    continue


def _cut(path: Path) -> bytes:
    """The whole of a short log; of a long one the beginning, and the end, where the error stands."""
    with path.open("rb") as file:
        head = file.read(_FILE_CAP)
        rest = file.seek(0, os.SEEK_END) - len(head)
        if rest <= 0:
            return head
        file.seek(-min(rest, _FILE_CAP), os.SEEK_END)
        return middle_cut(head + file.read(_FILE_CAP), _FILE_CAP)
