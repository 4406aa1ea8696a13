"""What an archive holds: the members and the manifest of one case."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import bundler
from bundler.archive import NewMember
from bundler.compiler.bytecode import decode
from bundler.compiler.inputs import is_bytecode
from bundler.compiler.outcome import Diagnosis, Stage
from bundler.compiler.signature import Signature
from bundler.evidence.recompile import Recompile
from bundler.manifest import CallRecord, Fact, Manifest, SignatureRecord, Workaround
from bundler.pipeline.calls import CallMembers
from bundler.pipeline.captured import script_of
from bundler.pipeline.case import Case
from bundler.pipeline.reruns import steadiness_note, steady
from bundler.pipeline.run_facts import RunFacts, run_facts


@dataclass(frozen=True)
class Evidence:
    """What was gathered about a case after the capture. `recompiles` are in the order of the manifest."""

    diagnosis: Diagnosis
    signature: Signature
    recompiles: tuple[Recompile, ...]
    environment: tuple[Fact, ...]
    workaround: Workaround


@dataclass(frozen=True)
class Contents:
    """An archive before redaction; `manifest` still lacks the calls, which `calls` brings."""

    manifest: Manifest
    members: tuple[NewMember, ...]
    calls: CallMembers


def contents_of(case: Case, evidence: Evidence) -> Contents:
    """The archive of a case and its evidence."""
    recompiles, notes = evidence.recompiles, list(case.notes)
    member, members, why = _ir_members(case)
    notes += why
    members += [NewMember(r.entry.log, "log", r.log.encode()) for r in recompiles if r.entry.log]
    calls = CallMembers(case.capture, case.failing)
    told: RunFacts | None = None
    log = case.log
    if case.capture is None:
        calls.records.append(
            _call_without_record(case, member, recompiles[0], evidence.diagnosis.outcome.value)
        )
    else:
        notes += [f"lost while recording: {line}" for line in case.capture.lost]
        texts = [exception.text for exception in case.capture.exceptions]
        log = "\n".join(texts).encode() if texts else log
        script = script_of(case.capture.command)
        if script is not None:
            members.append(NewMember(f"source/{script.name}", "source", script))
        told = run_facts(case.capture, case.failing)
        notes += told.notes
        members += told.members
    if log:
        members.append(NewMember("logs/program.log", "program-log", log))
    plain = [run for run in recompiles if run.entry.name != "barrier"]
    if evidence.signature.stage is not Stage.RUNTIME and not steady(plain):
        notes.append(f"fails only sometimes when compiled again: {steadiness_note(plain)}")
    manifest = Manifest(
        name=case.name,
        created=now(),
        npubug_version=bundler.__version__,
        command=case.capture.command if case.capture is not None else (),
        command_exit=case.capture.exit_code if case.capture is not None else None,
        signature=signature_record(evidence.signature, evidence.diagnosis),
        failing_call=calls.failing_id or "call-1",
        launch=told.launch if told is not None else None,
        ranks=told.ranks if told is not None else (),
        evidence=tuple(r.entry for r in recompiles),
        environment=evidence.environment,
        workaround=evidence.workaround,
        notes=tuple(notes),
    )
    return Contents(manifest, tuple(members), calls)


def contents_without_failure(case: Case, compiled: Recompile, environment: tuple[Fact, ...]) -> Contents:
    """The archive of a kernel that compiles here: for a wrong result or a hang, whose cause may lie in it."""
    member, members, notes = _ir_members(case)
    members.append(NewMember(f"logs/{compiled.entry.name}.log", "log", compiled.log.encode()))
    if case.log:
        members.append(NewMember("logs/program.log", "program-log", case.log))
    calls = CallMembers(None)
    outcome = compiled.diagnosis.outcome.value
    calls.records.append(_call_without_record(case, member, compiled, outcome))
    manifest = Manifest(
        name=case.name,
        created=now(),
        npubug_version=bundler.__version__,
        evidence=(compiled.entry,),
        environment=environment,
        notes=(*case.notes, *notes, f"the compile does not fail here: {outcome}"),
    )
    return Contents(manifest, tuple(members), calls)


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


def now() -> str:
    """The time, RFC 3339 in UTC."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ir_members(case: Case) -> tuple[str, list[NewMember], list[str]]:
    """The input's member name, the members that hold IR, and what a reader must know of them."""
    suffix = ".ttir" if ".ttir" in case.input.name else ".bcmlir" if is_bytecode(case.input) else ".ttadapter"
    member = f"input/kernel{suffix}"
    members = [NewMember(member, "input", case.input)]
    members += [NewMember(f"ir/{path.name}", "ir", path) for path in case.cached]
    decoded = list(_decoded(case, member))
    undecoded = is_bytecode(case.input) and not decoded
    notes = ["the MLIR bytecode is not decoded: no opt tool here reads it"] if undecoded else []
    return member, [*members, *decoded], notes


def _call_without_record(case: Case, member: str, first: Recompile, outcome: str) -> CallRecord:
    return CallRecord(
        id="call-1",
        tool=case.command.tool.name,
        argv=case.command.argv(Path(member), Path("kernel")),
        cwd="",
        returncode=None,
        seconds=first.entry.seconds,
        outcome=outcome,
        kernel=case.kernel,
        input=member,
    )


def _decoded(case: Case, member: str) -> Iterator[NewMember]:
    """The text beside each file of MLIR bytecode, where an opt tool can read it."""
    for name, role, path in [
        (member, "input-text", case.input),
        *((f"ir/{p.name}", "ir", p) for p in case.cached),
    ]:
        if is_bytecode(path):
            text = decode(path, case.command.tool)
            if text is not None:
                yield NewMember(f"{name}.mlir", role, text)
