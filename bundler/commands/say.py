"""How a command tells what it is doing."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    """A line for the person, on stderr, so that a command's output and the user's program's stay as they are."""
    print(f"npubug: {line}", file=sys.stderr, flush=True)
