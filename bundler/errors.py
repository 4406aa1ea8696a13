"""The one way npubug says an error: what failed, why, and what to try; and the exit codes that go with it.

Exit codes are part of the interface (docs/exit-codes.md); a number is never reused for another meaning.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Process exit codes of every npubug command."""

    OK = 0
    FAILED = 1  # npubug itself could not do its job (disk full, no permission, ...)
    NOTHING_FAILED = 2  # there is no compiler failure to bundle or to minimise
    INCOMPLETE = 3  # the archive is valid, but a maintainer would still ask for something
    INVALID_INPUT = 4  # the archive or IR file is not valid
    TOOL_MISSING = 5  # no compiler, or no opt tool, was found
    USAGE = 64  # the command line itself is wrong
    INTERRUPTED = 130  # Ctrl-C; what was found up to then has been written


class NpubugError(Exception):
    """An error to show to a person, never as a traceback.

    Args:
        what: what failed, in one line.
        why: the reason as far as it is known.
        hint: what to try next.
        code: the exit code of the command that meets it.
    """

    def __init__(self, what: str, *, why: str = "", hint: str = "", code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.hint = hint
        self.code = code

    def as_dict(self) -> dict[str, object]:
        """The same for programs: what `--json` prints when a command fails."""
        return {"error": self.what, "why": self.why, "try": self.hint, "exit_code": int(self.code)}

    def __str__(self) -> str:
        parts = [f"error: {self.what}"]
        if self.why:
            parts.append(f"  why: {self.why}")
        if self.hint:
            parts.append(f"  try: {self.hint}")
        return "\n".join(parts)
