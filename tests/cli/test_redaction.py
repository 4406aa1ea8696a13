"""`npubug bundle --redact`, `--show-redactions` and `npubug unredact`, as a person meets them."""

from __future__ import annotations

import json
import os
import pty
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bundler.archive import open_archive
from bundler.compiler.diagnose import diagnose
from bundler.compiler.invoke import compile_file, default_command
from bundler.compiler.signature import signature_of
from bundler.errors import ExitCode
from tests.cli.command import XDG, argv, environment, files, npubug
from tests.places import case, compiler_folder

TOKEN = "ghp_" + "a1" * 18
SAID = f'// in "/home/erika/work/secret.py" on 10.1.2.3, Falcon, {TOKEN}\n'
ARCHIVE = "x.npubug.tar.zst"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with one failing input; the state and settings of the user are empty."""
    text = case("failing/cumsum_64_1024_1.ttadapter").read_text()
    (tmp_path / "k.mlir").write_text(f"{text}\n{SAID}")
    shutil.rmtree(XDG / "state", ignore_errors=True)
    shutil.rmtree(XDG / "config", ignore_errors=True)
    yield tmp_path
    shutil.rmtree(XDG / "config", ignore_errors=True)


def bundled(folder: Path, *options: str) -> str:
    """Bundle, and return the input as it is in the archive."""
    done = npubug("bundle", "--ir", "k.mlir", "--output", ARCHIVE, *options, cwd=folder)
    assert done.code == ExitCode.OK, done.err
    return open_archive(folder / ARCHIVE).read("input/kernel.ttadapter").decode().splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "last"),
    [
        ((), '// in "/home/user-1/work/secret.py" on ip-1, Falcon, secret-1'),
        (("--redact", "paths"), f'// in "/home/user-1/work/secret.py" on 10.1.2.3, Falcon, {TOKEN}'),
        (("--redact", "off"), SAID.strip()),
        (("--redact-word", "falcon"), '// in "/home/user-1/work/secret.py" on ip-1, word-1, secret-1'),
    ],
)
def test_the_level_says_what_is_replaced(folder: Path, options: tuple[str, ...], last: str) -> None:
    assert bundled(folder, *options) == last
    manifest = open_archive(folder / ARCHIVE).manifest
    assert manifest.redaction_level == (options[1] if "--redact" in options else "full")


def test_words_of_the_settings_are_replaced(folder: Path) -> None:
    settings = XDG / "config" / "npubug" / "config.ini"
    settings.parent.mkdir(parents=True)
    settings.write_text("[redact]\nwords =\n    falcon\nallow =\n    erika\n")
    assert bundled(folder) == '// in "/home/erika/work/secret.py" on ip-1, word-1, secret-1'


def test_settings_that_cannot_be_used_stop_it_before_the_work(folder: Path) -> None:
    settings = XDG / "config" / "npubug" / "config.ini"
    settings.parent.mkdir(parents=True)
    settings.write_text("[redact]\nword = falcon\n")
    done = npubug("bundle", "--ir", "k.mlir", cwd=folder)
    assert done.code == ExitCode.USAGE
    assert "config.ini" in done.err and "'word'" in done.err
    assert "recompiling" not in done.err


def test_words_without_redaction_are_refused(folder: Path) -> None:
    done = npubug("bundle", "--ir", "k.mlir", "--redact", "off", "--redact-word", "x", cwd=folder)
    assert done.code == ExitCode.USAGE


def test_showing_without_a_terminal_is_refused_before_the_work(folder: Path) -> None:
    before = files(folder)
    done = npubug("bundle", "--ir", "k.mlir", "--show-redactions", cwd=folder)
    assert done.code == ExitCode.USAGE
    assert "--yes" in done.err and "recompiling" not in done.err
    assert files(folder) == before


def test_what_is_shown_without_a_terminal_names_nothing(folder: Path) -> None:
    done = npubug("bundle", "--ir", "k.mlir", "--show-redactions", "--yes", "-o", ARCHIVE, cwd=folder)
    assert done.code == ExitCode.OK
    assert 'input/kernel.ttadapter: // in "/home/[user-1]/work/secret.py" on ip-1' in done.err
    for private in ("erika", "10.1.2.3", TOKEN):
        assert private not in done.err + done.out


@pytest.mark.parametrize(("answer", "code"), [("y", ExitCode.OK), ("n", ExitCode.INTERRUPTED)])
def test_on_a_terminal_it_shows_the_originals_and_asks(folder: Path, answer: str, code: ExitCode) -> None:
    mine, theirs = pty.openpty()
    words = argv("bundle", "--ir", "k.mlir", "--show-redactions", "-o", ARCHIVE)
    child = subprocess.Popen(words, cwd=folder, env=environment(), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(mine, 4096)
    assert not (folder / ARCHIVE).exists()
    os.write(mine, f"{answer}\n".encode())
    try:
        while part := os.read(mine, 4096):
            shown += part
    except OSError:  # Linux says EIO when the last writer is gone
        pass
    os.close(mine)
    assert child.wait(60) == code
    assert "erika → user-1".encode() in shown
    assert TOKEN.encode()[:20] in shown
    assert (folder / ARCHIVE).exists() is (answer == "y")


def test_the_map_stays_with_the_user_and_holds_no_secret(folder: Path) -> None:
    bundled(folder)
    (path,) = (XDG / "state" / "npubug" / "maps").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    stand_ins = json.loads(path.read_text())["stand_ins"]
    assert stand_ins["user-1"] == "erika" and stand_ins["ip-1"] == "10.1.2.3"
    assert TOKEN not in path.read_text()
    archive = open_archive(folder / ARCHIVE)
    assert all(b"erika" not in archive.read(name) for name in archive.names)


def test_an_answer_is_restored(folder: Path) -> None:
    bundled(folder)
    (folder / "answer.md").write_text("Try it in /home/user-1/work, and renew secret-1.\n")
    done = npubug("unredact", "answer.md", cwd=folder)
    assert done.code == ExitCode.OK
    assert done.out == "Try it in /home/erika/work, and renew secret-1.\n"
    assert "1 secrets stay" in done.err


def test_an_archive_is_restored_to_what_the_compiler_read(folder: Path) -> None:
    text = (folder / "k.mlir").read_text().replace(TOKEN, "no token")
    (folder / "k.mlir").write_text(text)
    bundled(folder)
    (folder / ARCHIVE).rename(folder / "renamed.npubug.tar.zst")
    done = npubug("unredact", "renamed.npubug.tar.zst", cwd=folder)
    assert done.code == ExitCode.OK, done.err
    assert "byte for byte" in done.err
    restored = open_archive(folder / "renamed.unredacted.npubug.tar.zst")
    assert restored.read("input/kernel.ttadapter").decode() == text


def test_without_a_map_unredact_says_why(folder: Path) -> None:
    bundled(folder, "--redact", "off")
    (folder / "answer.md").write_text("user-1\n")
    for file in (ARCHIVE, "answer.md"):
        done = npubug("unredact", file, cwd=folder)
        assert done.code == ExitCode.INVALID_INPUT
        assert "there is no map of stand-ins" in done.err and "maps are in" in done.err
    assert npubug("unredact", "absent", cwd=folder).code == ExitCode.INVALID_INPUT


def test_a_state_folder_that_cannot_be_written_costs_the_map_only(folder: Path) -> None:
    XDG.mkdir(exist_ok=True)
    (XDG / "state").write_text("a file where a folder belongs")
    try:
        done = npubug("bundle", "--ir", "k.mlir", "-o", ARCHIVE, cwd=folder)
    finally:
        (XDG / "state").unlink()
    assert done.code == ExitCode.OK
    assert "could not be kept" in done.err


def test_a_redacted_input_fails_as_the_original_does(folder: Path) -> None:
    """A path in the locations and in a comment; the archive's input compiles to the same failure."""
    opt = [str(compiler_folder() / "bishengir-opt"), "k.mlir", "--mlir-print-debuginfo"]
    located = subprocess.run(opt, cwd=folder, capture_output=True, text=True, check=True).stdout
    assert "k.mlir" in located
    (folder / "k.mlir").write_text(located.replace('loc("k.mlir"', 'loc("/home/erika/k.mlir"'))
    assert "/home/erika/k.mlir" in (folder / "k.mlir").read_text()
    bundled(folder)
    archive = open_archive(folder / ARCHIVE)
    assert b"erika" not in archive.read("input/kernel.ttadapter")
    ids = []
    for name in ("k.mlir", "redacted.ttadapter"):
        path = folder / name
        if not path.exists():
            archive.extract_to("input/kernel.ttadapter", path)
        command = default_command(path, compiler_folder() / "bishengir-compile", None)
        ids.append(signature_of(diagnose(compile_file(command, path, timeout=120))).id)
    assert ids[0] == ids[1]
    assert archive.manifest.signature is not None and archive.manifest.signature.id == ids[0]


def test_env_is_redacted_by_the_same_levels(folder: Path) -> None:
    for level in ("full", "paths", "off"):
        assert npubug("env", "--redact", level, cwd=folder).code == ExitCode.OK
