"""What would a maintainer still ask for? The five things of the debugging guide, judged from an archive; and,
as advice, what goes beyond them (`bundler.advice`).

Each item is there, partly there, or missing. What is wanted keeps it from being there; advice does not: a
reproducer that nobody has reduced yet is a reproducer. A fact that could not be had, with the reason why, is
an answer. Only the archive is consulted, so the verdict is the same on every machine.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from bundler.advice import Advice, advise
from bundler.archive import Archive
from bundler.compiler.rebuild import RECONSTRUCTED
from bundler.errors import ExitCode
from bundler.manifest import CallRecord, Fact, Manifest
from bundler.printable import printable

JSON_VERSION = 1
_HEAD = 1 << 20  # of each log: enough to see whether it holds IR dumps
_DUMP = b"// -----// IR Dump"
_STAGE = re.compile(r"\.(ttir|ttadapter|bcmlir|mlirbc)(?=\.|$)")
_FACTS = (
    ("CANN", ("cann.version",)),
    ("Triton-Ascend", ("package.triton-ascend", "package.flagtree")),
    ("NPU", ("npu.model", "npu.soc")),
    ("branch", ("triton.branch",)),
    ("compiler", ("compiler.version",)),
)


class State(str, Enum):
    """How much of an item is there."""

    PRESENT = "present"
    PARTIAL = "partial"
    MISSING = "missing"


@dataclass(frozen=True)
class Item:
    """One of the five things.

    Attributes:
        found: what there is, in short sentences.
        wanted: what is still asked for.
        advice: what would make it better.
        remedy: the command that supplies what is wanted, or else what is advised; may be empty.
    """

    key: str
    title: str
    found: tuple[str, ...]
    wanted: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def state(self) -> State:
        """Present when nothing is wanted; partial when something was found nevertheless."""
        if not self.wanted:
            return State.PRESENT
        return State.PARTIAL if self.found else State.MISSING

    @property
    def supply(self) -> str:
        """The remedy, where there is something to supply."""
        return self.remedy if self.wanted or self.advice else ""


@dataclass(frozen=True)
class Completeness:
    """The verdict on an archive. `further` is advice beyond the five things, and decides nothing."""

    archive: str
    items: tuple[Item, ...]
    further: tuple[Advice, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all five are there."""
        return all(item.state is State.PRESENT for item in self.items)

    @property
    def exit_code(self) -> ExitCode:
        """OK or INCOMPLETE; an invalid archive does not get here."""
        return ExitCode.OK if self.complete else ExitCode.INCOMPLETE


def check(archive: Archive) -> Completeness:
    """Judge a valid archive."""
    manifest = archive.manifest
    again = f"npubug bundle -- {shlex.join(manifest.command) or 'python your_script.py'}"
    name = shlex.quote(archive.path.name)
    items = (
        _reproducer(manifest, again, f"npubug minimize {name}"),
        _ir(manifest, again),
        _logs(archive, again),
        _environment(manifest, again),
        _workaround(manifest, again),
    )
    return Completeness(archive.path.name, items, advise(manifest, name, again))


def render_text(result: Completeness) -> str:
    """The verdict for people, plain text; whatever comes from the archive is made printable."""
    marks = {State.PRESENT: "ok", State.PARTIAL: "partly", State.MISSING: "missing"}
    lines = []
    for item in result.items:
        lines.append(f"{marks[item.state]:>8}  {item.title}")
        lines += [f"{'':>10}- {printable(text, 300)}" for text in item.found]
        lines += [f"{'':>10}- wanted: {printable(text, 300)}" for text in item.wanted]
        lines += [f"{'':>10}- better: {printable(text, 300)}" for text in item.advice]
        if item.supply:
            lines.append(f"{'':>10}  try: {printable(item.supply, 300)}")
    for further in result.further:
        lines.append(f"{'better' if further.advice else 'ok':>8}  {further.title}")
        lines += [f"{'':>10}- {printable(text, 300)}" for text in further.found]
        lines += [f"{'':>10}- better: {printable(text, 400)}" for text in further.advice]
        if further.supply:
            lines.append(f"{'':>10}  try: {printable(further.supply, 300)}")
    there = sum(item.state is State.PRESENT for item in result.items)
    verdict = "complete" if result.complete else "incomplete: a maintainer would still ask for the rest"
    name = printable(result.archive, 200)
    lines.append(f"{name} is valid; {there} of {len(result.items)} things are there: {verdict}")
    return "\n".join(lines) + "\n"


