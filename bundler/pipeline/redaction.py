"""Everything private replaced, in the manifest and in every member, before anything is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from bundler.archive import NewMember
from bundler.manifest import Manifest
from bundler.redact import Redactor


def redact(
    manifest: Manifest, members: Sequence[NewMember], redactor: Redactor
) -> tuple[Manifest, list[NewMember]]:
    """The manifest and the members with everything private replaced, and the counts noted."""
    clean = []
    for member in members:
        content = member.content.read_bytes() if isinstance(member.content, Path) else member.content
        # Names too: the manifest's references to them go through the same replacement.
        clean.append(NewMember(redactor.text(member.name), member.role, redactor.data(content)))
    redacted = _redact_value(manifest, redactor)
    assert isinstance(redacted, Manifest)
    return dataclasses.replace(redacted, redactions=redactor.counts), clean


def _redact_value(value: object, redactor: Redactor) -> object:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, tuple):
        return tuple(_redact_value(each, redactor) for each in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _redact_value(getattr(value, f.name), redactor) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    return value
