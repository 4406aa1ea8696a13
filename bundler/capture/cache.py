"""Read a triton cache or dump: one folder a hash, the stages of one kernel in it. Read-only, safe on a live one.

Other processes add, rename and remove files while we look, other users' folders may be closed to us: what
cannot be listed or read is not there, as far as this module is concerned. A cache names its files after the
kernel (`add.ttadapter`); a dump (TRITON_DEBUG=1) calls every kernel `kernel` and adds `.mlir`
(`kernel.ttadapter.mlir`), so there the name comes out of the text.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# In the order of the lowering. The npubin is what runs, the json holds the metadata.
IR_STAGES = ("ttir", "ttadapter", "mlirbc", "bcmlir")
STAGES = (*IR_STAGES, "npuir", "npubin", "json")
# triton-ascend takes this attribute out of the text between caching it and handing it to the compiler.
_MIX_MODE = re.compile(rb', mix_mode\s*=\s*"[^"]*"')
_MIX_MODE_ROOM = 256  # bytes that those attributes of one file may take
_SYMBOL = re.compile(rb"\b(?:tt|func)\.func\s+(?:public\s+)?@(\w+)")
_HEAD = 1 << 16  # the first function of a kernel's IR is its kernel


@dataclass(frozen=True)
class CachedKernel:
    """One kernel in one folder of a cache or dump. `paths` are (stage, path) in lowering order.

    Paths as text: making `Path` objects of a large cache's files takes as long as listing them.
    """

    name: str
    hash: str
    location: str
    paths: tuple[tuple[str, str], ...]
    mtime: float

    @property
    def folder(self) -> Path:
        """The folder that holds it."""
        return Path(self.location)

    @property
    def files(self) -> tuple[tuple[str, Path], ...]:
        """(stage, path) in lowering order."""
        return tuple((stage, Path(path)) for stage, path in self.paths)

    @property
    def ir(self) -> tuple[Path, ...]:
        """The files that hold IR, in lowering order."""
        return tuple(Path(path) for stage, path in self.paths if stage in IR_STAGES)

    @property
    def compiled(self) -> bool:
        """Whether its binary is there, so that its compile went well."""
        return any(stage == "npubin" for stage, _ in self.paths)

    def file(self, stage: str) -> Path | None:
        """The file of one stage, or None."""
        return next((Path(path) for each, path in self.paths if each == stage), None)


@dataclass(frozen=True)
class Listing:
    """All kernels below a folder, newest first, and how many folders could not be looked into."""

    kernels: tuple[CachedKernel, ...]
    unreadable: int = 0


def default_cache(environ: Mapping[str, str]) -> Path:
    """Where triton puts what it compiles, for a process with this environment."""
    return Path(environ.get("TRITON_CACHE_DIR") or Path.home() / ".triton" / "cache")


def default_dump(environ: Mapping[str, str]) -> Path:
    """Where triton puts its dumps, for a process with this environment."""
    return Path(environ.get("TRITON_DUMP_DIR") or Path.home() / ".triton" / "dump")


def listing(folder: Path) -> Listing:
    """Everything in a cache, a dump, or one folder of either; nothing if it is missing or closed to us."""
    return _listing(folder, list(_kernels(str(folder), _entries(folder) or [])))


def _listing(folder: Path, kernels: list[CachedKernel]) -> Listing:
    unreadable = 0
    for path in _folders(folder):
        entries = _entries(path)
        if entries is None:
            # Gone since we looked is no loss; closed to us is one that a person should hear of.
            unreadable += Path(path).exists()
        else:
            kernels += _kernels(path, entries)
    return Listing(
        tuple(sorted(kernels, key=lambda kernel: (-kernel.mtime, kernel.hash, kernel.name))), unreadable
    )


def find(cache_dir: Path) -> tuple[CachedKernel, ...]:
    """The kernels in the folders of `cache_dir`, newest first; none if it is missing or closed to us."""
    return _listing(cache_dir, []).kernels


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


def compiler_text(cached: bytes) -> bytes:
    """A cached ttadapter's text as triton-ascend hands it to the compiler."""
    return _MIX_MODE.sub(b"", cached)


def kernel_symbol(path: Path) -> str | None:
    """The name of the kernel that a text of IR defines, or None if it is bytecode, no IR, or closed to us."""
    try:
        with path.open("rb") as file:
            found = _SYMBOL.search(file.read(_HEAD))
    except OSError:
        return None
    return found[1].decode() if found is not None else None


def _folders(cache_dir: Path) -> Iterator[str]:
    for entry in _entries(cache_dir) or ():
        with contextlib.suppress(OSError):
            if entry.is_dir():
                yield entry.path


def _kernels(folder: str, entries: list[os.DirEntry[str]]) -> Iterator[CachedKernel]:
    stages: dict[str, dict[str, str]] = {}
    newest: dict[str, float] = {}
    for entry in entries:
        name, _, stage = entry.name.removesuffix(".mlir").rpartition(".")
        if stage not in STAGES or not name or name.startswith("__grp__"):
            continue
        with contextlib.suppress(OSError):
            info = entry.stat()
            if stat.S_ISREG(info.st_mode) and info.st_size > 0:  # empty: just being written
                stages.setdefault(name, {})[stage] = entry.path
                newest[name] = max(newest.get(name, 0.0), info.st_mtime)
    for name, files in stages.items():
        if files.keys() != {"json"}:  # metadata alone is no kernel
            ordered = tuple((stage, files[stage]) for stage in STAGES if stage in files)
            hash = folder.rpartition(os.sep)[2]
            yield CachedKernel(_name(name, ordered), hash, folder, ordered, newest[name])


def _name(stem: str, files: tuple[tuple[str, str], ...]) -> str:
    if stem != "kernel":
        return stem
    symbols = (kernel_symbol(Path(path)) for stage, path in files if stage in IR_STAGES)
    return next((symbol for symbol in symbols if symbol is not None), stem)


def _entries(folder: Path | str) -> list[os.DirEntry[str]] | None:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return None


def _says(path: Path, wanted: bytes) -> bool:
    """Whether a cached file says the same to the compiler; read only if its size allows it."""
    with contextlib.suppress(OSError):
        surplus = path.stat().st_size - len(wanted)
        return 0 <= surplus <= _MIX_MODE_ROOM and _content(path) == wanted
    return False


def _content(path: Path) -> bytes | None:
    """What a file says to the compiler, or None if it is gone or closed to us."""
    try:
        return compiler_text(path.read_bytes())
    except OSError:
        return None
