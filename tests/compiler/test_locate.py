"""The failing pass, its input, and a file that fails alone, with each published compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundler.compiler.diagnose import diagnose
from bundler.compiler.invoke import CompileCommand, compile_file, default_command
from bundler.compiler.locate import Located, locate, passes_of_pipeline
from bundler.compiler.outcome import Outcome
from tests.places import ROOT, case, compiler_folder

CUMSUM = "failing/cumsum_64_1024_1.ttadapter"


def tools(version: str) -> Path:
    return compiler_folder() if version == "1.2.0" else ROOT / ".compilers" / version / "ascendnpuir" / "bin"


def located(name: str, version: str = "1.2.0") -> Located:
    command = default_command(case(name), tools(version) / "bishengir-compile", None)
    return locate(command, case(name), timeout=120)


@pytest.mark.parametrize("version", ["1.2.0", "1.1.0"])
def test_the_pass_is_named_and_its_file_fails_alone(version: str, tmp_path: Path) -> None:
    found = located(CUMSUM, version)
    assert found.pass_name == "hivm-plan-memory"
    assert found.order == found.runs > 100  # it is the last that ran
    assert found.reproducer is not None
    assert found.reproducer.passes == ("hivm-plan-memory",)
    path = tmp_path / "reproducer.mlir"
    path.write_text(found.reproducer.text)
    alone = diagnose(
        compile_file(
            CompileCommand(tools(version) / "bishengir-opt", ("--run-reproducer",)), path, timeout=60
        )
    )
    assert alone.kind == "ub-overflow"


def test_the_ir_before_it_is_what_the_pass_read(tmp_path: Path) -> None:
    found = located(CUMSUM)
    assert found.before is not None and "mlir_reproducer" not in found.before
    path = tmp_path / "before.mlir"
    path.write_text(found.before)
    opt = tools("1.2.0") / "bishengir-opt"
    assert diagnose(compile_file(CompileCommand(opt, ()), path, timeout=60)).outcome is Outcome.HEALTHY
    alone = diagnose(compile_file(CompileCommand(opt, ("--hivm-plan-memory",)), path, timeout=60))
    assert alone.kind == "ub-overflow"


def test_the_compilers_retries_are_told_apart() -> None:
    assert located(CUMSUM).attempt == 3  # it tries again without code motion, then without multi-buffering


def test_functions_that_the_pass_is_done_with_do_not_stand_in_the_way() -> None:
    # A mixed kernel: MLIR's own file would run the pass on the cube function again, which it rejects.
    found = located("failing/attn_64_256_128.ttadapter")
    assert found.reproducer is not None
    assert found.reproducer.passes == ("hivm-plan-memory",)
    assert "attn_mix_aiv" in found.reproducer.made_by
    assert "func.func @attn_mix_aic" not in found.reproducer.text
    assert any("ends alone with llvm-error" in note for note in found.notes)


def test_a_compiler_that_shows_nothing_is_said_to() -> None:
    found = located(CUMSUM, "1.0.0")
    assert (found.pass_name, found.order, found.reproducer) == ("hivm-plan-memory", None, None)
    assert any("does not print its passes" in note for note in found.notes)
    assert any("no file for --run-reproducer" in note for note in found.notes)


STUCK = """#!/bin/sh
case " $* " in
    *" --help "*) for flag in after-all before-all before; do echo "  --mlir-print-ir-$flag"; done; exit 0;;
    *after-all*) printf '// -----// IR Dump After CSE (cse) //----- //\\nmodule {\\n}\\n\\n' >&2;;
    *before*) printf '// -----// IR Dump Before CSE (cse) //----- //\\nmodule {\\n}\\n\\n' >&2
        printf '// -----// IR Dump Before Loop (loop-forever) //----- //\\nmodule {\\n}\\n\\n' >&2;;
esac
sleep 60
"""


def test_a_pass_that_never_ends_is_the_one_that_began_last(tmp_path: Path) -> None:
    for name in ("bishengir-compile", "bishengir-opt"):
        (tmp_path / name).write_text(STUCK)
        (tmp_path / name).chmod(0o755)
    command = CompileCommand(tmp_path / "bishengir-compile", ())
    found = locate(command, case(CUMSUM), timeout=0.5)
    assert found.diagnosis.outcome is Outcome.TIMED_OUT
    assert (found.pass_name, found.order) == ("loop-forever", 2)
    assert found.reproducer is not None and found.reproducer.pipeline == "builtin.module(loop-forever)"


@pytest.mark.parametrize(
    ("pipeline", "passes"),
    [
        ("builtin.module(cse)", ("cse",)),
        ("builtin.module(func.func(hivm-plan-memory{a=b mode=local-mem-plan}))", ("hivm-plan-memory",)),
        ("builtin.module(a{x= y=z},func.func(b,c{n=1}),any(d),llvm.func(e))", ("a", "b", "c", "d", "e")),
        ("", ()),
    ],
)
def test_the_passes_of_a_pipeline_are_read(pipeline: str, passes: tuple[str, ...]) -> None:
    assert passes_of_pipeline(pipeline) == passes
