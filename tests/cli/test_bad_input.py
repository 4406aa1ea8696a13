"""Wrong input: one clear error, a documented exit code, no traceback, nothing written, nothing touched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bundler.errors import ExitCode
from tests.cli.command import files, npubug
from tests.places import case

_HEALTHY = "healthy/add_1024.ttadapter"
_FAILING = "failing/cumsum_64_1024_1.ttadapter"

NOT_IR = {
    "empty.ttadapter": b"",
    "text.ttadapter": b"this is not MLIR\n",
    "binary.ttadapter": bytes(range(256)) * 64,
    "truncated.ttadapter": b"module {\n  func.func @f(%arg0: memref<?xi8>) {\n    %0 = arith.constant 1 :",
    "unknown_op.ttadapter": b'module {\n  "no.such"() : () -> ()\n}\n',
    "large.ttadapter": b"// " + b"x" * (100 << 20),
}


@pytest.mark.parametrize("name", NOT_IR)
@pytest.mark.parametrize("command", [("minimize",), ("bundle", "--ir")], ids=" ".join)
def test_what_is_no_ir_is_refused(command: tuple[str, ...], name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(NOT_IR[name])
    done = npubug(*command, name, cwd=tmp_path)
    assert done.code == ExitCode.INVALID_INPUT, done.err
    assert done.err.count("error: ") >= 1
    assert "  why: " in done.err
    assert files(tmp_path) == {name}


@pytest.mark.parametrize("command", [("minimize",), ("bundle", "--ir")], ids=" ".join)
def test_what_does_not_fail_is_said_to_be_healthy(command: tuple[str, ...], tmp_path: Path) -> None:
    shutil.copy(case(_HEALTHY), tmp_path / "add.ttadapter")
    done = npubug(*command, "add.ttadapter", cwd=tmp_path)
    assert done.code == ExitCode.NOTHING_FAILED
    assert "nothing failed" in done.err
    assert "not a bug" in done.err  # hivmc is missing here
    assert files(tmp_path) == {"add.ttadapter"}


@pytest.mark.parametrize("command", [("minimize",), ("bundle", "--ir"), ("check",), ("show",)], ids=" ".join)
def test_a_missing_file_is_said_to_be_missing(command: tuple[str, ...], tmp_path: Path) -> None:
    done = npubug(*command, "absent.ttadapter", cwd=tmp_path)
    assert done.code == ExitCode.INVALID_INPUT
    assert "absent" in done.err


@pytest.mark.parametrize("command", ["check", "show", "minimize"])
def test_an_archive_that_is_not_ours_is_refused(command: str, tmp_path: Path) -> None:
    (tmp_path / "x.npubug.tar.zst").write_bytes(b"PK\x03\x04 not ours")
    done = npubug(command, "x.npubug.tar.zst", cwd=tmp_path)
    assert done.code == ExitCode.INVALID_INPUT
    assert files(tmp_path) == {"x.npubug.tar.zst"}


def test_a_compiler_that_is_no_program_is_said_to_be_missing(tmp_path: Path) -> None:
    shutil.copy(case(_FAILING), tmp_path / "k.ttadapter")
    done = npubug("minimize", "k.ttadapter", "--compiler", "k.ttadapter", cwd=tmp_path)
    assert done.code == ExitCode.TOOL_MISSING
    assert "  try: " in done.err


@pytest.mark.parametrize("output", ["/proc/x.ttadapter", "no/such/folder/x.ttadapter"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(output: str, tmp_path: Path) -> None:
    shutil.copy(case(_FAILING), tmp_path / "k.ttadapter")
    done = npubug("minimize", "k.ttadapter", "--output", output, cwd=tmp_path)
    assert done.code == ExitCode.FAILED
    assert "cannot write" in done.err
    assert files(tmp_path) == {"k.ttadapter"}


def test_bundle_into_a_place_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    shutil.copy(case(_FAILING), tmp_path / "k.ttadapter")
    done = npubug("bundle", "--ir", "k.ttadapter", "--output", "/proc/x.npubug.tar.zst", cwd=tmp_path)
    assert done.code == ExitCode.FAILED
    assert files(tmp_path) == {"k.ttadapter"}


@pytest.mark.parametrize(
    "words",
    [
        ("bundle",),
        ("bundle", "--ir", "k.ttadapter", "--", "python", "x.py"),
        ("minimize",),
        ("minimize", "k.ttadapter", "--deadline", "soon"),
        ("minimize", "k.ttadapter", "--text"),
        ("minimize", "k.ttadapter", "--jobs", "0"),
        ("no-such-command",),
        ("check", "--no-such-option"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_has_its_own_exit_code(words: tuple[str, ...], tmp_path: Path) -> None:
    shutil.copy(case(_FAILING), tmp_path / "k.ttadapter")
    assert npubug(*words, cwd=tmp_path).code == ExitCode.USAGE


def test_a_command_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    done = npubug("bundle", "--", "no-such-program", cwd=tmp_path)
    assert done.code not in (ExitCode.OK, ExitCode.NOTHING_FAILED)
    assert "no-such-program" in done.err
    assert files(tmp_path) == set()
