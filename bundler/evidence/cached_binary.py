"""The barrier workaround by hand: compile a cached kernel with the flag, and put the binary in its place."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from bundler.capture.cache import CachedKernel, compiler_text
from bundler.capture.replace_binary import Replaced, install
from bundler.capture.snapshot import metadata_of, snapshot
from bundler.compiler.diagnose import diagnose
from bundler.compiler.inputs import is_bytecode
from bundler.compiler.invoke import BARRIER_FLAG, CompileCommand, compile_file, default_command
from bundler.compiler.outcome import Outcome
from bundler.compiler.rebuild import rebuild
from bundler.errors import ExitCode, NpubugError

_OUTPUTS = ("kernel.o", "kernel_reloc.o", "kernel")  # as newer and older compilers name it


def binary_of(kernel: CachedKernel) -> Path:
    """The file that triton loads.

    Raises:
        NpubugError: the kernel has none, as its compile failed.
    """
    binary = kernel.file("npubin")
    if binary is None:
        raise NpubugError(
            f"{kernel.name} has no binary in {kernel.folder}",
            why="its compile failed, so there is nothing to replace",
            hint="npubug barrier -- COMMAND tells whether the flag helps the compile",
            code=ExitCode.INVALID_INPUT,
        )
    return binary


def install_barrier_binary(
    kernel: CachedKernel, environ: Mapping[str, str], *, compiler: Path | None, timeout: float
) -> tuple[Replaced, tuple[str, ...]]:
    """Compile `kernel` as its metadata says, with barriers everywhere, and replace its cached binary.

    Returns:
        The record, and what a reader must know of the flags.

    Raises:
        NpubugError: no binary to replace, no compiler or no `hivmc` here, the compile fails, the flag changes
            nothing, or what `install` refuses. The cache is then as it was.
    """
    binary = binary_of(kernel)
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        work = Path(scratch)
        copied = snapshot(kernel, work)
        source = copied.ir[-1]
        input = work / source.name
        text = source.read_bytes()
        input.write_bytes(text if is_bytecode(source) else compiler_text(text))
        tool = compiler or default_command(input, None, None).tool
        rebuilt = rebuild(tool, metadata_of(copied), environ, ttir=".ttir" in input.name)
        command = rebuilt.command.with_flags(BARRIER_FLAG)
        if not command.supports(BARRIER_FLAG):
            raise NpubugError(
                f"{command.tool.name} has no {BARRIER_FLAG.partition('=')[0]}",
                hint="give another compiler by --compiler",
                code=ExitCode.TOOL_MISSING,
            )
        argv = command.argv(Path(source.name), Path("kernel"))
        record = install(binary, lambda: _compiled(command, input, work, timeout), argv)
    return record, rebuilt.notes


def _compiled(command: CompileCommand, input: Path, work: Path, timeout: float) -> bytes:
    output = work / "out" / "kernel"
    output.parent.mkdir()
    run = compile_file(command, input, timeout=timeout, output=output)
    diagnosis = diagnose(run)
    if diagnosis.outcome is Outcome.BACKEND_MISSING:
        raise NpubugError(
            "cannot make a binary here",
            why="the backend, hivmc, is not on PATH",
            hint="source CANN's set_env.sh on the machine with the NPU",
            code=ExitCode.TOOL_MISSING,
        )
    made = next((path for name in _OUTPUTS if (path := output.with_name(name)).is_file()), None)
    if diagnosis.outcome is not Outcome.HEALTHY or made is None or made.stat().st_size == 0:
        raise NpubugError(
            f"{input.name} does not compile with {BARRIER_FLAG}",
            why=diagnosis.message[:300] or "the compiler wrote no binary",
            hint="npubug barrier FILE shows what the flag changes",
        )
    return made.read_bytes()
