"""Evidence survives: in what the compiler reads and prints, nothing is replaced but what stands in paths."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bundler.compiler.diagnose import diagnose
from bundler.compiler.invoke import AFTER_ALL_FLAG, CompileCommand, compile_file, default_command
from bundler.compiler.signature import signature_of
from bundler.redact import Redactor
from tests.places import DATA, FAILING, case, compiler_folder
from tests.redact.machine import redactor as redactor_of


def owner() -> Redactor:
    """The redactor of a person on a machine, with names that occur nowhere in the evidence."""
    return redactor_of(
        environ={"API_KEY": "k3y-abcdef", "HTTPS_PROXY": "http://u:pw-12345@p.lan:1"},
        home="/home/carol",
        user="carol",
        hostname="npu-node7.corp.lan",
    )


def command_of(path: Path) -> CompileCommand:
    return default_command(path, compiler_folder() / "bishengir-compile", None)


@pytest.mark.parametrize("name", ["failing/cumsum_64_1024_1.ttadapter", "healthy/add_1024.ttadapter"])
def test_a_log_of_all_passes_is_left_alone_to_the_byte(name: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.ttadapter"
    shutil.copy(case(name), path)
    run = compile_file(command_of(path).with_flags(AFTER_ALL_FLAG), path, timeout=120)
    log = (run.stdout + run.stderr).encode()
    assert log.count(b"IR Dump After") > 50
    redactor = owner()
    assert redactor.data(log) == log
    assert redactor.counts == ()


@pytest.mark.parametrize("path", sorted((DATA / "ir").iterdir()), ids=lambda path: path.name)
def test_ir_is_left_alone_to_the_byte(path: Path) -> None:
    data = path.read_bytes()
    assert owner().data(data).replace(b"/home/user-1/", b"/home/devuser/") == data


@pytest.mark.parametrize("path", FAILING[:4], ids=lambda path: path.name)
def test_a_redacted_input_fails_with_the_same_signature(path: Path, tmp_path: Path) -> None:
    text = path.read_bytes() + b'\n// made by "/home/carol/k.py" on npu-node7 at 10.1.2.3\n'
    redacted = owner().data(text)
    assert redacted != text
    ids = []
    for number, content in enumerate((text, redacted)):
        file = tmp_path / f"{number}.ttadapter"
        file.write_bytes(content)
        ids.append(signature_of(diagnose(compile_file(command_of(file), file, timeout=120))).id)
    assert ids[0] == ids[1]
