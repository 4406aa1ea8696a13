"""The one writer into a cache: nothing is lost, whatever happens in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundler.capture import replace_binary as module
from bundler.capture.replace_binary import install, record_of, restore
from bundler.errors import ExitCode, NpubugError


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    path = tmp_path / "h1" / "add.npubin"
    path.parent.mkdir()
    path.write_bytes(b"original")
    path.chmod(0o640)
    return path


def files(binary: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in binary.parent.iterdir()}


def test_there_and_back_again_leaves_no_trace(binary: Path) -> None:
    record = install(binary, lambda: b"with barriers", ("bishengir-compile", "--flag"))
    assert binary.read_bytes() == b"with barriers"
    assert binary.stat().st_mode & 0o777 == 0o640
    assert record_of(binary) == record
    restore(binary)
    assert files(binary) == {"add.npubin": b"original"}
    assert binary.stat().st_mode & 0o777 == 0o640


def test_a_second_replacement_is_refused_and_the_backup_stays(binary: Path) -> None:
    install(binary, lambda: b"first", ())
    before = files(binary)
    with pytest.raises(NpubugError, match="has been replaced before"):
        install(binary, lambda: b"second", ())
    assert files(binary) == before
    restore(binary)
    assert binary.read_bytes() == b"original"


def test_a_binary_that_changes_while_the_new_one_is_made_is_left_alone(binary: Path) -> None:
    def make() -> bytes:
        binary.write_bytes(b"triton was faster")
        return b"with barriers"

    with pytest.raises(NpubugError, match="changed while"):
        install(binary, make, ())
    assert files(binary) == {"add.npubin": b"triton was faster"}


def test_a_binary_that_changed_since_is_not_overwritten(binary: Path) -> None:
    install(binary, lambda: b"with barriers", ())
    binary.write_bytes(b"compiled anew")
    before = files(binary)
    with pytest.raises(NpubugError, match="changed since"):
        restore(binary)
    assert files(binary) == before


def test_a_backup_that_was_tampered_with_is_not_put_back(binary: Path) -> None:
    install(binary, lambda: b"with barriers", ())
    (binary.parent / "add.npubin.npubug-original").write_bytes(b"something else")
    with pytest.raises(NpubugError, match="changed since it was made"):
        restore(binary)
    assert binary.read_bytes() == b"with barriers"


def test_what_was_not_replaced_cannot_be_restored(binary: Path) -> None:
    with pytest.raises(NpubugError) as caught:
        restore(binary)
    assert caught.value.code == ExitCode.NOTHING_FAILED


def test_a_compile_that_fails_leaves_the_cache_as_it_was(binary: Path) -> None:
    def make() -> bytes:
        raise NpubugError("does not compile")

    with pytest.raises(NpubugError, match="does not compile"):
        install(binary, make, ())
    assert files(binary) == {"add.npubin": b"original"}


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_full_disk_at_any_step_leaves_the_cache_as_it_was(
    binary: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    real, count = module.tempfile.mkstemp, 0

    def full(**options: object) -> tuple[int, str]:
        nonlocal count
        count += 1
        if count == step:
            raise OSError(28, "No space left on device")
        return real(**options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(module.tempfile, "mkstemp", full)
    with pytest.raises(NpubugError, match="cannot replace"):
        install(binary, lambda: b"with barriers", ())
    assert binary.read_bytes() == b"original"
    assert record_of(binary) is None
    monkeypatch.undo()
    install(binary, lambda: b"with barriers", ())
    restore(binary)
    assert files(binary) == {"add.npubin": b"original"}


def test_killed_before_the_binary_was_replaced_restore_cleans_up(
    binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(binary, lambda: b"with barriers", ())
    binary.write_bytes(b"original")  # as if we had been killed just before
    restore(binary)
    assert files(binary) == {"add.npubin": b"original"}


def test_of_two_processes_at_once_one_is_refused(binary: Path) -> None:
    def other_first() -> bytes:
        install(binary, lambda: b"the other's", ())
        return b"mine"

    with pytest.raises(NpubugError):
        install(binary, other_first, ())
    assert binary.read_bytes() == b"the other's"
    restore(binary)
    assert files(binary) == {"add.npubin": b"original"}
