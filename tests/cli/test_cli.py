"""The command line as such: quick to start, no traceback, documented codes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bundler import cli
from bundler.errors import ExitCode
from tests.cli.command import argv
from tests.places import ROOT


def test_help_imports_nothing_heavy() -> None:
    code = "import sys, bundler.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {
        "rich",
        "xdsl",
        "psutil",
        "zstandard",
        "jsonschema",
        "jinja2",
        "subprocess",
        "asyncio",
    }


@pytest.mark.parametrize(
    "words", [("--help",), ("-h",), ("--version",), ("minimize", "--help")], ids=" ".join
)
def test_help_and_version_answer(words: tuple[str, ...], tmp_path: Path) -> None:
    done = subprocess.run(argv(*words), capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == ExitCode.OK
    assert done.stdout and not done.stderr


def test_a_bug_of_ours_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: object, **options: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr(cli.npubug, "main", broken)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == ExitCode.FAILED
    err = capsys.readouterr().err
    assert "npubug itself has a bug" in err and "Traceback" not in err
    (report,) = re.findall(r"with (\S+\.txt)", err)
    assert "KeyError: 'oops'" in Path(report).read_text()
    Path(report).unlink()


def test_every_exit_code_is_documented() -> None:
    text = (ROOT / "docs" / "exit-codes.md").read_text()
    rows = dict(re.findall(r"^\| (\d+) \| (\w+) \|", text, re.MULTILINE))
    assert rows == {str(code.value): code.name for code in ExitCode}


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_readme_names_every_command(name: str) -> None:
    text = (ROOT / name).read_text()
    missing = [command for command in cli.npubug.commands if f"npubug {command}" not in text]
    assert not missing
