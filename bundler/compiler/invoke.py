"""A compile as a value: which tool, which flags, with a hole for the input and one for the output.

`CompileCommand` is recovered from a recorded argv or made up for a bare file (`default_command`); `compile_file`
runs it. A recorded path of an input or output never leaks into a rerun.
"""

from __future__ import annotations

import shlex
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bundler.compiler.outcome import ToolRun
from bundler.compiler.toolchain import ADAPTER, COMPILE, find_tool, supported_flags
from bundler.errors import ExitCode, NpubugError
from bundler.process import ProcessResult, run

# The command line of triton-ascend 3.2.0 (its compiler.py: linalg_to_bin_enable_npu_compile_A2_A3).
DEFAULT_TARGET = "Ascend910B3"
DEFAULT_TARGET_A5 = "Ascend950PR_9579"
DEFAULT_FLAGS = (
    "--enable-auto-multi-buffer=True",
    "--enable-auto-bind-sub-block=True",
    "--enable-hfusion-compile=true",
    "--enable-hivm-compile=true",
    "--enable-triton-kernel-compile=true",
)
# ... and of its ttir_to_linalg.
DEFAULT_ADAPTER_FLAGS = (
    "--discrete-mask-access-conversion=compile-on-910-95=False force-simt-template=False",
    "--triton-to-annotation",
    "--triton-to-unstructure=compile-on-910-95=False force-simt-template=False",
    "--triton-to-hivm",
    "--triton-to-hfusion",
    "--triton-to-llvm",
    "--bubble-up-operation",
    "--triton-to-linalg=global-kernel=false named-ops=True enable-nd2nz-on-vector=False "
    "enable-select-analysis=False compile-on-910-95=False",
)
FAILURE_FLAG = "--mlir-print-ir-after-failure"
AFTER_ALL_FLAG = "--mlir-print-ir-after-all"
BARRIER_FLAG = "--enable-hivm-inject-barrier-all-sync=true"


@dataclass(frozen=True)
class CompileCommand:
    """One compiler tool with its flags; the input comes first, `-o OUT` last, as triton-ascend does it."""

    tool: Path
    flags: tuple[str, ...]

    def argv(self, input: Path, output: Path) -> tuple[str, ...]:
        return (str(self.tool), str(input), *self.flags, "-o", str(output))

    def with_flags(self, *flags: str) -> CompileCommand:
        """The same command with `flags` set: a flag of the same name is replaced, as LLVM wants it once."""
        names = {flag.split("=")[0] for flag in flags}
        kept = tuple(flag for flag in self.flags if flag.split("=")[0] not in names)
        return replace(self, flags=(*kept, *flags))

    def supports(self, flag: str) -> bool:
        """Whether the tool's `--help` lists this flag."""
        return flag.lstrip("-").split("=")[0] in supported_flags(self.tool)

    def shell(self, input: str, output: str) -> str:
        """The command line for people, quoted for a shell, with the tool's bare name."""
        return shlex.join((self.tool.name, input, *self.flags, "-o", output))


def command_of(argv: Sequence[str], tool: Path | None = None) -> tuple[CompileCommand, str | None]:
    """Split a recorded argv into a command and the input's path (None if there is none).

    Args:
        argv: as recorded, the tool first.
        tool: another binary to use instead of the recorded one.
    """
    flags: list[str] = []
    input_path: str | None = None
    rest = iter(argv[1:])
    for word in rest:
        if word == "-o":
            next(rest, None)
        elif word.startswith("-") and word != "-":
            if not word.startswith("-o="):
                flags.append(word)
        elif input_path is None:
            input_path = word
        else:
            flags.append(word)
    return CompileCommand(tool or Path(argv[0]), tuple(flags)), input_path


def default_command(stage_file: Path, compiler: Path | None, flags: Sequence[str] | None) -> CompileCommand:
    """The command triton-ascend would use for a bare IR file, by its name: `.ttir` goes to the adapter.

    Args:
        stage_file: the input; `.ttir` or `.ttir.mlir` means the adapter stage, all else the compiler.
        compiler: the tool to use, or None to look for one.
        flags: instead of the default ones, or None.

    Raises:
        NpubugError: no tool found.
    """
    is_ttir = ".ttir" in stage_file.name
    if compiler is None:
        compiler = find_tool(ADAPTER if is_ttir else COMPILE).path
    elif compiler.exists():
        compiler = compiler.absolute()  # a compile runs in a folder of its own
    if flags is not None:
        return CompileCommand(compiler, tuple(flags))
    if compiler.name == ADAPTER:
        return CompileCommand(compiler, DEFAULT_ADAPTER_FLAGS)
    target = DEFAULT_TARGET_A5 if compiler.name.endswith("-a5") else DEFAULT_TARGET
    return CompileCommand(compiler, (f"--target={target}", *DEFAULT_FLAGS))


def compile_file(
    command: CompileCommand,
    input: Path,
    *,
    timeout: float,
    output: Path | None = None,
    memory_limit: int | None = None,
    cancel: threading.Event | None = None,
) -> ToolRun:
    """Run one compile in a private folder and return how it ended.

    Args:
        output: where the `-o` file goes; by default it is thrown away.
        cancel: see `bundler.process.run`.

    Raises:
        NpubugError: the tool cannot be started at all.
    """
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        where = output or Path(scratch) / "kernel"
        argv = command.argv(input.resolve(), where)
        try:
            done = run(argv, timeout=timeout, cwd=Path(scratch), memory_limit=memory_limit, cancel=cancel)
        except OSError as error:
            raise NpubugError(
                f"cannot run {command.tool}",
                why=str(error),
                hint="check that it is built for this machine, and its permissions",
                code=ExitCode.TOOL_MISSING,
            ) from error
        return _tool_run(argv, done, where)


def _tool_run(argv: tuple[str, ...], done: ProcessResult, output: Path) -> ToolRun:
    candidates = (output, *(output.with_name(output.name + end) for end in (".o", "_reloc.o")))
    return ToolRun(
        argv=argv,
        returncode=done.returncode,
        stdout=done.stdout.decode(errors="replace"),
        stderr=done.stderr.decode(errors="replace"),
        seconds=done.seconds,
        timed_out=done.timed_out,
        truncated=done.truncated,
        output_written=any(path.exists() for path in candidates),
    )
