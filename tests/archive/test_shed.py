from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest

from bundler.archive import Format, NewMember, open_archive, write_archive
from bundler.archive.shed import fit, size_of
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import CallRecord
from tests.archive.samples import MANIFEST, MEMBERS, REDUCED_MANIFEST, REDUCED_MEMBERS


def noise(size: int, seed: int) -> bytes:
    """Bytes that do not compress."""
    return random.Random(seed).randbytes(size)


HEALTHY = CallRecord(
    "call-1", "bishengir-compile", ("bishengir-compile",), "", 0, 0.1, "healthy", input="calls/call-1/in",
    stderr="calls/call-1/stderr",
)  # fmt: skip
OTHER = CallRecord(
    "call-3", "bishengir-compile", ("bishengir-compile",), "", 1, 0.1, "failed", stderr="calls/call-3/stderr"
)
KB = 1000
SHEDDABLE = {
    "calls/call-1/in": ("call-input", 1),
    "calls/call-1/stderr": ("call-stderr", 2),
    "logs/before-all.log": ("log", 3),
    "logs/after-all.log": ("log", 4),
    "logs/plog/device-0.log": ("log", 5),
    "calls/call-3/stderr": ("call-stderr", 6),
    "logs/barrier.log": ("log", 7),
    "finds/other.ttadapter": ("find", 8),
    "logs/program.log": ("program-log", 9),
    "calls/002/stdout": ("call-stdout", 10),
}
ORDER = [
    {"calls/call-1/in", "calls/call-1/stderr"},
    {"logs/before-all.log"},
    {"logs/after-all.log"},
    {"logs/plog/device-0.log"},
    {"calls/call-3/stderr"},
    {"logs/barrier.log"},
    {"finds/other.ttadapter"},
    {"logs/program.log"},
    {"calls/002/stdout"},
]
KEPT = {
    "input/kernel.ttadapter", "reduced/kernel.ttadapter", "reduced/reproduce.sh", "logs/after-failure.log",
    "calls/001/stderr", "environment.json", "source/fold_pairs.py", "ir/call-2/kernel.ttir",
    "ir/call-2/kernel.ttadapter",
}  # fmt: skip


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive in which each thing that may go weighs 10 kB."""
    path = tmp_path_factory.mktemp("shed") / "full.npubug.tar.gz"
    members = {m.name: m for m in (*MEMBERS, *REDUCED_MEMBERS)}
    members |= {n: NewMember(n, role, noise(10 * KB, seed)) for n, (role, seed) in SHEDDABLE.items()}
    failing = dataclasses.replace(MANIFEST.calls[0], stdout="calls/002/stdout")
    manifest = dataclasses.replace(REDUCED_MANIFEST, calls=(HEALTHY, failing, OTHER))
    write_archive(path, manifest, members.values())
    return path


@pytest.mark.parametrize("steps", range(len(ORDER) + 1))
def test_things_go_in_the_documented_order_and_no_more_than_needed(
    full: Path, tmp_path: Path, steps: int
) -> None:
    gone = set().union(*ORDER[:steps])
    limit = full.stat().st_size - len(gone) * 10 * KB + 1500  # room for the drops in the manifest
    target = tmp_path / "small.npubug.tar.gz"
    manifest = fit(full, target, limit, Format.TAR_GZ)
    assert target.stat().st_size <= limit
    assert set(open_archive(full).names) - set(open_archive(target).names) == gone
    assert open_archive(target).manifest == manifest
    assert len(manifest.drops) == steps
    assert sum(drop.size for drop in manifest.drops) == len(gone) * 10 * KB
    assert set(open_archive(target).names) >= KEPT


def test_what_must_stay_is_an_error_and_the_archive_is_as_it_was(full: Path, tmp_path: Path) -> None:
    target = tmp_path / "small.npubug.tar.gz"
    target.write_bytes(full.read_bytes())
    with pytest.raises(NpubugError, match="does not fit into 900 bytes"):
        fit(target, target, 900, Format.TAR_GZ)
    assert target.read_bytes() == full.read_bytes()


def test_in_place_and_in_another_format_at_once(full: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.npubug.tar.gz"
    target.write_bytes(full.read_bytes())
    fit(target, target, 95 * KB, Format.TAR_GZ)
    assert target.stat().st_size <= 95 * KB
    fit(target, tmp_path / "b.npubug.zip", 60 * KB, Format.ZIP)
    assert open_archive(tmp_path / "b.npubug.zip").format is Format.ZIP
    assert (tmp_path / "b.npubug.zip").stat().st_size <= 60 * KB


def test_what_the_manifest_said_of_a_dropped_file_is_taken_out(full: Path, tmp_path: Path) -> None:
    manifest = fit(full, tmp_path / "a.npubug.tar.gz", 60 * KB, Format.TAR_GZ)
    run = next(run for run in manifest.evidence if run.name == "after-all")
    assert run.log is None and run.flags == ("--mlir-print-ir-after-all",)
    healthy = next(call for call in manifest.calls if call.id == "call-1")
    assert healthy.input is None and healthy.stderr is None


@pytest.mark.parametrize(
    ("text", "size"),
    [("20M", 20_000_000), ("500k", 500_000), ("1.5GB", 1_500_000_000), ("20MiB", 20 << 20), ("900", 900)],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "0", "M", "-1M", "20X", "20 MM", "1e3", "nan"])
def test_what_is_no_size_is_a_usage_error(text: str) -> None:
    with pytest.raises(NpubugError) as caught:
        size_of(text)
    assert caught.value.code is ExitCode.USAGE
