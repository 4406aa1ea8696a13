"""What a failure kind is, and how the kinds are found.

A kind is one file in this folder: it defines `KIND`, and is known from then on. Its `match` looks at a log
and returns a diagnosis or None; the first that answers, by tier and then by name, wins. The tiers say which
evidence outranks which: a tool that we ended ourselves is a time-out whatever it printed before; a crash
outranks the errors that led to it; a known message outranks the generic reading.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from bundler.compiler.diagnose._log import Log, Report
from bundler.compiler.outcome import Diagnosis, Outcome


class Tier(IntEnum):
    """The order in which kinds are asked."""

    ENDED = 0  # by us, or by the kernel: time, memory
    UNUSABLE = 1  # the tool did not come to work: options, libraries, files
    INPUT = 2  # the input was rejected before any pass
    PROGRAM = 3  # the text is of the user's Python program, not of a compiler tool
    KNOWN_CRASH = 4  # an abort whose message says which failure it is
    CRASH = 5  # an abort with a message
    SIGNAL = 6  # a signal alone
    MESSAGE = 7  # an error message that a kind knows
    BACKEND = 8  # no error of the passes: hivmc, or all is well
    FALLBACK = 9  # nothing above


@dataclass(frozen=True)
class Kind:
    """One way in which a compile ends.

    Args:
        name: the stable word, kebab-case; it is part of signatures, so it never changes.
        tier: which evidence this kind reads.
        match: a log to a diagnosis, or None when this kind is not it. Must not raise.
    """

    name: str
    tier: Tier
    match: Callable[[Log], Diagnosis | None]


@lru_cache(maxsize=1)
def kinds() -> tuple[Kind, ...]:
    """Every kind in this folder, in the order in which they are asked."""
    package = __package__ or "bundler.compiler.diagnose"
    folder = importlib.import_module(package)
    found = [
        importlib.import_module(f"{package}.{module.name}").KIND
        for module in pkgutil.iter_modules(folder.__path__)
        if not module.name.startswith("_")
    ]
    return tuple(sorted(found, key=lambda kind: (kind.tier, kind.name)))


def crashed(
    log: Log,
    kind: str,
    message: str,
    *,
    frames: tuple[str, ...],
    details: tuple[tuple[str, str], ...] = (),
    emitted_by: str | None = None,
    lines: tuple[str, ...] = (),
    remedies: tuple[str, ...] = (),
) -> Diagnosis:
    """The diagnosis of a tool that ended by a signal; errors before it are context, and give the place."""
    before = log.errors[-1] if log.errors else None
    return Diagnosis(
        Outcome.CRASHED,
        log.stage,
        kind,
        message=message,
        pass_name=log.pass_name or emitted_by,
        details=details,
        frames=frames,
        lines=(*(each.line for each in log.errors[:4]), *lines),
        location=before.location or None if before is not None else None,
        remedies=remedies,
    )


def failed(
    log: Log,
    report: Report,
    kind: str,
    *,
    emitted_by: str | None = None,
    details: tuple[tuple[str, str], ...] = (),
    remedies: tuple[str, ...] = (),
    recognised: bool = True,
) -> Diagnosis:
    """The diagnosis of a pass that reported an error.

    Args:
        emitted_by: the one pass that words it like this, for a run whose text does not name the pass.
    """
    return Diagnosis(
        Outcome.FAILED,
        log.stage,
        kind,
        message=report.message,
        pass_name=log.pass_name or emitted_by,
        details=details,
        lines=tuple(each.line for each in log.errors[:8]) or (report.line,),
        location=report.location or None,
        recognised=recognised,
        remedies=remedies,
    )
