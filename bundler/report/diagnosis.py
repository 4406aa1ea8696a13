"""What `npubug diagnose` says: of one run, or of every failure that a log tells of, as text and as JSON.

It names the stage, the pass, the kind, the lines that matter, the user's own source line, where such a
failure belongs and what usually helps; and it says so when it did not recognise a failure, instead of
guessing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from bundler.compiler.diagnose import diagnose
from bundler.compiler.flakiness import Determinism, Reproducibility
from bundler.compiler.locations import SourceLine, source_line, user_frame
from bundler.compiler.outcome import Diagnosis, Outcome, Stage, ToolRun
from bundler.compiler.signature import Signature, signature_of
from bundler.compiler.transcript import incidents
from bundler.printable import printable

JSON_VERSION = 1
_LINE_LIMIT = 300


class Home(str, Enum):
    """Where a failure belongs: whose tracker, or nobody's."""

    COMPILER = "AscendNPU-IR (gitcode.com/Ascend/AscendNPU-IR)"
    TRITON = "triton-ascend (github.com/triton-lang/triton-ascend, or its gitcode mirror)"
    KERNEL = "the kernel's own source: nothing to report"
    MACHINE = "this machine's setup: nothing to report"
    NOBODY = "nobody: nothing failed"


@dataclass(frozen=True)
class Finding:
    """One failure, with everything that can be said of it; equal ones are counted, not repeated."""

    diagnosis: Diagnosis
    signature: Signature
    home: Home
    argv: tuple[str, ...] = ()
    source: SourceLine | None = None
    workers: tuple[str, ...] = ()
    line: int | None = None
    cache: str | None = None
    count: int = field(default=1)


def home_of(diagnosis: Diagnosis) -> Home:
    """Whose failure it is, as far as the stage and the outcome say; the maintainers may know better."""
    if diagnosis.outcome in (Outcome.HEALTHY, Outcome.BACKEND_MISSING):
        return Home.NOBODY
    if diagnosis.stage is Stage.FRONT_END:
        return Home.KERNEL
    if diagnosis.stage is Stage.LAUNCHER or diagnosis.outcome is Outcome.UNUSABLE:
        return Home.MACHINE
    if diagnosis.outcome is Outcome.INVALID_INPUT or diagnosis.stage in (Stage.ADAPTER, Stage.RUNTIME):
        # What the compiler cannot read was written by triton-ascend's adapter.
        return Home.TRITON
    return Home.COMPILER


def finding_of(
    run: ToolRun,
    *,
    ir: str | None = None,
    read: Callable[[str], str | None] | None = None,
) -> Finding:
    """The finding of one run.

    Args:
        ir: what was compiled, to follow a location into it.
        read: a source file's text by its path, or None where it is not here; by default no file is read.
    """
    diagnosis = diagnose(run)
    frame = user_frame(diagnosis.location, ir)
    source = source_line(frame, read or (lambda _: None)) if frame is not None else None
    return Finding(diagnosis, signature_of(diagnosis), home_of(diagnosis), argv=run.argv, source=source)


def findings_in(text: str, read: Callable[[str], str | None] | None = None) -> tuple[Finding, ...]:
    """Every failure that a log tells of, the same failure once, in the order of first appearance."""
    found: dict[str, Finding] = {}
    known: dict[ToolRun, Finding] = {}  # many workers print the very same text: read it once
    for incident in incidents(text):
        finding = known.get(incident.run)
        if finding is None:
            finding = known[incident.run] = finding_of(incident.run, read=read)
        workers = (incident.worker,) if incident.worker else ()
        before = found.get(finding.signature.id)
        if before is None:
            found[finding.signature.id] = replace(
                finding, workers=workers, line=incident.line, cache=incident.cache
            )
        else:
            merged = tuple(dict.fromkeys((*before.workers, *workers)))
            found[finding.signature.id] = replace(before, workers=merged, count=before.count + 1)
    return tuple(found.values())


