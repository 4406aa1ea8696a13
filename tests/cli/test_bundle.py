"""`npubug bundle`, `check` and `show`, on programs that call the real compiler."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from bundler.archive import open_archive
from bundler.errors import ExitCode
from tests.cli.command import TRITON_LIKE, files, npubug
from tests.places import case


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_kernel.py").write_text(TRITON_LIKE)
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), tmp_path / "failing.mlir")
    shutil.copy(case("healthy/add_1024.ttadapter"), tmp_path / "healthy.mlir")
    return tmp_path


def test_a_failing_program_becomes_a_complete_archive(folder: Path) -> None:
    done = npubug("bundle", "--json", "--", sys.executable, "my_kernel.py", "failing.mlir", cwd=folder)
    assert done.code == 1  # the program's own
    before, result = done.out.splitlines()
    assert before == "before"
    assert "CalledProcessError" in done.err
    answer = json.loads(result)
    assert answer["signature"].startswith("ub-overflow@hivm-plan-memory-")
    assert answer["archive"] == f"my_kernel-{answer['signature']}.npubug.tar.zst"
    archive = open_archive(folder / answer["archive"])
    manifest = archive.manifest
    assert manifest.signature is not None and manifest.signature.pass_name == "hivm-plan-memory"
    assert manifest.command_exit == 1
    assert manifest.workaround is not None and manifest.workaround.verdict == "no-change"
    assert archive.read("input/kernel.ttadapter").decode() == (folder / "failing.mlir").read_text()
    assert b"IR Dump After PlanMemory Failed" in archive.read("logs/after-failure.log")
    assert archive.read("logs/after-all.log").count(b"IR Dump After") > 100
    assert b"CalledProcessError" in archive.read("logs/program.log")
    assert "ir/cumsum.ttir" in archive.names
    assert npubug("check", answer["archive"], cwd=folder).code == ExitCode.OK
    shown = npubug("show", answer["archive"], cwd=folder)
    assert shown.code == ExitCode.OK
    assert answer["signature"] in shown.out and "cumsum" in shown.out


def test_a_healthy_program_gives_no_archive(folder: Path) -> None:
    before = files(folder)
    done = npubug("bundle", "--", sys.executable, "my_kernel.py", "healthy.mlir", cwd=folder)
    assert done.code == ExitCode.NOTHING_FAILED
    assert "nothing failed in the compiler" in done.err
    assert "backend-missing" in done.err
    assert files(folder) == before


def test_always_gives_an_archive_of_a_healthy_program(folder: Path) -> None:
    done = npubug("bundle", "--always", "--", sys.executable, "my_kernel.py", "healthy.mlir", cwd=folder)
    assert done.code == ExitCode.NOTHING_FAILED
    (path,) = folder.glob("*.npubug.tar.zst")
    manifest = open_archive(path).manifest
    assert manifest.signature is None
    facts = {fact.name: fact.value for fact in manifest.environment}
    assert facts["python.version"] is not None
    assert facts["compiler.path"] is not None and facts["compiler.path"].endswith("/bishengir-compile")
    assert facts["npu.target"] == "Ascend910B3"
    assert facts["triton.branch"] == "release/3.2.2"
    assert npubug("check", path.name, cwd=folder).code == ExitCode.INCOMPLETE


def test_a_program_that_fails_elsewhere_is_no_compiler_failure(folder: Path) -> None:
    done = npubug("bundle", "--", sys.executable, "-c", "raise ValueError('mine')", cwd=folder)
    assert done.code == ExitCode.NOTHING_FAILED
    assert "ValueError: mine" in done.err
    assert "no compile call was seen" in done.err


def test_a_truncated_archive_is_invalid(folder: Path) -> None:
    npubug("bundle", "--ir", "failing.mlir", "--output", "x.npubug.tar.zst", cwd=folder)
    path = folder / "x.npubug.tar.zst"
    path.write_bytes(path.read_bytes()[:-200])
    done = npubug("check", path.name, "--json", cwd=folder)
    assert done.code == ExitCode.INVALID_INPUT
    assert json.loads(done.out)["valid"] is False


def test_the_same_evidence_gives_the_same_archive_content(folder: Path) -> None:
    for name in ("a", "b"):
        npubug("bundle", "--ir", "failing.mlir", "--output", f"{name}.npubug.tar.zst", cwd=folder)
    first, second = (open_archive(folder / f"{n}.npubug.tar.zst") for n in "ab")
    assert first.names == second.names
    same = [name for name in first.names if not name.startswith("logs/")]
    assert all(first.read(name) == second.read(name) for name in same)


def test_what_names_the_user_does_not_survive(folder: Path) -> None:
    text = (folder / "failing.mlir").read_text()
    (folder / "named.mlir").write_text(f'{text}\n// written in "/home/erika/work/secret.py"\n')
    done = npubug("bundle", "--ir", "named.mlir", "--output", "x.npubug.tar.zst", cwd=folder)
    assert done.code == ExitCode.OK, done.err
    archive = open_archive(folder / "x.npubug.tar.zst")
    for name in archive.names:
        assert b"erika" not in archive.read(name), name
    npubug("bundle", "--ir", "named.mlir", "--redact", "off", "--output", "y.npubug.tar.zst", cwd=folder)
    assert b"erika" in open_archive(folder / "y.npubug.tar.zst").read("input/kernel.ttadapter")
