"""How much an archive may hold. Readers and writers keep to the same numbers."""

from __future__ import annotations

from dataclasses import dataclass

from bundler import manifest_json


@dataclass(frozen=True)
class Limits:
    """Bounds on what is read, so that a hostile file costs bounded memory and time.

    `max_total` counts unpacked bytes: the 4 GiB that plain tar and zip headers can express, a few seconds of
    work. There is no bound on the ratio, since a compiler that prints one line without end compresses
    better than any bomb.
    """

    max_members: int = 10_000
    max_manifest: int = manifest_json.MAX_BYTES
    max_total: int = (4 << 30) - 1

    def total_problem(self, unpacked: int) -> str | None:
        """Say why this many unpacked bytes are too many, or return None."""
        if unpacked > self.max_total:
            return f"it unpacks to {unpacked} bytes, more than {self.max_total}"
        return None
