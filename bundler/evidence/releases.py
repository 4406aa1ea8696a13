"""The newest releases that this npubug knows of, each with where that is written.

`npubug check` advises on what is older: a maintainer's first question is whether the newest one still fails.
These are facts of a day, not a law: bring them up to date with each release of npubug, and leave the sources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Release:
    """The newest version of one thing.

    Attributes:
        label: its name for people.
        facts: the facts of the environment that hold its version; the first known one counts.
        newest: the version.
        as_of: year and month in which that was looked up.
        source: where it is written.
        remedy: how to get it.
    """

    label: str
    facts: tuple[str, ...]
    newest: str
    as_of: str
    source: str
    remedy: str


RELEASES = (
    Release(
        "compiler",
        ("compiler.version",),
        "1.2.0",
        "2026-12",
        "https://pypi.org/project/ascendnpu-ir/",
        "pip install ascendnpu-ir==1.2.0, then npubug replay with --compiler",
    ),
    Release(
        "Triton-Ascend",
        ("package.triton-ascend",),
        "3.2.2",
        "2026-12",
        "https://gitcode.com/Ascend/triton-ascend/blob/main/docs/zh/installation_guide.md",
        "pip install triton-ascend==3.2.2 --extra-index-url=https://triton-ascend.osinfra.cn/pypi/simple",
    ),
    Release(
        "CANN",
        ("cann.version",),
        "9.2.0",
        "2026-12",
        "https://www.hiascend.com/document/detail/en/CANNCommunityEdition/920/softwareinst/releasenote/",
        "https://www.hiascend.com/cann/download",
    ),
)

# Which CANN a Triton-Ascend was made for: the installation guide's table.
PAIRS = {
    "3.2.0rc4": ("8.3.RC1", "8.3.RC2", "8.5.0.alpha001"),
    "3.2.0": ("8.5.0",),
    "3.2.1": ("9.0.0",),
}
PAIRS_SOURCE = "https://gitcode.com/Ascend/triton-ascend/blob/main/docs/zh/installation_guide.md"

_VERSION = re.compile(r"(?<![\w.])(\d+(?:\.\d+)+)(?:[.-]?(alpha|beta|rc)\.?(\d*))?(?!\d)", re.IGNORECASE)
_STAGES = {"alpha": 0, "beta": 1, "rc": 2}
_FINAL = 3


def version_in(text: str) -> str | None:
    """The first version number in a text: `1.2.0` of `bishengir-compile 1.2.0 (...)`, or None."""
    match = _VERSION.search(text)
    return match[0] if match else None


def is_older(version: str, than: str) -> bool:
    """Whether one version comes before another; False if either cannot be told."""
    a, b = _key(version), _key(than)
    return a is not None and b is not None and a < b


def _key(version: str) -> tuple[tuple[int, ...], int, int] | None:
    match = _VERSION.search(version)
    if match is None:
        return None
    numbers = [int(number) for number in match[1].split(".")]
    while numbers[-1:] == [0]:
        numbers.pop()
    stage = _STAGES[match[2].lower()] if match[2] else _FINAL
    return tuple(numbers), stage, int(match[3] or 0)
