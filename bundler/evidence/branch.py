"""Which line of Triton-Ascend made the failure: `release/3.2.2`, `master`, or another, and what tells.

Evidence, strongest first:
1. the branch of the git checkout that an editable install points to;
2. the files in the kernel's cache folder: master compiles through `.mlirbc` and `.bcmlir`, 3.2.x does not;
3. the stages that the installed backend's compiler.py names;
4. the package version: 3.2.x is the release line, later ones are master.
All that speak are named in `source`, so that a contradiction is seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from bundler.manifest import Fact

NAME = "triton.branch"
RELEASE, MASTER = "release/3.2.2", "master"
_MASTER_ENDS = (".bcmlir", ".mlirbc", ".bcmlir.mlir", ".npuir.mlir")
_RELEASE_ENDS = (".ttadapter", ".ttadapter.mlir")
_VERSION = re.compile(r"^(\d+)\.(\d+)")


def decide(facts: Sequence[Fact], cached_files: Sequence[str]) -> Fact:
    """Decide the branch from the facts of the other sources and the names of cached files."""
    values = {fact.name: fact.value for fact in facts}
    verdicts: list[tuple[str, str]] = []
    checkout = values.get("triton.checkout")
    if checkout and checkout != "detached":
        verdicts.append((checkout, f"git checkout is on {checkout}"))
    verdicts.extend(_from_files(cached_files))
    stages = (values.get("triton.stages") or "").split(", ")
    if "bcmlir" in stages:
        verdicts.append((MASTER, "the installed backend has a bcmlir stage"))
    elif "ttadapter" in stages:
        verdicts.append((RELEASE, "the installed backend has no bcmlir stage"))
    verdicts.extend(_from_version(values.get("package.triton-ascend")))
    if not verdicts:
        return Fact(NAME, None, "", "no triton-ascend in this Python, no cached files, no git checkout")
    branch = verdicts[0][0]
    agreeing = [text for verdict, text in verdicts if verdict == branch]
    against = [text for verdict, text in verdicts if verdict != branch]
    source = "; ".join(agreeing) + (f" (but: {'; '.join(against)})" if against else "")
    return Fact(NAME, branch, source)


def _from_files(cached_files: Sequence[str]) -> list[tuple[str, str]]:
    names = [PurePosixPath(path).name for path in cached_files]
    for name in names:
        if name.endswith(_MASTER_ENDS):
            return [(MASTER, f"cached file {name}")]
    # On master the ttadapter is there too, so it speaks for the release only when the compile got further.
    for name in names:
        if name.endswith(_RELEASE_ENDS):
            return [(RELEASE, f"cached file {name} and no bcmlir")]
    return []


def _from_version(version: str | None) -> list[tuple[str, str]]:
    found = _VERSION.match(version or "")
    if not found:
        return []
    number = (int(found[1]), int(found[2]))
    if number == (3, 2):
        return [(RELEASE, f"version {version}")]
    if number > (3, 2):
        return [(MASTER, f"version {version}")]
    return [(f"other ({version})", f"version {version}")]
