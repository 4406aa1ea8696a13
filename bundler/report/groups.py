"""Many archives, few bugs: group them by signature, and say which of each group to open."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bundler.archive import Archive
from bundler.completeness import check, failing_call
from bundler.manifest import Manifest
from bundler.printable import printable
from bundler.report.terminal import size_text

JSON_VERSION = 1


@dataclass(frozen=True)
class Entry:
    """One archive. `path` as found below the folder; `ops` of the reduction, or None without one."""

    path: str
    size: int
    manifest: Manifest
    complete: bool

    @property
    def ops(self) -> int | None:
        reduction = self.manifest.reduction
        return reduction.ops_after if reduction is not None and reduction.confirmed else None


@dataclass(frozen=True)
class Group:
    """The archives of one failure, the most useful first: reduced, then complete, then small."""

    signature: str
    entries: tuple[Entry, ...]


def entry_of(archive: Archive, path: str) -> Entry:
    """The entry of a valid archive."""
    return Entry(path, archive.path.stat().st_size, archive.manifest, check(archive).complete)


def group(entries: Iterable[Entry]) -> tuple[Group, ...]:
    """Group by signature, the largest group first; archives without a failure come last, together."""
    by_signature: dict[str, list[Entry]] = {}
    for entry in entries:
        signature = entry.manifest.signature
        by_signature.setdefault(signature.id if signature is not None else "", []).append(entry)
    groups = [Group(key, tuple(sorted(found, key=_usefulness))) for key, found in by_signature.items()]
    return tuple(sorted(groups, key=lambda g: (not g.signature, -len(g.entries), g.signature)))


def _usefulness(entry: Entry) -> tuple[bool, int, bool, int, str]:
    return entry.ops is None, entry.ops or 0, not entry.complete, entry.size, entry.path


def render_text(groups: Sequence[Group], invalid: Sequence[tuple[str, str]]) -> str:
    """The groups for people; the first archive of each is the one to open."""
    lines: list[str] = []
    for each in groups:
        count = _counted(len(each.entries), "archive")
        lines.append(f"{count}  {printable(each.signature, 160) or 'without a failure'}")
        signature = each.entries[0].manifest.signature
        if signature is not None and signature.message:
            lines.append(f"    {printable(signature.message.splitlines()[0], 160)}")
        lines += [f"    {_line(entry)}" for entry in each.entries]
        lines.append("")
    lines += [f"invalid  {printable(path, 200)}: {printable(why, 200)}" for path, why in invalid]
    total = sum(len(each.entries) for each in groups)
    failures = sum(bool(each.signature) for each in groups)
    rest = f", {len(invalid)} invalid" if invalid else ""
    lines.append(f"{_counted(total, 'archive')}, {_counted(failures, 'different failure')}{rest}")
    return "\n".join(lines) + "\n"


def render_json(groups: Sequence[Group], invalid: Sequence[tuple[str, str]]) -> str:
    """The groups as JSON."""
    document = {
        "version": JSON_VERSION,
        "groups": [
            {
                "signature": each.signature or None,
                "count": len(each.entries),
                "archives": [
                    {
                        "path": entry.path,
                        "name": entry.manifest.name,
                        "created": entry.manifest.created,
                        "size": entry.size,
                        "complete": entry.complete,
                        "reduced_ops": entry.ops,
                    }
                    for entry in each.entries
                ],
            }
            for each in groups
        ],
        "invalid": [{"path": path, "why": why} for path, why in invalid],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _line(entry: Entry) -> str:
    call = failing_call(entry.manifest)
    parts = [
        f"kernel {call.kernel}" if call is not None and call.kernel else "",
        f"reduced to {_counted(entry.ops, 'operation')}" if entry.ops is not None else "not reduced",
        "" if entry.complete else "incomplete",
        size_text(entry.size),
    ]
    return printable(f"{entry.path}  ({', '.join(part for part in parts if part)})", 300)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
