"""Read a triton cache: one folder a hash, the stages of one kernel in it. Read-only, safe on a live cache.

Other processes add, rename and remove files while we look, other users' folders may be closed to us: what
cannot be listed or read is not there, as far as this module is concerned.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# In the order of the lowering. The json holds the metadata, the npubin is what runs.
STAGES = ("ttir", "ttadapter", "mlirbc", "bcmlir", "npubin", "json")
_IR_STAGES = STAGES[:4]
# triton-ascend takes this attribute out of the text between caching it and handing it to the compiler.
_MIX_MODE = re.compile(rb', mix_mode\s*=\s*"[^"]*"')
_MIX_MODE_ROOM = 256  # bytes that those attributes of one file may take


@dataclass(frozen=True)
class CachedKernel:
    """One kernel in one folder of a cache. `files` are (stage, path) in lowering order."""

    name: str
    hash: str
    folder: Path
    files: tuple[tuple[str, Path], ...]
    mtime: float

    @property
    def ir(self) -> tuple[Path, ...]:
        """The files that hold IR, in lowering order."""
        return tuple(path for stage, path in self.files if stage in _IR_STAGES)


def find(cache_dir: Path) -> tuple[CachedKernel, ...]:
    """All kernels below `cache_dir`, newest first; none if it is missing or closed to us."""
    kernels = [kernel for folder in _folders(cache_dir) for kernel in _kernels(folder)]
    return tuple(sorted(kernels, key=lambda kernel: (-kernel.mtime, kernel.hash, kernel.name)))


def cached_ir(cache_dir: Path, kernel: str | None = None, *, input: Path | None = None) -> tuple[Path, ...]:
    """The cached IR files of one kernel, in lowering order; empty if there is none.

    Args:
        cache_dir: the cache.
        kernel: its name; of several folders (specialisations, autotune configurations) the newest.
        input: a compiler input; the kernel whose cached text it was made from goes before one of that name.
    """
    kernels = find(cache_dir)
    if input is not None:
        wanted = _content(input)
        for candidate in kernels:
            if wanted is not None and any(_says(path, wanted) for path in candidate.ir):
                return candidate.ir
    if kernel is not None:
        kernels = tuple(candidate for candidate in kernels if candidate.name == kernel)
    return kernels[0].ir if kernels else ()


def _folders(cache_dir: Path) -> Iterator[Path]:
    for entry in _entries(cache_dir):
        with contextlib.suppress(OSError):
            if entry.is_dir():
                yield Path(entry.path)


def _kernels(folder: Path) -> Iterator[CachedKernel]:
    stages: dict[str, dict[str, Path]] = {}
    newest: dict[str, float] = {}
    for entry in _entries(folder):
        name, _, stage = entry.name.rpartition(".")
        if stage not in STAGES or not name or name.startswith("__grp__"):
            continue
        with contextlib.suppress(OSError):
            info = entry.stat()
            if stat.S_ISREG(info.st_mode) and info.st_size > 0:  # empty: just being written
                stages.setdefault(name, {})[stage] = Path(entry.path)
                newest[name] = max(newest.get(name, 0.0), info.st_mtime)
    for name, files in stages.items():
        if files.keys() != {"json"}:  # metadata alone is no kernel
            ordered = tuple((stage, files[stage]) for stage in STAGES if stage in files)
            yield CachedKernel(name, folder.name, folder, ordered, newest[name])


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _says(path: Path, wanted: bytes) -> bool:
    """Whether a cached file says the same to the compiler; read only if its size allows it."""
    with contextlib.suppress(OSError):
        surplus = path.stat().st_size - len(wanted)
        return 0 <= surplus <= _MIX_MODE_ROOM and _content(path) == wanted
    return False


def _content(path: Path) -> bytes | None:
    """What a file says to the compiler, or None if it is gone or closed to us."""
    try:
        return _MIX_MODE.sub(b"", path.read_bytes())
    except OSError:
        return None
