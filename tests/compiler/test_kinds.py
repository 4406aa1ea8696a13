"""Each failure kind on the real words of the tools: recorded, or quoted from public reports."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from confusion import IR

from bundler.compiler.diagnose import diagnose, kinds
from bundler.compiler.outcome import Outcome, Stage, ToolRun

COMPILE = ("/opt/bin/bishengir-compile", "k.mlir", "-o", "k")
NOISE = (
    "[ERROR] Cannot find hivmc under $PATH \n[ERROR] Failed to run `hivmc --version`.\n"
    "[WARNING] Failed to detect hivmc version for backward compatibility\n"
)
OVERFLOW = (
    "ub overflow, requires 4194304 bits while 1572864 bits available! (possible reason: tiling basic block)"
)


def told(stderr: str, code: int | None = 1, argv: tuple[str, ...] = COMPILE, **more: object):
    return diagnose(ToolRun(argv=argv, returncode=code, stderr=stderr, **more))  # type: ignore[arg-type]


def compile_errors(*newest_first: str) -> str:
    lines = ['loc("k.mlir":1:1): error: Failed to run BiShengHIR pipeline', ""]
    lines += [f'loc("k.mlir":{index}:3): error: {message}' for index, message in enumerate(newest_first, 2)]
    return NOISE + "\n".join([*lines, "[ERROR] Failed to run BiShengIR pipeline", ""])


def test_an_overflow_names_buffer_and_bits() -> None:
    found = told(compile_errors(OVERFLOW))
    assert (found.kind, found.pass_name, found.location) == (
        "ub-overflow",
        "hivm-plan-memory",
        'loc("k.mlir":2:3)',
    )
    assert dict(found.details) == {"buffer": "ub", "required_bits": "4194304", "available_bits": "1572864"}


def test_the_last_failed_dump_names_the_pass() -> None:
    dumps = "".join(
        f"// -----// IR Dump After {name} Failed ({argument}) //----- //\nmodule {{}}\n"
        for name, argument in (("PlanMemory", "hivm-plan-memory"), ("CSE", "cse"))
    )
    assert told(dumps + compile_errors("something new")).pass_name == "cse"


def test_the_compiler_prints_newest_first_so_the_last_line_leads() -> None:
    found = told(compile_errors("'memref.alloc' op consequence", "failed to legalize operation 'a.b'"))
    assert (found.kind, dict(found.details)) == ("legalization", {"op": "a.b"})


def test_an_opt_tool_prints_in_order_so_the_first_line_leads() -> None:
    text = "k.mlir:2:3: error: failed to legalize operation 'a.b'\nk.mlir:1:1: error: 'c.d' op consequence\n"
    assert told(text, argv=("bishengir-opt", "k.mlir", "--cse", "--canonicalize")).kind == "legalization"


def test_retries_count_once_and_the_last_attempt_is_read() -> None:
    once = compile_errors("first cause")
    again = compile_errors("second cause")
    assert told(once + again).message == "second cause"
    assert told(again * 5).lines == told(again).lines


def test_noise_about_the_backend_is_no_failure() -> None:
    assert told(NOISE, code=0, output_written=True).outcome is Outcome.HEALTHY


def test_ended_0_without_backend_and_output_is_missing_backend() -> None:
    assert told(NOISE + "[ERROR] Cannot find hivmc under $PATH \n", code=0).outcome is Outcome.BACKEND_MISSING
    assert told(NOISE, code=0, output_written=False).outcome is Outcome.BACKEND_MISSING


def test_a_backend_that_fails_is_a_failure_even_with_exit_code_0() -> None:
    text = (
        NOISE
        + "hivmc: error: no such intrinsic\n[ERROR] Executing: /opt/bin/hivmc /tmp/x/module.hivm.opt.mlir\n"
    )
    found = told(text, code=0, output_written=False)
    assert (found.outcome, found.stage, found.kind) == (Outcome.FAILED, Stage.BACKEND, "backend-failed")
    assert found.message == "hivmc: error: no such intrinsic"


@pytest.mark.parametrize(
    "message",
    [
        "expected ')' to match",
        "custom op 'foo.bar' is unknown",
        "use of undeclared SSA value name",
        "redefinition of SSA",
    ],
)
def test_the_parsers_words_mean_an_invalid_input_for_an_opt_tool_too(message: str) -> None:
    found = told(
        f"k.mlir:2:3: error: {message}\n", argv=("bishengir-opt", "k.mlir", "--cse", "--canonicalize")
    )
    assert (found.outcome, found.kind) == (Outcome.INVALID_INPUT, "parse-error")


def test_an_error_with_no_pass_asked_for_is_an_invalid_input() -> None:
    assert told("k.mlir:2:3: error: 'a.b' op is odd\n", argv=("bishengir-opt", "k.mlir")).outcome is (
        Outcome.INVALID_INPUT
    )


def test_an_error_without_the_dump_that_was_asked_for_is_an_invalid_input() -> None:
    argv = ("bishengir-opt", "k.mlir", "--cse", "--mlir-print-ir-after-failure")
    assert told("k.mlir:2:3: error: 'a.b' op is odd\n", argv=argv).outcome is Outcome.INVALID_INPUT


def test_a_silent_pass_is_named_by_its_dump() -> None:
    dump = "// -----// IR Dump After Odd Failed (hivm-odd) //----- //\nmodule {}\n"
    found = told(dump + 'loc("k.mlir":1:1): error: Failed to run BiShengHIR pipeline\n')
    assert (found.kind, found.pass_name) == ("silent-pass-failure", "hivm-odd")


def test_a_verifier_error_names_the_op() -> None:
    found = told(compile_errors("'hivm.hir.vadd' op requires the same shape"))
    assert (found.kind, dict(found.details)) == ("verifier", {"op": "hivm.hir.vadd"})


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Failed to infer/propagate memory scope for mC", "memory-scope"),
        ("'memref.alloc' op Failed to propagate memory scope ub for allocOp", "memory-scope"),
        ("'hivm.hir.load' op Unsupported op for finding the root alloc.", "unsupported-user"),
        ("'x.y' op currently only supports static shape for bias", "static-shape"),
        ("failed to legalize unresolved materialization from ('memref<4xf32>')", "legalization"),
    ],
)
def test_known_words(message: str, kind: str) -> None:
    assert told(compile_errors(message)).kind == kind


def test_an_unknown_error_is_told_as_unrecognised() -> None:
    found = told(compile_errors("the moon is full"))
    assert (found.kind, found.message, found.recognised) == ("error", "the moon is full", False)


def test_the_adapters_assertion(recorded) -> None:
    found = told(recorded("adapter_early_64_linearize.stderr"), -6, ("triton-adapter-opt", "k.ttir"))
    assert (found.outcome, found.stage, found.kind) == (Outcome.CRASHED, Stage.ADAPTER, "assertion")
    assert dict(found.details)["expression"].startswith("use_empty()")
    assert found.frames[0] == "triton-adapter-opt+0x1f2173d"
    assert found.location == "/home/devuser/work/kernels.py:9:36"


def test_a_crash_through_a_shell_is_a_crash(recorded) -> None:
    assert told(recorded("adapter_early_64.stderr"), 134, ("triton-adapter-opt",)).kind == "assertion"


def test_a_segfault_is_placed_by_the_first_frame_below_the_handler_and_libc(recorded) -> None:
    found = told(recorded("segfault_1.1.0.stderr"), -11)
    assert (found.kind, found.message) == ("segfault", "SIGSEGV")
    assert found.frames[0] == "bishengir-compile+0x59a1126"


def test_symbols_are_kept_without_arguments() -> None:
    stack = (
        " #0 0x1 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/opt/x/libIR.so+0x57)\n"
        " #1 0x2 SignalHandler(int) Signals.cpp:0:0\n"
        " #2 0x3 (/usr/lib/x86_64-linux-gnu/libc.so.6+0x42520)\n"
        " #3 0x4 mlir::foo::Bar::run(int) (/opt/x/libIR.so+0x11)\n"
        " #4 0x5 main (/opt/x/tool+0x12)\n"
    )
    assert told(stack, -11).frames == ("mlir::foo::Bar::run", "main")


def test_unreachable_keeps_its_words_and_file() -> None:
    found = told("bad layout\nUNREACHABLE executed at /b/lib/HIVM/Layout.cpp:77!\n", -6)
    assert (found.kind, found.message) == ("unreachable", "bad layout (UNREACHABLE executed at Layout.cpp)")


def test_llvm_error_in_a_string_of_the_ir_is_no_crash() -> None:
    text = 'x.msg = "LLVM ERROR: no"\n' + compile_errors(OVERFLOW)
    assert told(text).kind == "ub-overflow"


@pytest.mark.parametrize(
    ("code", "more", "ended_by"),
    [
        (None, {"memory_exceeded": True}, "our-cap"),
        (-9, {}, "killed"),
        (137, {}, "killed"),
        (-6, {}, "itself"),
    ],
)
def test_out_of_memory_tells_who_ended_it(code: int | None, more: dict[str, bool], ended_by: str) -> None:
    text = "terminate called after throwing an instance of 'std::bad_alloc'\n" if code == -6 else ""
    found = told(text, code, **more)
    assert (found.outcome, dict(found.details)["ended_by"]) == (Outcome.OUT_OF_MEMORY, ended_by)


def test_a_timeout_outranks_what_was_printed() -> None:
    assert told(compile_errors(OVERFLOW), None, timed_out=True).outcome is Outcome.TIMED_OUT


def _stand_in(tmp_path, body: str):
    script = tmp_path / "bishengir-compile"
    script.write_text(f"#!{sys.executable}\n{textwrap.dedent(body)}")
    script.chmod(0o755)
    return script


def _run(*argv: object) -> ToolRun:
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False)
    return ToolRun(tuple(map(str, argv)), done.returncode, done.stdout, done.stderr)


def test_a_tool_killed_by_the_kernel_is_out_of_memory(tmp_path) -> None:
    script = _stand_in(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert diagnose(_run(script)).outcome is Outcome.OUT_OF_MEMORY


def test_a_missing_library_is_the_machines_fault() -> None:
    text = (
        "bishengir-compile: error while loading shared libraries: libz.so.9: cannot open shared object file\n"
    )
    assert (told(text, 127).outcome, told(text, 127).kind) == (Outcome.UNUSABLE, "missing-library")
    old = "bishengir-compile: /lib64/libc.so.6: version `GLIBC_2.34' not found (required by x)\n"
    assert told(old).kind == "missing-library"


def test_another_processors_binary_is_the_machines_fault(tmp_path) -> None:
    binary = tmp_path / "bishengir-compile"
    header = bytearray(b"\x7fELF\x02\x01\x01" + bytes(57))
    header[16:20] = (2).to_bytes(2, "little") + (0x1234).to_bytes(2, "little")  # a machine that is none
    binary.write_bytes(bytes(header))
    binary.chmod(0o755)
    run = _run("bash", "-c", f"{binary}")
    assert (
        diagnose(ToolRun((str(binary),), run.returncode, run.stdout, run.stderr)).kind == "wrong-architecture"
    )


def test_every_kind_has_a_name_of_its_own() -> None:
    names = [kind.name for kind in kinds()]
    assert len(names) == len(set(names)) and len(names) >= 18


@pytest.mark.triton
def test_the_adapters_assertion_live() -> None:
    from bundler.compiler.invoke import compile_file, default_command  # noqa: PLC0415

    source = IR / "early_64.ttir"
    found = diagnose(compile_file(default_command(source, None, None), source, timeout=60))
    assert (found.outcome, found.kind) == (Outcome.CRASHED, "assertion")
