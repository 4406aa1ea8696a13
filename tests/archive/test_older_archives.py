"""One archive of each format version is kept; a newer npubug reads them all. Never regenerate these files."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundler.archive import open_archive
from bundler.manifest import SCHEMA_VERSION

KEPT = sorted((Path(__file__).parent / "data").glob("format-*.npubug.tar.zst"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_an_archive_of_an_older_version_is_read(path: Path) -> None:
    manifest = open_archive(path).manifest
    assert manifest.signature is not None
    assert manifest.signature.pass_name == "hivm-plan-memory"
    assert manifest.reduction is not None
    assert open_archive(path).read(manifest.reduction.input).startswith(b"module")


def test_an_archive_of_this_version_is_kept() -> None:
    assert f"format-{SCHEMA_VERSION}.npubug.tar.zst" in [path.name for path in KEPT]


def test_what_an_older_version_did_not_say_is_not_made_up() -> None:
    old = open_archive(Path(__file__).parent / "data" / "format-1.0.npubug.tar.zst").manifest
    assert old.original_input_sha256 is None
    assert old.redaction_level is None
    assert (old.launch, old.ranks) == (None, ())


def test_launch_and_ranks_are_read_back() -> None:
    manifest = open_archive(Path(__file__).parent / "data" / "format-1.2.npubug.tar.zst").manifest
    assert manifest.launch is not None and manifest.launch.constants[0].value == "128"
    assert [(rank.rank, rank.ended) for rank in manifest.ranks] == [(5, "failed")]
    assert (manifest.calls[0].rank, manifest.calls[0].peak_memory) == (5, 123 << 20)
