"""An archive with the originals put back, for its owner."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from bundler.archive import Archive, NewMember, write_archive
from bundler.archive.streams import CHUNK, Readable
from bundler.manifest import Manifest, Member
from bundler.pipeline.redaction import input_sha256, map_strings
from bundler.redact import Classifier
from bundler.redact.restore import Restorer
from bundler.redact.slicing import text_slices


def restore_archive(archive: Archive, target: Path, restorer: Restorer, scratch: Path) -> bool | None:
    """Write `archive` as `target` with the originals where the stand-ins were.

    Returns:
        Whether the input is again what it was before redaction; None if its sha256 was not noted.

    Raises:
        NpubugError: the archive changed on disk, or the target cannot be written.
    """
    members = [
        _restored(member, stream, restorer, scratch / f"{number}")
        for number, (member, stream) in enumerate(archive.contents())
    ]
    manifest = map_strings(archive.manifest, restorer.text)
    assert isinstance(manifest, Manifest)
    write_archive(target, dataclasses.replace(manifest, redactions=(), redaction_level="off"), members)
    noted = archive.manifest.original_input_sha256
    return None if noted is None else input_sha256(members) == noted


def _restored(member: Member, stream: Readable, restorer: Restorer, file: Path) -> NewMember:
    seen = Classifier()
    with file.open("xb") as out:
        while chunk := stream.read(CHUNK):
            seen.feed(chunk)
            out.write(chunk)
    if seen.is_binary:  # kernels and bytecode: what is to be searched byte by byte is small
        file.write_bytes(restorer.binary(file.read_bytes()))
    else:
        restored = file.with_suffix(".restored")
        with file.open("rb") as source, restored.open("xb") as out:
            out.writelines(restorer.data(part) for part in text_slices(source.read))
        restored.replace(file)
    return NewMember(restorer.text(member.name), member.role, file, member.media_type)
