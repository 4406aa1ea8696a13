"""`npubug barrier`: what the barrier-all flag changes, which flag cures, and the replacement by hand."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

from bundler.archive import ARCHIVE_NAME
from bundler.capture.cache import CachedKernel, default_cache, listing
from bundler.capture.choose import Choice, choose
from bundler.commands.say import say
from bundler.compiler.inputs import IR_ENDINGS
from bundler.compiler.invoke import CompileCommand, command_of
from bundler.errors import ExitCode, NpubugError
from bundler.evidence.barrier import experiment
from bundler.pipeline.captured import choose_failing, judge_capture, local_command, run_recorded
from bundler.pipeline.subject import subject_of
from bundler.report.barrier import render_json, render_text


def run(
    words: tuple[str, ...],
    install: str | None,
    restore: str | None,
    cache: Path | None,
    kernel: str | None,
    compiler: Path | None,
    flags: str | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Returns OK when the experiment was made, or the binary replaced or restored."""
    if sum((bool(words), install is not None, restore is not None)) != 1:
        raise NpubugError(
            "give an archive, an IR file, a command after --, --install HASH or --restore HASH",
            hint="npubug barrier -- python my_kernel.py",
            code=ExitCode.USAGE,
        )
    if install is not None:
        return _install(_cached(cache, install), compiler, timeout)
    if restore is not None:
        return _restore(_cached(cache, restore))
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        name, command, input = _subject(words, Path(scratch), kernel, compiler, flags)
        say(f"compiling {name} by default and with each flag")
        seen = experiment(command, input, timeout=timeout)
    sys.stdout.write(render_json(name, seen) if as_json else render_text(name, seen))
    return ExitCode.OK


def _subject(
    words: tuple[str, ...], scratch: Path, kernel: str | None, compiler: Path | None, flags: str | None
) -> tuple[str, CompileCommand, Path]:
    chosen = tuple(shlex.split(flags)) if flags is not None else None
    first = Path(words[0])
    if len(words) == 1 and (ARCHIVE_NAME.search(first.name) or first.name.endswith(IR_ENDINGS)):
        subject = subject_of(first, scratch, flags=chosen, compiler=compiler, at_run_time=True)
        return subject.name, subject.command(compiler), subject.input
    seen = run_recorded(words, scratch / "run", timeout=None)
    calls = [(call, diagnosis) for call, diagnosis in judge_capture(seen) if call.input is not None]
    if kernel is not None:
        calls = [pair for pair in calls if pair[0].kernel == kernel]
    # Without a failing compile it is the run that is wrong, and the kernel compiled last is the likeliest.
    taken = choose_failing(calls, seen) or (calls[-1] if calls else None)
    if taken is None:
        raise NpubugError(
            "no compile call was seen" + (f" of a kernel {kernel}" if kernel is not None else ""),
            why="; ".join(seen.lost),
            hint="was a kernel compiled by this command at all? TRITON_ALWAYS_COMPILE=1 is not needed here",
            code=ExitCode.NOTHING_FAILED,
        )
    call = taken[0]
    assert call.input is not None
    command = local_command(call.argv) if compiler is None else command_of(call.argv, compiler)[0]
    if chosen is not None:
        command = CompileCommand(command.tool, chosen)
    return call.kernel or "kernel", command, call.input


def _cached(cache: Path | None, hash: str) -> CachedKernel:
    return choose(listing(cache or default_cache(os.environ)).kernels, Choice(hash=hash))[0]


def _install(kernel: CachedKernel, compiler: Path | None, timeout: float) -> int:
    from bundler.evidence.cached_binary import install_barrier_binary

    record, notes = install_barrier_binary(kernel, os.environ, compiler=compiler, timeout=timeout)
    for note in notes:
        say(note)
    if record.original == record.installed:
        say("warning: the new binary is the same as the old one: the flag changes nothing for this kernel")
    say(f"replaced the binary of {kernel.name} in {kernel.folder}; run your program, and then:")
    say(f"  npubug barrier --restore {kernel.hash}")
    return ExitCode.OK


def _restore(kernel: CachedKernel) -> int:
    from bundler.capture.replace_binary import restore
    from bundler.evidence.cached_binary import binary_of

    restore(binary_of(kernel))
    say(f"the original binary of {kernel.name} is back in {kernel.folder}")
    return ExitCode.OK
