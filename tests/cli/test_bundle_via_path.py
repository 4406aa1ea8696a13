"""`npubug bundle` of what the start-up hook does not reach: shells, makefiles, isolated Pythons."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from bundler.archive import open_archive
from bundler.errors import ExitCode
from bundler.manifest import Manifest
from tests.cli.command import TRITON_LIKE, npubug
from tests.places import case

COMPILE = (
    "bishengir-compile {} --target=Ascend910B3 --enable-auto-multi-buffer=True "
    "--enable-hfusion-compile=true --enable-hivm-compile=true --enable-triton-kernel-compile=true -o kernel"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_kernel.py").write_text(TRITON_LIKE)
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), tmp_path / "failing.mlir")
    shutil.copy(case("healthy/add_1024.ttadapter"), tmp_path / "healthy.mlir")
    return tmp_path


def manifest_in(folder: Path) -> Manifest:
    (path,) = folder.glob("*.npubug.tar.zst")
    return open_archive(path).manifest


def test_the_compiler_in_a_shell_script_is_recorded_and_its_failure_named(folder: Path) -> None:
    lines = [COMPILE.format("healthy.mlir"), COMPILE.format("failing.mlir"), "exit 9"]
    (folder / "run.sh").write_text("\n".join(lines))
    done = npubug("bundle", "--", "bash", "run.sh", cwd=folder)
    assert done.code == 9, done.err
    manifest = manifest_in(folder)
    assert [call.outcome for call in manifest.calls] == ["backend-missing", "failed"]
    assert manifest.signature is not None
    assert (manifest.signature.kind, manifest.signature.pass_name) == ("ub-overflow", "hivm-plan-memory")
    assert any("those of another compile" in note for note in manifest.notes)
    assert "/shims/" not in "".join(manifest.calls[1].argv)


def test_an_isolated_python_is_recorded_without_being_asked(folder: Path) -> None:
    done = npubug("bundle", "--", sys.executable, "-I", "my_kernel.py", "failing.mlir", cwd=folder)
    assert done.code == 1
    manifest = manifest_in(folder)
    assert manifest.signature is not None and manifest.signature.kind == "ub-overflow"
    assert [call.kernel for call in manifest.calls] == ["cumsum"]


def test_a_failure_that_nothing_recorded_is_taken_from_the_cache_of_the_run(folder: Path) -> None:
    done = npubug(
        *("bundle", "--no-via-path", "--", sys.executable, "-I", "my_kernel.py", "failing.mlir"), cwd=folder
    )
    assert done.code == 1
    assert "--via-path" in done.err
    manifest = manifest_in(folder)
    assert manifest.signature is not None and manifest.signature.kind == "ub-overflow"
    assert any("from the cache of a run of" in note for note in manifest.notes)


def test_a_healthy_shell_script_gives_no_archive(folder: Path) -> None:
    (folder / "run.sh").write_text(COMPILE.format("healthy.mlir"))
    done = npubug("bundle", "--", "bash", "run.sh", cwd=folder)
    assert done.code == ExitCode.NOTHING_FAILED
    assert "add: backend-missing" in done.err
    assert not list(folder.glob("*.zst"))
