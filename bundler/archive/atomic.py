"""Replace a file all at once, or not at all.

The new content grows under a hidden name beside the target, is synced, and takes the target's name in one
step. A lock on the hidden file tells a running writer from one that was killed, whose leftovers the next
writer of the same target removes.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from bundler.errors import NpubugError

_HINTS = {
    errno.ENOSPC: "free some space, or write to another disk with --output",
    errno.EDQUOT: "your quota is used up: free some space, or write to another disk with --output",
    errno.EFBIG: "the file system or a limit (`ulimit -f`) does not allow so large a file",
    errno.EACCES: "choose a folder that you may write to with --output",
    errno.EPERM: "choose a folder that you may write to with --output",
    errno.EROFS: "choose a folder that you may write to with --output",
    errno.ENOENT: "make the folder first, or choose another with --output",
    errno.ENOTDIR: "choose a folder with --output",
    errno.ENAMETOOLONG: "choose a shorter name with --output",
}


@contextlib.contextmanager
def replacing(path: Path, *, unchanged_since: os.stat_result | None = None) -> Iterator[IO[bytes]]:
    """Give a file to write, which becomes `path` when the block ends well. Links are followed.

    Args:
        path: the target; an existing file keeps its mode.
        unchanged_since: fail if the target is no longer the file that had this status.

    Raises:
        NpubugError: the target cannot be written. It is then as it was before.
    """
    target = Path(os.path.realpath(path))
    try:
        before = _regular(target)
        with contextlib.suppress(OSError):
            _sweep(target)
        partial = target.with_name(f"{_partial_start(target)}{secrets.token_hex(6)}.partial")
        handle = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise _cannot_write(path, error) from error
    try:
        try:
            with os.fdopen(handle, "w+b") as out:
                with contextlib.suppress(OSError):  # file systems without locks
                    fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if before is not None:
                    os.fchmod(out.fileno(), stat.S_IMODE(before.st_mode))
                yield out
                out.flush()
                os.fsync(out.fileno())
                if unchanged_since is not None and not _same(_regular(target), unchanged_since):
                    raise NpubugError(
                        f"'{path.name}' was changed by another program in the meantime",
                        why="writing it now would lose that change",
                        hint="run the command again",
                    )
                partial.replace(target)
        except OSError as error:
            raise _cannot_write(path, error) from error
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
    _sync_folder(target.parent)


def _cannot_write(path: Path, error: OSError) -> NpubugError:
    return NpubugError(
        f"cannot write '{path}'",
        why=error.strerror or str(error),
        hint=_HINTS.get(error.errno or 0, "choose another place with --output"),
    )


def _regular(target: Path) -> os.stat_result | None:
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a plain file")
    return found


def _same(now: os.stat_result | None, then: os.stat_result) -> bool:
    return now is not None and (now.st_ino, now.st_size, now.st_mtime_ns) == (
        then.st_ino,
        then.st_size,
        then.st_mtime_ns,
    )


def _sweep(target: Path) -> None:
    """Remove what killed writers of `target` left: their locks went with them."""
    for left in target.parent.glob(f"{_partial_start(target)}*.partial"):
        with contextlib.suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def _partial_start(target: Path) -> str:
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()  # a name of its own could be too long
    return f".npubug-{digest[:12]}-"


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems do not sync folders
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
