"""Everything private replaced, in the manifest and in every member, before anything is written.

Two rounds over all members: the first learns the names of accounts and hosts, so that a name that only the
last member gives away is replaced in the first too; the second replaces. Files are read and written in slices,
whatever their size.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bundler.archive import NewMember
from bundler.archive.streams import CHUNK
from bundler.archive.writer import opened
from bundler.manifest import Manifest
from bundler.redact import Classifier, Redactor

# What npubug itself says in words of its own: a user's `--redact-word 2025` must not make an archive unreadable.
_OURS = frozenset(
    ("created", "npubug_version", "schema_version", "original_input_sha256", "outcome", "stage", "verdict")
)


def redact(
    manifest: Manifest, members: Sequence[NewMember], redactor: Redactor, scratch: Path
) -> tuple[Manifest, list[NewMember]]:
    """The manifest and the members with everything private replaced, and the counts noted.

    Args:
        scratch: a private folder for the redacted files; it must last until the archive is written.

    Raises:
        NpubugError: a member's file cannot be read.
        OSError: there is no room for the redacted files.
    """
    binary = [_is_binary(member) for member in members]
    for member, is_binary in zip(members, binary):
        if not is_binary:
            redactor.learn_stream(_chunks(member))
    redactor.learn("\n".join(_strings(manifest)).encode("utf-8", "surrogatepass"))
    clean = []
    for number, (member, is_binary) in enumerate(zip(members, binary)):
        redactor.looks_at(member.name)
        content: bytes | Path
        if isinstance(member.content, bytes):
            content = redactor.data(member.content)
        else:
            content = scratch / f"{number}"
            with content.open("xb") as out:
                out.writelines(redactor.stream(_chunks(member), binary=is_binary))
        # Names too: the manifest's references to them go through the same replacement.
        clean.append(dataclasses.replace(member, name=redactor.text(member.name), content=content))
    redactor.looks_at("manifest.json")
    redacted = map_strings(manifest, redactor.text)
    assert isinstance(redacted, Manifest)
    noted = dataclasses.replace(redacted, redactions=redactor.counts, redaction_level=redactor.level)
    return noted, clean


def input_sha256(members: Sequence[NewMember]) -> str | None:
    """The sha256 of the failing input as it is, or None if there is no input among the members."""
    digest = hashlib.sha256()
    for member in members:
        if member.role == "input":
            for chunk in _chunks(member):
                digest.update(chunk)
            return digest.hexdigest()
    return None


def _is_binary(member: NewMember) -> bool:
    seen = Classifier()
    for chunk in _chunks(member):
        seen.feed(chunk)
    return seen.is_binary


def _chunks(member: NewMember) -> Iterator[bytes]:
    with opened(member) as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _strings(each)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _strings(getattr(value, field.name))


def map_strings(value: object, change: Callable[[str], str]) -> object:
    """A value of the manifest's classes with every string changed but those that are npubug's own words."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(map_strings(each, change) for each in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: map_strings(getattr(value, field.name), change)
            for field in dataclasses.fields(value)
            if field.name not in _OURS
        }
        return dataclasses.replace(value, **fields)
    return value
