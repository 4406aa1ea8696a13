"""`npubug bundle` of programs whose kernels compile and then go wrong: the real compiler, a stand-in backend."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bundler.archive import open_archive
from bundler.errors import ExitCode
from bundler.manifest import Manifest
from tests.cli.command import Done, files, npubug
from tests.places import case

# The closed backend is not here: this one answers --version and writes the file that it is asked for.
HIVMC = """#!/bin/sh
[ "$1" = --version ] && { echo "hivmc 1.2.0"; exit 0; }
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo binary > "$2"; shift; done
exit 0
"""
PROGRAM = """
import os, subprocess, sys, tempfile, time
def compile(path="healthy.mlir"):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "kernel.ttadapter.mlir")
        with open(path) as file, open(source, "w") as out:
            out.write(file.read())
        subprocess.run(
            ["bishengir-compile", source, "--target=Ascend910B3", "--enable-auto-multi-buffer=True",
             "--enable-hfusion-compile=true", "--enable-hivm-compile=true",
             "--enable-triton-kernel-compile=true", "-o", os.path.join(folder, "kernel")],
            capture_output=True, check=True)
class JIT:
    def __init__(self, name): self.__name__ = name
    def run(self, *args, grid, call):
        bound_args = {}
        return call()
def fails(): raise RuntimeError("the launch failed")
"""
DEVICE_ERROR = (
    "NPU function error: c10_npu::acl::AclrtSynchronizeStreamWithTimeout, error code is 507035\\n"
    "errorStr: The DDR address of the MTE instruction is out of range. fault kernel_name=add_mix_aiv"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "hivmc").write_text(HIVMC)
    (tools / "hivmc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    shutil.copy(case("healthy/add_1024.ttadapter"), tmp_path / "healthy.mlir")
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), tmp_path / "failing.mlir")
    other = (tmp_path / "healthy.mlir").read_text()
    (tmp_path / "other.mlir").write_text(other.replace("@add(", "@other("))
    assert "@add(" in other
    return tmp_path


def bundle(folder: Path, what_happens: str, *options: object) -> Done:
    (folder / "run.py").write_text(PROGRAM + what_happens)
    return npubug("bundle", *options, "--", sys.executable, "run.py", cwd=folder)


def manifest_of(folder: Path, done: Done) -> Manifest:
    found = list(folder.glob("run-*.npubug.tar.zst"))
    assert len(found) == 1, done.err
    return open_archive(found[0]).manifest


def kernel_of(manifest: Manifest) -> str | None:
    return next(call.kernel for call in manifest.calls if call.id == manifest.failing_call)


def test_a_wrong_result_is_bundled_with_the_kernel_that_was_compiled(folder: Path) -> None:
    done = bundle(folder, 'compile(); assert 1 == 2, "Tensor-likes are not close!\\n\\nMismatched: 3"')
    assert done.code == 1
    manifest = manifest_of(folder, done)
    signature = manifest.signature
    assert signature is not None and signature.id.startswith("wrong-result@runtime-")
    assert (signature.stage, signature.message) == ("runtime", "Tensor-likes are not close!")
    assert kernel_of(manifest) == "add"
    assert manifest.workaround is not None and manifest.workaround.verdict == "not-tried"
    (path,) = folder.glob("run-*.npubug.tar.zst")
    archive = open_archive(path)
    assert archive.read("input/kernel.ttadapter").decode() == (folder / "healthy.mlir").read_text()
    assert archive.read("logs/after-all.log").count(b"IR Dump After") > 100
    assert b"AssertionError" in archive.read("logs/program.log")
    assert "source/run.py" in archive.names
    assert not any("sometimes" in note for note in manifest.notes)
    checked = npubug("check", path.name, cwd=folder)
    assert checked.code == ExitCode.INCOMPLETE  # the barrier experiment needs the device
    assert "the program that runs it is what fails" in checked.out and "minimize" not in checked.out
    assert "wrong-result" in npubug("show", path.name, cwd=folder).out
    assert npubug("issue", path.name, cwd=folder).code == ExitCode.OK
    replayed = npubug("replay", path.name, cwd=folder)
    assert replayed.code == ExitCode.NOTHING_FAILED and "at run time" in replayed.err


def test_a_device_error_names_its_kernel_and_brings_the_logs_of_its_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_PROCESS_LOG_PATH", str(folder / "ascend"))
    logs = folder / "ascend" / "debug" / "plog"
    logs.mkdir(parents=True)
    (logs / "plog-1_20250101000000000.log").write_text("of another process")
    done = bundle(
        folder,
        f"""
