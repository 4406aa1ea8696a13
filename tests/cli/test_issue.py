"""`npubug issue` on archives of real failures: what it writes lets a stranger see the same failure."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bundler.archive import open_archive
from bundler.compiler.diagnose import diagnose
from bundler.compiler.outcome import ToolRun
from bundler.compiler.signature import signature_of
from bundler.errors import ExitCode
from bundler.tracker.places import TRACKERS
from tests.cli.command import TRITON_LIKE, Done, argv, environment, files, npubug
from tests.places import case
from tests.report.markdown_reading import blocks
from tests.tracker.servers import TOKEN, Tracker, serving


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
    assert ("first: npubug minimize" in done.err) == (not minimal)


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


@pytest.fixture(params=["npuir", "triton-ascend"])
def server(request: pytest.FixtureRequest) -> Iterator[Tracker]:
    place = TRACKERS[request.param]
    tracker = Tracker("gitcode" if place.chinese else "github", place.owner, place.repo)
    tracker.add("error: ub overflow, requires 3072000 bits", "of others")
    with serving(tracker):
        yield tracker


def submit(archive: Path, server: Tracker, *words: str, answer: str = "", token: str = TOKEN) -> Done:
    """`npubug issue --submit` with the answers on standard input; the token must come out nowhere."""
    variable = "NPUBUG_GITCODE_TOKEN" if server.site == "gitcode" else "NPUBUG_GITHUB_TOKEN"
    to = "npuir" if server.site == "gitcode" else "triton-ascend"
    done = subprocess.run(
        argv("issue", archive, "--to", to, "--api-url", server.base, *words),
        env={**environment(), variable: token},
        input=answer,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert TOKEN not in done.stdout + done.stderr
    assert "bundler/" not in done.stderr  # the text shown holds the traceback of the program, not ours
    return Done(done.returncode, done.stdout, done.stderr)


def test_it_shows_asks_posts_and_says_where_the_archive_goes(archive: Path, server: Tracker) -> None:
    done = submit(archive, server, "--submit", answer="y\n")
    assert done.code == ExitCode.OK
    posted = server.issues[-1]
    assert done.out == f"{posted['title']}\n\n{posted['body']}\n", "what was shown is what was posted"
    assert f"posted: {posted['html_url']}" in done.err
    assert f"npubug repack {archive} --format zip" in done.err
    assert ("then drag the .zip" in done.err) == (server.site == "github")


@pytest.mark.parametrize("answer", ["n\n", "\n", "what?\nno\n"])
def test_without_a_yes_nothing_is_posted(archive: Path, server: Tracker, answer: str) -> None:
    done = submit(archive, server, "--submit", answer=answer)
    assert done.code == ExitCode.OK
    assert "nothing was posted" in done.err
    assert server.seen == []


def test_with_nobody_to_ask_nothing_is_posted(archive: Path, server: Tracker) -> None:
    done = submit(archive, server, "--submit")
    assert done.code == ExitCode.USAGE
    assert "--yes" in done.err
    assert server.seen == []


def test_yes_posts_without_a_question_and_never_twice(archive: Path, server: Tracker) -> None:
    server.faults.append("503-stored")
    first = submit(archive, server, "--submit", "--yes", "--json")
    assert first.code == ExitCode.OK
    answer = json.loads(first.out)
    assert answer["new"] is True and answer["posted"] == server.issues[-1]["html_url"]
    again = submit(archive, server, "--submit", "--yes", "--json")
    assert json.loads(again.out)["new"] is False
    assert "there already" in again.err
    assert len(server.posts) == 1


def test_similar_issues_come_first(archive: Path, server: Tracker) -> None:
    done = submit(archive, server, "--search")
    assert done.code == ExitCode.OK
    assert "1 open issues there have words of this failure:\nnpubug:   #1 error: ub overflow" in done.err
    assert "报错信息" in done.out, "the text comes all the same"
    assert server.posts == []


def test_a_search_that_fails_does_not_keep_the_text_back(archive: Path, server: Tracker) -> None:
    server.read_faults.extend(["404"] * 9)
    done = submit(archive, server, "--search", "--submit", answer="n\n")
    assert done.code == ExitCode.OK
    assert "could not search" in done.err
    assert "报错信息" in done.out


def test_a_refusal_is_told_with_its_remedy(archive: Path, server: Tracker) -> None:
    done = submit(archive, server, "--submit", "--yes", token="not-the-right-one")
    assert done.code == ExitCode.FAILED
    assert "401" in done.err and "make a new one" in done.err
    assert "not-the-right-one" not in done.err


def test_a_script_without_a_token_is_told_at_once(archive: Path, server: Tracker) -> None:
    done = submit(archive, server, "--submit", "--yes", token="")
    assert done.code == ExitCode.USAGE
    assert "_TOKEN" in done.err
    assert done.out == ""
    assert server.seen == []


def test_posting_options_without_posting_are_a_usage_error(archive: Path, tmp_path: Path) -> None:
    assert npubug("issue", archive, "--yes", cwd=tmp_path).code == ExitCode.USAGE


def test_the_token_gets_into_no_archive(tmp_path: Path) -> None:
    """Not even into one made without redaction while the token is set."""
    shutil.copy(case("failing/cumsum_64_1024_1.ttadapter"), tmp_path / "kernel.ttadapter")
    subprocess.run(
        argv("bundle", "--ir", "kernel.ttadapter", "--redact", "off", "-o", "a.npubug.zip"),
        cwd=tmp_path,
        env={**environment(), "NPUBUG_GITCODE_TOKEN": TOKEN, "NPUBUG_GITHUB_TOKEN": TOKEN},
        capture_output=True,
        timeout=300,
        check=True,
    )
    with zipfile.ZipFile(tmp_path / "a.npubug.zip") as opened:
        assert not any(TOKEN.encode() in opened.read(name) for name in opened.namelist())


def test_an_edited_text_is_shown_again_and_keeps_its_mark(
    archive: Path, server: Tracker, tmp_path: Path
) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\nprintf 'written by hand\\n' > \"$1\"\n")
    editor.chmod(0o755)
    variable = "NPUBUG_GITCODE_TOKEN" if server.site == "gitcode" else "NPUBUG_GITHUB_TOKEN"
    done = subprocess.run(
        argv("issue", archive, "--to", "npuir" if server.site == "gitcode" else "triton-ascend", "--submit"),
        env={
            **environment(),
            variable: TOKEN,
            "NPUBUG_GITCODE_API": server.base,
            "NPUBUG_GITHUB_API": server.base,
            "VISUAL": str(editor),
            "EDITOR": str(editor),
        },
        input="e\ny\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == ExitCode.OK, done.stderr
    body = server.issues[-1]["body"]
    assert body.startswith("written by hand\n\n`npubug-report-")
    assert done.stdout.endswith(f"{body}\n"), "what was posted was shown"


def test_the_advice_for_the_attachment_works_as_it_stands(archive: Path, tmp_path: Path) -> None:
    shutil.copy(archive, tmp_path)
    text = npubug("issue", archive.name, "--to", "triton-ascend", "--lang", "en", cwd=tmp_path).out
    found = re.search(r"run `npubug (repack [^`]*)` first", text)
    assert found is not None
    assert npubug(*shlex.split(found[1]), cwd=tmp_path).code == ExitCode.OK
    (packed,) = tmp_path.glob("*.zip")
    again = npubug("issue", packed.name, "--to", "triton-ascend", "--lang", "en", cwd=tmp_path).out
    assert "repack" not in again and packed.name in again
