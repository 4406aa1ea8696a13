"""A private copy of one cached kernel, so that what happens to the cache afterwards does not matter."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from bundler.capture.cache import IR_STAGES, CachedKernel
from bundler.errors import ExitCode, NpubugError

_LARGEST = 64 << 20
_ATTEMPTS = 3
_PAUSE = 0.2  # seconds in which a file that was being written may be finished


def snapshot(kernel: CachedKernel, work: Path) -> CachedKernel:
    """Copy the IR and the metadata of `kernel` below `work`; files that vanish meanwhile are left out.

    Raises:
        NpubugError: all of its IR is gone, closed to us, or never stops changing.
    """
    folder = work / "cached"
    folder.mkdir(parents=True, exist_ok=True)
    copies = []
    for stage, path in kernel.files:
        if stage in IR_STAGES or stage in ("npuir", "json"):
            target = folder / path.name
            if _copy_whole(path, target):
                copies.append((stage, target))
        else:
            copies.append((stage, path))  # the binary: only that it is there matters
    copied = replace(kernel, paths=tuple((stage, str(path)) for stage, path in copies))
    if not copied.ir:
        raise NpubugError(
            f"cannot read the IR of {kernel.name} in {kernel.folder}",
            why="its files have vanished, or belong to another user",
            hint="npubug bundle --cache DIR --list shows what is there now",
            code=ExitCode.INVALID_INPUT,
        )
    return copied


def metadata_of(kernel: CachedKernel) -> dict[str, Any] | None:
    """What triton wrote of the kernel when its compile had ended; None if it is not there or half-written."""
    path = kernel.file("json")
    if path is None:
        return None
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _copy_whole(source: Path, target: Path) -> bool:
    """Copy a file that does not change while we read it; False if there is no such moment."""
    for attempt in range(_ATTEMPTS):
        try:
            before = source.stat()
            if before.st_size > _LARGEST:
                return False
            shutil.copyfile(source, target)
            after = source.stat()
        except OSError:
            return False
        same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
        if same and target.stat().st_size == after.st_size:
            return True
        if attempt + 1 < _ATTEMPTS:
            time.sleep(_PAUSE)
    target.unlink(missing_ok=True)
    return False
