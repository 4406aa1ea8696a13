"""One compile call, written to its folder below the record folder while it happens.

Loaded into the user's Python at its first compiler call (see `recorder`), so: standard library only, Python
3.8 to 3.13. The folder is readable at any moment, since the process may be killed at any moment:

    call.jsonl      first line, before the tool starts: argv, cwd, environment, inputs; last line, after it:
                    return code, seconds, outputs; missing if the end was not seen
    <name>          copies of the input files
    out/<name>      the files that the tool wrote
    stdout, stderr  what the program piped out, if there was any; stdin, where that was the input
"""

# ruff: noqa: PTH103, PTH108, PTH110, PTH116, PTH118, PTH119, PTH123, PTH208, SIM105, UP035
# No pathlib, contextlib or json at the top: an import here is time taken from the user's program.
from __future__ import annotations

import _thread
import os
import time
from stat import S_ISREG

from .store import CALL_FILE, OUTPUT_FOLDER, Store

TYPE_CHECKING = False  # without importing typing
if TYPE_CHECKING:
    from typing import Any, Mapping

# What decides how a compile behaves, and which rank of a distributed run this is. No credentials.
_PREFIXES = ("TRITON_", "MLIR_", "LLVM_", "ASCEND_", "NPU", "BISHENG", "HIVM", "TORCHINDUCTOR_", "OMPI_COMM_")
_NAMES = ("ENABLE_PRINT_UB_BITS", "TORCH_COMPILE_DEBUG", "PATH", "LD_LIBRARY_PATH")
_RANK_NAMES = (
    *("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK"),
    *("PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    *("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
)
_OWN_NAMES = (CALL_FILE, OUTPUT_FOLDER, "stdin", "stdout", "stderr")
_CHUNK = 1 << 20


class Call:
    """One compile call on its way into the store. Made just before the tool starts."""

    def __init__(
        self,
        store: Store,
        argv: list[str],
        cwd: str,
        environment: Mapping[str, str],
        piped: tuple[str, ...] = (),
        launch: Mapping[str, Any] | None = None,
    ) -> None:
        self.store = store
        self.pid = os.getpid()
        self.reading = 0  # communicate() is under way: its result is still to come
        self.peak: int | None = None  # bytes of memory that the tool took, once it is known
        self._lock = _thread.allocate_lock()
        self._cwd = cwd
        self._argv = argv
        self.piped = piped
        self._left = store.call_cap
        self._drops: list[str] = []
        self._streams: dict[str, bytes] = {}
        self._end: dict[str, Any] = {}
        self.id, self._folder = store.new_call()
        inputs = [self._keep(path, "", index) for index, path in _inputs(argv, cwd)]
        self._before = {path: _state(path) for path in _outputs(argv, cwd)}
        self._begin = {
            "id": self.id,
            "tool": _tool(argv),
            "argv": argv,
            "cwd": cwd,
            "pid": self.pid,
            "started": time.time(),
            "environment": relevant(environment),
            "launch": launch,
            "inputs": inputs,
            "drops": list(self._drops),
        }
        store.append_json(os.path.join(self._folder, CALL_FILE), self._begin)
        self._clock = time.monotonic()

    def has_input(self) -> bool:
        """Whether the command line named a file to read."""
        return bool(self._begin["inputs"])

    def stream(self, name: str, data: Any, encoding: str | None = None) -> None:
        """Remember what was piped out of (`stdout`, `stderr`) or into the tool (`stdin`): bytes, str or None.

        Of several pieces, as after a time-out, the longest counts: each holds all that was read up to then.
        """
        if isinstance(data, str):
            data = data.encode(encoding or "utf-8", "surrogateescape")
        if data is None:
            return
        known = (
            len(self._streams[name]) if name in self._streams else self._end.get("streams", {}).get(name, -1)
        )
        if len(data) > known:
            self._streams[name] = data

    def end(self, returncode: int | None) -> None:
        """Write what came out. Called again when output arrives late; raises OSError."""
        with self._lock:
            if self._end and not self._streams:
                return
            if not self._end:
                seconds = time.monotonic() - self._clock
                self._end = {"returncode": returncode, "seconds": seconds, "peak": self.peak, "streams": {}}
            self._write_streams()
            if "outputs" not in self._end:
                changed = [path for path in _outputs(self._argv, self._cwd) if self._changed(path)]
                self._end["outputs"] = [
                    self._keep(path, OUTPUT_FOLDER, index) for index, path in enumerate(changed)
                ]
            self._end["unread"] = [name for name in self.piped if name not in self._end["streams"]]
            self._end["drops"] = self._drops
            self.store.append_json(os.path.join(self._folder, CALL_FILE), self._end)

    def _changed(self, path: str) -> bool:
        now = _state(path)
        return now is not None and now != self._before.get(path)

    def _write_streams(self) -> None:
        for name, data in self._streams.items():
            size = len(data)
            kept = middle_cut(data, self._left)
            if len(kept) < size:
                self._drops.append(f"{name}: only the beginning and the end of {size} bytes")
            try:
                if kept:
                    if not self.store.take(len(kept)):
                        raise OSError("the recording is full")
                    with open(os.path.join(self._folder, name), "wb") as file:
                        file.write(kept)
                self._left -= len(kept)
                self._end["streams"][name] = size
            except OSError as error:
                self._drops.append(f"{name}: {error}")
        self._streams = {}

    def _keep(self, path: str, part: str, index: int) -> dict[str, Any]:
        """Copy one file into the call's folder, or note why not."""
        name = os.path.basename(path)
        target = os.path.join(self._folder, part, name)
        record: dict[str, Any] = {"path": path, "file": None, "size": None}
        try:
            record["size"] = size = os.stat(path).st_size
            if size > self._left:
                raise OSError(f"{size} bytes are more than the {self._left} left for this call")
            if not self.store.take(size):
                raise OSError(f"the recording has reached its {self.store.total_cap} bytes")
            if part:
                os.makedirs(os.path.join(self._folder, part), exist_ok=True)
            if name in _OWN_NAMES or os.path.exists(target):
                target = os.path.join(self._folder, part, f"{index}-{name}")
            record["size"] = _copy(path, target, self._left)
            record["file"] = os.path.relpath(target, self._folder)
            self._left -= record["size"]
        except OSError as error:
            self._drops.append(f"{path}: {error}")
            self.store.note(f"call {self.id}: {path} was not kept: {error}")
        return record


def relevant(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that are kept of an environment."""
    return {
        name: value
        for name, value in environment.items()
        if (name in _NAMES or name in _RANK_NAMES or name.startswith(_PREFIXES))
        and not name.startswith("NPUBUG_")
    }


def _tool(argv: list[str]) -> str:
    return os.path.basename(argv[0]) if argv else ""


def _inputs(argv: list[str], cwd: str) -> list[tuple[int, str]]:
    """The files that a command line reads: its words that are regular files, except the output."""
    found = []
    for index in range(1, len(argv)):
        if argv[index].startswith("-") or argv[index - 1] in ("-o", "--o"):
            continue
        path = os.path.join(cwd, argv[index])
        if _state(path) is not None:
            found.append((index, path))
    return found


def _outputs(argv: list[str], cwd: str) -> list[str]:
    """What is there now of the files that `-o OUT` can mean: OUT, OUT.o, OUT_reloc.o, libOUT.so, ..."""
    found = []
    for index in range(1, len(argv)):
        option, _, value = argv[index].partition("=")
        if option not in ("-o", "--o"):
            continue
        path = os.path.join(cwd, value or "".join(argv[index + 1 : index + 2]))
        folder, stem = os.path.split(path)
        if not stem:
            continue
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        starts = (f"{stem}.", f"{stem}_", f"lib{stem}.")
        found += [os.path.join(folder, name) for name in names if name == stem or name.startswith(starts)]
    return [path for path in found if _state(path) is not None]


def _state(path: str) -> tuple[int, int, int] | None:
    """What changes when a file is written, or None if it is not a regular file."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return (info.st_mtime_ns, info.st_size, info.st_ino) if S_ISREG(info.st_mode) else None


def _copy(source: str, target: str, limit: int) -> int:
    """Copy a file that may still grow, `limit` bytes at most; nothing is left of a copy that fails."""
    copied = 0
    try:
        with open(source, "rb", 0) as reader, open(target, "wb") as writer:
            while copied < limit:
                chunk = reader.read(min(_CHUNK, limit - copied))
                if not chunk:
                    break
                writer.write(chunk)
                copied += len(chunk)
    except OSError:
        try:
            os.unlink(target)
        except OSError:
            pass
        raise
    return copied


def middle_cut(data: bytes, limit: int) -> bytes:
    """At most `limit` bytes of a log: its beginning, and its end, where the error stands."""
    if len(data) <= limit:
        return data
    mark = b"\n[npubug: cut]\n"
    half = max(limit - len(mark), 0) // 2
    return data[:half] + mark + data[len(data) - half :]
