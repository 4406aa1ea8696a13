"""`npubug barrier` with the real compiler: the experiment, the matrix, and the replacement by hand."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from bundler.errors import ExitCode
from tests.cli.command import TRITON_LIKE, npubug
from tests.places import case, compiler_folder

# A backend of the user's machine: its binary is the IR it was given, so it shows what the compiler made of it.
HIVMC = """#!/bin/sh
if [ "$1" = --version ]; then echo "hivmc 0.1.0 (0000000 2025-01-01)"; exit 0; fi
in=$1
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then cp "$in" "$2.o"; : > "$2"; fi; shift; done
"""
# A compiler that fails like the real one unless multi-buffering is off.
FAILS_WITH_MULTI_BUFFER = """#!/bin/sh
case " $* " in *" --help "*|*" --enable-auto-multi-buffer=false "*) exec {real} "$@";; esac
echo 'loc("k.mlir":2:3): error: ub overflow, requires 4194304 bits while 1572864 bits available!' >&2
exit 1
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_the_counts_before_and_after_show_that_the_flag_took_effect(tmp_path: Path) -> None:
    shutil.copy(case("healthy/add_1024.ttadapter"), tmp_path / "add.ttadapter")
    done = npubug("barrier", "add.ttadapter", "--json", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    seen = json.loads(done.out)
    assert seen["default"]["sync"] == {"set_flag": 4, "wait_flag": 4, "pipe_barrier": 1, "sync_block": 0}
    assert seen["barrier"]["sync"] == {"set_flag": 0, "wait_flag": 0, "pipe_barrier": 12, "sync_block": 0}
    assert [step["pass"] for step in seen["barrier"]["steps"]] == ["hivm-inject-sync"]
    assert seen["verdict"] == "not-tried" and "took effect" in seen["note"]
    assert seen["cures"] == []  # nothing is ill


def test_the_matrix_names_the_flag_that_cures(tmp_path: Path) -> None:
    real = compiler_folder() / "bishengir-compile"
    tool = program(tmp_path / "bin" / "bishengir-compile", FAILS_WITH_MULTI_BUFFER.format(real=real))
    shutil.copy(case("healthy/add_1024.ttadapter"), tmp_path / "add.ttadapter")
    done = npubug("barrier", "add.ttadapter", "--compiler", tool, "--json", cwd=tmp_path)
    seen = json.loads(done.out)
    assert seen["verdict"] == "no-change"
    assert seen["cures"] == ["--enable-auto-multi-buffer=false"]
    text = npubug("barrier", "add.ttadapter", "--compiler", tool, cwd=tmp_path).out
    assert "goes away with: multi-buffer off (--enable-auto-multi-buffer=false)" in text


def test_a_program_is_run_and_its_failing_compile_taken(tmp_path: Path) -> None:
    (tmp_path / "my_kernel.py").write_text(TRITON_LIKE)
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), tmp_path / "failing.mlir")
    done = npubug("barrier", "--json", "--", sys.executable, "my_kernel.py", "failing.mlir", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    seen = json.loads(done.out.partition("before\n")[2])
    assert (seen["verdict"], seen["cures"]) == ("no-change", [])
    assert seen["default"]["signature"].startswith("ub-overflow@hivm-plan-memory")
    assert all(trial["same_failure"] for trial in seen["matrix"])


def test_an_archive_is_tried_with_its_recorded_flags(tmp_path: Path) -> None:
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), tmp_path / "k.ttadapter")
    npubug("bundle", "--ir", "k.ttadapter", "--output", "k.npubug.tar.zst", cwd=tmp_path)
    done = npubug("barrier", "k.npubug.tar.zst", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    assert "k: barrier workaround: no-change" in done.out


def test_a_program_that_compiles_nothing_is_said_to(tmp_path: Path) -> None:
    done = npubug("barrier", "--", sys.executable, "-c", "pass", cwd=tmp_path)
    assert done.code == ExitCode.NOTHING_FAILED
    assert "no compile call was seen" in done.err


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache" / "xiXeOlKY"
    folder.mkdir(parents=True)
    shutil.copy(case("healthy/add_1024.ttadapter"), folder / "add.ttadapter")
    (folder / "add.npubin").write_bytes(b"original")
    metadata = {"target": {"arch": "Ascend910B3"}, "multibuffer": True, "inject_barrier_all": False}
    (folder / "add.json").write_text(json.dumps(metadata))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = program(tmp_path / "backend" / "hivmc", HIVMC).parent
    # As ascendnpuir's folder goes first, so must this one: hivmc is in neither.
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.usefixtures("backend")
def test_a_cached_binary_is_replaced_and_restored(cache: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in cache.iterdir()}
    done = npubug("barrier", "--install", "xiXe", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    installed = (cache / "add.npubin").read_bytes()
    assert installed.count(b"hivm.hir.pipe_barrier") == 12 and b"hivm.hir.set_flag" not in installed
    again = npubug("barrier", "--install", "xiXe", cwd=tmp_path)
    assert again.code == ExitCode.FAILED and "replaced before" in again.err
    assert npubug("barrier", "--restore", "xiXe", cwd=tmp_path).code == ExitCode.OK
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == before
    assert npubug("barrier", "--restore", "xiXe", cwd=tmp_path).code == ExitCode.NOTHING_FAILED


@pytest.mark.usefixtures("backend")
def test_a_binary_that_triton_made_anew_is_not_overwritten(cache: Path, tmp_path: Path) -> None:
    npubug("barrier", "--install", "xiXe", cwd=tmp_path)
    (cache / "add.npubin").write_bytes(b"compiled anew")
    done = npubug("barrier", "--restore", "xiXe", cwd=tmp_path)
    assert done.code == ExitCode.FAILED and "changed since" in done.err
    assert (cache / "add.npubin").read_bytes() == b"compiled anew"


def test_without_the_backend_nothing_is_replaced(cache: Path, tmp_path: Path) -> None:
    done = npubug("barrier", "--install", "xiXe", cwd=tmp_path)
    assert done.code == ExitCode.TOOL_MISSING
    assert "hivmc" in done.err
    assert {path.name for path in cache.iterdir()} == {"add.ttadapter", "add.npubin", "add.json"}


def test_a_kernel_without_a_binary_has_nothing_to_replace(cache: Path, tmp_path: Path) -> None:
    (cache / "add.npubin").unlink()
    done = npubug("barrier", "--install", "xiXe", cwd=tmp_path)
    assert done.code == ExitCode.INVALID_INPUT and "no binary" in done.err


@pytest.mark.parametrize(
    "words", [(), ("k.ttadapter", "--install", "x"), ("--install", "x", "--restore", "x")], ids=str
)
def test_one_thing_at_a_time(words: tuple[str, ...], tmp_path: Path) -> None:
    assert npubug("barrier", *words, cwd=tmp_path).code == ExitCode.USAGE
