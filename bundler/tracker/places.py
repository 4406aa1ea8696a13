"""The trackers that npubug writes for, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Host(str, Enum):
    """The sites; each has its own API (see the module of the same name)."""

    GITCODE = "gitcode"
    GITHUB = "github"


@dataclass(frozen=True)
class Tracker:
    """One tracker.

    Attributes:
        form: which template fills its issue form.
        title_prefix: what its form puts before a title.
        takes: archive endings that its web page takes as an attachment; empty where that is not documented.
        most: the largest attachment in bytes, or 0 where that is not documented.
    """

    name: str
    host: Host
    owner: str
    repo: str
    form: str
    title_prefix: str
    takes: tuple[str, ...] = ()
    most: int = 0

    @property
    def url(self) -> str:
        """The repository's page."""
        site = "https://gitcode.com" if self.host is Host.GITCODE else "https://github.com"
        return f"{site}/{self.owner}/{self.repo}"

    @property
    def chinese(self) -> bool:
        """Whether its readers expect Chinese first."""
        return self.host is Host.GITCODE

    def takes_file(self, name: str) -> bool:
        """Whether a file of this name can be attached, as far as that is known."""
        return not self.takes or name.lower().endswith(self.takes)


TRACKERS = MappingProxyType(
    {
        tracker.name: tracker
        for tracker in (
            Tracker("npuir", Host.GITCODE, "Ascend", "AscendNPU-IR", "npuir", "[Bug-Report|缺陷反馈]: "),
            Tracker(
                "triton-distributed", Host.GITCODE, "Ascend", "Triton-distributed-ascend", "triton", "[Bug]: "
            ),
            Tracker(
                "triton-ascend",
                Host.GITHUB,
                "triton-lang",
                "triton-ascend",
                "triton",
                "[Bug]: ",
                takes=(".zip", ".gz", ".tgz"),
                most=25_000_000,
            ),
        )
    }
)