with open(f"ascend/debug/plog/plog-{{os.getpid()}}_20250101000000000.log", "w") as log:
    log.write("[ERROR] RUNTIME aicore exception")
compile(); compile("other.mlir")
raise RuntimeError({DEVICE_ERROR!r}.replace("\\\\n", chr(10)))
""",
    )
    manifest = manifest_of(folder, done)
    assert manifest.signature is not None
    assert (manifest.signature.kind, manifest.signature.stage) == ("vector-core-exception", "runtime")
    assert kernel_of(manifest) == "add"
    assert any("add: the device names it" in note for note in manifest.notes)
    assert any("add, other" in note for note in manifest.notes)
    (log,) = (member for member in manifest.members if member.role == "device-log")
    assert log.name.startswith("logs/plog/debug/plog/plog-")


def test_a_launch_that_fails_names_the_kernel_that_was_launched(folder: Path) -> None:
    done = bundle(folder, 'compile(); compile("other.mlir"); JIT("add").run(grid=(1,), call=fails)')
    manifest = manifest_of(folder, done)
    assert manifest.signature is not None and manifest.signature.kind == "launch-error"
    assert kernel_of(manifest) == "add"


def test_a_hang_is_ended_and_bundled_with_where_it_stood(folder: Path) -> None:
    done = bundle(
        folder, "compile()\ndef synchronize():\n    time.sleep(90)\nsynchronize()", "--run-timeout", 8
    )
    manifest = manifest_of(folder, done)
    assert done.code == 128 + 15
    assert manifest.signature is not None
    assert (manifest.signature.kind, manifest.signature.outcome) == ("hang", "timed-out")
    (stack,) = (member.name for member in manifest.members if member.role == "stack")
    (path,) = folder.glob("run-*.npubug.tar.zst")
    assert b"in synchronize" in open_archive(path).read(stack)


def test_a_compile_failure_that_the_program_caught_does_not_hide_a_wrong_result(folder: Path) -> None:
    done = bundle(
        folder,
        """
try: compile("failing.mlir")
except subprocess.CalledProcessError: pass  # as an autotuner does
compile()
assert False, "wrong"
""",
    )
    manifest = manifest_of(folder, done)
    assert manifest.signature is not None and manifest.signature.kind == "wrong-result"
    assert kernel_of(manifest) == "add"


def test_a_compile_failure_that_ends_the_program_stays_one(folder: Path) -> None:
    done = bundle(folder, 'compile(); compile("failing.mlir")')
    manifest = manifest_of(folder, done)
    assert manifest.signature is not None and manifest.signature.kind == "ub-overflow"


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ("compile(); {}['x']", "taken for its own mistake"),
        ("compile(); raise RuntimeError('mat1 and mat2 shapes cannot be multiplied')", "its own mistake"),
        ("compile(); sys.exit(3)", "exit code 3"),
        ("class CompilationError(Exception): pass\ncompile(); raise CompilationError('at 3:4')", "front end"),
    ],
)
def test_a_mistake_of_the_program_is_no_failure_of_a_kernel_unless_asked_for(
    folder: Path, mistake: str, told: str
) -> None:
    before = files(folder) | {"run.py"}
    done = bundle(folder, mistake)
    assert done.code == ExitCode.NOTHING_FAILED
    assert told in done.err and "--always" in done.err
    assert files(folder) == before
    asked = bundle(folder, mistake, "--always")
    manifest = manifest_of(folder, asked)
    assert manifest.signature is not None
    assert (manifest.signature.kind, manifest.signature.recognised) == ("program-failure", False)


def test_an_assertion_without_any_compile_is_not_about_kernels(folder: Path) -> None:
    done = bundle(folder, "assert False")
    assert done.code == ExitCode.NOTHING_FAILED
    assert not list(folder.glob("*.zst"))


def test_the_stand_in_makes_compiles_healthy(folder: Path) -> None:
    done = bundle(folder, "compile()")
    assert done.code == ExitCode.NOTHING_FAILED and ": healthy" in done.err
    assert subprocess.run(["hivmc", "--version"], capture_output=True, check=True).stdout
