"""`npubug bundle` from what is already there: caches of both generations, dumps, logs, a bare file."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bundler.archive import Archive, open_archive
from bundler.errors import ExitCode
from tests.cli.command import npubug
from tests.places import case, compiler_folder

FAILING = "failing/cumsum_64_1024_1.ttadapter"
METADATA = {"target": {"backend": "npu", "arch": "Ascend910B2", "warp_size": 0}, "name": "x aiv"}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """What triton leaves: a kernel that was compiled, and one whose compile failed."""
    root = tmp_path / "cache"
    for hash, name, stage, binary in (
        ("A1", "add", "healthy/add_1024", True),
        ("B2", "cumsum", FAILING, False),
    ):
        folder = root / hash
        folder.mkdir(parents=True)
        shutil.copy(case(f"{stage.removesuffix('.ttadapter')}.ttadapter"), folder / f"{name}.ttadapter")
        (folder / f"{name}.ttir").write_text("// the ttir of this kernel")
        if binary:
            (folder / f"{name}.npubin").write_bytes(b"\x7fELF")
            options = {**METADATA, "multibuffer": True}
            (folder / f"{name}.json").write_text(json.dumps(options))
            (folder / f"__grp__{name}.json").write_text("{}")
    return root


def archive(folder: Path) -> Archive:
    (path,) = folder.glob("*.npubug.tar.zst")
    return open_archive(path)


def test_the_failed_kernel_of_a_cache_becomes_an_archive(cache: Path, tmp_path: Path) -> None:
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in cache.rglob("*")}
    done = npubug("bundle", "--cache", cache, cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    found = archive(tmp_path)
    manifest = found.manifest
    assert manifest.name == "cumsum"
    assert manifest.signature is not None and manifest.signature.kind == "ub-overflow"
    assert manifest.calls[0].argv[2] == "--target=Ascend910B2"  # of the other kernel's metadata
    assert {"input/kernel.ttadapter", "ir/cumsum.ttir", "ir/cumsum.ttadapter"} <= set(found.names)
    assert b"mix_mode" in found.read("ir/cumsum.ttadapter")
    assert b"mix_mode" not in found.read("input/kernel.ttadapter")  # triton takes it out
    assert any("not recorded" in note for note in manifest.notes)
    assert any(note.startswith("reconstructed: there is no metadata") for note in manifest.notes)
    branch = next(fact for fact in manifest.environment if fact.name == "triton.branch")
    assert branch.value == "release/3.2.2"
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in cache.rglob("*")} == before
    assert next(fact for fact in manifest.environment if fact.name == "npu.model").value == "Ascend910B2"
    shown = npubug("check", found.path.name, cwd=tmp_path).out
    assert "ttir: ir/cumsum.ttir" in shown


def test_a_kernels_own_metadata_gives_its_flags(cache: Path, tmp_path: Path) -> None:
    options = {**METADATA, "multibuffer": False, "enable_auto_bind_sub_block": True}
    (cache / "B2" / "cumsum.json").write_text(json.dumps(options))
    done = npubug("bundle", "--cache", cache, "--kernel", "cumsum", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    found = archive(tmp_path)
    assert found.manifest.calls[0].argv[2:4] == ("--target=Ascend910B2", "--enable-auto-multi-buffer=False")
    assert "ir/cumsum.json" in found.names
    assert any("rebuilt from the kernel's metadata json" in note for note in found.manifest.notes)


@pytest.mark.parametrize("stage", ["bcmlir", "mlirbc"])
def test_bytecode_of_master_is_compiled_and_decoded_beside_itself(
    cache: Path, tmp_path: Path, stage: str
) -> None:
    folder = cache / "B2"
    source = folder / "cumsum.ttadapter"
    opt = str(compiler_folder() / "bishengir-opt")
    subprocess.run([opt, str(source), "--emit-bytecode", "-o", str(folder / f"cumsum.{stage}")], check=True)
    done = npubug("bundle", "--cache", cache, cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    found = archive(tmp_path)
    assert found.manifest.signature is not None and found.manifest.signature.kind == "ub-overflow"
    assert found.read("input/kernel.bcmlir").startswith(b"ML\xefR")
    assert b"func.func @" in found.read("input/kernel.bcmlir.mlir")
    assert b"func.func @" in found.read(f"ir/cumsum.{stage}.mlir")
    branch = next(fact for fact in found.manifest.environment if fact.name == "triton.branch")
    assert branch.value == "master"


def test_a_chip_that_is_only_assumed_is_no_fact_about_the_machine(tmp_path: Path) -> None:
    shutil.copy(case(FAILING), tmp_path / "k.ttadapter")
    npubug("bundle", "--ir", "k.ttadapter", cwd=tmp_path)
    manifest = archive(tmp_path).manifest
    assert manifest.calls[0].argv[2] == "--target=Ascend910B3"
    facts = {fact.name: fact.value for fact in manifest.environment}
    assert facts["npu.model"] is None
    shown = npubug("check", next(tmp_path.glob("*.zst")), cwd=tmp_path).out
    assert "command line of bishengir-compile, reconstructed" in shown


def test_a_dump_folder_is_as_good_as_a_cache(tmp_path: Path) -> None:
    folder = tmp_path / "dump" / "0f3a"
    folder.mkdir(parents=True)
    shutil.copy(case(FAILING), folder / "kernel.ttadapter.mlir")
    (folder / "kernel.ttir.mlir").write_text("// ttir")
    done = npubug("bundle", "--dump", "dump", cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    assert archive(tmp_path).manifest.calls[0].kernel not in (None, "kernel")


def terminal_log(folder: str) -> str:
    return (
        "subprocess.CalledProcessError: Command '['/gone/bishengir-compile', '/tmp/gone/kernel.ttadapter.mlir', "
        "'--target=Ascend910B4', '--enable-hfusion-compile=true', '--enable-hivm-compile=true', "
        "'--enable-triton-kernel-compile=true', '-o', '/tmp/gone/kernel']' returned non-zero exit status 1.\n"
        "///------------------[ERROR][Triton][BEG]------------------\n"
        "[ConvertLinalgRToBinary] encounters error:\n"
        'loc("/tmp/gone/kernel.ttadapter.mlir":3:3): error: ub overflow, requires 4194304 bits while 1572864 '
        "bits available! (possible reason: tiling basic block is too large)\n\n"
        f"[INFO]: The compiled kernel cache is in {folder}\n\n"
        "///------------------[ERROR][Triton][END]------------------\n"
    )


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same machine", "cache copied to elsewhere"])
def test_a_log_gives_the_argv_and_the_cache_its_ir(cache: Path, tmp_path: Path, elsewhere: bool) -> None:
    named = "/home/nobody/.triton/cache/B2" if elsewhere else str(cache / "B2")
    (tmp_path / "run.log").write_text(terminal_log(named))
    words = ["bundle", "--log", "run.log", *(["--cache", str(cache)] if elsewhere else [])]
    done = npubug(*words, cwd=tmp_path)
    assert done.code == ExitCode.OK, done.err
    found = archive(tmp_path)
    argv = found.manifest.calls[0].argv
    assert argv[2:4] == ("--target=Ascend910B4", "--enable-hfusion-compile=true")
    assert found.manifest.name == "cumsum"
    assert b"[ERROR][Triton][BEG]" in found.read("logs/program.log")
    assert any("those of the log" in note for note in found.manifest.notes)


def test_a_log_goes_with_a_bare_file(tmp_path: Path) -> None:
    shutil.copy(case(FAILING), tmp_path / "k.ttadapter")
    (tmp_path / "run.log").write_text(terminal_log("/home/nobody/.triton/cache/B2"))
    assert npubug("bundle", "--log", "run.log", "--ir", "k.ttadapter", cwd=tmp_path).code == ExitCode.OK
    assert archive(tmp_path).manifest.calls[0].argv[2] == "--target=Ascend910B4"


def test_a_log_whose_ir_is_not_here_says_where_it_looked(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(terminal_log("/home/nobody/.triton/cache/B2"))
    done = npubug("bundle", "--log", "run.log", cwd=tmp_path)
    assert done.code == ExitCode.INVALID_INPUT
    assert "/home/nobody/.triton/cache/B2" in done.err
    assert "--ir" in done.err


def test_the_list_shows_each_kernel_and_changes_nothing(cache: Path, tmp_path: Path) -> None:
    done = npubug("bundle", "--cache", cache, "--list", cwd=tmp_path)
    assert done.code == ExitCode.OK
    assert len(done.out.splitlines()) == 3
    listed = json.loads(npubug("bundle", "--cache", cache, "--list", "--json", cwd=tmp_path).out)
    assert {(k["kernel"], k["hash"], k["compiled"]) for k in listed["kernels"]} == {
        ("add", "A1", True),
        ("cumsum", "B2", False),
    }
    assert list(tmp_path.glob("*.npubug*")) == []


def test_a_kernel_that_compiles_is_no_failure(cache: Path, tmp_path: Path) -> None:
    done = npubug("bundle", "--cache", cache, "--hash", "A1", cwd=tmp_path)
    assert done.code == ExitCode.NOTHING_FAILED
    assert "nothing failed" in done.err


def test_always_gives_an_archive_of_a_kernel_that_compiles_but_is_wrong(cache: Path, tmp_path: Path) -> None:
    done = npubug("bundle", "--cache", cache, "--kernel", "add", "--always", cwd=tmp_path)
    assert done.code == ExitCode.NOTHING_FAILED
    found = archive(tmp_path)
    assert found.manifest.signature is None
    assert {"input/kernel.ttadapter", "ir/add.ttir", "ir/add.json", "logs/after-all.log"} <= set(found.names)
    assert any("does not fail here" in note for note in found.manifest.notes)
    assert npubug("check", found.path.name, cwd=tmp_path).code == ExitCode.INCOMPLETE


@pytest.mark.parametrize(
    "words",
    [
        ("--cache", "c", "--ir", "k.ttadapter"),
        ("--cache", "c", "--dump", "d"),
        ("--cache", "c", "--", "python", "x.py"),
        ("--log", "l", "--", "python", "x.py"),
        ("--kernel", "add", "--ir", "k.ttadapter"),
        ("--cache", "c", "--kernel", "add", "--latest"),
    ],
    ids=" ".join,
)
def test_sources_that_exclude_each_other_are_a_usage_error(words: tuple[str, ...], tmp_path: Path) -> None:
    assert npubug("bundle", *words, cwd=tmp_path).code == ExitCode.USAGE
