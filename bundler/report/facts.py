"""The facts about a machine that a reader of a bug report looks for first; the manifest has the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bundler.manifest import Fact, Manifest

_SHOWN = (
    ("CANN", "cann.version"),
    ("Triton-Ascend", "package.triton-ascend"),
    ("branch", "triton.branch"),
    ("torch_npu", "package.torch_npu"),
    ("torch", "package.torch"),
    ("NPU", "npu.model"),
    ("driver", "driver.version"),
    ("Python", "python.version"),
    ("system", "os.name"),
    ("machine", "os.arch"),
)
ESSENTIAL = ("CANN", "Triton-Ascend", "branch", "NPU")


@dataclass(frozen=True)
class Row:
    """One line of the short table. `value` is None when the fact could not be had; `reason` then says why."""

    label: str
    value: str | None
    reason: str = ""

    @property
    def essential(self) -> bool:
        """Whether maintainers ask for it by name."""
        return self.label in ESSENTIAL


def environment_rows(manifest: Manifest) -> Iterator[Row]:
    """Yield the facts of the short table that the manifest answers, with a value or with a reason."""
    facts: dict[str, Fact] = {fact.name: fact for fact in manifest.environment}
    for label, name in _SHOWN:
        fact = facts.get(name)
        if fact is not None:
            yield Row(label, fact.value, fact.reason or "not known")
