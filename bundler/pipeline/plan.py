"""How to bundle, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bundler.compiler.outcome import Diagnosis
from bundler.manifest import Manifest
from bundler.redact import Redactor


@dataclass(frozen=True)
class Plan:
    """How to bundle.

    Attributes:
        output: a folder, or the archive's own path.
        timeout: seconds for each recompile.
        say: receives a line for each long step.
        redactor: None leaves everything as it is.
        review: called when everything is redacted and nothing is written yet; raises to stop there.
        written: called with the archive's path and manifest when it is complete on disk.
    """

    output: Path
    timeout: float
    say: Callable[[str], None]
    redactor: Redactor | None
    review: Callable[[Redactor], None] | None = None
    written: Callable[[Path, Manifest], None] | None = None


@dataclass(frozen=True)
class Bundle:
    """What was written. `manifest` as in the archive; `diagnosis` of the failing compile."""

    path: Path
    manifest: Manifest
    diagnosis: Diagnosis
