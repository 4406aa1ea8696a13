"""From a recorded run to its case: every compile call judged, and the one that failed chosen."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bundler.capture.cache import cached_ir
from bundler.capture.session import Capture, CapturedCall, capture
from bundler.compiler.diagnose import diagnose
from bundler.compiler.invoke import CompileCommand, command_of, compile_file
from bundler.compiler.outcome import Diagnosis, ToolRun
from bundler.compiler.toolchain import ADAPTER, COMPILE, find_tool
from bundler.errors import ExitCode, NpubugError
from bundler.evidence.context import Context
from bundler.pipeline.case import Case
from bundler.pipeline.ranks import identity_of

COMPILERS = ("bishengir-compile", "bishengir-compile-a5", "npuc", "triton-adapter-opt")
_MOST_UNHEARD = 8
_UNHEARD_TIMEOUT = 300.0
_QUESTIONS = frozenset({"--version", "--help", "-h", "--help-hidden", "--help-list"})


def run_recorded(
    command: Sequence[str], work: Path, *, timeout: float | None, via_path: bool | None = None
) -> Capture:
    """Run the user's command under the recorder; see `bundler.capture.session.capture`.

    Of a failing call whose words went straight to the terminal they are had by compiling again: without them
    nobody can tell a bug from a missing backend.
    """
    seen = capture(command, work, timeout=timeout, via_path=via_path)
    silent = [call for call in seen.calls if _failed_unheard(call)][-_MOST_UNHEARD:]
    heard = {call.id: again for call in silent if (again := _heard(call)) is not None}
    lost = [f"call {id}: its words were not piped; the archive has those of another compile" for id in heard]
    calls = tuple(heard.get(call.id, call) for call in seen.calls)
    return dataclasses.replace(seen, calls=calls, lost=(*seen.lost, *lost))


def _failed_unheard(call: CapturedCall) -> bool:
    unheard = call.stdout is None and call.stderr is None
    return unheard and bool(call.returncode) and call.input is not None and call.tool in COMPILERS


def _heard(call: CapturedCall) -> CapturedCall | None:
    assert call.input is not None
    try:
        run = compile_file(local_command(call.argv), call.input, timeout=_UNHEARD_TIMEOUT)
        streams = [call.input.with_name(name) for name in ("stdout", "stderr")]
        for path, text in zip(streams, (run.stdout, run.stderr)):
            path.write_text(text, errors="replace")
    except (NpubugError, OSError):
        return None
    return dataclasses.replace(call, stdout=streams[0], stderr=streams[1])


def judge_capture(seen: Capture) -> list[tuple[CapturedCall, Diagnosis]]:
    """Diagnose every compile call of a run, in order; questions such as `--version` are left out."""
    judged = []
    for call in seen.calls:
        if call.tool in COMPILERS and not _QUESTIONS.intersection(call.argv):
            judged.append((call, diagnose(recorded_run(call))))
    return judged


def choose_failing(
    judged: Sequence[tuple[CapturedCall, Diagnosis]], seen: Capture
) -> tuple[CapturedCall, Diagnosis] | None:
    """The call to report: the one the program's last exception names, else the last that failed.

    An autotuner tries configurations that fail and catches that; what ended the program is what its author sees.
    Of several ranks it is the first that failed: its end ends the others. For that reason, too, a call whose end
    was not seen counts only if no other one failed.
    """
    failing = _failing(judged)
    return named_failing(judged, seen) or (failing[-1] if failing else None)


def named_failing(
    judged: Sequence[tuple[CapturedCall, Diagnosis]], seen: Capture
) -> tuple[CapturedCall, Diagnosis] | None:
    """The failing call that the program's last exception names, of ranks the first; None if none names one."""
    failing = _failing(judged)
    distributed = any(identity_of(dict(call.environment)) is not None for call, _ in failing)
    for exception in seen.exceptions if distributed else reversed(seen.exceptions):
        for call, diagnosis in reversed(failing):
            paths = [word for word in call.argv[1:] if "/" in word and not word.startswith("-")]
            if any(path in exception.text for path in paths):
                return call, diagnosis
    return None