def render_json(result: Completeness) -> str:
    """The verdict for programs: `{"version": 1, "valid": true, "complete": ..., "items": [...], "further": ...}`."""
    document = {
        "version": JSON_VERSION,
        "archive": result.archive,
        "valid": True,
        "complete": result.complete,
        "items": [
            {
                "key": item.key,
                "title": item.title,
                "state": item.state.value,
                "found": list(item.found),
                "wanted": list(item.wanted),
                "advice": list(item.advice),
                "supply": item.supply,
            }
            for item in result.items
        ],
        "further": [
            {
                "key": further.key,
                "title": further.title,
                "found": list(further.found),
                "advice": list(further.advice),
                "supply": further.supply,
            }
            for further in result.further
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def failing_call(manifest: Manifest) -> CallRecord | None:
    """The record of the call that the signature describes."""
    return next((call for call in manifest.calls if call.id == manifest.failing_call), None)


def _reproducer(manifest: Manifest, again: str, minimize: str) -> Item:
    title = "reproducer: the failing input and its command line"
    inputs = [member.name for member in manifest.members if member.role == "input"]
    call = failing_call(manifest)
    found, wanted, advice = [], [], []
    if inputs:
        found.append(f"input {inputs[0]}")
    else:
        wanted.append("the compiler's input that fails")
    if call is not None and call.argv:
        rebuilt = any(note.startswith(RECONSTRUCTED) for note in manifest.notes)
        found.append(f"command line of {call.tool}" + (", reconstructed: see the notes" if rebuilt else ""))
    else:
        wanted.append("the command line that fails")
    runs = [run.reproduced for run in manifest.evidence if run.name != "barrier"]
    at_run_time = manifest.signature is not None and manifest.signature.stage == "runtime"
    if at_run_time:
        found.append("the kernel compiles; the program that runs it is what fails")
        if not any(member.role == "source" for member in manifest.members):
            wanted.append("the script that fails")
    elif runs:
        found.append(f"compiled again {len(runs)} times: the same failure came back {sum(runs)} times")
    reduction = manifest.reduction
    if reduction is not None:
        end = (
            "minimal: no single step makes it smaller"
            if reduction.finished
            else "the search was stopped early"
        )
        found.append(f"reduced from {reduction.ops_before} to {reduction.ops_after} operations ({end})")
        if not reduction.finished:
            advice.append("let the reduction run to its end")
        if not reduction.confirmed:
            advice.append("the reduced input was not confirmed with the original flags")
    elif not at_run_time:
        advice.append("not reduced yet")
    return Item(
        "reproducer", title, tuple(found), tuple(wanted), tuple(advice), again if wanted else minimize
    )


def _ir(manifest: Manifest, again: str) -> Item:
    title = "cached IR of each stage before the failure"
    inputs = [member.name for member in manifest.members if member.role == "input"]
    cached = [m.name for m in manifest.members if m.role == "ir" and not m.name.endswith(".json")]
    if not manifest.command and inputs and not cached:
        note = "the bundle was made from an IR file, not from a Python program: there are no earlier stages"
        return Item("ir", title, (f"the input itself, {inputs[0]}", note))
    stages = dict(_stages(manifest))
    found = [f"{stage}: {name}" for stage, name in sorted(stages.items())]
    wanted = [] if "ttir" in stages else ["kernel.ttir"]
    lowered = stages.keys() & {"ttadapter", "bcmlir", "mlirbc"}
    at_adapter = manifest.signature is not None and manifest.signature.stage in ("adapter", "front-end")
    if not lowered and not at_adapter:
        wanted.append("kernel.ttadapter (release/3.2.x) or kernel.bcmlir (master)")
    return Item("ir", title, tuple(found), tuple(wanted), remedy=again)


def _stages(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """The stages of which there is IR of the failing kernel, with the member that holds it."""
    failing = failing_call(manifest)
    names = [member.name for member in manifest.members if member.role in ("input", "ir")]
    for call in manifest.calls:
        if call is failing or (failing is not None and failing.kernel and call.kernel == failing.kernel):
            names += [name for name in (call.input, *call.outputs) if name is not None]
    for name in reversed(names):  # so that, in a dict, the first one stays
        match = _STAGE.search(name.rpartition("/")[2])
        if match is not None:
            yield match[1], name


def _logs(archive: Archive, again: str) -> Item:
    title = "compiler logs: the IR after every pass, and the pass that fails"
    manifest = archive.manifest
    found, wanted, advice = [], [], []
    dumps = None
    for run in manifest.evidence:
        if run.log is None:
            continue
        holds_ir = _DUMP in archive.head(run.log, _HEAD)
        found.append(f"{run.log} ({archive.member(run.log).size} bytes){'' if holds_ir else ', without IR'}")
        if holds_ir and any(flag.startswith("--mlir-print-ir-after-all") for flag in run.flags):
            dumps = run
        if run.note:
            advice.append(f"{run.log}: {run.note}")
    call = failing_call(manifest)
    if not found and call is not None and call.stderr is not None:
        found.append(f"{call.stderr}, what the failing compile printed")
    if dumps is None:
        wanted.append("a log made with --mlir-print-ir-after-all")
    signature = manifest.signature
    if signature is None:
        wanted.append("a failure")
    elif signature.pass_name is not None:
        found.append(f"failing pass: {signature.pass_name}")
    elif dumps is not None:
        advice.append(f"the log names no failing pass; the failure is in the stage '{signature.stage}'")
    else:
        wanted.append("the name of the failing pass")
    return Item("logs", title, tuple(found), tuple(wanted), tuple(advice), again if wanted else "")


def _environment(manifest: Manifest, again: str) -> Item:
    title = "environment: CANN, Triton-Ascend, NPU, branch, compiler"
    found, wanted = [], []
    for label, names in _FACTS:
        facts = [fact for fact in manifest.environment if fact.name in names]
        known = next((fact for fact in facts if fact.value), None)
        reason = next((fact.reason for fact in facts if fact.reason), None)
        if known is not None:
            found.append(f"{label}: {known.value}{_origin(label, known)}")
        elif reason is not None:
            found.append(f"{label}: could not be had: {reason}")
        else:
            wanted.append(label)
    return Item("environment", title, tuple(found), tuple(wanted), remedy=again)


def _origin(label: str, fact: Fact) -> str:
    """Where a fact comes from, where that tells how much to trust it: a chip on a command line is no chip."""
    return f" ({fact.source})" if fact.source and label in ("NPU", "branch") else ""


def _workaround(manifest: Manifest, again: str) -> Item:
    title = "workaround: does it help to put barriers everywhere?"
    tried = manifest.workaround
    if tried is None or tried.verdict == "not-tried":
        return Item("workaround", title, (), ("the verdict of the barrier experiment",), remedy=again)
    note = f" ({tried.note})" if tried.note else ""
    return Item("workaround", title, (f"{tried.verdict}{note}",))