def render_text(findings: Sequence[Finding]) -> str:
    """The findings for a terminal, plain text; whatever comes from outside is made printable."""
    if not findings:
        return "No failure of a compiler tool was found in this text.\n"
    return "\n".join(_text_of(finding) for finding in findings)


def render_json(findings: Sequence[Finding]) -> str:
    """The findings as JSON: `{"version": 1, "findings": [...]}`."""
    document = {"version": JSON_VERSION, "findings": [_plain(finding) for finding in findings]}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def render_reproducibility(seen: Reproducibility, outputs: Determinism | None = None) -> str:
    """What repeated runs showed, in sentences."""
    lines = [f"{seen.failures} of {seen.runs} runs failed in this way ({seen.rate:.0%})."]
    if not seen.is_steady:
        lines.append("The runs ended in different ways:")
    lines.extend(
        f"  {each.count} x {each.signature.id} ({each.example.outcome.value})" for each in seen.observed
    )
    if outputs is not None and outputs.is_deterministic is not None:
        what = "the same IR" if outputs.is_deterministic else f"{len(outputs.outputs)} different IRs"
        lines.append(
            f"The compiler handed {what} to its backend in {outputs.runs - outputs.missing} compiles."
        )
    return "\n".join(lines) + "\n"


def _text_of(finding: Finding) -> str:
    diagnosis = finding.diagnosis
    rows = [
        ("outcome", diagnosis.outcome.value),
        ("stage", diagnosis.stage.value),
        ("pass", diagnosis.pass_name or "not known"),
        (
            "kind",
            diagnosis.kind if diagnosis.recognised else f"{diagnosis.kind} (not recognised: please report)",
        ),
        ("says", diagnosis.message),
        *((name.replace("_", " "), value) for name, value in diagnosis.details),
        ("at", diagnosis.location or ""),
        ("kernel line", _source(finding.source)),
        ("signature", finding.signature.id),
        ("belongs to", finding.home.value),
        ("cache", finding.cache or ""),
        ("seen", _seen(finding)),
    ]
    lines = [f"{name:>14}: {printable(value, _LINE_LIMIT)}" for name, value in rows if value]
    lines.extend(f"{'try':>14}: {remedy}" for remedy in diagnosis.remedies)
    if diagnosis.lines:
        lines.append(f"{'log':>14}:")
        lines.extend(f"    {printable(line, _LINE_LIMIT)}" for line in diagnosis.lines)
    return "\n".join(lines) + "\n"


def _source(source: SourceLine | None) -> str:
    if source is None:
        return ""
    return f"{source.frame}  {source.text.strip()}" if source.text is not None else str(source.frame)


def _seen(finding: Finding) -> str:
    where = f"first at line {finding.line}" if finding.line is not None else ""
    times = f"{finding.count} times" if finding.count > 1 else ""
    who = f"by {', '.join(finding.workers)}" if finding.workers else ""
    return ", ".join(part for part in (times, where, who) if part)


def _plain(finding: Finding) -> dict[str, object]:
    diagnosis, source = finding.diagnosis, finding.source
    return {
        "outcome": diagnosis.outcome.value,
        "is_bug": diagnosis.outcome.is_bug,
        "stage": diagnosis.stage.value,
        "pass": diagnosis.pass_name,
        "kind": diagnosis.kind,
        "recognised": diagnosis.recognised,
        "message": diagnosis.message,
        "details": dict(diagnosis.details),
        "frames": list(diagnosis.frames),
        "location": diagnosis.location,
        "kernel_line": None
        if source is None
        else {"file": source.frame.file, "line": source.frame.line, "text": source.text},
        "signature": finding.signature.id,
        "home": finding.home.name.lower(),
        "remedies": list(diagnosis.remedies),
        "lines": list(diagnosis.lines),
        "argv": list(finding.argv),
        "cache": finding.cache,
        "line": finding.line,
        "count": finding.count,
        "workers": list(finding.workers),
    }
