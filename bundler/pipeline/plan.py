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
    """

    output: Path
    timeout: float
    say: Callable[[str], None]
    redactor: Redactor | None


@dataclass(frozen=True)
class Bundle:
    """What was written. `manifest` as in the archive; `diagnosis` of the failing compile."""

    path: Path
    manifest: Manifest
    diagnosis: Diagnosis
