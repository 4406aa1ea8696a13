"""The record folder: who may write what below it, and how much.

Loaded into the user's Python at its first compiler call (see `recorder`), so: standard library only, Python
3.8 to 3.13. What is on disk is readable at any moment, since the process may be killed at any moment:

    seen                        some interpreter loaded the recorder
    calls/<id>/                 one compile call, see `recording`
    exception-<pid>.json        the exception that ended a process
    lost-<pid>.txt              what could not be recorded, a line each
    used, freed                 one byte for each 4 kB stored and given up: a total that needs no lock
"""

# ruff: noqa: PLC0415, PTH102, PTH105, PTH108, PTH112, PTH116, PTH118, PTH123, UP035
# No pathlib, contextlib or json at the top: an import here is time taken from the user's program.
from __future__ import annotations

import itertools
import os

TYPE_CHECKING = False  # without importing typing
if TYPE_CHECKING:
    from typing import Any, Iterable, Mapping

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
        try:
            with open(os.path.join(self.folder, f"lost-{os.getpid()}.txt"), "ab") as file:
                file.write(text.replace("\n", " ").encode("utf-8", "backslashreplace") + b"\n")
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

    def write_json(self, path: str, value: Mapping[str, Any]) -> None:
        """Write `value` at `path`, whole or not at all. Raises OSError."""
        import json

        with open(path + ".tmp", "w", encoding="utf-8") as file:
            json.dump(value, file)
        os.replace(path + ".tmp", path)

    def take(self, size: int) -> bool:
        """Claim room for `size` bytes, if need be at the cost of older calls; False if there is none."""
        if self._used() + size > self.total_cap:
            self._make_room(size)
            if self._used() + size > self.total_cap:
                return False
        self._count("used", size)
        return True

    def _used(self) -> int:
        sizes = []
        for name in ("used", "freed"):
            try:
                sizes.append(os.stat(os.path.join(self.folder, name)).st_size)
            except OSError:
                sizes.append(0)
        return (sizes[0] - sizes[1]) * _BLOCK

    def _count(self, name: str, size: int) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        file = os.open(os.path.join(self.folder, name), flags, 0o600)
        try:
            os.write(file, b"x" * -(-size // _BLOCK))
        finally:
            os.close(file)

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
                with open(os.path.join(call.path, "end.json"), encoding="utf-8") as file:
                    returncode = json.load(file)["returncode"]
            except (OSError, ValueError, KeyError):
                continue  # still running
            kept = healthy if returncode == 0 else outputs
            for part in ("out", "in") if returncode == 0 else ("out",):
                where = os.path.join(call.path, part)
                if os.path.isdir(where):
                    kept.extend(entry.path for entry in os.scandir(where))
        return healthy + outputs
