"""What an edit is.

An edit is a small frozen value that names operations by their index in one program and can change a draft of
*that* program. So edits can be listed, halved, united and tried in any order, always against the same
numbering; an edit whose target another one already removed simply does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from minimizer.ir.draft import Draft
from minimizer.ir.program import Program


class Edit(Protocol):
    """One step of a transform."""

    def apply(self, draft: Draft) -> bool:
        """Change the draft; False if there was nothing to do."""
        ...


@dataclass(frozen=True)
class Transform:
    """A family of edits.

    Attributes:
        name: as shown in progress and statistics.
        edits: lists the edits on a program, largest gain first.
        kind: `set`: the edits are independent, so many can be tried at once and halved on failure;
            `choice`: each is a big step that changes the rest, so the first that works is taken and the
            list made anew.
        whole: for a set, whether trying all at once makes sense (removing everything never does).
        smallest: for a set, the smallest chunk before the sweep, which tries single edits of all sets.
    """

    name: str
    edits: Callable[[Program], Sequence[Edit]]
    kind: str = "set"
    whole: bool = True
    smallest: int = 2


def apply_all(program: Program, edits: Sequence[Edit]) -> Program | None:
    """The program after these edits, or None if none of them changed anything."""
    draft = Draft(program)
    changed = False
    for edit in edits:
        changed |= edit.apply(draft)
    return draft.finish() if changed else None
