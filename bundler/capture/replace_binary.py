"""Put another binary into a triton cache, and take it out again: the one place where npubug writes into a cache.

The guide has people copy a recompiled binary over the cached one. What goes wrong then: the original is gone, the
file is replaced twice and the backup with it, triton recompiles in between, another process does the same. So the
original and a record of both contents lie beside the binary, only one process can create the record, and neither
direction acts on a file whose content is not what the record says.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from bundler.errors import ExitCode, NpubugError

_BACKUP = ".npubug-original"
_RECORD = ".npubug-replaced"


@dataclass(frozen=True)
class Replaced:
    """What the record says: the contents by sha256, and the command line that made the new one."""

    original: str
    installed: str
    command: tuple[str, ...]


def record_of(binary: Path) -> Replaced | None:
    """The record beside a cached binary, None if it is as triton left it.

    Raises:
        NpubugError: there is one that cannot be read.
    """
    path = _beside(binary, _RECORD)
    try:
        found = json.loads(path.read_text())
        return Replaced(str(found["original"]), str(found["installed"]), tuple(found["command"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NpubugError(
            f"cannot read {path}",
            why=str(error) or type(error).__name__,
            hint=f"the original binary is {_beside(binary, _BACKUP)}; copy it back by hand",
        ) from error


def install(binary: Path, make: Callable[[], bytes], command: tuple[str, ...]) -> Replaced:
    """Replace a cached binary with what `make` returns, keeping the original beside it.

    Args:
        binary: the cached file.
        make: compiles the new one; it takes a while, and the old file may change meanwhile.
        command: for the record.

    Raises:
        NpubugError: it has been replaced already, it changed meanwhile, or the cache cannot be written. The
            binary is then as it was.
    """
    if record_of(binary) is not None:
        raise NpubugError(
            f"{binary.name} has been replaced before",
            why="a second replacement would take the first one for the original",
            hint="npubug barrier --restore HASH, and then again",
        )
    before = _sha256(binary)
    content = make()
    record = Replaced(before, hashlib.sha256(content).hexdigest(), command)
    backup = _beside(binary, _BACKUP)
    with _writing(binary):
        # The record comes first: who cannot create it must not touch the other's backup.
        _put_new(_beside(binary, _RECORD), json.dumps(asdict(record), indent=1).encode())
        try:
            _put(backup, binary.read_bytes(), like=binary)
            if not before == _sha256(backup) == _sha256(binary):
                raise _changed(binary, "while the new one was compiled", "run it again")
            _put(binary, content, like=backup)
        except BaseException:
            # The binary comes last, so nothing but our own files is there to undo.
            backup.unlink(missing_ok=True)
            _beside(binary, _RECORD).unlink()
            raise
    return record


def restore(binary: Path) -> None:
    """Put the original back.

    Raises:
        NpubugError: nothing was replaced (NOTHING_FAILED), or the file has changed since, for instance because
            triton compiled the kernel again.
    """
    record = record_of(binary)
    backup = _beside(binary, _BACKUP)
    if record is None:
        raise NpubugError(
            f"{binary.name} has not been replaced", why="there is no backup", code=ExitCode.NOTHING_FAILED
        )
    with _writing(binary):
        now = _sha256(binary)
        # The original's own content: we were killed before or while we put things in place.
        if now != record.original:
            if now != record.installed:
                raise _changed(
                    binary, "since it was replaced", f"look at both; the original is {backup.name}"
                )
            if _sha256(backup) != record.original:
                raise _changed(backup, "since it was made", "compile anew: TRITON_ALWAYS_COMPILE=1")
            backup.replace(binary)
        backup.unlink(missing_ok=True)
        _beside(binary, _RECORD).unlink()


def _changed(path: Path, when: str, hint: str) -> NpubugError:
    return NpubugError(
        f"{path.name} changed {when}",
        why="its content is another one than it was; nothing was replaced",
        hint=hint,
    )


def _beside(binary: Path, ending: str) -> Path:
    return binary.with_name(binary.name + ending)


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise NpubugError(
            f"cannot read {path}", why=error.strerror or str(error), code=ExitCode.INVALID_INPUT
        ) from error


def _put(path: Path, content: bytes, *, like: Path) -> None:
    """Write a file all or nothing, with the permissions of another."""
    handle, name = tempfile.mkstemp(prefix=".npubug-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(like, name)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _put_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, whole from its first moment; FileExistsError if it is there."""
    handle, name = tempfile.mkstemp(prefix=".npubug-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.link(name, path)
    finally:
        Path(name).unlink()


@contextlib.contextmanager
def _writing(binary: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise NpubugError(
            f"{binary.name} is being replaced by another process, or has just been",
            hint="npubug barrier --restore HASH, and then again",
        ) from error
    except OSError as error:
        raise NpubugError(
            f"cannot replace {binary}",
            why=error.strerror or str(error),
            hint="check the permissions of the cache, and the free space",
        ) from error