def _failing(judged: Sequence[tuple[CapturedCall, Diagnosis]]) -> list[tuple[CapturedCall, Diagnosis]]:
    failing = [pair for pair in judged if pair[1].outcome.is_bug and pair[0].input is not None]
    return [pair for pair in failing if pair[0].finished] or failing


def case_of_capture(seen: Capture, failing: CapturedCall, diagnosis: Diagnosis) -> Case:
    """The case of one failing call of a run."""
    assert failing.input is not None
    return Case(
        name=run_name(seen.command) or failing.kernel or "kernel",
        command=local_command(failing.argv),
        input=failing.input,
        recorded=diagnosis,
        capture=seen,
        failing=failing,
        cached=cached_ir(seen.cache_dir, failing.kernel, input=failing.input),
        interpreter=_interpreter(seen.command),
    )


def local_command(argv: Sequence[str]) -> CompileCommand:
    """A recorded command line with its tool found on PATH, as the recorded program found it."""
    command, _ = command_of(argv)
    tool = shutil.which(command.tool)
    if tool is None and not command.tool.is_file():
        raise _not_found(command.tool)
    return dataclasses.replace(command, tool=Path(tool)) if tool is not None else command


def _not_found(tool: Path) -> NpubugError:
    """The program itself did not find a compiler: the commonest set-up mistake, so say how to mend it here."""
    try:
        hint = f'export PATH="{find_tool(COMPILE).path.parent}:$PATH", and run it again'
    except NpubugError as error:
        hint = error.hint
    return NpubugError(
        f"the program called {tool.name}, and there is no such tool",
        why="triton-ascend calls npuc when bishengir-compile is not on PATH",
        hint=hint,
        code=ExitCode.TOOL_MISSING,
    )


def context_of_run(seen: Capture) -> Context:
    """What the collectors of the environment need to know of a run in which nothing failed."""
    compiles = [call for call in seen.calls if call.tool in COMPILERS and call.argv]
    last = next((call for call in reversed(compiles) if call.tool != ADAPTER), None)
    tool = shutil.which(last.argv[0]) if last is not None else None
    compiler = Path(tool) if tool is not None else None
    if compiler is None:  # no compile was seen: then the one that a compile would find
        with contextlib.suppress(NpubugError):
            compiler = find_tool(COMPILE).path
    kernel, input = (last.kernel, last.input) if last is not None else (None, None)
    cached = cached_ir(seen.cache_dir, kernel, input=input)
    return Context(
        interpreter=_interpreter(seen.command),
        compiler=compiler,
        compiler_argv=last.argv if last is not None else (),
        cached_files=tuple(path.name for path in cached),
    )


def names(judged: Sequence[tuple[CapturedCall, Diagnosis]]) -> Iterator[str]:
    """A line for each compile call, for people."""
    for call, diagnosis in judged:
        yield f"{call.tool}: {call.kernel or 'unnamed kernel'}: {diagnosis.outcome.value}"


def recorded_run(call: CapturedCall) -> ToolRun:
    """A recorded call as a run, for `diagnose`."""
    return ToolRun(
        argv=call.argv,
        returncode=call.returncode,
        stdout=_text(call.stdout),
        stderr=_text(call.stderr),
        seconds=call.seconds,
        timed_out=not call.finished,
        output_written=bool(call.outputs),
    )


def script_of(command: Sequence[str]) -> Path | None:
    """The Python file on the command line, if there is one."""
    return next((Path(w) for w in command[1:] if w.endswith(".py") and Path(w).is_file()), None)


def run_name(command: Sequence[str]) -> str:
    """What a run is called after: its Python script, or nothing."""
    script = script_of(command)
    return script.stem if script is not None else ""


def _text(path: Path | None) -> str:
    return path.read_text(errors="replace") if path is not None and path.is_file() else ""


def _interpreter(command: Sequence[str]) -> Path:
    """The user's Python: the command itself, or the `python3` that a shell script would find."""
    first = Path(command[0]).name if command else ""
    found = shutil.which(command[0]) if first.startswith("python") else shutil.which("python3")
    return Path(found) if found else Path(sys.executable)
