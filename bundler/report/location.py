"""Where a compile fails, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from bundler.compiler.locate import Located
from bundler.printable import printable

JSON_VERSION = 1


def render_text(name: str, found: Located, before: Path | None, reproducer: Path | None) -> str:
    """The pass, its place, and the files that were written."""
    lines = [f"{printable(name, 100)}: {found.signature.id}"]
    place = f", pass run {found.order} of {found.runs}" if found.order is not None else ""
    attempt = f", attempt {found.attempt}" if found.attempt > 1 else ""
    lines.append(f"  pass: {found.pass_name or 'not known'}{place}{attempt}")
    lines.append(f"  says: {printable(found.diagnosis.message, 300)}")
    if before is not None:
        lines.append(f"  the IR just before it: {before}")
    if reproducer is not None and found.reproducer is not None:
        made = found.reproducer
        lines.append(f"  fails alone, in the same way: {made.tool} --run-reproducer {reproducer}")
        lines.append(f"    {len(made.passes)} passes in its pipeline; made by {made.made_by}")
    lines += [f"  note: {printable(note, 300)}" for note in found.notes]
    return "\n".join(lines) + "\n"


def render_json(name: str, found: Located, before: Path | None, reproducer: Path | None) -> str:
    """`{"version": 1, "pass": ..., "order": ..., "before": PATH, "reproducer": {...}, "notes": [...]}`."""
    made = found.reproducer
    document = {
        "version": JSON_VERSION,
        "name": name,
        "signature": found.signature.id,
        "pass": found.pass_name,
        "order": found.order,
        "runs": found.runs,
        "attempt": found.attempt,
        "message": found.diagnosis.message,
        "before": str(before) if before is not None else None,
        "reproducer": None
        if made is None
        else {
            "file": str(reproducer),
            "tool": made.tool,
            "passes": list(made.passes),
            "pipeline": made.pipeline,
            "made_by": made.made_by,
            "fails_alone": True,
        },
        "notes": list(found.notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
