"""Failures at run time: the compiles were healthy, and what they made was wrong, ended badly, or never ended.

When a program's end counts as one (docs/recording.md says so to users): a kernel was compiled to a binary, no
compile is named by what the program raised, and

    a hang         the command was ended by --run-timeout, and no compile was under way
    a device error the exception, or the device log of its process, holds one of the runtime's error codes
    a wrong result an AssertionError: the script's own check, or that of torch.testing or numpy.testing
    a launch error a RuntimeError out of a kernel's launch, or in words of the NPU's runtime
    a crash        a signal such as SIGSEGV or SIGABRT

Anything else is taken for the program's own mistake, unless the user says otherwise (`--always`): a TypeError,
the front end's CompilationError, an exit code without an exception.
"""

from __future__ import annotations

import dataclasses
import re
import signal
from collections.abc import Iterator, Sequence

from bundler.capture.session import Capture, CapturedCall, CapturedException
from bundler.compiler.diagnose import diagnose
from bundler.compiler.outcome import Diagnosis, Outcome, Stage, ToolRun
from bundler.pipeline.captured import case_of_capture, named_failing
from bundler.pipeline.case import Case
from bundler.pipeline.ranks import identity_of
from bundler.pipeline.run_facts import run_logs

Judged = Sequence[tuple[CapturedCall, Diagnosis]]

_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
_NPU_WORDS = re.compile(
    r"\bNPU\b|torch_npu|\baclrt|\bACL\b|\brt[A-Z]\w+|\bHCCL\b|\bE[A-Z]\d{4}\b|\bERR\d{5}\b"
)
_REMEDIES = (
    "Try the barrier workaround (npubug barrier): if it helps, the compiler's synchronisation is at fault.",
    "Run with TRITON_INTERPRET=1: the same wrong result there means that the kernel's own logic is wrong.",
)


@dataclasses.dataclass(frozen=True)
class RuntimeFailure:
    """A failure at run time.

    `call` compiled the kernel that is suspected; `why` says what makes it the one.
    """

    call: CapturedCall
    diagnosis: Diagnosis
    why: str


def runtime_failure(judged: Judged, seen: Capture, *, anything: bool = False) -> RuntimeFailure | None:
    """The failure at run time that a run ended with, or None.

    Args:
        anything: take whatever made the program fail for one.
    """
    binaries = [call for call, diagnosis in judged if _made_a_binary(call, diagnosis)]
    under_way = seen.timed_out and any(not call.finished for call, _ in judged)
    if seen.exit_code == 0 or not binaries or under_way or named_failing(judged, seen) is not None:
        return None
    logs = "\n".join(log.text.decode(errors="replace") for log in run_logs(seen))
    exception, diagnosis = _told(seen, logs)
    if diagnosis is None and anything:
        diagnosis = _unexplained(exception, seen.exit_code)
    if diagnosis is None:
        return None
    call, why = _suspect(binaries, diagnosis, exception)
    return RuntimeFailure(call, diagnosis, why)


def case_of_runtime(seen: Capture, failure: RuntimeFailure, judged: Judged) -> Case:
    """The case of a failure at run time."""
    kernels = dict.fromkeys(call.kernel or "unnamed" for call, d in judged if _made_a_binary(call, d))
    case = case_of_capture(seen, failure.call, failure.diagnosis)
    notes = (
        f"every compile went well; the failure came at run time: {failure.diagnosis.message}"[:300],
        f"the kernel in question is {failure.call.kernel or 'unnamed'}: {failure.why}",
        f"compiled in this run: {', '.join(kernels)}"[:1000],
    )
    return dataclasses.replace(case, notes=(*case.notes, *notes))


def _made_a_binary(call: CapturedCall, diagnosis: Diagnosis) -> bool:
    return (
        diagnosis.outcome is Outcome.HEALTHY and call.input is not None and call.tool != "triton-adapter-opt"
    )


