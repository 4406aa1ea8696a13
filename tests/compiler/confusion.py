"""Which diagnosis each case gets with each compiler: measured live, printed in docs/diagnosis.md.

    python tests/compiler/confusion.py            print the table as measured now
    python tests/compiler/confusion.py --write    put it into docs/diagnosis.md

The tests run every cell again and compare it with the printed table, so the page cannot go stale.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bundler.compiler.diagnose import diagnose
from bundler.compiler.invoke import (
    DEFAULT_FLAGS,
    DEFAULT_TARGET,
    DEFAULT_TARGET_A5,
    FAILURE_FLAG,
    CompileCommand,
)
from bundler.compiler.outcome import Diagnosis, Outcome, ToolRun
from bundler.process import run

ROOT = Path(__file__).resolve().parents[2]
IR = ROOT / "tests" / "data" / "ir"
PAGE = ROOT / "docs" / "diagnosis.md"
COMPILERS = ("1.0.0", "1.1.0", "1.2.0", "1.2.0 a5")
BEGIN, END = "<!-- confusion table: begin -->", "<!-- confusion table: end -->"


@dataclass(frozen=True)
class Case:
    """One thing to do with a compiler. `passes` means its opt tool; `backend` is what a `hivmc` here does."""

    name: str
    input: str
    flags: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    backend: str | None = None


CASES = (
    *(
        Case(name, f"{name}.ttadapter")
        for name in (
            "reshape_128",
            "cumsum_64_1024_1",
            "softmax_65536",
            "argmax_64_2048",
            "matmul_256",
            "attn_64_256_128",
            "adamw_16384_2",
            "mlp_256_256_128_4",
            "add_1024",
            "softmax_1024",
            "matmul_128",
            "attn_64_64_64",
        )
    ),
    Case("parse_error", "parse_error.mlir"),
    Case("verify_error", "verify_error.mlir"),
    Case("illegal_math", "illegal_math.mlir"),
    Case("unsupported_user", "unsupported_user.mlir"),
    Case(
        "unsupported_user, crash reproducer",
        "unsupported_user.mlir",
        flags=("--mlir-pass-pipeline-crash-reproducer=rep.mlir",),
    ),
    Case("core_type", "core_type.mlir"),
    Case("no such option", "add_1024.ttadapter", flags=("--no-such-option",)),
    Case("no such target", "add_1024.ttadapter", flags=("--target=Ascend310P1",)),
    Case("no such file", "no_such_file.mlir"),
    Case("hivmc works", "add_1024.ttadapter", backend="works"),
    Case("hivmc fails", "add_1024.ttadapter", backend="fails"),
    Case("opt: plan-memory, dynamic alloc", "dynamic_alloc.mlir", passes=("--hivm-plan-memory",)),
    Case("opt: inject-sync, dynamic alloc", "dynamic_alloc.mlir", passes=("--hivm-inject-sync",)),
    Case("opt: infer-func-core-type", "cumsum_64_1024_1.ttadapter", passes=("--hivm-infer-func-core-type",)),
    Case("opt: convert-hfusion-to-hivm", "argmax_64_2048.ttadapter", passes=("--convert-hfusion-to-hivm",)),
    Case("opt: parse_error", "parse_error.mlir", passes=("--hivm-plan-memory",)),
    Case("opt: verify_error", "verify_error.mlir", passes=("--hivm-plan-memory",)),
)

_BACKENDS = {
    "works": 'while [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done',
    "fails": 'echo "hivmc: error: cannot select the intrinsic" >&2; exit 3',
}


def tool(compiler: str, name: str) -> Path:
    """The binary of one published version: 1.2.0 beside this Python, the others from `make compilers`.

    Raises:
        FileNotFoundError: it is not installed, with the way to get it. A test without its compiler must fail.
    """
    version, _, a5 = compiler.partition(" ")
    spec = importlib.util.find_spec("ascendnpuir") if version == "1.2.0" else None
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    root = Path(folders[0]) if folders else ROOT / ".compilers" / version / "ascendnpuir"
    path = root / "bin" / (name + ("-a5" if a5 else ""))
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: run `make compilers` and pip install -e '.[compiler]'")
    return path


def run_case(case: Case, compiler: str, scratch: Path) -> ToolRun:
    """One run of one cell, in the folder `scratch`."""
    name = "bishengir-opt" if case.passes else "bishengir-compile"
    command = CompileCommand(tool(compiler, name), case.passes)
    if not case.passes:
        target = DEFAULT_TARGET_A5 if compiler.endswith("a5") else DEFAULT_TARGET
        command = command.with_flags(f"--target={target}", *DEFAULT_FLAGS).with_flags(*case.flags)
        if command.supports(FAILURE_FLAG):
            command = command.with_flags(FAILURE_FLAG)
    output = scratch / "kernel"
    argv = command.argv(IR / case.input, output)
    environment = {**os.environ, "PATH": f"{scratch}{os.pathsep}{os.defpath}"}
    if case.backend is not None:
        for backend in ("hivmc", "hivmc-a5"):
            stub = scratch / backend
            stub.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exit 0\n{_BACKENDS[case.backend]}\n')
            stub.chmod(0o755)
    done = run(argv, timeout=60, cwd=scratch, env=environment)
    return ToolRun(
        argv=argv,
        returncode=done.returncode,
        stdout=done.stdout.decode(errors="replace"),
        stderr=done.stderr.decode(errors="replace"),
        seconds=done.seconds,
        timed_out=done.timed_out,
        output_written=None if case.passes else output.exists(),
    )


def cell(diagnosis: Diagnosis) -> str:
    """A diagnosis in the few words of one cell."""
    if diagnosis.outcome in (Outcome.HEALTHY, Outcome.BACKEND_MISSING):
        return diagnosis.outcome.value
    where = f" @{diagnosis.pass_name}" if diagnosis.pass_name else ""
    asterisk = "" if diagnosis.recognised else " (?)"
    return f"{diagnosis.outcome.value}: {diagnosis.kind}{where}{asterisk}"


def measure(case: Case, compiler: str) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        return cell(diagnose(run_case(case, compiler, Path(scratch))))


def table() -> str:
    """The whole table, measured now."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        cells = {
            (case.name, compiler): pool.submit(measure, case, compiler)
            for case in CASES
            for compiler in COMPILERS
        }
    rows = [("case", *COMPILERS), ("---",) * (len(COMPILERS) + 1)]
    rows.extend(
        (case.name, *(cells[case.name, compiler].result() for compiler in COMPILERS)) for case in CASES
    )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def printed() -> dict[tuple[str, str], str]:
    """The table as the page has it: (case, compiler) to cell."""
    text = PAGE.read_text().partition(BEGIN)[2].partition(END)[0].strip()
    head, _, *body = ([word.strip() for word in line.strip("| ").split(" | ")] for line in text.splitlines())
    return {(row[0], compiler): value for row in body for compiler, value in zip(head[1:], row[1:])}


def write() -> None:
    """Put the measured table into the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        print(table())
