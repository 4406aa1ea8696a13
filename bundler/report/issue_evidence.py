"""What an issue shows of an archive's members: the reproducer, the compiler's words, the traceback, the script."""

from __future__ import annotations

from dataclasses import dataclass

from bundler.archive import Archive
from bundler.manifest import Manifest

_MOST = 1 << 20  # of any member; what is longer is not shown but attached
_DUMP = "// -----// IR Dump"
_AFTER_DUMP = ("[", "loc(", "Assertion", "PLEASE ", "Stack dump")


@dataclass(frozen=True)
class Evidence:
    """Texts for an issue; each is empty, or None for `ir`, where the archive holds none that can be shown.

    Attributes:
        ir: the reproducer, reduced where the archive has a reduction.
        output: what the failing compile printed.
        program: what the user's program printed, its traceback above all.
        source: the user's script.
        ttir: the IR one stage earlier; only looked at, not shown.
    """

    ir: str | None = None
    output: str = ""
    program: str = ""
    source: str = ""
    ttir: str = ""


def evidence_of(archive: Archive) -> Evidence:
    """Read from an archive what an issue shows.

    Raises:
        NpubugError: the archive changed on disk while it was read.
    """
    manifest = archive.manifest
    names = {member.role: member.name for member in reversed(manifest.members)}
    reproducer = input_member(manifest)
    call = next((call for call in manifest.calls if call.id == manifest.failing_call), None)
    output = _text(archive, call.stderr) if call is not None and call.stderr else ""
    if not output.strip():
        output = without_dumps(_text(archive, "logs/after-failure.log"))
    ttir = next((m.name for m in manifest.members if m.role == "ir" and ".ttir" in m.name), "")
    ir = _text(archive, reproducer)
    return Evidence(
        ir=ir or None,
        output=output,
        program=_text(archive, names.get("program-log", "")),
        source=_text(archive, names.get("source", "")),
        ttir=_text(archive, ttir),
    )


def input_member(manifest: Manifest) -> str:
    """The name of the member that reproduces the failure: the reduced input, else the input; or ""."""
    if manifest.reduction is not None:
        return manifest.reduction.input
    return next((member.name for member in manifest.members if member.role == "input"), "")


def without_dumps(log: str) -> str:
    """A compiler's log without the IR that it dumped: the diagnostics, in their order."""
    kept: list[str] = []
    dumping = False
    for line in log.splitlines():
        if line.startswith(_DUMP):
            dumping = True
        elif dumping and (line.startswith(_AFTER_DUMP) or ": error: " in line):
            dumping = False
        if not dumping:
            kept.append(line)
    return "\n".join(kept)


def _text(archive: Archive, name: str) -> str:
    if name not in archive.names or archive.member(name).size > _MOST:
        return ""
    return archive.read(name).decode(errors="replace")
