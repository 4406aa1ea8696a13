"""`npubug issue` on archives of real failures: what it writes lets a stranger see the same failure."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bundler.archive import open_archive
from bundler.compiler.diagnose import diagnose
from bundler.compiler.outcome import ToolRun
from bundler.compiler.signature import signature_of
from bundler.errors import ExitCode
from tests.cli.command import TRITON_LIKE, environment, files, npubug
from tests.places import case
from tests.report.markdown_reading import blocks


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of a failing program, not yet reduced."""
    folder = tmp_path_factory.mktemp("archive")
    (folder / "my_kernel.py").write_text(TRITON_LIKE)
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), folder / "failing.mlir")
    done = npubug("bundle", "--json", "--", sys.executable, "my_kernel.py", "failing.mlir", cwd=folder)
    return folder / str(json.loads(done.out.splitlines()[-1])["archive"])


@pytest.fixture(scope="module")
def reduced(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("reduced") / archive.name
    shutil.copy(archive, copy)
    npubug("minimize", copy.name, "--deadline", "20s", cwd=copy.parent)
    assert open_archive(copy).manifest.reduction is not None
    return copy


def reproduced(issue: str, folder: Path) -> str:
    """Do what a stranger does with nothing but the issue's text; the signature of what happens then."""
    (ir,) = blocks(issue, "mlir")
    (command,) = blocks(issue, "sh")
    (folder / "kernel.ttadapter").write_text(ir)
    (folder / "tmp").mkdir()
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**environment(), "TMPDIR": str(folder / "tmp")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    run = ToolRun(tuple(command.split()), done.returncode, done.stdout, done.stderr)
    return signature_of(diagnose(run)).id


@pytest.mark.parametrize("tracker", ["npuir", "triton-distributed", "triton-ascend"])
@pytest.mark.parametrize("minimal", [True, False])
def test_the_text_alone_reproduces_the_failure(
    request: pytest.FixtureRequest, tmp_path: Path, tracker: str, minimal: bool
) -> None:
    source: Path = request.getfixturevalue("reduced" if minimal else "archive")
    done = npubug("issue", source, "--to", tracker, cwd=tmp_path)
    assert done.code == ExitCode.OK
    signature = open_archive(source).manifest.signature
    assert signature is not None
    assert reproduced(done.out, tmp_path) == signature.id
    assert ("`npubug minimize` reduced it from" in done.out) == minimal


def test_it_says_where_the_issue_goes_and_why(archive: Path, tmp_path: Path) -> None:
    done = npubug("issue", archive, "--lang", "zh", "-o", "issue.md", cwd=tmp_path)
    assert done.code == ExitCode.OK
    assert done.out == ""
    assert (
        "for npuir (https://gitcode.com/Ascend/AscendNPU-IR): it fails in the pass hivm-plan-memory"
        in done.err
    )
    assert "title: [Bug-Report|缺陷反馈]: hivm-plan-memory 报错" in done.err
    assert "places are marked for you" in done.err
    text = (tmp_path / "issue.md").read_text()
    assert "编译 kernel `cumsum` 时报错（ttadapter → npubin 阶段）" in text
    assert "CalledProcessError" in text, "the full traceback is asked for"


def test_json_holds_title_and_body(archive: Path, tmp_path: Path) -> None:
    answer = json.loads(npubug("issue", archive, "--json", "--lang", "en", cwd=tmp_path).out)
    assert answer["tracker"] == "npuir"
    assert answer["report_id"] in answer["body"]
    assert answer["to_fill"] > 0


def test_no_archive_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.npubug.zip").write_bytes(b"PK nonsense")
    assert npubug("issue", "a.npubug.zip", cwd=tmp_path).code == ExitCode.INVALID_INPUT
    assert files(tmp_path) == {"a.npubug.zip"}
