"""From a failing compile to an archive: the bundler's one pipeline.

    capture (or a bare file) -> Case -> evidence -> redact -> archive

A `Case` is the failing compile with everything that surrounds it; where it came from makes no difference to what
follows.
"""

from __future__ import annotations

import dataclasses
import datetime
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import bundler
from bundler.archive import NewMember, write_archive
from bundler.capture.cache import cached_ir
from bundler.capture.session import Capture, CapturedCall, capture
from bundler.compiler.diagnose import diagnose
from bundler.compiler.examine import require_failure
from bundler.compiler.inputs import check_readable, is_bytecode
from bundler.compiler.invoke import CompileCommand, command_of, default_command
from bundler.compiler.outcome import Diagnosis, Outcome, ToolRun
from bundler.compiler.signature import Signature, signature_of
from bundler.evidence.environment import Context, collect
from bundler.evidence.recompile import AFTER_ALL, AFTER_FAILURE, Recompile, recompile, try_barrier
from bundler.manifest import CallRecord, Drop, Fact, Manifest, SignatureRecord, Workaround
from bundler.redact import Redactor

SUFFIX = ".npubug.tar.zst"
STEADY_RUNS = 3  # a failure that came this often in a row counts as reproducible
FLAKY_RUNS = 10  # compiles to tell the rate of one that did not
_COMPILERS = ("bishengir-compile", "bishengir-compile-a5", "npuc", "triton-adapter-opt")
_QUESTIONS = frozenset({"--version", "--help", "-h", "--help-hidden", "--help-list"})


@dataclass(frozen=True)
class Case:
    """A failing compile and its surroundings.

    Attributes:
        name: what the archive is called after: the script, the kernel or the file.
        command: the tool and flags that failed; `input` is the file it read.
        recorded: how the recorded call ended, or None if nothing was recorded.
        capture: the run it was part of, or None for a bare file.
    """

    name: str
    command: CompileCommand
    input: Path
    recorded: Diagnosis | None = None
    capture: Capture | None = None
    failing: CapturedCall | None = None
    cached: tuple[Path, ...] = ()
    interpreter: Path = field(default_factory=lambda: Path(sys.executable))


@dataclass(frozen=True)
class Bundle:
    """What was written. `manifest` as in the archive; `diagnosis` of the failing compile."""

    path: Path
    manifest: Manifest
    diagnosis: Diagnosis


@dataclass(frozen=True)
class Plan:
    """How to bundle.

    Attributes:
        output: a folder, or the archive's own path.
        timeout: seconds for each recompile.
        say: receives a line for each long step.
        redactor: None leaves everything as it is.
    """

    output: Path
    timeout: float
    say: Callable[[str], None]
    redactor: Redactor | None


def judge_capture(seen: Capture) -> list[tuple[CapturedCall, Diagnosis]]:
    """Diagnose every compile call of a run, in order; questions such as `--version` are left out."""
    judged = []
    for call in seen.calls:
        if call.tool in _COMPILERS and not _QUESTIONS.intersection(call.argv):
            judged.append((call, diagnose(_recorded_run(call))))
    return judged


def choose_failing(
    judged: Sequence[tuple[CapturedCall, Diagnosis]], seen: Capture
) -> tuple[CapturedCall, Diagnosis] | None:
    """The call to report: the one the program's last exception names, else the last that failed.

    An autotuner tries configurations that fail and catches that; what ended the program is what its author sees.
    """
    failing = [pair for pair in judged if pair[1].outcome.is_bug and pair[0].input is not None]
    for exception in reversed(seen.exceptions):
        for call, diagnosis in reversed(failing):
            paths = [word for word in call.argv[1:] if "/" in word and not word.startswith("-")]
            if any(path in exception.text for path in paths):
                return call, diagnosis
    return failing[-1] if failing else None


def case_of_capture(seen: Capture, failing: CapturedCall, diagnosis: Diagnosis) -> Case:
    """The case of one failing call of a run."""
    assert failing.input is not None
    command, _ = command_of(failing.argv)
    tool = shutil.which(command.tool)
    if tool is not None:
        command = dataclasses.replace(command, tool=Path(tool))
    return Case(
        name=run_name(seen.command) or failing.kernel or "kernel",
        command=command,
        input=failing.input,
        recorded=diagnosis,
        capture=seen,
        failing=failing,
        cached=cached_ir(seen.cache_dir, failing.kernel, input=failing.input),
        interpreter=_interpreter(seen.command),
    )


