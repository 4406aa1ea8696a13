"""What a saved terminal log says of the compile that failed: its argv, how it ended, and where its IR may be.

The compiler's input was in a temporary folder that is gone; the same text is in the kernel's cache folder,
which triton-ascend names in its error (`[INFO]: The compiled kernel cache is in DIR`), and below the dump
folder, if TRITON_DEBUG was set (`Dumping intermediate results to DIR`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bundler.capture.recording import middle_cut
from bundler.compiler.diagnose import diagnose
from bundler.compiler.outcome import Diagnosis
from bundler.compiler.transcript import Incident, clean, incidents
from bundler.errors import ExitCode, NpubugError

_LARGEST = 1 << 30
_KEPT = 32 << 20  # of a log in an archive: the beginning, and the end, where the error stands
_DUMP = re.compile(r"Dumping intermediate results to (\S.*?)\s*$", re.MULTILINE)
_TOOLS = ("bishengir-compile", "bishengir-compile-a5", "npuc", "triton-adapter-opt")


@dataclass(frozen=True)
class LoggedFailure:
    """The last compile of a log that failed.

    `argv` is empty where the log does not print it; `folders` are the places that the log names as holding
    the IR, likeliest first; `failures` counts the compiles that the log says failed.
    """

    tool: str
    argv: tuple[str, ...]
    diagnosis: Diagnosis
    folders: tuple[Path, ...]
    failures: int


def read_log(path: Path) -> bytes:
    """A log's bytes, up to 1 GB.

    Raises:
        NpubugError: it cannot be read (INVALID_INPUT).
    """
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST)
    except OSError as error:
        raise NpubugError(
            f"cannot read {path}", why=error.strerror or str(error), code=ExitCode.INVALID_INPUT
        ) from error


def kept_of(log: bytes) -> bytes:
    """What of a log goes into an archive."""
    return middle_cut(log, _KEPT)


def failure_in(log: bytes) -> LoggedFailure:
    """The last failure of a compiler tool that a log tells of.

    Raises:
        NpubugError: it tells of none (NOTHING_FAILED).
    """
    text = log.decode(errors="replace")
    judged = [(incident, diagnose(incident.run)) for incident in incidents(text)]
    failed = [(i, d) for i, d in judged if d.outcome.is_bug and _tool(i) in _TOOLS]
    if not failed:
        others = ", ".join(sorted({d.kind for _, d in judged}))
        raise NpubugError(
            "this log tells of no compiler failure",
            why=f"it tells of: {others}"
            if others
            else "no error block, no failed command, no compiler words",
            hint="npubug diagnose LOG says what is in it; save the whole output: python x.py > log 2>&1",
            code=ExitCode.NOTHING_FAILED,
        )
    incident, diagnosis = failed[-1]
    named = [incident.cache] if incident.cache else []
    named += reversed(_DUMP.findall(clean(text)))
    argv = incident.run.argv if len(incident.run.argv) > 1 else ()
    folders = tuple(Path(name) for name in dict.fromkeys(named))
    return LoggedFailure(_tool(incident), argv, diagnosis, folders, len(failed))


def _tool(incident: Incident) -> str:
    return Path(incident.run.argv[0]).name if incident.run.argv else ""
