from __future__ import annotations

from pathlib import Path

import pytest

from bundler.archive import write_archive
from bundler.manifest import Manifest
from tests.archive.samples import MEMBERS, REDUCED_MANIFEST, REDUCED_MEMBERS


@pytest.fixture
def written(tmp_path: Path) -> Manifest:
    """The manifest of a reduced archive, as reading it gives it."""
    return write_archive(tmp_path / "a.zip", REDUCED_MANIFEST, (*MEMBERS, *REDUCED_MEMBERS))
