"""From a failing compile to an archive: the bundler's one pipeline.

    capture (or a bare file) -> Case -> evidence -> redact -> archive

A `Case` is the failing compile with everything that surrounds it; where it came from makes no difference to what
follows.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bundler
from bundler.archive import NewMember, write_archive
from bundler.capture.session import Capture
from bundler.compiler.examine import require_failure
from bundler.compiler.invoke import BARRIER_FLAG
from bundler.compiler.signature import signature_of
from bundler.evidence.environment import collect
from bundler.evidence.recompile import AFTER_ALL, AFTER_FAILURE, recompile, try_barrier
from bundler.manifest import Manifest, Workaround
from bundler.pipeline.calls import CallMembers
from bundler.pipeline.captured import (
    case_of_capture,
    choose_failing,
    context_of_run,
    judge_capture,
    names,
    run_name,
    run_recorded,
)
from bundler.pipeline.case import Case, case_of_file, context_of
from bundler.pipeline.contents import (
    Evidence,
    contents_of,
    contents_without_failure,
    now,
    signature_record,
)
from bundler.pipeline.plan import Bundle, Plan
from bundler.pipeline.redaction import input_sha256, redact
from bundler.pipeline.reruns import reruns, steadiness_note
from bundler.pipeline.run_facts import run_facts
from bundler.pipeline.runtime import case_of_runtime, runtime_failure, unexplained_end

__all__ = [
    "SUFFIX",
    "Bundle",
    "Case",
    "Plan",
    "bundle",
    "bundle_healthy",
    "bundle_runtime",
    "bundle_without_failure",
    "case_of_capture",
    "case_of_file",
    "case_of_runtime",
    "choose_failing",
    "judge_capture",
    "names",
    "redact",
    "run_name",
    "run_recorded",
    "runtime_failure",
    "signature_record",
    "steadiness_note",
    "unexplained_end",
    "work_folder",
]

SUFFIX = ".npubug.tar.zst"


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
        facts = pool.submit(collect, context_of(case))
        workaround, barrier = try_barrier(case.command, case.input, signature, timeout=plan.timeout)
        plain = [first, everything.result()]
        environment = facts.result()
    plain += reruns(case, plan, signature, plain)
    recompiles = (*plain, *([barrier] if barrier is not None else []))
    if barrier is not None:
        failures = sum(run.entry.reproduced for run in plain)
        workaround = dataclasses.replace(workaround, runs_default=len(plain), failures_default=failures)
    found = contents_of(case, Evidence(diagnosis, signature, recompiles, environment, workaround))
    file_name = f"{case.name}-{signature.id}{SUFFIX}"
    path, written = _finish(plan, found.manifest, found.calls, found.members, file_name)
    return Bundle(path, written, diagnosis)


def bundle_runtime(case: Case, plan: Plan) -> Bundle:
    """The archive of a failure at run time: `case` is of the kernel in question, whose compile is healthy.

    Raises:
        NpubugError: the compiler cannot be started, or the archive cannot be written.
    """
    assert case.recorded is not None
    signature = signature_of(case.recorded)
    plan.say(f"the compile is healthy; compiling {case.input.name} with the IR after every pass")
    with ThreadPoolExecutor(1) as pool:
        facts = pool.submit(collect, context_of(case))
        compiled = recompile(case.command, case.input, *AFTER_ALL, expected=signature, timeout=plan.timeout)
        environment = facts.result()
    note = "; ".join(filter(None, (compiled.entry.note, "compiling alone cannot bring the failure back")))
    compiled = dataclasses.replace(compiled, entry=dataclasses.replace(compiled.entry, note=note))
    workaround = Workaround(BARRIER_FLAG, "not-tried", note="it takes a run on the device to tell")
    found = contents_of(case, Evidence(case.recorded, signature, (compiled,), environment, workaround))
    file_name = f"{case.name}-{signature.id}{SUFFIX}"
    path, written = _finish(plan, found.manifest, found.calls, found.members, file_name)
    return Bundle(path, written, case.recorded)


def bundle_healthy(name: str, seen: Capture, plan: Plan) -> Path:
    """An archive of a run in which no compile failed, for `--always`: the calls and the environment."""
    environment = collect(context_of_run(seen))
    told = run_facts(seen, None)
    manifest = Manifest(
        name=name,
        created=now(),
        npubug_version=bundler.__version__,
        command=seen.command,
        command_exit=seen.exit_code,
        ranks=told.ranks,
        environment=environment,
        notes=("no compile of this run failed", *told.notes),
    )
    return _finish(plan, manifest, CallMembers(seen), told.members, f"{name}-no-failure{SUFFIX}")[0]


def bundle_without_failure(case: Case, plan: Plan) -> Path:
    """An archive of a kernel whose compile does not fail, for `--always`: its IR, logs and the environment.

    Raises:
        NpubugError: the archive cannot be written.
    """
    plan.say("the compile does not fail here; compiling with the IR after every pass")
    compiled = recompile(case.command, case.input, *AFTER_ALL, expected=None, timeout=plan.timeout)
    found = contents_without_failure(case, compiled, collect(context_of(case)))
    file_name = f"{case.name}-no-failure{SUFFIX}"
    return _finish(plan, found.manifest, found.calls, found.members, file_name)[0]


def _finish(
    plan: Plan, manifest: Manifest, calls: CallMembers, members: Sequence[NewMember], file_name: str
) -> tuple[Path, Manifest]:
    """Redact everything and write the archive."""
    together = [*members, *calls.members]
    manifest = dataclasses.replace(
        manifest,
        calls=tuple(calls.records),
        drops=tuple(calls.drops),
        original_input_sha256=input_sha256(together),
        redaction_level="off",
    )
    with work_folder() as scratch:
        if plan.redactor is not None:
            plan.say("redacting")
            manifest, together = redact(manifest, together, plan.redactor, Path(scratch))
            file_name = plan.redactor.text(file_name)
            if plan.review is not None:
                plan.review(plan.redactor)
        path = plan.output / file_name if plan.output.is_dir() else plan.output
        plan.say(f"writing {path.name}")
        written = write_archive(path, manifest, together)
    if plan.written is not None:
        plan.written(path, written)
    return path, written


def work_folder() -> tempfile.TemporaryDirectory[str]:
    """A private folder for one bundling, removed afterwards."""
    return tempfile.TemporaryDirectory(prefix="npubug-")
