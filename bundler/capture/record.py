"""Read a record folder back: whatever is there, however the processes that wrote it ended."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundler.capture.store import CALL_FILE

_HEAD = 4 << 20  # bytes of an input that are searched for the kernel's name
_KERNEL = re.compile(
    r"\b(?:func|tt)\.func\s+(private\s+)?(?:public\s+|nested\s+)?@(?:\"([^\"\n]+)\"|([\w$.-]+))"
)
_GENERIC_KERNEL = re.compile(r"\"(?:func|tt)\.func\"\(\)[^\n]*?\bsym_name\s*=\s*\"([^\"\n]+)\"[^\n]*")
_GENERIC_PRIVATE = re.compile(r"sym_visibility\s*=\s*\"private\"")


@dataclass(frozen=True)
class CapturedCall:
    """One compile call. The paths point below the record folder, whatever became of the originals.

    `argv` is as it was, with the original paths; `started` is seconds since the epoch; `seconds` of a call
    whose end was not seen (`finished` is False, `returncode` None) are those up to now. `input` is None if
    there was none (`--version`) or it could not be kept; `stdout` and `stderr` are None where the program did
    not pipe them or read them itself. `environment` holds the variables that matter to the tools. `notes`
    says what of the call was not kept. `launch` is what `launch.facts` told; `peak_memory` is in bytes.
    """

    id: str
    tool: str
    argv: tuple[str, ...]
    cwd: str
    pid: int
    started: float
    seconds: float
    returncode: int | None
    input: Path | None
    outputs: tuple[Path, ...]
    stdout: Path | None
    stderr: Path | None
    environment: tuple[tuple[str, str], ...]
    kernel: str | None
    finished: bool
    notes: tuple[str, ...] = ()
    launch: Mapping[str, Any] | None = None
    peak_memory: int | None = None


@dataclass(frozen=True)
class CapturedException:
    """An exception that ended a Python process of the run; `text` is the traceback as printed.

    `launched` is the kernel whose launch it came out of, where the traceback tells.
    """

    pid: int
    type: str
    message: str
    text: str
    time: float
    argv: tuple[str, ...]
    launched: str | None = None


@dataclass(frozen=True)
class CapturedProcess:
    """A Python process that compiled. `ended` is False if it had no end of its own: it was killed, or goes on.

    Of a forked process the end is not seen (None). `started` is when it was noted, in
    seconds since the epoch. `stack` tells where its threads stood when time was up.
    """

    pid: int
    argv: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    ended: bool | None
    started: float = 0.0
    stack: str = ""


def read(
    folder: Path,
) -> tuple[tuple[CapturedCall, ...], tuple[CapturedException, ...], tuple[str, ...]]:
    """What a record folder holds: the calls and the exceptions in the order of time, and what was lost."""
    lost = [line for path in _listed(folder, "lost-*.txt") for line in _lines(path)]
    calls = []
    for path in _listed(folder / "calls", "*"):
        try:
            calls.append(_call(path))
        except (OSError, ValueError, TypeError, KeyError) as error:
            lost.append(f"call {path.name}: nothing readable was written ({error})")
    exceptions = []
    for path in _listed(folder, "exception-*.json"):
        try:
            exceptions.append(_exception(path))
        except (OSError, ValueError, TypeError, KeyError) as error:
            lost.append(f"{path.name}: not readable ({error})")
    calls.sort(key=lambda call: call.started)
    exceptions.sort(key=lambda exception: exception.time)
    return tuple(calls), tuple(exceptions), tuple(lost)


def read_processes(folder: Path) -> tuple[CapturedProcess, ...]:
    """The processes that compiled, by pid; those of which nothing readable was written are left out."""
    found = []
    for path in _listed(folder, "process-*.jsonl"):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            found.append(_process(path))
    return tuple(sorted(found, key=lambda process: process.pid))


def kernel_name(text: str) -> str | None:
    """The first function of an MLIR module that is not private, in either syntax; None if there is none."""
    for match in _KERNEL.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if not match[1] and "//" not in text[line_start : match.start()]:
            return match[2] or match[3]
    for match in _GENERIC_KERNEL.finditer(text):
        if not _GENERIC_PRIVATE.search(match[0]):
            return match[1]
    return None


def _call(folder: Path) -> CapturedCall:
    begin, end = _begin_and_end(folder / CALL_FILE)
    kept = [folder / entry["file"] for entry in begin["inputs"] if entry["file"]]
    source = next((path for path in [*kept, folder / "stdin"] if path.is_file()), None)
    outputs = [folder / entry["file"] for entry in end.get("outputs", ()) if entry["file"]]
    streams = end.get("streams", {})
    return CapturedCall(
        id=begin["id"],
        tool=begin["tool"],
        argv=tuple(begin["argv"]),
        cwd=begin["cwd"],
        pid=begin["pid"],
        started=begin["started"],
        seconds=end["seconds"] if end else max(time.time() - begin["started"], 0.0),
        returncode=end.get("returncode"),
        input=source,
        outputs=tuple(path for path in outputs if path.is_file()),
        stdout=_stream(folder / "stdout", streams),
        stderr=_stream(folder / "stderr", streams),
        environment=tuple(sorted(begin["environment"].items())),
        kernel=_kernel_of(source),
        finished=bool(end),
        notes=tuple(end.get("drops", begin["drops"])),
        launch=begin.get("launch"),
        peak_memory=end.get("peak"),
    )


def _process(path: Path) -> CapturedProcess:
    begin, end = _begin_and_end(path)
    stack = path.with_name(f"stack-{begin['pid']}.txt")
    return CapturedProcess(
        pid=begin["pid"],
        argv=tuple(begin["argv"]),
        environment=tuple(sorted(begin["environment"].items())),
        ended=True if end else False if begin["tells_end"] else None,
        started=begin["time"],
        stack=stack.read_text(errors="replace") if stack.is_file() else "",
    )


def _exception(path: Path) -> CapturedException:
    value = _object(path.read_text(encoding="utf-8"))
    return CapturedException(
        pid=value["pid"],
        type=value["type"],
        message=value["message"],
        text=value["text"],
        time=value["time"],
        argv=tuple(value["argv"]),
        launched=value.get("launched"),
    )


def _kernel_of(source: Path | None) -> str | None:
    if source is None:
        return None
    with source.open("rb") as file:
        return kernel_name(file.read(_HEAD).decode("utf-8", "replace"))


def _begin_and_end(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first and the last line of a call's file. A torn line, of a process that was killed, is no end."""
    first, *others = path.read_text(encoding="utf-8").splitlines() or [""]
    for line in reversed(others):
        with contextlib.suppress(ValueError):
            return _object(first), _object(line)
    return _object(first), {}


def _stream(path: Path, sizes: Mapping[str, int]) -> Path | None:
    if sizes.get(path.name) == 0:
        path.touch()  # the recorder makes no empty files, they cost it most
    return path if path.is_file() else None


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _listed(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def _lines(path: Path) -> Iterator[str]:
    try:
        yield from path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        yield f"{path.name}: not readable ({error})"
