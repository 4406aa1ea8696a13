"""The barrier experiment as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from bundler.compiler.sync_counts import SyncCounts
from bundler.evidence.barrier import Experiment, Trial

JSON_VERSION = 1
_NAME, _WIDE = 24, 44
_HEADING = f"{'set_flag':>8}{'wait_flag':>10}{'pipe_barrier':>13}{'sync_block':>11}"


def render_text(name: str, seen: Experiment) -> str:
    """The verdict, the counts before and after, the passes that changed them, and the matrix."""
    lines = [f"{name}: barrier workaround: {seen.verdict}", f"  {seen.note}", ""]
    lines += [f"{'synchronisation ops':{_WIDE}}{_HEADING}"]
    for trial in (seen.default, seen.barrier):
        lines.append(f"{trial.name:{_WIDE}}{_counts(trial.counts)}")
        lines += [f"{'  after ' + step.pass_name:{_WIDE}}{_counts(step.counts)}" for step in trial.steps]
    lines += ["", f"{'one flag at a time':{_NAME}}{'compile':{_WIDE - _NAME}}{_HEADING}   failure"]
    lines += [_row(trial, seen) for trial in (seen.default, *seen.matrix)]
    if not seen.default.passes:
        cures = ", ".join(f"{trial.name} ({trial.flag})" for trial in seen.cures)
        lines += ["", f"the failure goes away with: {cures or 'none of these'}"]
    return "\n".join(lines) + "\n"


def render_json(name: str, seen: Experiment) -> str:
    """`{"version": 1, "verdict": ..., "default": {...}, "matrix": [...], "cures": [...]}`."""
    document = {
        "version": JSON_VERSION,
        "name": name,
        "verdict": seen.verdict,
        "note": seen.note,
        "default": _plain(seen.default),
        "barrier": _plain(seen.barrier),
        "matrix": [_plain(trial) for trial in seen.matrix],
        "cures": [trial.flag for trial in seen.cures],
    }
    return json.dumps(document, indent=2) + "\n"


def _row(trial: Trial, seen: Experiment) -> str:
    if not trial.tried:
        return f"{trial.name:{_NAME}}this compiler has no {trial.flag.partition('=')[0]}"
    failure = ""
    if not trial.passes and trial.signature is not None:
        failure = "the same" if trial.same_failure else trial.signature.id
    changed = "*" if trial.counts != seen.default.counts and not failure else " "
    counts = f"{_counts(trial.counts)} {changed} {failure}"
    return f"{trial.name:{_NAME}}{trial.outcome:{_WIDE - _NAME}}{counts}".rstrip()


def _counts(counts: SyncCounts | None) -> str:
    if counts is None:
        return f"{'not reached':>{len(_HEADING)}}"
    return f"{counts.set_flag:8}{counts.wait_flag:10}{counts.pipe_barrier:13}{counts.sync_block:11}"


def _plain(trial: Trial) -> dict[str, object]:
    return {
        "name": trial.name,
        "flag": trial.flag,
        "tried": trial.tried,
        "outcome": trial.outcome or None,
        "passes": trial.passes,
        "signature": trial.signature.id if trial.signature is not None and not trial.passes else None,
        "same_failure": trial.same_failure,
        "sync": asdict(trial.counts) if trial.counts is not None else None,
        "steps": [{"pass": step.pass_name, **asdict(step.counts)} for step in trial.steps],
        "seconds": trial.seconds,
    }
