"""The host compiler could not build triton's launcher (a small C++ stub): not an NPU bug.

The tool is g++, clang++ or the like; its text is `FILE.cpp:12:10: fatal error: acl/acl.h: No such file or
directory`. Mostly a missing or second CANN, or a folder that another process was writing to.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome, Stage

_HOST_COMPILER = re.compile(r"(?:[\w.-]+-)?(?:g\+\+|gcc|clang\+\+|clang|c\+\+|cc)(?:-[\d.]+)?\Z")


def match(log: Log) -> Diagnosis | None:
    if not _HOST_COMPILER.match(log.tool) or log.run.returncode == 0:
        return None
    said = [line.strip() for _, line in log.lines_with("error: ")] or [
        line.strip() for _, line in log.lines_with("undefined reference")
    ]
    message = said[0].partition("error: ")[2] or said[0] if said else "the host compiler failed"
    return Diagnosis(
        Outcome.UNUSABLE,
        Stage.LAUNCHER,
        "launcher-build",
        message=message,
        lines=tuple(said[:8]),
        remedies=(
            "The launcher is host code: look at the C++ compiler and at CANN's headers on this machine.",
        ),
    )


KIND = Kind("launcher", Tier.PROGRAM, match)
