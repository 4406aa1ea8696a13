"""Triton-Ascend as installed: which backend folder, which stages it compiles through, which git checkout.

Community `triton` installs the same files as `triton-ascend`; whichever came last wins, and a mixture fails
in odd ways. Both being installed is a warning, with whose files are there as far as their sizes tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bundler.evidence.context import Context, ask
from bundler.manifest import Fact

NAMES = ("triton.backend", "triton.stages", "triton.checkout", "triton.commit")

_LOCAL_COMMIT = re.compile(r"\+(?:.*\.)?(?:git|g)([0-9a-f]{7,40})")


@dataclass(frozen=True)
class Installed:
    """What the user's Python says about its Triton: `editable` is an editable install's source folder."""

    version: str | None = None
    editable: str | None = None
    folder: str | None = None
    stages: tuple[str, ...] = ()


def facts(context: Context, installed: Installed) -> Iterable[Fact]:
    """The facts about one installation; asks git when it is an editable one."""
    missing = "no triton/backends/ascend in this Python"
    yield Fact("triton.backend", installed.folder, "sys.path", "" if installed.folder else missing)
    stages = ", ".join(installed.stages)
    yield Fact(
        "triton.stages", stages or None, "triton/backends/ascend/compiler.py", "" if stages else missing
    )
    checkout, commit = _git(context, installed.editable) if installed.editable else (None, None)
    source = f"git in {installed.editable}" if installed.editable else "package metadata"
    reason = "git did not answer" if installed.editable else "not an editable install"
    yield Fact("triton.checkout", checkout, source, "" if checkout else reason)
    named = _LOCAL_COMMIT.search(installed.version or "")
    if commit is None and named:
        yield Fact("triton.commit", named[1], "package version")
    else:
        yield Fact("triton.commit", commit, source, "" if commit else reason)


def overlap(ascend: str, ascend_files: int, community: str, community_files: int) -> Fact:
    """The warning that community triton is installed beside triton-ascend."""
    if ascend_files > community_files:
        whose = "the files that are there look like triton-ascend's"
    elif community_files > ascend_files:
        whose = "the files that are there look like community triton's: the Ascend backend may be broken"
    else:
        whose = "the files that are there may be a mixture"
    text = (
        f"community triton {community} is installed beside triton-ascend {ascend}; they overwrite each "
        f"other's files ({whose}). Uninstall both, then install triton-ascend alone"
    )
    return Fact("warning.community-triton", text, "package metadata")


def _git(context: Context, folder: str) -> tuple[str | None, str | None]:
    """Branch (or "detached") and commit of a checkout, with "dirty" where files differ from the commit."""

    def git(*words: str) -> str | None:
        answer = ask(context, ["git", "-C", folder, *words], timeout=context.timeout / 3)
        return answer.text.strip() if answer.text is not None else None

    commit = git("rev-parse", "HEAD")
    if commit is None:
        return None, None
    branch = git("rev-parse", "--abbrev-ref", "HEAD") or "HEAD"
    changed = git("diff-index", "--quiet", "HEAD", "--") is None and bool(
        git("diff-index", "--name-only", "HEAD")
    )
    return ("detached" if branch == "HEAD" else branch), commit + (" dirty" if changed else "")
