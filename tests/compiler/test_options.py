"""Options to flags, against the command lines that triton-ascend 3.2.0 itself built (tests/data/triton_options)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bundler.compiler.invoke import DEFAULT_ADAPTER_FLAGS, DEFAULT_FLAGS, DEFAULT_TARGET
from bundler.compiler.options import adapter_flags, compile_flags, target_of
from bundler.compiler.rebuild import rebuild
from tests.places import DATA, compiler_folder

REAL = json.loads((DATA / "triton_options" / "command_lines.json").read_text())


@pytest.mark.parametrize("case", REAL, ids=range(len(REAL)))
def test_the_compilers_command_line_is_the_one_that_triton_builds(case: dict[str, Any]) -> None:
    target = target_of(case["metadata"])
    assert target == "Ascend910B3"
    flags = compile_flags(case["metadata"], case["environ"], target=target)
    assert list(flags) == case["flags"]["bishengir-compile"]


@pytest.mark.parametrize("case", [case for case in REAL if "triton-adapter-opt" in case["flags"]])
def test_the_adapters_command_line_is_the_one_that_triton_builds(case: dict[str, Any]) -> None:
    assert list(adapter_flags(case["metadata"], case["environ"])) == case["flags"]["triton-adapter-opt"]


def test_the_defaults_are_what_triton_builds_of_no_options() -> None:
    flags = REAL[0]["flags"]
    assert [f"--target={DEFAULT_TARGET}", *DEFAULT_FLAGS] == flags["bishengir-compile"]
    assert list(DEFAULT_ADAPTER_FLAGS) == flags["triton-adapter-opt"]


def test_without_metadata_the_defaults_are_taken_and_the_reader_is_told() -> None:
    tool = compiler_folder() / "bishengir-compile"
    rebuilt = rebuild(tool, None, {}, ttir=False)
    assert rebuilt.command.flags == (f"--target={DEFAULT_TARGET}", *DEFAULT_FLAGS)
    assert all(note.startswith("reconstructed: ") for note in rebuilt.notes)
    assert "no metadata json" in rebuilt.notes[0]
    assert "npubug's default" in rebuilt.notes[1]


def test_without_metadata_the_chip_is_that_of_the_caches_other_kernels() -> None:
    tool = compiler_folder() / "bishengir-compile"
    nearby = {"target": {"backend": "npu", "arch": "Ascend910_9382"}, "multibuffer": False}
    rebuilt = rebuild(tool, None, {}, ttir=False, nearby=nearby)
    assert rebuilt.command.flags == ("--target=Ascend910_9382", *DEFAULT_FLAGS)
    assert "another kernel of this cache" in rebuilt.notes[1]


def test_a_flag_that_this_compiler_does_not_know_is_left_out_and_named() -> None:
    tool = compiler_folder() / "bishengir-compile"
    metadata = {"force_simt_only": True, "target": {"arch": "Ascend910B3"}}
    rebuilt = rebuild(tool, metadata, {}, ttir=True)
    assert "--pure-simt" not in rebuilt.command.flags
    assert any("--pure-simt" in note and "left out" in note for note in rebuilt.notes)


@pytest.mark.parametrize("metadata", [{}, {"target": None}, {"target": {"arch": 80}}, {"target": "cuda"}])
def test_metadata_without_a_chip_of_ours_names_none(metadata: dict[str, Any]) -> None:
    assert target_of(metadata) is None