def case_of_file(path: Path, compiler: Path | None, flags: Sequence[str] | None) -> Case:
    """The case of a bare IR file.

    Raises:
        NpubugError: no compiler was found, or the file cannot be IR.
    """
    check_readable(path)
    name = path.name
    for ending in (".mlir", ".ttadapter", ".ttir", ".bcmlir", ".mlirbc"):
        name = name[: -len(ending)] if name.endswith(ending) and name != ending else name
    return Case(name=name, command=default_command(path, compiler, flags), input=path)


def run_recorded(command: Sequence[str], work: Path, *, timeout: float | None) -> Capture:
    """Run the user's command under the recorder; see `bundler.capture.session.capture`."""
    return capture(command, work, timeout=timeout)


def bundle(case: Case, plan: Plan) -> Bundle:
    """Gather the evidence of a case and write its archive.

    Raises:
        NpubugError: the compile does not fail (NOTHING_FAILED), the input is not MLIR (INVALID_INPUT), or the
            archive cannot be written.
    """
    expected = signature_of(case.recorded) if case.recorded is not None else None
    plan.say(f"recompiling {case.input.name} to name the failing pass")
    first = recompile(case.command, case.input, *AFTER_FAILURE, expected=expected, timeout=plan.timeout)
    if case.recorded is None:
        require_failure(first.diagnosis, case.command.tool.name, case.input.name)
    same = case.recorded is None or first.entry.reproduced
    diagnosis = first.diagnosis if same or case.recorded is None else case.recorded
    signature = signature_of(diagnosis)
    with ThreadPoolExecutor(2) as pool:
        plan.say(
            "recompiling with the IR after every pass; collecting the environment; trying the barrier flag"
        )
        everything = pool.submit(
            recompile, case.command, case.input, *AFTER_ALL, expected=signature, timeout=plan.timeout
        )
        facts = pool.submit(collect, _context(case))
        workaround, barrier = try_barrier(
            case.command, case.input, signature, runs_default=1 if same else 0, timeout=plan.timeout
        )
        plain = [first, everything.result()]
        environment = facts.result()
    plain += _reruns(case, plan, signature, plain)
    recompiles = [*plain, *([barrier] if barrier is not None else [])]
    return _write(case, plan, diagnosis, signature, recompiles, environment, workaround)


def _reruns(case: Case, plan: Plan, signature: Signature, seen: Sequence[Recompile]) -> list[Recompile]:
    """Compile again until the failure has come three times of three, or often enough to know its rate."""
    made: list[Recompile] = []
    if signature.outcome is Outcome.TIMED_OUT:
        return made  # each would take the whole time limit
    while len(seen) + len(made) < (STEADY_RUNS if _steady([*seen, *made]) else FLAKY_RUNS):
        name = f"rerun-{len(made) + 1}"
        made.append(recompile(case.command, case.input, name, (), expected=signature, timeout=plan.timeout))
    if not _steady([*seen, *made]):
        plan.say("it fails only sometimes: " + steadiness_note([*seen, *made]))
    # Their logs say what the first one says; the ending and the signature are what counts.
    return [dataclasses.replace(r, entry=dataclasses.replace(r.entry, log=None)) for r in made]


def _steady(runs: Sequence[Recompile]) -> bool:
    return all(run.entry.reproduced for run in runs)


def steadiness_note(runs: Sequence[Recompile]) -> str:
    """`3 of 10 compiles failed in this way; the others: 7 x healthy`."""
    others = Counter(run.signature.id for run in runs if not run.entry.reproduced)
    came = sum(run.entry.reproduced for run in runs)
    rest = ", ".join(f"{count} x {id}" for id, count in sorted(others.items()))
    return f"{came} of {len(runs)} compiles failed in this way" + (f"; the others: {rest}" if rest else "")


