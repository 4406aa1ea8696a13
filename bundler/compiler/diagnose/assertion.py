"""An assertion of the compiler does not hold.

Text (assert.h): `PROGRAM: FILE:LINE: FUNCTION: Assertion `EXPRESSION' failed.`, FILE being a path of the
machine that the compiler was built on.
"""

from __future__ import annotations

from bundler.compiler.diagnose._crash import frames
from bundler.compiler.diagnose._kind import Kind, Tier, crashed
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis


def match(log: Log) -> Diagnosis | None:
    for _, line in log.lines_with(": Assertion `"):
        place, _, rest = line.strip().partition(": Assertion `")
        expression, failed, _ = rest.rpartition("' failed")
        if not failed:
            continue
        file, number, function = _place(place)
        details = (("file", file), ("line", number), ("function", function), ("expression", expression))
        # The path and the line belong to one build of the compiler; file, function and words to the failure.
        message = f"{file}: {function}: Assertion `{expression}' failed."
        return crashed(log, "assertion", message, frames=frames(log), details=details, lines=(line.strip(),))
    return None


def _place(text: str) -> tuple[str, str, str]:
    """File, line and function of `PROGRAM: /path/File.cpp:198: FUNCTION`; a function has colons too."""
    words = text.split(": ")
    for index, word in enumerate(words):
        path, _, number = word.rpartition(":")
        if path and number.isdigit():
            return path.replace("\\", "/").rpartition("/")[2], number, ": ".join(words[index + 1 :])
    return "", "", words[-1]


KIND = Kind("assertion", Tier.CRASH, match)
