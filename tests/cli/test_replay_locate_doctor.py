"""`npubug replay`, `npubug locate` and `npubug doctor` as commands: exit codes, files, JSON."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bundler.errors import ExitCode
from tests.cli.command import files, npubug
from tests.places import ROOT, case, compiler_folder

OLDER = ROOT / ".compilers" / "1.0.0" / "ascendnpuir" / "bin" / "bishengir-compile"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), folder / "k.ttadapter")
    assert npubug("bundle", "--ir", "k.ttadapter", "--output", "k.npubug.tar.zst", cwd=folder).code == 0
    assert npubug("minimize", "k.npubug.tar.zst", "--deadline", "20s", cwd=folder).code == 0
    return folder / "k.npubug.tar.zst"


@pytest.mark.parametrize("words", [(), ("--reduced",), ("--compiler", OLDER)], ids=str)
def test_an_archive_reproduces(archive: Path, tmp_path: Path, words: tuple[object, ...]) -> None:
    done = npubug("replay", archive, *words, "--json", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    answer = json.loads(done.out)
    assert answer["state"] == "reproduced"
    assert answer["replays"][0]["signature"].startswith("ub-overflow@hivm-plan-memory")
    assert files(tmp_path) == set()


def test_several_compilers_answer_each(archive: Path, tmp_path: Path) -> None:
    newer = compiler_folder() / "bishengir-compile"
    done = npubug("replay", archive, "--compiler", OLDER, "--compiler", newer, "--json", cwd=tmp_path)
    replays = json.loads(done.out)["replays"]
    assert [each["compiler"] for each in replays] == [str(OLDER), str(newer)]
    assert all(each["compiler_version"] for each in replays)


def test_all_compilers_are_those_that_are_found_here(archive: Path, tmp_path: Path) -> None:
    done = npubug("replay", archive, "--all-compilers", cwd=tmp_path)
    assert done.code == ExitCode.OK
    assert done.out.count("reproduced") == len({line for line in done.out.splitlines() if "with" in line})


def test_what_compiles_by_now_is_fixed(tmp_path: Path) -> None:
    shutil.copy(case("healthy/add_1024.ttadapter"), tmp_path / "add.ttadapter")
    done = npubug("replay", "add.ttadapter", cwd=tmp_path)
    assert (done.code, done.out.split(", ")[0]) == (ExitCode.NOTHING_FAILED, "add: fixed")


def test_a_missing_compiler_cannot_run(archive: Path, tmp_path: Path) -> None:
    done = npubug("replay", archive, "--compiler", tmp_path / "absent", cwd=tmp_path)
    assert done.code == ExitCode.TOOL_MISSING
    assert "cannot run" in done.out


def test_locate_writes_two_files_and_the_one_fails_alone(archive: Path, tmp_path: Path) -> None:
    done = npubug("locate", archive, "-o", tmp_path, "--json", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    answer = json.loads(done.out)
    assert answer["pass"] == "hivm-plan-memory"
    assert files(tmp_path) == {"k.before-hivm-plan-memory.mlir", "k.reproducer.mlir"}
    opt = str(compiler_folder() / "bishengir-opt")
    alone = subprocess.run(
        [opt, "--run-reproducer", answer["reproducer"]["file"]], capture_output=True, text=True, check=False
    )
    assert alone.returncode == 1 and "ub overflow" in alone.stderr


def test_locate_finds_nothing_in_what_is_healthy(tmp_path: Path) -> None:
    shutil.copy(case("healthy/add_1024.ttadapter"), tmp_path / "add.ttadapter")
    done = npubug("locate", "add.ttadapter", cwd=tmp_path)
    assert done.code == ExitCode.NOTHING_FAILED
    assert files(tmp_path) == {"add.ttadapter"}


@pytest.mark.parametrize("command", ["replay", "locate"])
def test_the_reduced_input_of_an_archive_without_one_is_missed(command: str, tmp_path: Path) -> None:
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), tmp_path / "k.ttadapter")
    npubug("bundle", "--ir", "k.ttadapter", "--output", "k.npubug.tar.zst", cwd=tmp_path)
    done = npubug(command, "k.npubug.tar.zst", "--reduced", cwd=tmp_path)
    assert done.code == ExitCode.INVALID_INPUT and "npubug minimize" in done.err
    assert npubug(command, "k.ttadapter", "--reduced", cwd=tmp_path).code == ExitCode.USAGE


def test_doctor_answers_in_both_forms(tmp_path: Path) -> None:
    done = npubug("doctor", cwd=tmp_path)
    assert done.code == ExitCode.OK
    assert done.out.startswith("yes bundle\nyes minimize\nyes replay\n")
    answer = json.loads(npubug("doctor", "--json", cwd=tmp_path).out)
    assert answer["able"]["bundle"] is True
