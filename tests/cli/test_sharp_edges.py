"""What a newcomer broke: outputs that are no files, odd names, pipes, and terminals that know only ASCII."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bundler.errors import ExitCode
from tests.cli.command import argv, environment, files, npubug
from tests.places import case, compiler_folder

_SMALL = "failing/cumsum_64_1024_1.ttadapter"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(case(_SMALL), tmp_path / "k.ttadapter")
    return tmp_path


def test_a_device_or_a_folder_is_not_replaced_by_the_result(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    for target in ("pipe", "folder"):
        done = npubug("minimize", "k.ttadapter", "--output", target, cwd=folder)
        assert done.code == ExitCode.FAILED, done.err
        assert "not a regular file" in done.err
    assert (folder / "pipe").is_fifo() and (folder / "folder").is_dir()


def test_the_result_never_takes_the_place_of_the_input(folder: Path) -> None:
    before = (folder / "k.ttadapter").read_bytes()
    done = npubug("minimize", "k.ttadapter", "--output", "./k.ttadapter", cwd=folder)
    assert done.code == ExitCode.USAGE
    assert (folder / "k.ttadapter").read_bytes() == before
    assert files(folder) == {"k.ttadapter"}


@pytest.mark.parametrize(
    "name", ["-dash.ttadapter", "with space.ttadapter", "quo'te.ttadapter", "中文.ttadapter"]
)
def test_names_of_any_kind_work(name: str, folder: Path) -> None:
    (folder / "k.ttadapter").rename(folder / name)
    assert npubug("minimize", "--", name, cwd=folder).code == ExitCode.OK
    done = npubug("bundle", "--ir", f"./{name}", "--output", f"./{name}.npubug.tar.zst", cwd=folder)
    assert done.code == ExitCode.OK
    suggested = next(line for line in done.err.splitlines() if "next: " in line)
    check = suggested.split("next: npubug ")[1].split("   ")[0]
    shell = f"{sys.executable} -m bundler {check}"  # as a person pastes it
    pasted = subprocess.run(
        ["/bin/sh", "-c", shell], cwd=folder, env=environment(), check=False, capture_output=True
    )
    assert pasted.returncode == ExitCode.OK, pasted.stderr


@pytest.mark.parametrize("command", ["diagnose", "barrier", "replay", "locate", "minimize"])
@pytest.mark.parametrize(
    "content", [b"", b"\0" * 5000, b"module {\n  func.func @f("], ids=["empty", "zeros", "cut"]
)
def test_every_command_refuses_what_is_no_ir(command: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.ttadapter").write_bytes(content)
    done = npubug(command, "x.ttadapter", cwd=tmp_path)
    if command == "diagnose" and content.startswith(b"module"):
        assert done.code == ExitCode.NOTHING_FAILED and "invalid-input" in done.out  # that is its diagnosis
    else:
        assert done.code == ExitCode.INVALID_INPUT, done.err


def test_diagnose_sends_archives_to_show(folder: Path) -> None:
    (folder / "a.npubug.tar.zst").write_bytes(b"whatever it holds")
    done = npubug("diagnose", "a.npubug.tar.zst", cwd=folder)
    assert done.code == ExitCode.USAGE and "npubug show" in done.err


def test_json_tells_errors_too(folder: Path) -> None:
    shutil.copy(case("healthy/add_1024.ttadapter"), folder / "add.ttadapter")
    done = npubug("bundle", "--ir", "add.ttadapter", "--json", cwd=folder)
    answer = json.loads(done.out)
    assert answer["exit_code"] == done.code == ExitCode.NOTHING_FAILED
    assert set(answer) == {"error", "why", "try", "exit_code"}


def test_a_program_without_a_compiler_is_told_where_one_is(folder: Path) -> None:
    (folder / "prog.py").write_text(
        "import subprocess\nsubprocess.run(['npuc', 'k.ttadapter', '--target=Ascend910B3', '-o', 'k'], check=True)\n"
    )
    env = {**os.environ, "PATH": "/usr/bin:/bin"}
    words = argv("bundle", "--", sys.executable, "prog.py")
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (ExitCode.TOOL_MISSING, ExitCode.NOTHING_FAILED)
    if done.returncode == ExitCode.TOOL_MISSING:
        assert str(compiler_folder()) in done.stderr


@pytest.mark.parametrize("command", ["env", "show"])
def test_a_reader_that_leaves_early_is_no_error(command: str, folder: Path) -> None:
    words = [command]
    if command == "show":
        npubug("bundle", "--ir", "k.ttadapter", "--output", "a.npubug.tar.zst", cwd=folder)
        words.append("a.npubug.tar.zst")
    shell = f'{sys.executable} -m bundler {" ".join(words)} | head -n 1 >/dev/null; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", shell], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "0", done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_only_ascii_gets_an_answer(folder: Path) -> None:
    npubug("bundle", "--ir", "k.ttadapter", "--output", "a.npubug.tar.zst", cwd=folder)
    env = {**environment(), "PYTHONIOENCODING": "ascii"}
    words = argv("issue", "a.npubug.tar.zst", "--lang", "zh")
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.OK, done.stderr
