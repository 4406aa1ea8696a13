"""`npubug bundle` of a run with several ranks: small launchers, and ranks that call the real compiler."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from bundler.archive import Archive, open_archive
from bundler.manifest import RankRecord
from tests.cli.command import Done, npubug
from tests.places import case

# As torchrun: one process a rank, who it is in its environment, and all are ended when one fails.
LAUNCHER = """
import os, subprocess, sys, time
count, rank_script, *rest = sys.argv[1:]
ranks = []
for rank in range(int(count)):
    environment = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": count,
                   "LOCAL_WORLD_SIZE": count, "ASCEND_RT_VISIBLE_DEVICES": "4,5,6,7"}
    ranks.append(subprocess.Popen([sys.executable, rank_script, *rest], env=environment))
while all(each.poll() is None for each in ranks):
    time.sleep(0.05)
time.sleep(float(os.environ.get("PATIENCE", "60")) if all(each.poll() in (None, 0) for each in ranks) else 0.5)
for each in ranks:
    if each.poll() is None:
        each.kill() if os.environ.get("KILL") else each.terminate()
sys.exit(max(abs(each.wait()) for each in ranks) and 1)
"""
RANK = """
import os, subprocess, sys, tempfile, time
rank = int(os.environ["RANK"])
def compile(path, *flags):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "kernel.ttadapter.mlir")
        with open(path) as file, open(source, "w") as out:
            out.write(file.read())
        subprocess.run(
            ["bishengir-compile", source, "--target=Ascend910B3", "--enable-auto-multi-buffer=True",
             "--enable-hfusion-compile=true", "--enable-hivm-compile=true",
             "--enable-triton-kernel-compile=true", *flags, "-o", os.path.join(folder, "kernel")],
            capture_output=True, check=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "launch.py").write_text(LAUNCHER)
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), tmp_path / "failing.mlir")
    shutil.copy(case("healthy/add_1024.ttadapter"), tmp_path / "healthy.mlir")
    return tmp_path


def bundle(folder: Path, ranks: int, what_a_rank_does: str, *options: str) -> tuple[Done, Archive]:
    (folder / "train.py").write_text(RANK + what_a_rank_does)
    done = npubug(
        *("bundle", "-o", "x.npubug.tar.zst", *options, "--"),
        *(sys.executable, "launch.py", ranks, "train.py"),
        cwd=folder,
    )
    assert (folder / "x.npubug.tar.zst").exists(), done.err
    return done, open_archive(folder / "x.npubug.tar.zst")


def ends(archive: Archive) -> list[str]:
    return [record.ended for record in archive.manifest.ranks]


def test_every_rank_is_in_one_archive_and_equal_ir_is_stored_once(folder: Path) -> None:
    _, archive = bundle(folder, 3, 'compile("failing.mlir")')
    manifest = archive.manifest
    calls = sorted(manifest.calls, key=lambda call: call.rank or 0)
    assert [(c.rank, c.local_rank, c.world_size, c.device) for c in calls] == [
        (0, 0, 3, "4"),
        (1, 1, 3, "5"),
        (2, 2, 3, "6"),
    ]
    assert len({call.input for call in calls}) == 1 and calls[0].input in archive.names
    assert ends(archive) == ["failed"] * 3
    assert "distributed run of 3 ranks; failed: 0-2" in manifest.notes
    assert not any("differ" in note for note in manifest.notes)


def test_the_rank_that_failed_first_is_reported_and_killed_ones_are_not_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KILL", "1")
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), folder / "slow.mlir")
    _, archive = bundle(
        folder,
        3,
        """
if rank == 1:
    open("ready-1", "w").close()
    while not os.path.exists("ready-2"): time.sleep(0.02)
    compile("failing.mlir")
try: compile("healthy.mlir")
except subprocess.CalledProcessError: pass  # no hivmc here
open(f"ready-{rank}", "w").close()
time.sleep(60)
""",
    )
    manifest = archive.manifest
    failing = next(call for call in manifest.calls if call.id == manifest.failing_call)
    assert (failing.rank, failing.outcome) == (1, "failed")
    assert ends(archive) == ["killed", "failed", "killed"]
    assert {call.rank for call in manifest.calls} == {0, 1, 2}
    assert all(call.returncode is not None for call in manifest.calls)
    assert "CalledProcessError" in manifest.ranks[1].note


def test_a_rank_killed_while_it_compiles_is_there_and_is_not_taken_for_the_failure(folder: Path) -> None:
    tools = folder / "tools"
    tools.mkdir()
    (tools / "npuc").write_text("#!/bin/sh\nexec sleep 60\n")
    (tools / "npuc").chmod(0o755)
    _, archive = bundle(
        folder,
        2,
        """
if rank == 1:
    open("ready", "w").close()
    subprocess.run(["tools/npuc", "healthy.mlir", "-o", "k"], capture_output=True)
while not os.path.exists("ready"): time.sleep(0.02)
time.sleep(0.5)
compile("failing.mlir")
""",
    )
    manifest = archive.manifest
    by_rank = {call.rank: call for call in manifest.calls}
    assert by_rank[1].returncode is None and by_rank[1].input is not None
    assert manifest.failing_call == by_rank[0].id
    assert ends(archive) == ["failed", "killed"]


def test_ranks_that_differ_in_ir_or_flags_are_named(folder: Path) -> None:
    text = (folder / "failing.mlir").read_text()
    (folder / "other.mlir").write_text(text + "\n// another line\n")
    _, archive = bundle(
        folder,
        4,
        """
flags = ["--enable-code-motion=false"] if rank == 2 else []
while len([n for n in os.listdir() if n.startswith("ready")]) < 4: open(f"ready-{rank}", "w").close()
compile("other.mlir" if rank == 3 else "failing.mlir", *flags)
time.sleep(5)
""",
    )
    notes = archive.manifest.notes
    assert "cumsum: ranks differ in the IR given to bishengir-compile: 0-2 / 3" in notes
    assert "cumsum: ranks differ in the flags given to bishengir-compile: 0-1, 3 / 2" in notes


@pytest.mark.triton
def test_ranks_of_torchrun_are_told_apart(folder: Path) -> None:
    python = os.environ.get("NPUBUG_TRITON_PYTHON", sys.executable)
    (folder / "train.py").write_text(RANK + 'compile("failing.mlir")')
    done = npubug(
        *("bundle", "-o", "x.npubug.tar.zst", "--", python, "-m", "torch.distributed.run"),
        *("--nproc-per-node", 2, "--master-port", 29617, "train.py"),
        cwd=folder,
    )
    archive = open_archive(folder / "x.npubug.tar.zst")
    assert done.code == 1
    assert [record.rank for record in archive.manifest.ranks] == [0, 1]
    assert "failed" in ends(archive)
    assert RankRecord(0, "no-call") not in archive.manifest.ranks
