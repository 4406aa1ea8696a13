"""Does a manifest agree with itself? Asked before an archive is written and after one is read."""

from __future__ import annotations

from collections.abc import Iterator

from bundler.archive.limits import Limits
from bundler.archive.names import names_problem
from bundler.manifest import Manifest
from bundler.printable import printable


def manifest_problem(manifest: Manifest, limits: Limits) -> str | None:
    """Say what is wrong with the manifest's members and its references to them, or return None."""
    names = [member.name for member in manifest.members]
    if len(names) > limits.max_members:
        return f"it has {len(names)} members, more than {limits.max_members}"
    problem = names_problem(names)
    if problem:
        return problem
    if names != sorted(names):
        return "the manifest's members are not in the order of their names"
    known = set(names)
    for what, name in _references(manifest):
        if name not in known:
            return f"the manifest's {what} names '{printable(name, 80)}', which is not a member"
    calls = [call.id for call in manifest.calls]
    if len(set(calls)) != len(calls):
        return "two compile calls have the same id"
    if manifest.failing_call is not None and manifest.failing_call not in calls:
        return f"the failing call '{printable(manifest.failing_call, 80)}' is not among the recorded calls"
    return None


def _references(manifest: Manifest) -> Iterator[tuple[str, str]]:
    for call in manifest.calls:
        for name in (call.input, *call.outputs, call.stdout, call.stderr):
            if name is not None:
                yield f"call {printable(call.id, 40)}", name
    for run in manifest.evidence:
        if run.log is not None:
            yield f"evidence run {printable(run.name, 40)}", run.log
    if manifest.reduction is not None:
        yield "reduction", manifest.reduction.input
        if manifest.reduction.script is not None:
            yield "reduction", manifest.reduction.script
