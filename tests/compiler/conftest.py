"""What the tests of diagnosis share: runs rebuilt from recorded text."""

from __future__ import annotations

from pathlib import Path

import pytest

LOGS = Path(__file__).resolve().parents[1] / "data" / "logs"


@pytest.fixture
def recorded():
    """The text of a recorded log by its name."""
    return lambda name: (LOGS / name).read_text()
