"""A case without a rerun: from what a cache, a dump, a terminal log or a bare IR file still holds.

The argv is only in a log. Elsewhere it is rebuilt, from the options that triton wrote beside the kernel, or,
for a kernel whose compile failed before they were written, from the defaults; a note in the manifest says so.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bundler.capture.cache import (
    CachedKernel,
    Listing,
    compiler_text,
    default_cache,
    kernel_symbol,
    listing,
)
from bundler.capture.choose import Choice, choose
from bundler.capture.snapshot import metadata_of, snapshot
from bundler.capture.terminal_log import LoggedFailure, failure_in, kept_of, read_log
from bundler.compiler.inputs import check_readable, is_bytecode, kernel_of_file
from bundler.compiler.invoke import command_of, default_command
from bundler.compiler.options import is_950
from bundler.compiler.rebuild import RECONSTRUCTED, Rebuilt, rebuild
from bundler.compiler.toolchain import ADAPTER, COMPILE, find_tool
from bundler.errors import ExitCode, NpubugError
from bundler.pipeline.case import Case, case_of_file

_SIBLINGS = 20  # kernels whose metadata is looked at for the chip


@dataclass(frozen=True)
class Source:
    """Where a case comes from. At most one of `folder` and `ir`, or a log, alone or with one of them.

    `folder` is a cache, a dump, or one kernel's folder of either; `flags` override what would be rebuilt.
    """

    folder: Path | None = None
    ir: Path | None = None
    log: Path | None = None
    choice: Choice = field(default_factory=Choice)
    compiler: Path | None = None
    flags: tuple[str, ...] | None = None


def case_without_rerun(source: Source, work: Path, environ: Mapping[str, str]) -> Case:
    """The case that `source` describes; copies of its files are made below `work`, which outlives the case.

    Raises:
        NpubugError: nothing fits, the log tells of no failure, or no compiler is here.
    """
    if source.log is not None:
        return _case_of_log(source, source.log, work, environ)
    if source.folder is not None:
        found = _readable_listing(source.folder)
        kernel, notes = choose(found.kernels, source.choice)
        return _case_of_kernel(kernel, found.kernels, source, work, environ, notes=notes)
    assert source.ir is not None
    return _case_of_ir(source, source.ir, environ)


def _readable_listing(folder: Path) -> Listing:
    if not folder.is_dir():
        raise NpubugError(
            f"no folder {folder}",
            hint="give the cache's folder (TRITON_CACHE_DIR, or ~/.triton/cache)",
            code=ExitCode.INVALID_INPUT,
        )
    return listing(folder)


def _case_of_ir(source: Source, ir: Path, environ: Mapping[str, str]) -> Case:
    case = case_of_file(ir, source.compiler, source.flags)
    if source.flags is not None:
        return replace(case, notes=("the flags are those given by --flags",))
    beside = ir.parent / f"{kernel_of_file(ir.name)}.json"
    metadata = metadata_of(CachedKernel("", "", str(ir.parent), (("json", str(beside)),), 0.0))
    if metadata is None or "target" not in metadata:
        notes = (f"{RECONSTRUCTED}the flags are triton-ascend 3.2.0's defaults",)
        return replace(case, notes=notes, target_known=False)
    rebuilt = rebuild(case.command.tool, metadata, environ, ttir=_is_ttir(ir))
    return replace(_with(case, rebuilt), cached=(beside,), kernel=kernel_symbol(ir))


def _case_of_kernel(
    kernel: CachedKernel,
    siblings: Sequence[CachedKernel],
    source: Source,
    work: Path,
    environ: Mapping[str, str],
    *,
    notes: tuple[str, ...] = (),
    logged: LoggedFailure | None = None,
) -> Case:
    copied = snapshot(kernel, work)
    metadata = metadata_of(copied)
    input = _input_of(copied, work, logged.tool if logged is not None else None)
    told = (f"not recorded: taken from the folder {kernel.hash}, kernel {kernel.name}", *notes)
    if kernel.compiled:
        told += ("the folder holds a binary: this compile once went well",)
    rebuilt = _rebuilt(input, metadata, siblings, source, environ, logged)
    return Case(
        name=kernel.name,
        kernel=kernel.name,
        command=rebuilt.command,
        input=input,
        cached=tuple(path for stage, path in copied.files if stage != "npubin"),
        notes=(*told, *rebuilt.notes),
        target_known=rebuilt.target_known,
    )


def _input_of(copied: CachedKernel, work: Path, tool: str | None) -> Path:
    """What the compiler read: the last stage that is there, or the ttir if the adapter is what failed."""
    ttir = copied.file("ttir")
    path = ttir if tool == ADAPTER and ttir is not None else copied.ir[-1]
    check_readable(path)
    if ".ttadapter" not in path.name or is_bytecode(path):
        return path
    input = work / path.name
    input.write_bytes(compiler_text(path.read_bytes()))
    return input


def _rebuilt(
    input: Path,
    metadata: Mapping[str, object] | None,
    siblings: Sequence[CachedKernel],
    source: Source,
    environ: Mapping[str, str],
    logged: LoggedFailure | None,
) -> Rebuilt:
    if source.flags is not None:
        command = default_command(input, source.compiler, source.flags)
        return Rebuilt(command, ("the flags are those given by --flags",))
    if logged is not None and logged.argv:
        tool = find_tool(logged.tool if logged.tool != "npuc" else COMPILE, source.compiler).path
        return Rebuilt(command_of(logged.argv, tool)[0], ("the flags are those of the log",))
    tool = source.compiler or _tool_for(input, metadata)
    hint = None if metadata is not None else _metadata_nearby(siblings)
    return rebuild(tool, metadata, environ, ttir=_is_ttir(input), nearby=hint)


def _tool_for(input: Path, metadata: Mapping[str, object] | None) -> Path:
    if metadata is not None and is_950(metadata):
        with contextlib.suppress(NpubugError):  # one binary may serve both generations
            return find_tool(f"{COMPILE}-a5").path
    return default_command(input, None, None).tool


def _metadata_nearby(siblings: Sequence[CachedKernel]) -> dict[str, object] | None:
    """The options of the newest other kernel that has some: the same machine, so the same chip."""
    with_json = (kernel for kernel in siblings if kernel.file("json") is not None)
    for kernel, _ in zip(with_json, range(_SIBLINGS)):
        found = metadata_of(kernel)
        if found is not None:
            return found
    return None


def _case_of_log(source: Source, log: Path, work: Path, environ: Mapping[str, str]) -> Case:
    content = read_log(log)
    logged = failure_in(content)
    notes: tuple[str, ...] = (f"not recorded: taken from the terminal log {log.name}",)
    if logged.failures > 1:
        notes += (f"the log tells of {logged.failures} failed compiles; the last was taken",)
    if source.ir is not None:
        case = _case_of_ir(source, source.ir, environ)
        rebuilt = _rebuilt(source.ir, None, (), source, environ, logged)
        case = _with(case, rebuilt)
    else:
        case = _case_of_named_folder(logged, source, work, environ)
    if logged.diagnosis.stage.value not in ("adapter", "compile", "backend"):
        return replace(case, notes=(*notes, *case.notes), log=kept_of(content))
    return replace(case, notes=(*notes, *case.notes), log=kept_of(content), recorded=logged.diagnosis)


def _case_of_named_folder(
    logged: LoggedFailure, source: Source, work: Path, environ: Mapping[str, str]
) -> Case:
    """The case of the folder that the log names, here or below the cache that we were given."""
    cache = source.folder or default_cache(environ)
    looked = [*logged.folders, *(cache / folder.name for folder in logged.folders)]
    for folder in dict.fromkeys(looked):
        found = listing(folder)
        if found.kernels:
            kernel = next((k for k in found.kernels if not k.compiled), found.kernels[0])
            return _case_of_kernel(
                kernel, listing(folder.parent).kernels, source, work, environ, logged=logged
            )
    if source.folder is not None:
        found = _readable_listing(source.folder)
        kernel, notes = choose(found.kernels, source.choice)
        guess = ("the log does not name the kernel's folder: which kernel it was is a guess",)
        return _case_of_kernel(
            kernel, found.kernels, source, work, environ, notes=(*notes, *guess), logged=logged
        )
    left = Path(command_of(logged.argv)[1] or "") if logged.argv else Path()
    if left.is_file():
        kept = work / left.name
        shutil.copyfile(left, kept)
        rebuilt = _rebuilt(kept, None, (), source, environ, logged)
        name = kernel_symbol(kept) or kernel_of_file(left.name)
        return Case(name=name, kernel=name, command=rebuilt.command, input=kept, notes=rebuilt.notes)
    places = ", ".join(str(folder) for folder in looked) or "the log names no folder"
    raise NpubugError(
        f"the log tells of {logged.diagnosis.kind}, but the IR that was compiled is not here",
        why=f"looked at: {places}",
        hint="give the cache (--cache DIR) or the file (--ir kernel.ttadapter) beside --log",
        code=ExitCode.INVALID_INPUT,
    )


def _with(case: Case, rebuilt: Rebuilt) -> Case:
    return replace(case, command=rebuilt.command, notes=rebuilt.notes, target_known=rebuilt.target_known)


def _is_ttir(path: Path) -> bool:
    return ".ttir" in path.name
