"""From how a compiler tool ended to what that means: one file per failure kind.

The exit code says nothing here (a healthy compile without the closed backend ends 1 with one version and 0
with another), so every kind reads the text. docs/diagnosis.md shows how to add a kind.
"""

from __future__ import annotations

from bundler.compiler.diagnose._generic import unrecognised
from bundler.compiler.diagnose._kind import Kind, Tier, kinds
from bundler.compiler.diagnose._log import Log, read
from bundler.compiler.outcome import Diagnosis, ToolRun

__all__ = ["Kind", "Log", "Tier", "diagnose", "kinds", "read"]


def diagnose(run: ToolRun) -> Diagnosis:
    """What the ending of `run` means. Never raises; linear in the length of the text."""
    log = read(run)
    for kind in kinds():
        diagnosis = kind.match(log)
        if diagnosis is not None:
            return diagnosis
    return unrecognised(log)