def bundle_healthy(name: str, seen: Capture, plan: Plan) -> Path:
    """An archive of a run in which no compile failed, for `--always`: the calls and the environment."""
    environment = collect(Context())
    manifest = Manifest(
        name=name,
        created=_now(),
        npubug_version=bundler.__version__,
        command=seen.command,
        command_exit=seen.exit_code,
        environment=environment,
        notes=("no compile of this run failed",),
    )
    return _finish(plan, manifest, _CallMembers(seen), [], f"{name}-no-failure{SUFFIX}")[0]


def _write(
    case: Case,
    plan: Plan,
    diagnosis: Diagnosis,
    signature: Signature,
    recompiles: Sequence[Recompile],
    environment: tuple[Fact, ...],
    workaround: Workaround,
) -> Bundle:
    suffix = ".ttir" if ".ttir" in case.input.name else ".bcmlir" if is_bytecode(case.input) else ".ttadapter"
    members = [NewMember(f"input/kernel{suffix}", "input", case.input)]
    members += [NewMember(f"ir/{path.name}", "ir", path) for path in case.cached]
    members += [NewMember(r.entry.log, "log", r.log.encode()) for r in recompiles if r.entry.log]
    calls = _CallMembers(case.capture, case.failing)
    notes = []
    if case.capture is None:
        argv = case.command.argv(Path(f"input/kernel{suffix}"), Path("kernel"))
        calls.records.append(
            CallRecord(
                id="call-1",
                tool=case.command.tool.name,
                argv=argv,
                cwd="",
                returncode=None,
                seconds=recompiles[0].entry.seconds,
                outcome=diagnosis.outcome.value,
                input=f"input/kernel{suffix}",
            )
        )
    else:
        notes += [f"lost while recording: {line}" for line in case.capture.lost]
        texts = [exception.text for exception in case.capture.exceptions]
        if texts:
            members.append(NewMember("logs/program.log", "program-log", "\n".join(texts).encode()))
        script = _script(case.capture.command)
        if script is not None:
            members.append(NewMember(f"source/{script.name}", "source", script))
    plain = [run for run in recompiles if run.entry.name != "barrier"]
    if not _steady(plain):
        notes.append(f"fails only sometimes when compiled again: {steadiness_note(plain)}")
    manifest = Manifest(
        name=case.name,
        created=_now(),
        npubug_version=bundler.__version__,
        command=case.capture.command if case.capture is not None else (),
        command_exit=case.capture.exit_code if case.capture is not None else None,
        signature=signature_record(signature, diagnosis),
        failing_call=calls.failing_id or "call-1",
        evidence=tuple(r.entry for r in recompiles),
        environment=environment,
        workaround=workaround,
        notes=tuple(notes),
    )
    path, written = _finish(plan, manifest, calls, members, f"{case.name}-{signature.id}{SUFFIX}")
    return Bundle(path, written, diagnosis)


def signature_record(signature: Signature, diagnosis: Diagnosis) -> SignatureRecord:
    """The signature as the manifest stores it; the message as the compiler printed it."""
    return SignatureRecord(
        id=signature.id,
        outcome=signature.outcome.value,
        stage=signature.stage.value,
        kind=signature.kind,
        message=diagnosis.message,
        pass_name=signature.pass_name,
        frames=signature.frames,
        recognised=diagnosis.recognised,
    )


class _CallMembers:
    """The recorded calls as manifest records and archive members, numbered in the order they were made."""

    def __init__(self, seen: Capture | None, failing: CapturedCall | None = None) -> None:
        self.records: list[CallRecord] = []
        self.members: list[NewMember] = []
        self.drops: list[Drop] = []
        self.failing_id: str | None = None
        for number, call in enumerate(seen.calls if seen is not None else (), start=1):
            self._add(f"call-{number}", call, is_failing=failing is not None and call.id == failing.id)

    def _add(self, id: str, call: CapturedCall, *, is_failing: bool) -> None:
        if is_failing:
            self.failing_id = id
        diagnosis = diagnose(_recorded_run(call))
        self.records.append(
            CallRecord(
                id=id,
                tool=call.tool,
                argv=call.argv,
                cwd=call.cwd,
                returncode=call.returncode,
                seconds=round(call.seconds, 3),
                outcome=diagnosis.outcome.value,
                pid=call.pid,
                kernel=call.kernel,
                input=self._member(id, call.input, "call-input"),
                outputs=tuple(name for o in call.outputs if (name := self._member(id, o, "call-output"))),
                stdout=self._member(id, call.stdout, "call-stdout"),
                stderr=self._member(id, call.stderr, "call-stderr"),
            )
        )
        self.drops += [Drop(f"{id}: {note}", "recording limit") for note in call.notes]

    def _member(self, id: str, path: Path | None, role: str) -> str | None:
        if path is None or not path.is_file():
            return None
        name = f"calls/{id}/{path.name}"
        self.members.append(NewMember(name, role, path))
        return name


