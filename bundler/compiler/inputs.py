"""What may be a compiler's input: the checks that need no tool."""

from __future__ import annotations

from pathlib import Path

from bundler.errors import ExitCode, NpubugError

BYTECODE_MAGIC = b"ML\xefR"
IR_ENDINGS = (".mlir", ".ttadapter", ".ttir", ".bcmlir", ".mlirbc")
_LARGEST = 32 << 20


def check_readable(path: Path) -> None:
    """Refuse what cannot be MLIR before any tool is started.

    Raises:
        NpubugError: missing, unreadable, empty, too large, or binary other than MLIR bytecode.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(1 << 16)
    except OSError as error:
        raise NpubugError(
            f"cannot read {path}", why=error.strerror or str(error), code=ExitCode.INVALID_INPUT
        ) from error
    why = ""
    if size == 0:
        why = "it is empty"
    elif size > _LARGEST:
        why = f"it has {size >> 20} MB; one kernel's IR has less than {_LARGEST >> 20} MB"
    elif b"\0" in head and not head.startswith(BYTECODE_MAGIC):
        why = "it is a binary file, and not MLIR bytecode"
    if why:
        raise NpubugError(
            f"{path.name} is not an IR file",
            why=why,
            hint="give the compiler's input: a .ttir, .ttadapter or .bcmlir file",
            code=ExitCode.INVALID_INPUT,
        )


def is_bytecode(path: Path) -> bool:
    """Whether the file is MLIR bytecode (what master's cache holds as `.bcmlir`)."""
    with path.open("rb") as file:
        return file.read(4) == BYTECODE_MAGIC


def kernel_of_file(name: str) -> str:
    """`add` of `add.ttadapter` and of `add.ttadapter.mlir`."""
    for ending in IR_ENDINGS:
        name = name[: -len(ending)] if name.endswith(ending) and name != ending else name
    return name
