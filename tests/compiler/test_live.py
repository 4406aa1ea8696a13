"""What only a running tool can show: a pass replayed on its own, and a tool that never ends."""

from __future__ import annotations

import sys

from confusion import IR, tool

from bundler.compiler.diagnose import diagnose
from bundler.compiler.invoke import CompileCommand, compile_file, default_command
from bundler.compiler.outcome import Outcome, Stage
from bundler.compiler.signature import Level, matches, signature_of


def test_a_replayed_reproducer_has_the_failure_of_the_whole_compile(tmp_path) -> None:
    reproducer = tmp_path / "reproducer.mlir"
    command = default_command(IR / "reshape_128.ttadapter", tool("1.2.0", "bishengir-compile"), None)
    with_reproducer = command.with_flags(f"--mlir-pass-pipeline-crash-reproducer={reproducer}")
    whole = diagnose(compile_file(with_reproducer, IR / "reshape_128.ttadapter", timeout=60))
    replay = CompileCommand(tool("1.2.0", "bishengir-opt"), ("--run-reproducer",))
    alone = diagnose(compile_file(replay, reproducer, timeout=60))
    assert (whole.stage, alone.stage) == (Stage.COMPILE, Stage.PASS)
    assert whole.kind == alone.kind == "ub-overflow"
    assert matches(signature_of(whole), signature_of(alone), Level.NORMAL)


def test_the_same_failure_has_one_id_with_all_versions_that_name_its_pass() -> None:
    ids = set()
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        command = default_command(IR / "cumsum_64_1024_1.ttadapter", tool(version, "bishengir-compile"), None)
        ids.add(
            signature_of(diagnose(compile_file(command, IR / "cumsum_64_1024_1.ttadapter", timeout=60))).id
        )
    assert len(ids) == 1


def test_a_tool_that_hangs_is_timed_out(tmp_path) -> None:
    script = tmp_path / "bishengir-compile"
    script.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    script.chmod(0o755)
    run = compile_file(CompileCommand(script, ()), IR / "add_1024.ttadapter", timeout=0.3)
    assert diagnose(run).outcome is Outcome.TIMED_OUT