def _told(seen: Capture, logs: str) -> tuple[CapturedException | None, Diagnosis | None]:
    """The exception that tells most, and what it means; an exception too where it means nothing to us."""
    exceptions = _of_ranks_first(seen)
    for exception in exceptions:
        found = _device_error(f"{exception.text}\n{logs}")
        if found is not None:
            return exception, found
    for exception in exceptions:
        name = exception.type.rpartition(".")[2]
        if name == "AssertionError":
            return exception, _failed("wrong-result", exception)
        known = exception.launched is not None or _NPU_WORDS.search(exception.message)
        if name in ("RuntimeError", "AcceleratorError") and known:
            return exception, _failed("launch-error", exception)
    first = exceptions[0] if exceptions else None
    in_logs = _device_error(logs)
    if in_logs is not None:
        return first, in_logs
    if seen.timed_out:
        message = "the program did not end, and no compile was under way"
        return first, Diagnosis(Outcome.TIMED_OUT, Stage.RUNTIME, "hang", message, remedies=_REMEDIES)
    number = seen.exit_code - 128
    if number in _CRASHES:
        message = f"the program ended by {signal.Signals(number).name}"
        return first, Diagnosis(Outcome.CRASHED, Stage.RUNTIME, "program-crash", message, remedies=_REMEDIES)
    return first, None


def _of_ranks_first(seen: Capture) -> list[CapturedException]:
    """What processes that compiled have raised, then what others have; of ranks the first, else the last.

    A launcher ends with an exception of its own, which only says that a rank had one.
    """
    pids = {call.pid for call in seen.calls}
    distributed = any(identity_of(dict(call.environment)) is not None for call in seen.calls)
    ordered = list(seen.exceptions) if distributed else list(reversed(seen.exceptions))
    return sorted(ordered, key=lambda exception: exception.pid not in pids)


def _device_error(text: str) -> Diagnosis | None:
    diagnosis = diagnose(ToolRun(argv=("python",), returncode=1, stderr=text))
    return diagnosis if diagnosis.stage is Stage.RUNTIME else None


def _failed(kind: str, exception: CapturedException) -> Diagnosis:
    lines = [line.strip() for line in exception.message.splitlines() if line.strip()]
    return Diagnosis(
        Outcome.FAILED,
        Stage.RUNTIME,
        kind,
        message=lines[0] if lines else exception.type.rpartition(".")[2],
        lines=tuple(lines[:8]),
        remedies=_REMEDIES,
    )


def _unexplained(exception: CapturedException | None, exit_code: int) -> Diagnosis:
    if exception is not None:
        told = _failed("program-failure", exception)
        name = exception.type.rpartition(".")[2]
        return dataclasses.replace(told, message=f"{name}: {told.message}", recognised=False)
    message = f"the program ended with exit code {exit_code}"
    return Diagnosis(Outcome.FAILED, Stage.RUNTIME, "program-failure", message, recognised=False)


def _suspect(
    binaries: Sequence[CapturedCall], diagnosis: Diagnosis, exception: CapturedException | None
) -> tuple[CapturedCall, str]:
    """The kernel that is likeliest at fault, by the best evidence there is."""
    pid = exception.pid if exception is not None else None
    own = [call for call in binaries if call.pid == pid] or list(binaries)
    names = [
        (dict(diagnosis.details).get("kernel"), "the device names it"),
        (exception.launched if exception is not None else None, "the exception came out of its launch"),
    ]
    for name, why in names:
        for call in (*reversed(own), *reversed(binaries)):
            if name and call.kernel and (name == call.kernel or name.startswith(f"{call.kernel}_")):
                return call, why
    return own[-1], "it was compiled last" if len(own) > 1 else "no other one was compiled"


def unexplained_end(judged: Judged, seen: Capture) -> Iterator[str]:
    """Lines for people about a program that failed in a way that is taken for its own mistake."""
    binaries = sum(_made_a_binary(call, diagnosis) for call, diagnosis in judged)
    if seen.exit_code == 0 or not binaries:
        return
    what = f"exit code {seen.exit_code}"
    if seen.exceptions:
        what = seen.exceptions[-1].type.rpartition(".")[2]
    if what.endswith("CompilationError"):
        yield "triton's front end rejects a kernel: that is a matter of the kernel's source, not of the compiler"
    else:
        yield f"the program failed after healthy compiles ({what}), which is taken for its own mistake"
    yield "is it a kernel that went wrong? --always writes an archive all the same"
