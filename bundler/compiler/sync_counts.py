"""How much synchronisation a kernel's IR holds, and which pass put it there. Static: the ops as printed.

Within a core, `set_flag` and `wait_flag` order two pipes and `pipe_barrier` all of them; between the cores of a
block, the `sync_block` family does. Barrier-all mode turns the first two into the third.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bundler.compiler.dumps import parts_of, read_dumps

_OPERATION = re.compile(
    rb"\bhivm\.hir\.(set_flag|wait_flag|pipe_barrier|sync_block)(?:_(?:set|wait|lock|unlock))?\b"
)


@dataclass(frozen=True)
class SyncCounts:
    """Operations by kind; `sync_block` counts its whole family."""

    set_flag: int = 0
    wait_flag: int = 0
    pipe_barrier: int = 0
    sync_block: int = 0

    def __str__(self) -> str:
        return (
            f"{self.set_flag} set_flag, {self.wait_flag} wait_flag, {self.pipe_barrier} pipe_barrier, "
            f"{self.sync_block} sync_block"
        )


@dataclass(frozen=True)
class SyncStep:
    """The counts of the whole program after a pass that changed them."""

    pass_name: str
    counts: SyncCounts


def count(text: bytes) -> SyncCounts:
    """The synchronisation in one text of IR."""
    return _counts(Counter(match[1] for match in _OPERATION.finditer(text)))


def steps(log: Iterable[bytes]) -> tuple[SyncStep, ...]:
    """The passes of a log with IR dumps after which the program's counts are others than before.

    A pass on functions shows one function at a time, so the program is followed function by function. After a
    failed attempt the compiler starts anew, and so do the counts.
    """
    functions: dict[str, Counter[bytes]] = {}
    found: list[SyncStep] = []
    last = SyncCounts()
    for dump in read_dumps(log):
        if dump.before:
            continue
        if b"hivm.hir." in dump.text or functions:
            parts = parts_of(dump.text)
            if parts.is_module:
                functions = {}
            for function in parts.functions:
                functions[function.name] = Counter(match[1] for match in _OPERATION.finditer(function.text))
        total: Counter[bytes] = Counter()
        for counted in functions.values():
            total.update(counted)
        now = _counts(total)
        if now != last:
            found.append(SyncStep(dump.pass_name, now))
            last = now
        if dump.failed and "retrying" in dump.remark:
            functions, found, last = {}, [], SyncCounts()
    return tuple(found)


def _counts(total: Counter[bytes]) -> SyncCounts:
    return SyncCounts(total[b"set_flag"], total[b"wait_flag"], total[b"pipe_barrier"], total[b"sync_block"])
