"""The record folder: who may write what below it, and how much.

Loaded into the user's Python at its first compiler call (see `recorder`), so: standard library only, Python
3.8 to 3.13. What is on disk is readable at any moment, since the process may be killed at any moment:

    seen                        some interpreter loaded the recorder
    calls/<id>/                 one compile call, see `recording`
    process-<pid>.jsonl         a process that compiled, or is a rank; the last line says that it ended
    stack-<pid>.txt             where its threads stood when the time for the whole run was up
    exception-<pid>.json        the exception that ended a process
    lost-<pid>.txt              what could not be recorded, a line each
    used, freed                 one byte for each 4 kB stored and given up: a total that needs no lock
"""

# ruff: noqa: SIM105, PLC0415, PTH102, PTH108, PTH116, PTH118, PTH123, UP035
# No pathlib, contextlib or json at the top: an import here is time taken from the user's program.
from __future__ import annotations

import itertools
import os

TYPE_CHECKING = False  # without importing typing
if TYPE_CHECKING:
    from typing import Any, Iterable, Mapping

CALL_FILE = "call.jsonl"
OUTPUT_FOLDER = "out"
_BLOCK = 4096


class Store:
    """The record folder: hands out folders for calls and room for files, within the total cap."""

    def __init__(self, folder: str, call_cap: int = 64 << 20, total_cap: int = 1 << 30) -> None:
        self.folder = folder
        self.calls = os.path.join(folder, "calls")
        self.call_cap = call_cap
        self.total_cap = total_cap
        self._counter = itertools.count(1)

    def note(self, text: str) -> None:
        """Say what is missing from the recording. The disk may be full, so even this may fail, silently."""
        line = text.replace("\n", " ").encode("utf-8", "backslashreplace") + b"\n"
        try:
            self._append(os.path.join(self.folder, f"lost-{os.getpid()}.txt"), line)
        except Exception:
            pass

    def new_call(self) -> tuple[str, str]:
        """Make a folder for one call; return its id and path. Raises OSError.

        Never the record folder itself: a process may outlive the session that has removed it.
        """
        while True:
            # Unique across threads (the counter), processes (the pid), containers with equal pids (mkdir).
            name = f"{os.getpid()}-{next(self._counter)}"
            folder = os.path.join(self.calls, name)
            try:
                os.mkdir(folder)
            except FileExistsError:
                continue
            return name, folder

    def append_json(self, path: str, value: Mapping[str, Any]) -> None:
        """Add `value` as a line to `path`, in one write. Raises OSError."""
        import json

        self._append(path, json.dumps(value).encode() + b"\n")

    def _append(self, path: str, data: bytes) -> None:
        # Adding to a file costs 20 microseconds, making one ten times that.
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.write(file, data) < len(data):
                raise OSError("the disk is full")
        finally:
            os.close(file)

    def take(self, size: int) -> bool:
        """Claim room for `size` bytes, if need be at the cost of older calls; False if there is none."""
        if self._used() + size > self.total_cap:
            self._make_room(size)
            if self._used() + size > self.total_cap:
                return False
        self._count("used", size)
        return True

    def _used(self) -> int:
        return (self._size("used") - self._size("freed")) * _BLOCK

    def _size(self, name: str) -> int:
        try:
            return os.stat(os.path.join(self.folder, name)).st_size
        except OSError:
            return 0

    def _count(self, name: str, size: int) -> None:
        self._append(os.path.join(self.folder, name), b"x" * -(-size // _BLOCK))

    def _make_room(self, size: int) -> None:
        # More than asked for, so that a full store is not searched again for every call.
        goal = self.total_cap - max(size, self.total_cap // 8)
        dropped = 0
        for path in self._victims():
            if self._used() <= goal:
                break
            try:
                freed = os.stat(path).st_size
                os.unlink(path)  # of two processes that choose it, one succeeds and counts it
                self._count("freed", freed)
                dropped += 1
            except OSError:
                continue
        if dropped:
            self.note(
                f"{dropped} files of older calls were dropped to stay below {self.total_cap} bytes in all"
            )

    def _victims(self) -> Iterable[str]:
        """Stored files in the order of giving them up: the oldest healthy calls, then others' outputs."""
        import json

        healthy: list[str] = []
        outputs: list[str] = []
        for call in sorted(os.scandir(self.calls), key=lambda entry: entry.stat().st_mtime):
            try:
                with open(os.path.join(call.path, CALL_FILE), encoding="utf-8") as file:
                    returncode = json.loads(file.readlines()[-1])["returncode"]
            except (OSError, ValueError, KeyError):
                continue  # still running
            files = [entry.path for entry in os.scandir(call.path) if entry.name != CALL_FILE]
            written = os.path.join(call.path, OUTPUT_FOLDER)
            if written in files:
                files.remove(written)
                outputs_here = [entry.path for entry in os.scandir(written)]
                (healthy if returncode == 0 else outputs).extend(outputs_here)
            if returncode == 0:
                healthy += files
        return healthy + outputs
