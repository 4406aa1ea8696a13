"""One job of the minimizer: which input, which command lines, where the result goes; from a file or an archive."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import bundler
from bundler.archive import ARCHIVE_NAME
from bundler.compiler.flakiness import FLAKY_RUNS
from bundler.compiler.inputs import is_bytecode
from bundler.compiler.invoke import CompileCommand, default_command
from bundler.compiler.toolchain import ADAPTER, COMPILE, find_tool
from bundler.errors import ExitCode, NpubugError
from bundler.pipeline.subject import subject_of


@dataclass(frozen=True)
class Job:
    """What to reduce.

    Attributes:
        commands: the command line, or for a `.ttir` two, that fails on `input`.
        archive: where the input came from and the result goes to, or None for a bare file.
        output: the reduced file.
        suffix: of the reduced file and of the archive's members.
        runs: how often to compile the input at first, to see how steady its failure is.
    """

    input: Path
    commands: Sequence[CompileCommand]
    archive: Path | None
    output: Path
    suffix: str
    runs: int = 1

    @property
    def script(self) -> Path:
        """Where `reproduce.sh` goes: beside the result, under its name."""
        return self.output.with_name(f"{self.output.name.removesuffix(self.output.suffix)}.reproduce.sh")

    @property
    def journal(self) -> Path:
        """Where the verdicts are kept while the reduction runs."""
        return self.output.with_name(f"{self.output.name}.npubug-journal")

    def about(self, question: str) -> dict[str, str]:
        """What the verdicts of this job hold for: the input, the tools, and the question asked."""
        commands = [(*self._version(command.tool), *command.flags) for command in self.commands]
        return {
            "npubug": bundler.__version__,
            "input": hashlib.sha256(self.input.read_bytes()).hexdigest(),
            "commands": repr(commands),
            "question": question,
        }

    @staticmethod
    def _version(tool: Path) -> tuple[str, ...]:
        status = tool.stat()
        return (str(tool), str(status.st_size), str(status.st_mtime_ns))


def job_of(
    file: Path, *, output: Path | None, scratch: Path, compiler: Path | None, flags: Sequence[str] | None
) -> Job:
    """The job of an archive (by its name) or of a bare IR file.

    Args:
        output: the reduced file, or None for `NAME.reduced.SUFFIX` beside the file.
        scratch: a folder of ours, for the input of an archive.
        compiler: the tool to use, or None for the recorded or the default one.
        flags: instead of the recorded or the default ones, or None.

    Raises:
        NpubugError: no tool, no such file, not an archive of ours, or one without a failing compile.
    """
    # With --test, whatever fails at run time can be reduced too.
    subject = subject_of(file, scratch, flags=flags, compiler=compiler, at_run_time=True)
    commands = [subject.command(compiler)]
    is_archive = ARCHIVE_NAME.search(file.name) is not None
    if subject.tool == ADAPTER and flags is None and not is_archive:
        # A ttir whose adapter stage is healthy may fail in the next one.
        commands += _second_stage()
    stem = ARCHIVE_NAME.sub("", file.name) if is_archive else file.name.removesuffix(file.suffix)
    # Bytecode comes back as text: the opt tools read both, and people only one.
    if output is not None and output.exists() and output.samefile(file):
        raise NpubugError(
            f"the result would take the place of {file.name} itself",
            hint="give another name with --output",
            code=ExitCode.USAGE,
        )
    suffix = ".mlir" if is_bytecode(subject.input) else subject.input.suffix or ".mlir"
    return Job(
        input=subject.input,
        commands=commands,
        archive=file if is_archive else None,
        output=output or file.with_name(f"{stem}.reduced{suffix}"),
        suffix=suffix,
        runs=1 if subject.steady else FLAKY_RUNS,
    )


def _second_stage() -> list[CompileCommand]:
    try:
        return [default_command(Path("kernel.ttadapter"), find_tool(COMPILE).path, None)]
    except NpubugError:
        return []


def check_writable(target: Path) -> None:
    """Make sure, before hours of work, that the result can be written.

    Raises:
        NpubugError: the folder is missing, read-only or full, or the target is no file.
    """
    if target.exists() and not target.is_file():
        raise NpubugError(
            f"cannot write {target}", why="it is not a regular file", hint="give another name with --output"
        )
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".npubug-") as probe:
            probe.write(b"x" * 4096)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise NpubugError(
            f"cannot write into {target.parent}",
            why=error.strerror or str(error),
            hint="give another place with --output",
        ) from error
