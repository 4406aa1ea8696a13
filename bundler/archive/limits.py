"""How much an archive may hold. Readers and writers keep to the same numbers."""

from __future__ import annotations

from dataclasses import dataclass

from bundler import manifest_json

_FLOOR = 1 << 30


@dataclass(frozen=True)
class Limits:
    """Bounds on what is read, so that a hostile file costs bounded memory and time.

    `max_total` fits a plain tar header; `max_ratio` applies beyond the first GiB, where no honest log gets
    to it.
    """

    max_members: int = 10_000
    max_manifest: int = manifest_json.MAX_BYTES
    max_total: int = (8 << 30) - 1
    max_ratio: int = 4_000

    def problem(self, unpacked: int, packed: int | None = None) -> str | None:
        """Say why `packed` bytes (if known) that unpack to `unpacked` are too much, or return None."""
        if unpacked > self.max_total:
            return f"it unpacks to {unpacked} bytes, more than {self.max_total}"
        if packed is not None and unpacked > max(_FLOOR, packed * self.max_ratio):
            return f"{packed} bytes that unpack to {unpacked} look like a decompression bomb"
        return None
