"""`npubug minimize` with the real compiler."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from bundler.archive import open_archive
from bundler.errors import ExitCode
from tests.cli.command import argv, environment, files, npubug
from tests.places import FAILING, case, compiler_folder

# Operations that a 200-line prototype of these transforms reached, where that is known: the bar.
PROTOTYPE = {
    "reshape_128": 10,
    "attn_64_256_128": 28,
    "adamw_16384_2": 19,
    "mlp_256_256_128_4": 13,
    "softmax_65536": 6,
    "cumsum_64_1024_1": 3,
}


@pytest.mark.parametrize("path", FAILING, ids=lambda path: path.stem)
def test_every_case_becomes_at_most_half_of_what_the_prototype_left(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "kernel.ttadapter")
    done = npubug("minimize", "kernel.ttadapter", "--json", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    answer = json.loads(done.out)
    assert answer["finished"] and answer["confirmed"]
    assert answer["ops"][1] <= PROTOTYPE.get(path.stem, 12) / 2
    assert answer["invalid"] <= 0.05 * answer["candidates"]
    text = (tmp_path / "kernel.reduced.ttadapter").read_text()
    assert "tensor.empty" not in text  # nothing undefined was brought in
    assert (tmp_path / "kernel.ttadapter").read_bytes() == path.read_bytes()


def test_the_script_beside_the_result_reproduces_the_failure(tmp_path: Path) -> None:
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), tmp_path / "k.ttadapter")
    npubug("minimize", "k.ttadapter", cwd=tmp_path)
    compiler = str(compiler_folder() / "bishengir-compile")
    script = str(tmp_path / "k.reduced.reproduce.sh")
    assert subprocess.run([script, compiler], capture_output=True, check=False).returncode == 0
    shutil.copy(case("healthy/add_1024.ttadapter"), tmp_path / "k.reduced.ttadapter")
    assert subprocess.run([script, compiler], capture_output=True, check=False).returncode == 1
    assert subprocess.run([script, "/no/such/tool"], capture_output=True, check=False).returncode == 2


def test_an_archive_gets_its_reduction(tmp_path: Path) -> None:
    shutil.copy(case("failing/softmax_65536.ttadapter"), tmp_path / "s.ttadapter")
    npubug("bundle", "--ir", "s.ttadapter", "--output", "s.npubug.tar.zst", cwd=tmp_path)
    before = open_archive(tmp_path / "s.npubug.tar.zst")
    old = {name: before.read(name) for name in before.names}
    for _ in range(2):  # a second reduction takes the place of the first
        assert npubug("minimize", "s.npubug.tar.zst", cwd=tmp_path).code == ExitCode.OK
    archive = open_archive(tmp_path / "s.npubug.tar.zst")
    assert {name: archive.read(name) for name in old} == old
    reduction = archive.manifest.reduction
    assert reduction is not None and reduction.ops_before == 38 and reduction.ops_after <= 3
    assert archive.read("reduced/kernel.ttadapter").decode() == (tmp_path / "s.reduced.ttadapter").read_text()
    assert (tmp_path / "s.reproduce.sh").exists() or (tmp_path / "s.reduced.reproduce.sh").exists()


def test_a_user_script_decides_what_is_interesting(tmp_path: Path) -> None:
    shutil.copy(case("healthy/softmax_1024.ttadapter"), tmp_path / "k.ttadapter")
    script = tmp_path / "interesting.sh"
    script.write_text("#!/bin/sh\ngrep -q 'math.exp' \"$1\"\n")
    script.chmod(0o755)
    done = npubug("minimize", "k.ttadapter", "--test", "./interesting.sh", "--json", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    assert json.loads(done.out)["ops"][1] <= 2
    assert "math.exp" in (tmp_path / "k.reduced.ttadapter").read_text()


def test_a_script_may_look_for_the_readable_syntax(tmp_path: Path) -> None:
    shutil.copy(case("healthy/softmax_1024.ttadapter"), tmp_path / "k.ttadapter")
    script = "grep -q 'ins(.*outs('"
    done = npubug("minimize", "k.ttadapter", "--test", script, "--json", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    assert json.loads(done.out)["ops"][1] <= 3


def test_any_text_can_be_reduced_by_a_script(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(
        "".join(f"line {i} (a [b] {{c}})\n" for i in range(200)) + "needle here\n"
    )
    done = npubug("minimize", "x.txt", "--text", "--test", "grep -q needle", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    assert (tmp_path / "x.reduced.txt").read_text().strip() == "needle"


def test_a_script_that_rejects_the_input_itself_is_told(tmp_path: Path) -> None:
    shutil.copy(case("healthy/add_1024.ttadapter"), tmp_path / "k.ttadapter")
    assert npubug("minimize", "k.ttadapter", "--test", "false", cwd=tmp_path).code == ExitCode.NOTHING_FAILED
    assert npubug("minimize", "k.ttadapter", "--test", "./no-such", cwd=tmp_path).code == ExitCode.USAGE
    assert files(tmp_path) == {"k.ttadapter"}


def test_a_deadline_ends_the_search_with_a_result(tmp_path: Path) -> None:
    shutil.copy(case("failing/mlp_256_256_128_4.ttadapter"), tmp_path / "k.ttadapter")
    done = npubug("minimize", "k.ttadapter", "--deadline", "2s", "--json", cwd=tmp_path)
    assert done.code == ExitCode.OK
    answer = json.loads(done.out)
    assert not answer["finished"] and answer["confirmed"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("pause", [0.4, 2.0, 5.0])
def test_ctrl_c_keeps_the_result_and_leaves_no_process(pause: float, number: int, tmp_path: Path) -> None:
    shutil.copy(case("failing/mlp_256_256_128_4.ttadapter"), tmp_path / "k.ttadapter")
    child = subprocess.Popen(
        argv("minimize", "k.ttadapter"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(pause)
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert child.returncode == ExitCode.INTERRUPTED
    assert "Traceback" not in err
    left = [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(p.info["cmdline"] or [])]
    assert not left
    if "interrupted\n" not in err.splitlines(keepends=True)[-1:]:  # the search had begun
        assert "wrote k.reduced.ttadapter" in err
    assert "k.ttadapter" in files(tmp_path)


FLAKY = """#!{python}
import os, sys
if len(sys.argv) > 1 and sys.argv[1].endswith(".mlir") or "--target=Ascend910B3" in sys.argv:
    # Each third compile goes well, counted over processes by the size of a file.
    with open({counter!r}, "ab") as counter:
        counter.write(b"x")
        count = counter.tell()
    if count % 3 == 0:
        sys.argv[1] = {healthy!r}
os.execv({compiler!r}, ["bishengir-compile", *sys.argv[1:]])
"""


def test_a_failure_that_comes_only_sometimes_is_still_reduced(tmp_path: Path) -> None:
    flaky = tmp_path / "bin" / "bishengir-compile"
    flaky.parent.mkdir()
    flaky.write_text(
        FLAKY.format(
            python=sys.executable,
            counter=str(tmp_path / "counter"),
            healthy=str(case("healthy/add_1024.ttadapter")),
            compiler=str(compiler_folder() / "bishengir-compile"),
        )
    )
    flaky.chmod(0o755)
    (flaky.parent / "bishengir-opt").symlink_to(compiler_folder() / "bishengir-opt")
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), tmp_path / "k.ttadapter")
    done = npubug("minimize", "k.ttadapter", "--compiler", flaky, "--runs", "12", "--json", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    assert "only sometimes" in done.err
    assert json.loads(done.out)["ops"][1] <= 2
