"""Show a reduction while it runs: one live line on a terminal, a plain line for each step otherwise."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.live import Live

_QUIET = 2.0  # seconds between plain lines


class _Size(Protocol):
    @property
    def ops(self) -> int: ...
    @property
    def size(self) -> int: ...


class _Tally(Protocol):
    @property
    def candidates(self) -> int: ...
    @property
    def compiles(self) -> int: ...


class Snapshot(Protocol):
    """What is shown: `minimizer.reduce.Progress`, by shape, since the bundler does not import the minimizer."""

    @property
    def transform(self) -> str: ...
    @property
    def start(self) -> _Size: ...
    @property
    def best(self) -> _Size: ...
    @property
    def tally(self) -> _Tally: ...
    @property
    def elapsed(self) -> float: ...
    @property
    def left(self) -> float | None: ...


class ProgressLine:
    """Use as a context manager, and call `update` as often as you like.

    Args:
        unit: what `start.ops` and `best.ops` count.
    """

    def __init__(self, unit: str = "ops") -> None:
        self._unit = unit
        self._live: Live | None = None
        self._last: tuple[int, int] | None = None
        self._last_time = 0.0

    def __enter__(self) -> ProgressLine:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), transient=True, refresh_per_second=8)
            self._live.start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, snapshot: Snapshot) -> None:
        """Show where the reduction stands."""
        line = line_of(snapshot, self._unit)
        if self._live is not None:
            from rich.text import Text

            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))
            return
        size = (snapshot.best.ops, snapshot.best.size)
        now = time.monotonic()
        # Piped: only what is news, and not more often than a person reads.
        if self._last is None or (size != self._last and now - self._last_time >= _QUIET):
            self._last, self._last_time = size, now
            print(f"npubug: {line}", file=sys.stderr, flush=True)


def line_of(snapshot: Snapshot, unit: str) -> str:
    """The progress in one line of at most some 100 characters."""
    rate = snapshot.tally.compiles / snapshot.elapsed if snapshot.elapsed > 0 else 0.0
    parts = [
        f"{snapshot.start.ops} -> {snapshot.best.ops} {unit}",
        f"{snapshot.best.size} bytes",
        f"{snapshot.tally.candidates} candidates",
        f"{rate:.1f} compiles/s",
        f"{_clock(snapshot.elapsed)}"
        + (f", {_clock(snapshot.left)} left" if snapshot.left is not None else ""),
        snapshot.transform,
    ]
    return "  ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
