"""What a command works on: the failing compile of an archive, or of a bare IR file, unpacked and ready to run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bundler.archive import ARCHIVE_NAME, Archive, open_archive
from bundler.compiler.inputs import check_readable, kernel_of_file
from bundler.compiler.invoke import CompileCommand, command_of, default_command
from bundler.compiler.outcome import Outcome, Stage
from bundler.compiler.signature import Signature, normalise
from bundler.compiler.toolchain import find_tool
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import SignatureRecord


@dataclass(frozen=True)
class Subject:
    """A compile to run again.

    Attributes:
        name: for people and file names.
        input: the file to compile, which lives as long as the scratch folder.
        tool: the name of the recorded tool; `flags` its recorded flags.
        expected: the recorded failure, None for a bare file.
        steady: False if the archive says that the failure comes only sometimes.
    """

    name: str
    input: Path
    tool: str
    flags: tuple[str, ...]
    expected: Signature | None = None
    steady: bool = True

    def command(self, compiler: Path | None = None) -> CompileCommand:
        """The command with this compiler, or the one that is found here.

        Raises:
            NpubugError: none is found (TOOL_MISSING).
        """
        return CompileCommand(find_tool(self.tool, compiler).path, self.flags)


def subject_of(
    file: Path,
    scratch: Path,
    *,
    flags: Sequence[str] | None = None,
    compiler: Path | None = None,
    reduced: bool = False,
    at_run_time: bool = False,
) -> Subject:
    """Open an archive or an IR file.

    Args:
        scratch: where the input is unpacked.
        flags: instead of the recorded or the default ones.
        compiler: for a bare file, the tool that decides the default flags.
        reduced: take the archive's reduced input.
        at_run_time: take a kernel that compiles and fails when it runs, too; compiling cannot show that failure.

    Raises:
        NpubugError: it is neither, or holds no failing compile (NOTHING_FAILED), or no reduced one.
    """
    if ARCHIVE_NAME.search(file.name):
        archive = open_archive(file)
        signature = archive.manifest.signature
        if signature is not None and signature.stage == Stage.RUNTIME.value and not at_run_time:
            raise NpubugError(
                f"the failure in {file.name} comes at run time: its kernel compiles",
                why=f"{signature.kind}: {signature.message[:200]}",
                hint="run the program again on the device; npubug barrier tells what the sync flags change",
                code=ExitCode.NOTHING_FAILED,
            )
        return _of_archive(archive, scratch, flags, reduced)
    check_readable(file)
    if reduced:
        raise NpubugError(
            "--reduced needs an archive", hint="give the reduced file itself", code=ExitCode.USAGE
        )
    command = default_command(file, compiler, flags)
    return Subject(kernel_of_file(file.name), file, command.tool.name, command.flags)


def signature_of_record(record: SignatureRecord) -> Signature:
    """The signature that an archive holds, in the form in which signatures are compared."""
    return Signature(
        id=record.id,
        outcome=Outcome(record.outcome),
        stage=Stage(record.stage),
        kind=record.kind,
        message=normalise(record.message),
        pass_name=record.pass_name,
        frames=record.frames,
    )


def _of_archive(archive: Archive, scratch: Path, flags: Sequence[str] | None, reduced: bool) -> Subject:
    manifest = archive.manifest
    call = next((call for call in manifest.calls if call.id == manifest.failing_call), None)
    member = next((m.name for m in manifest.members if m.role == "input"), None)
    if reduced:
        if manifest.reduction is None:
            raise NpubugError(
                f"{archive.path.name} holds no reduced input",
                hint=f"npubug minimize {archive.path.name}",
                code=ExitCode.INVALID_INPUT,
            )
        member = manifest.reduction.input
    if call is None or member is None or manifest.signature is None:
        raise NpubugError(
            f"{archive.path.name} holds no failing compile",
            hint="npubug check tells what is in it",
            code=ExitCode.NOTHING_FAILED,
        )
    input = scratch / f"kernel{Path(member).suffix}"
    archive.extract_to(member, input)
    command, _ = command_of(call.argv)
    chosen = tuple(flags) if flags is not None else command.flags
    steady = all(run.reproduced for run in manifest.evidence if run.name != "barrier")
    expected = signature_of_record(manifest.signature)
    return Subject(manifest.name, input, call.tool, chosen, expected, steady)
