"""The compiler binary of the failing call and the `hivmc` it would hand over to.

`--version` of bishengir-compile prints its own line and LLVM's:

    bishengir-compile 1.2.0 (/usr1/.../bishengir 8796a8ac1508 2026-07-29)
    llvm 19.1.7 cd708029e0b2

`found by` is told from the path, in the order of triton-ascend's own search: bundled with it, PATH,
TRITON_NPU_COMPILER_PATH, the ascendnpu-ir package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from bundler.evidence.context import Context, Source, ask, find_program, first_line, unavailable
from bundler.manifest import Fact

BINARY_NAMES = ("compiler.path", "compiler.found-by")
VERSION_NAMES = ("compiler.version", "compiler.llvm")
_NO_COMPILER = "no compiler call was recorded and none was given"


def found_by(context: Context, compiler: Path) -> str:
    """Which rule of the search leads to this binary: bundled, PATH, variable, package, or other."""
    path = compiler.as_posix()
    if "/triton/backends/ascend/" in path:
        return "bundled"
    if "/ascendnpuir/bin/" in path:
        return "package"
    on_path = find_program(context, compiler.name)
    if on_path is not None and _same(on_path, compiler):
        return "PATH"
    variable = context.environ.get("TRITON_NPU_COMPILER_PATH")
    if variable and _same(Path(variable), compiler.parent):
        return "variable"
    return "other"


def _binary(context: Context) -> Iterable[Fact]:
    if context.compiler is None:
        return unavailable(BINARY_NAMES, "recorded call", _NO_COMPILER)
    return (
        Fact("compiler.path", str(context.compiler), "recorded call"),
        Fact("compiler.found-by", found_by(context, context.compiler), "its path"),
    )


def _version(context: Context) -> Iterable[Fact]:
    if context.compiler is None:
        return unavailable(VERSION_NAMES, "--version", _NO_COMPILER)
    answer = ask(context, [str(context.compiler), "--version"])
    if answer.text is None:
        return unavailable(VERSION_NAMES, "--version", answer.reason)
    lines = [line.strip() for line in answer.text.splitlines()]
    llvm = next((line for line in lines if "llvm" in line.lower()), None)
    no_llvm = "" if llvm else "--version names no LLVM"
    return (
        Fact("compiler.version", first_line(answer.text), "--version"),
        Fact("compiler.llvm", llvm, "--version", no_llvm),
    )


def _sha256(context: Context) -> Iterable[Fact]:
    name = "compiler.sha256"
    if context.compiler is None:
        return unavailable((name,), "file", _NO_COMPILER)
    digest = hashlib.sha256()
    try:
        with context.compiler.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    except OSError as error:
        return unavailable((name,), "file", f"cannot be read: {error.strerror}")
    return (Fact(name, digest.hexdigest(), "file"),)


def _hivmc(context: Context) -> Iterable[Fact]:
    """`hivmc` is closed and comes with CANN or a newer triton-ascend: beside the compiler, or on PATH."""
    names = ("hivmc.path", "hivmc.version")
    tool = "hivmc-a5" if context.compiler is not None and context.compiler.name.endswith("-a5") else "hivmc"
    beside = context.compiler.parent / tool if context.compiler is not None else None
    if beside is not None and beside.is_file():
        path: Path | None = beside
        source = "beside the compiler"
    else:
        path, source = find_program(context, tool), "PATH"
    if path is None:
        return unavailable(names, "PATH", f"no {tool} on PATH or beside the compiler")
    answer = ask(context, [str(path), "--version"])
    version = first_line(answer.text or "")
    return (Fact(names[0], str(path), source), Fact(names[1], version or None, "--version", answer.reason))


# Four sources, so that reading 100 MB for the hash, and two commands, go side by side.
SOURCES = (
    Source("recorded call", BINARY_NAMES, _binary),
    Source("--version", VERSION_NAMES, _version),
    Source("file", ("compiler.sha256",), _sha256),
    Source("PATH", ("hivmc.path", "hivmc.version"), _hivmc),
)


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return False
