"""Which of the kernels of a cache is meant: by name, by hash, the newest, or the newest that has no binary."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from bundler.capture.cache import CachedKernel
from bundler.errors import ExitCode, NpubugError
from bundler.printable import printable

_LIST = "npubug bundle --cache DIR --list shows what is there"


@dataclass(frozen=True)
class Choice:
    """How a person names a kernel: at most one of the three; none means the newest that failed."""

    kernel: str | None = None
    hash: str | None = None
    latest: bool = False

    def __post_init__(self) -> None:
        if sum((self.kernel is not None, self.hash is not None, self.latest)) > 1:
            raise NpubugError(
                "--kernel, --hash and --latest exclude each other", hint="give one", code=ExitCode.USAGE
            )


def choose(kernels: Sequence[CachedKernel], choice: Choice) -> tuple[CachedKernel, tuple[str, ...]]:
    """The kernel that is meant, and what was decided for the person, a line each.

    Args:
        kernels: newest first.

    Raises:
        NpubugError: no kernel is like that, a hash fits several, or all of them have been compiled.
    """
    if not kernels:
        raise NpubugError(
            "no kernel in this folder",
            why="no folder below it holds a .ttir, .ttadapter or .bcmlir file",
            hint="check TRITON_CACHE_DIR, or run with TRITON_ALWAYS_COMPILE=1 and look again",
            code=ExitCode.INVALID_INPUT,
        )
    if choice.hash is not None:
        return _by_hash(kernels, choice.hash), ()
    if choice.latest:
        return kernels[0], ()
    if choice.kernel is not None:
        named = [kernel for kernel in kernels if kernel.name == choice.kernel]
        if not named:
            raise _no_such("kernel", choice.kernel, [kernel.name for kernel in kernels])
        # Of one kernel's many configurations, the one whose compile gave no binary is the one in question.
        failed = [kernel for kernel in named if not kernel.compiled]
        return (failed or named)[0], _others(choice.kernel, named, failed)
    failed = [kernel for kernel in kernels if not kernel.compiled]
    if not failed:
        raise NpubugError(
            f"every kernel here has its binary ({len(kernels)} of them), so no compile failed",
            hint=f"name one by --kernel, --hash or --latest; {_LIST}",
            code=ExitCode.NOTHING_FAILED,
        )
    taken = f"{failed[0].name} was taken as the newest of {len(failed)} kernels without a binary"
    return failed[0], (taken,) if len(failed) > 1 else ()


def _by_hash(kernels: Sequence[CachedKernel], wanted: str) -> CachedKernel:
    exact = [kernel for kernel in kernels if kernel.hash == wanted]
    fitting = exact or [kernel for kernel in kernels if kernel.hash.startswith(wanted)]
    hashes = sorted({kernel.hash for kernel in fitting})
    if not fitting or not wanted:
        raise _no_such("hash", wanted, [kernel.hash for kernel in kernels])
    if len(hashes) > 1:
        raise NpubugError(
            f"{len(hashes)} folders begin with {printable(wanted, 80)}",
            why=", ".join(printable(hash, 80) for hash in hashes[:5]),
            hint="give more of the hash",
            code=ExitCode.USAGE,
        )
    return next((kernel for kernel in fitting if not kernel.compiled), fitting[0])


def _others(name: str, named: Sequence[CachedKernel], failed: Sequence[CachedKernel]) -> tuple[str, ...]:
    if len(named) == 1:
        return ()
    which = "newest of those without a binary" if failed else "newest"
    return (f"{len(named)} folders hold a kernel {name}; the {which} was taken",)


def _no_such(what: str, wanted: str, known: Sequence[str]) -> NpubugError:
    near = difflib.get_close_matches(wanted, list(dict.fromkeys(known))[:10_000], n=3, cutoff=0.4)
    return NpubugError(
        f"no {what} {printable(wanted, 80)} here",
        why=f"near: {', '.join(printable(each, 80) for each in near)}" if near else "",
        hint=_LIST,
        code=ExitCode.INVALID_INPUT,
    )
