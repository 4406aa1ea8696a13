"""Make an archive small enough for a tracker by leaving things out, in a fixed order, and saying so.

The order, from what is missed least (also in docs/report.md):

    1. what healthy compile calls read and wrote
    2. the dumps of the IR before every pass
    3. the dumps of the IR after every pass
    4. device logs
    5. what other failing calls read and wrote
    6. the log of the barrier experiment
    7. other failures met while reducing
    8. what the program printed
    9. what the failing call wrote

Never the input, the reduction, cached IR, the source, the facts, the diagnostics (logs/after-failure.log, the
failing call's stderr) or the manifest. The steps are taken one by one until the rest fits, so an archive that
fits loses nothing.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import IO

from bundler.archive.atomic import replacing
from bundler.archive.formats import Format
from bundler.archive.reader import Archive, open_archive
from bundler.archive.writer import pack
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import CallRecord, Drop, Manifest, Member

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKmMgG]?)(i?)[bB]?\Z")
_HEALTHY = ("healthy", "backend-missing")
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3}


def size_of(text: str) -> int:
    """Bytes of `20M`, `500k`, `1.5GB` (thousands) or `20MiB` (1024s).

    Raises:
        NpubugError: (usage) it is none of these, or nothing.
    """
    found = _SIZE.match(text.strip())
    size = float(found[1]) * (1024 if found[3] else 1000) ** _UNITS[found[2].lower()] if found else 0
    if size < 1:
        raise NpubugError(f"{text!r} is not a size", hint="write 20M, 500k or 20MiB", code=ExitCode.USAGE)
    return int(size)


@dataclasses.dataclass(frozen=True)
class _Step:
    what: str
    members: Callable[[Manifest], set[str]]


def fit(source: Path, target: Path, max_size: int, packed_as: Format) -> Manifest:
    """Write `source` as `target` with at most `max_size` bytes; the two may be the same file.

    Returns:
        The manifest as written; what was left out is in its `drops`.

    Raises:
        NpubugError: `source` is not valid, `target` cannot be written, or what must stay does not fit. The
            target is then as it was.
    """
    status = target.stat() if target.exists() and target.samefile(source) else None
    archive = open_archive(source)
    manifest = archive.manifest
    dropped: set[str] = set()
    with tempfile.TemporaryFile(prefix="npubug-") as packed:
        size = _pack(archive, packed, packed_as, manifest, dropped)
        for step in _STEPS:
            if size <= max_size:
                break
            names = step.members(archive.manifest) - dropped
            if names:
                dropped |= names
                manifest = _without(manifest, names, step.what, f"--max-size {max_size}")
                size = _pack(archive, packed, packed_as, manifest, dropped)
        if size > max_size:
            raise NpubugError(
                f"'{source.name}' does not fit into {max_size} bytes",
                why=f"without everything that may be left out it still has {size} bytes",
                hint="npubug minimize it first, or attach it in another way",
            )
        packed.seek(0)
        with replacing(target, unchanged_since=status) as out:
            shutil.copyfileobj(packed, out, 1 << 20)
    return manifest


def _pack(
    archive: Archive, packed: IO[bytes], packed_as: Format, manifest: Manifest, dropped: Collection[str]
) -> int:
    packed.seek(0)
    packed.truncate()
    contents = ((member, stream) for member, stream in archive.contents() if member.name not in dropped)
    pack(packed, packed_as, manifest, contents, archive.limits)
    return packed.seek(0, 2)


def _without(manifest: Manifest, names: set[str], what: str, reason: str) -> Manifest:
    """The manifest without some members and without references to them, with one drop for them all."""

    def kept(name: str | None) -> str | None:
        return None if name in names else name

    def call(record: CallRecord) -> CallRecord:
        return dataclasses.replace(
            record,
            input=kept(record.input),
            outputs=tuple(name for name in record.outputs if name not in names),
            stdout=kept(record.stdout),
            stderr=kept(record.stderr),
        )

    gone = [member for member in manifest.members if member.name in names]
    noun = f"{what}: {gone[0].name}" if len(gone) == 1 else f"{what} ({len(gone)} members)"
    return dataclasses.replace(
        manifest,
        members=tuple(member for member in manifest.members if member.name not in names),
        calls=tuple(map(call, manifest.calls)),
        evidence=tuple(dataclasses.replace(run, log=kept(run.log)) for run in manifest.evidence),
        drops=(*manifest.drops, Drop(noun, reason, sum(member.size for member in gone))),
    )


def _files_of(calls: Collection[CallRecord], manifest: Manifest) -> set[str]:
    """What belongs to these calls and to no other, and not to the fixed roles such as the input."""
    mine = {name for call in calls for name in _names(call)}
    others = {name for call in manifest.calls if call not in calls for name in _names(call)}
    return {member.name for member in manifest.members if member.role.startswith("call-")} & (mine - others)


def _names(call: CallRecord) -> set[str]:
    return {name for name in (call.input, *call.outputs, call.stdout, call.stderr) if name is not None}


def _healthy_calls(manifest: Manifest) -> set[str]:
    calls = [c for c in manifest.calls if c.outcome in _HEALTHY and c.id != manifest.failing_call]
    return _files_of(calls, manifest)


def _other_calls(manifest: Manifest) -> set[str]:
    """Other calls that failed, and files of calls that no call names (any more)."""
    failing = [call for call in manifest.calls if call.id == manifest.failing_call]
    kept = {name for call in failing for name in _names(call)}
    return {member.name for member in manifest.members if member.role.startswith("call-")} - kept


def _failing_output(manifest: Manifest) -> set[str]:
    roles = ("call-output", "call-stdout")
    return {member.name for member in manifest.members if member.role in roles}


def _where(test: Callable[[Member], bool]) -> Callable[[Manifest], set[str]]:
    return lambda manifest: {member.name for member in manifest.members if test(member)}


def _log(start: str) -> Callable[[Manifest], set[str]]:
    return _where(lambda member: member.role == "log" and member.name.startswith(f"logs/{start}"))


_STEPS = (
    _Step("what healthy calls read and wrote", _healthy_calls),
    _Step("the IR before every pass", _log("before-all")),
    _Step("the IR after every pass", _log("after-all")),
    _Step(
        "device logs", _where(lambda m: "device" in m.role or m.name.startswith(("logs/device", "logs/plog")))
    ),
    _Step("what other calls read and wrote", _other_calls),
    _Step("the log of the barrier experiment", _log("barrier")),
    _Step("other failures met while reducing", _where(lambda m: m.role == "find")),
    _Step("what the program printed", _where(lambda m: m.role == "program-log")),
    _Step("what the failing call wrote", _failing_output),
)