def _finish(
    plan: Plan, manifest: Manifest, calls: _CallMembers, members: Sequence[NewMember], file_name: str
) -> tuple[Path, Manifest]:
    """Redact everything and write the archive."""
    manifest = dataclasses.replace(manifest, calls=tuple(calls.records), drops=tuple(calls.drops))
    together = [*members, *calls.members]
    if plan.redactor is not None:
        plan.say("redacting")
        file_name = plan.redactor.text(file_name)
        manifest, together = redact(manifest, together, plan.redactor)
    path = plan.output / file_name if plan.output.is_dir() else plan.output
    plan.say(f"writing {path.name}")
    return path, write_archive(path, manifest, together)


def redact(
    manifest: Manifest, members: Sequence[NewMember], redactor: Redactor
) -> tuple[Manifest, list[NewMember]]:
    """The manifest and the members with everything private replaced, and the counts noted."""
    clean = []
    for member in members:
        content = member.content.read_bytes() if isinstance(member.content, Path) else member.content
        # Names too: the manifest's references to them go through the same replacement.
        clean.append(NewMember(redactor.text(member.name), member.role, redactor.data(content)))
    redacted = _redact_value(manifest, redactor)
    assert isinstance(redacted, Manifest)
    return dataclasses.replace(redacted, redactions=redactor.counts), clean


def _redact_value(value: object, redactor: Redactor) -> object:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, tuple):
        return tuple(_redact_value(each, redactor) for each in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _redact_value(getattr(value, f.name), redactor) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    return value


def _recorded_run(call: CapturedCall) -> ToolRun:
    return ToolRun(
        argv=call.argv,
        returncode=call.returncode,
        stdout=_text(call.stdout),
        stderr=_text(call.stderr),
        seconds=call.seconds,
        timed_out=not call.finished,
        output_written=bool(call.outputs),
    )


def _text(path: Path | None) -> str:
    return path.read_text(errors="replace") if path is not None and path.is_file() else ""


def _context(case: Case) -> Context:
    return Context(
        interpreter=case.interpreter,
        compiler=case.command.tool,
        compiler_argv=case.failing.argv
        if case.failing is not None
        else (str(case.command.tool), *case.command.flags),
        cached_files=tuple(path.name for path in case.cached) or (case.input.name,),
    )


def _script(command: Sequence[str]) -> Path | None:
    """The Python file on the command line, if there is one."""
    return next((Path(w) for w in command[1:] if w.endswith(".py") and Path(w).is_file()), None)


def run_name(command: Sequence[str]) -> str:
    """What a run is called after: its Python script, or nothing."""
    script = _script(command)
    return script.stem if script is not None else ""


def _interpreter(command: Sequence[str]) -> Path:
    """The user's Python: the command itself, or the `python3` that a shell script would find."""
    first = Path(command[0]).name if command else ""
    found = shutil.which(command[0]) if first.startswith("python") else shutil.which("python3")
    return Path(found) if found else Path(sys.executable)


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def work_folder() -> tempfile.TemporaryDirectory[str]:
    """A private folder for one bundling, removed afterwards."""
    return tempfile.TemporaryDirectory(prefix="npubug-")


def names(judged: Sequence[tuple[CapturedCall, Diagnosis]]) -> Iterator[str]:
    """A line for each compile call, for people."""
    for call, diagnosis in judged:
        yield f"{call.tool}: {call.kernel or 'unnamed kernel'}: {diagnosis.outcome.value}"
