"""Write a reduction's result: the reduced file, a `reproduce.sh` beside it, and both into the archive."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from bundler.archive import NewMember, add_members
from bundler.archive.atomic import replacing
from bundler.compiler.examine import Examination
from bundler.compiler.invoke import CompileCommand
from bundler.compiler.signature import stable_parts
from bundler.manifest import Reduction
from minimizer.job import Job
from minimizer.reduce import Result


def write_file(path: Path, text: str, *, executable: bool = False) -> None:
    """Write `text` to `path`, whole or not at all (see `bundler.archive.atomic.replacing`).

    Raises:
        NpubugError: it cannot be written, or something that is no file has that name.
    """
    with replacing(path) as file:
        file.write(text.encode(errors="surrogateescape"))
        if executable:
            umask = os.umask(0)
            os.umask(umask)
            os.fchmod(file.fileno(), 0o777 & ~umask)


def reproduce_script(commands: Sequence[CompileCommand], file_name: str, failure: Examination) -> str:
    """A shell script that compiles `file_name` beside it and says whether the failure is there.

    It exits with 0 if the same failure comes, 1 if another end comes, 2 if the tool is missing. The first
    argument, or `$NPUBUG_COMPILER`, is the tool's path; by default it is looked up in PATH.
    """
    lines = [
        "#!/bin/sh",
        f"# Reproduces {failure.signature.id}: compiles {file_name} and looks for the same failure.",
        "# usage: reproduce.sh [PATH OF THE COMPILER]   exit: 0 reproduced, 1 not reproduced, 2 no compiler",
        'here=$(cd "$(dirname "$0")" && pwd) || exit 2',
        "work=$(mktemp -d) || exit 2",
        "trap 'rm -rf \"$work\"' EXIT",
        f'input="$here"/{shlex.quote(file_name)}',
    ]
    for number, command in enumerate(commands):
        name = command.tool.name
        override = (
            '"${1:-${NPUBUG_COMPILER:-' + name + '}}"' if command.tool == failure.command.tool else name
        )
        flags = " \\\n    ".join(shlex.quote(flag) for flag in command.flags)
        lines += [
            f"tool={override}",
            'command -v "$tool" >/dev/null || { echo "no $tool in PATH" >&2; exit 2; }',
            f'"$tool" "$input" \\\n    {flags} \\\n    -o "$work/out{number}" >"$work/log" 2>&1',
            "code=$?",
            'cat "$work/log"',
            f'[ -f "$work/out{number}" ] && input="$work/out{number}"',
        ]
    lines += [
        'echo "exit code: $code"',
        f"if {_condition(failure)}; then",
        f"    echo 'reproduced: {failure.signature.id}'; exit 0",
        "fi",
        "echo 'not reproduced'; exit 1",
    ]
    return "\n".join(lines) + "\n"


def _condition(failure: Examination) -> str:
    """A shell test for the failure: its telling words in the log, or the way the tool ended."""
    words = _telling_words(failure)
    if words:
        return " && ".join(f'grep -qF -e {shlex.quote(each)} "$work/log"' for each in words)
    code = failure.run.returncode
    if code is None:
        return "false # the original did not end in time; watch whether this one does"
    return f'[ "$code" -eq {128 - code if code < 0 else code} ]'


def _telling_words(failure: Examination) -> list[str]:
    """The first stretches of the message that hold nothing which varies between equal failures."""
    line = failure.diagnosis.message.partition("\n")[0]
    return [part for part in stable_parts(failure.signature.message) if len(part) > 7 and part in line][:2]


def reduction_record(
    result: Result, input_name: str, script_name: str | None, signature_id: str
) -> Reduction:
    """The result as the manifest stores it."""
    return Reduction(
        input=input_name,
        ops_before=result.before.ops,
        ops_after=result.after.ops,
        bytes_before=result.before.size,
        bytes_after=result.after.size,
        candidates=result.tally.candidates,
        compiles=result.tally.compiles,
        invalid=result.tally.invalid,
        seconds=round(result.seconds, 2),
        finished=result.finished,
        confirmed=result.confirmed,
        signature_id=signature_id,
        script=script_name,
        finds=tuple(name for name, _ in result.finds),
        steps=result.steps,
    )


def write_reduction(job: Job, result: Result, failure: Examination) -> None:
    """Write the reduced file and its `reproduce.sh`, and both into the archive if the job has one.

    Raises:
        NpubugError: something cannot be written; an archive is then as it was.
    """
    write_file(job.output, result.text)
    write_file(job.script, reproduce_script(job.commands, job.output.name, failure), executable=True)
    if job.archive is not None:
        _write_into_archive(job.archive, job, result, failure)


def _write_into_archive(archive: Path, job: Job, result: Result, failure: Examination) -> None:
    """In place of an earlier reduction."""
    name, script_name = f"reduced/kernel{job.suffix}", "reduced/reproduce.sh"
    script = reproduce_script(job.commands, f"kernel{job.suffix}", failure)
    record = reduction_record(result, name, script_name, failure.signature.id)
    members = [
        NewMember(name, "reduced", result.text.encode()),
        NewMember(script_name, "reduced", script.encode()),
    ]
    members += [NewMember(f"finds/{id}{job.suffix}", "find", text.encode()) for id, text in result.finds]
    add_members(
        archive, members, lambda manifest: dataclasses.replace(manifest, reduction=record), replace=True
    )
