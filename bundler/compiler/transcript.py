"""From a whole terminal or CI log to the runs of compiler tools that it tells of.

A log is megabytes, of several workers, each line behind prefixes that the launcher, the logger and the CI put
there. So: take the prefixes off, keep one stream per worker, and in each stream look for the few marks behind
which a failure stands. Each becomes an `Incident`: a `ToolRun` rebuilt from text, for `diagnose`.

Marks, and where they come from:
- triton-ascend 3.2 (compiler/errors.py): the tool's stderr between `///---[ERROR][Triton][BEG]---` and
  `[END]`, with `[ConvertLinalgRToBinary] encounters error:` for the stage, and before it in the traceback
  `subprocess.CalledProcessError: Command '[...]' returned non-zero exit status 1.` (or `died with ...`).
- triton: `triton.compiler.errors.CompilationError: at 7:11:` with the kernel's source below.
- torch_npu and CANN's runtime: `error code is 507035`, `runtime result = 507035`, `EZ9999: Inner Error!`.
- anything else that holds the words of a compiler tool: the log is that tool's own output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bundler.compiler.command_text import exit_status, quoted_argv
from bundler.compiler.outcome import ToolRun

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9A-B])")
# One prefix; they come in any order and number. Named: who is speaking. The rest is when and from where.
_PREFIX = re.compile(
    r"\ufeff"
    r"|\((?P<process>[A-Za-z][\w.-]*(?: [\w.-]+)? (?:pid|rank)=[^()\s]+(?:[ ,]+\w+=[^()\s]+)*)\) ?"
    r"|\[(?P<rank>rank\s?\d+)\]:? ?"
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?(?P<tag>(?: [A-Z]+\d+)*)\] ?"
    r"|(?P<service>[a-z][\w.-]*-\d+) +\| ?"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)? ?"
    r"|(?:ERROR|INFO|WARNING|DEBUG|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[[\w./-]+:\d+\] ?"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d+ - [\w.]+ - [A-Z]+ - ?"
    r"|[EIWF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+:\d+\] ?"
)
_PREFIX_STARTS = frozenset("([0123456789EIWCDF\ufeffabcdefghijklmnopqrstuvwxyz")
_BEGIN = "[ERROR][Triton][BEG]"
_END = "[ERROR][Triton][END]"
_STAGE = re.compile(r"\[(\w+)\] encounters error:")
_CACHE = "[INFO]: The compiled kernel cache is in "
_TOOL_OF_STAGE = {
    "ConvertTritonIRToLinalgIR": "triton-adapter-opt",
    "ConvertLinalgRToBinary": "bishengir-compile",
    "ConvertLinalgIRToBinary": "bishengir-compile",
}
_COMMAND = "CalledProcessError: Command "
_FRONT_END = "errors.CompilationError: "
_DEVICE_HINTS = ("error code is 507", "runtime result = 507", "failed: 507", "ErrCode=507", "errorStr: ")
_TOOL_HINTS = (
    "error: ", "LLVM ERROR", ": Assertion `", "UNREACHABLE executed", "IR Dump After", "hivmc",
    "InferCoreType",
    "Stack dump:", "std::bad_alloc", "error while loading shared libraries", "Unknown command line argument",
    "Exec format error", "' not found (required by",
)  # fmt: skip
_PROGRAM_ARGUMENTS = re.compile(r"\d+\.\s+Program arguments: (\S+)")
_MOST_PREFIXES = 8
_LOOK_BACK = 400  # lines between a tool's argv and its block, in one worker's stream


@dataclass(frozen=True)
class Incident:
    """One failure that a log tells of.

    `worker` names the process as its prefix does, empty without one; `line` is the first line in the log,
    counted from 1; `cache` is the kernel's cache folder, where triton printed it.
    """

    run: ToolRun
    worker: str = ""
    line: int = 1
    cache: str | None = None


@dataclass(frozen=True)
class _Stream:
    """The lines of one worker, without prefixes; `numbers` are their lines in the log."""

    worker: str
    lines: list[str]
    numbers: list[int]


def clean(text: str) -> str:
    """`text` without terminal colours, and with plain line ends (a progress bar's `\\r` ends a line too)."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def split_prefix(line: str) -> tuple[str, str]:
    """Who says it, and what, of one line; who is empty where no prefix names a process."""
    start = 0
    who: list[str] = []
    while start < len(line) and len(who) < _MOST_PREFIXES and line[start] in _PREFIX_STARTS:
        found = _PREFIX.match(line, start)
        if found is None:
            break
        who.extend(name.strip() for name in found.groups() if name and name.strip())
        start = found.end()
    return " ".join(who), line[start:] if start else line


def incidents(text: str) -> tuple[Incident, ...]:
    """Every failure that `text` tells of, in the order of its lines. Never raises; linear."""
    found: list[Incident] = []
    streams = _streams(clean(text))
    for stream in streams:
        found.extend(_of_stream(stream))
    if not found:
        found.extend(_raw_output(stream) for stream in streams if _looks_like_a_tool(stream))
    return tuple(sorted(found, key=lambda incident: incident.line))


def _streams(text: str) -> list[_Stream]:
    streams: dict[str, _Stream] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        who, line = split_prefix(raw)
        stream = streams.get(who)
        if stream is None:
            stream = streams[who] = _Stream(who, [], [])
        stream.lines.append(line)
        stream.numbers.append(number)
    return list(streams.values())


def _of_stream(stream: _Stream) -> Iterator[Incident]:
    told: tuple[int, ToolRun] | None = None  # what the last CalledProcessError said, not yet used
    device: list[int] = []
    floor = 0  # no text before this line is used again: that keeps the whole linear
    index = 0
    while index < len(stream.lines):
        line = stream.lines[index]
        if _BEGIN in line:
            incident, index = _block(stream, index, told)
            told, floor = None, index
            yield incident
            continue
        if _COMMAND in line:
            if told is not None:
                yield from _without_block(stream, told, floor)
                floor = told[0] + 1
            told = (index, _told_run(line))
        elif _FRONT_END in line and "MLIRCompilationError" not in line:
            incident, index = _front_end(stream, index)
            yield incident
            continue
        elif any(hint in line for hint in _DEVICE_HINTS):
            device.append(index)
        index += 1
    if told is not None:
        yield from _without_block(stream, told, floor)
    if device:
        yield _device(stream, device)


def _told_run(line: str) -> ToolRun:
    command = line[line.find(_COMMAND) + len(_COMMAND) :]
    return ToolRun(argv=quoted_argv(command), returncode=exit_status(command))


def _block(stream: _Stream, start: int, before: tuple[int, ToolRun] | None) -> tuple[Incident, int]:
    """The incident of a block, and the index of the line after it."""
    stage, cache = "", None
    body: list[str] = []
    index = start + 1
    while index < len(stream.lines) and _END not in stream.lines[index] and _BEGIN not in stream.lines[index]:
        line = stream.lines[index]
        found = _STAGE.match(line)
        if found is not None and not stage:
            stage = found[1]
        elif line.startswith(_CACHE):
            cache = line[len(_CACHE) :].strip()
        else:
            body.append(line)
        index += 1
    near = before is not None and start - before[0] <= _LOOK_BACK
    told = before[1] if before is not None and near else ToolRun(argv=(), returncode=None)
    argv = told.argv or (_TOOL_OF_STAGE.get(stage, ""),)
    code = told.returncode if told.returncode is not None else 1
    run = ToolRun(argv=argv, returncode=code, stderr="\n".join(body).strip("\n"))
    return Incident(run, stream.worker, stream.numbers[start], cache), index + 1


def _without_block(stream: _Stream, told: tuple[int, ToolRun], floor: int) -> Iterator[Incident]:
    """A command that failed; its output stands above the traceback, if anywhere (master prints it itself)."""
    index, run = told
    if not run.argv:
        return
    floor = max(floor, index - _LOOK_BACK)
    start = index
    while start > floor and not stream.lines[start].startswith("Traceback (most recent call last)"):
        start -= 1
    stderr = "\n".join(stream.lines[floor:start])
    run = ToolRun(argv=run.argv, returncode=run.returncode, stderr=stderr)
    yield Incident(run, stream.worker, stream.numbers[index])


def _front_end(stream: _Stream, start: int) -> tuple[Incident, int]:
    """A CompilationError: the kernel's source up to a caret, then the reason; then a traceback or nothing."""
    index = start + 1
    while index < min(len(stream.lines), start + 200):
        if stream.lines[index].startswith(("Traceback", "The above exception", "During handling")):
            break
        index += 1
    text = "\n".join(stream.lines[start:index]).rstrip("\n")
    run = ToolRun(argv=("python",), returncode=1, stderr=text)
    return Incident(run, stream.worker, stream.numbers[start]), index


def _device(stream: _Stream, at: list[int]) -> Incident:
    """All device errors of one worker are one incident: the first stops the stream, the others follow."""
    first, last = at[0], min(at[-1], at[0] + _LOOK_BACK)
    body = stream.lines[max(0, first - 5) : last + 5]
    run = ToolRun(argv=("python",), returncode=1, stderr="\n".join(body))
    return Incident(run, stream.worker, stream.numbers[first])


def _looks_like_a_tool(stream: _Stream) -> bool:
    return any(hint in line for line in stream.lines for hint in _TOOL_HINTS)


def _raw_output(stream: _Stream) -> Incident:
    text = "\n".join(stream.lines)
    named = _PROGRAM_ARGUMENTS.search(text) if "Program arguments:" in text else None
    argv = (named[1],) if named is not None else (_guess_tool(text),)
    run = ToolRun(argv=argv, returncode=_guess_code(text), stderr=text)
    return Incident(run, stream.worker, stream.numbers[0])


def _guess_code(text: str) -> int:
    """A saved log has no exit code: a stack with libc's abort in it is one, any other stack a segfault."""
    if not any(mark in text for mark in ("PLEASE submit a bug report", "Stack dump:")):
        return 1
    return -6 if " abort " in text or "LLVM ERROR" in text else -11


def _guess_tool(text: str) -> str:
    for tool in ("triton-adapter-opt", "bishengir-compile-a5", "bishengir-opt", "bishengir-compile"):
        if f"{tool}: " in text or f"/{tool}+0x" in text:
            return tool
    return "bishengir-compile-a5" if "hivmc-a5" in text else "bishengir-compile"
