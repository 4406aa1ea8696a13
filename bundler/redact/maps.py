"""The maps from stand-ins to originals: one file for each archive, in the user's state folder.

They never leave the machine and hold no secrets (see `Pseudonyms.of`). A map is found again by the time in the
archive's manifest, which stays when the archive is renamed, repacked or reduced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bundler.redact.pseudonyms import write_private

_LONGEST_NAME = 160


@dataclass(frozen=True)
class KeptMap:
    """What one archive's stand-ins stand for. `archive` is its name when it was made, `created` the time in it."""

    archive: str
    created: str
    originals: Mapping[str, str]


def maps_folder(state: Path) -> Path:
    """The folder of the maps below npubug's state folder."""
    return state / "maps"


def save_map(folder: Path, kept: KeptMap) -> Path:
    """Write a map that only its owner can read.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = kept.archive.encode("utf-8", "replace")[:_LONGEST_NAME].decode("utf-8", "ignore")
    path = folder / f"{name}.{kept.created.replace(':', '')}.json"
    document = {"archive": kept.archive, "created": kept.created, "stand_ins": dict(kept.originals)}
    write_private(path, json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
    return path


def read_maps(folder: Path) -> list[KeptMap]:
    """All maps, the newest first; files that are none are passed over."""
    found = (_read(path) for path in folder.glob("*.json"))
    return sorted((each for each in found if each is not None), key=lambda kept: kept.created, reverse=True)


def _read(path: Path) -> KeptMap | None:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        originals = {str(name): str(text) for name, text in document["stand_ins"].items()}
        return KeptMap(str(document["archive"]), str(document["created"]), originals)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
