from __future__ import annotations

import dataclasses
import os
import resource
import signal
import subprocess
import sys
import tarfile
import textwrap
import time
import zipfile
from pathlib import Path

import pytest

from bundler.archive import Format, Limits, NewMember, open_archive, write_archive, writer
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import Manifest
from tests.archive.samples import AFTER_ALL, MANIFEST, MEMBERS, REDUCTION

REPO = str(Path(__file__).parents[2])
ENDINGS = [f.value for f in Format]
BARE = Manifest(name="k", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_archive_gives_back_what_was_put_in(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    written = write_archive(path, MANIFEST, MEMBERS)
    archive = open_archive(path)
    assert archive.manifest == written
    assert archive.format.value == ending
    assert archive.names == tuple(sorted(member.name for member in MEMBERS))
    for member in MEMBERS:
        assert archive.read(member.name) == member.content


def test_the_manifest_comes_first_and_the_rest_by_name(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tar.gz", MANIFEST, reversed(MEMBERS))
    with tarfile.open(tmp_path / "a.tar.gz") as plain:
        names = plain.getnames()
    assert names == ["manifest.json", *sorted(member.name for member in MEMBERS)]


def test_media_types_follow_the_names(tmp_path: Path) -> None:
    written = write_archive(tmp_path / "a.zip", MANIFEST, MEMBERS)
    types = {member.name: member.media_type for member in written.members}
    assert types["input/kernel.ttadapter"] == "text/x-mlir"
    assert types["calls/001/stderr"] == "application/octet-stream"


def test_other_tools_can_unpack_it(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tar.gz", MANIFEST, MEMBERS)
    write_archive(tmp_path / "a.zip", MANIFEST, MEMBERS)
    done = subprocess.run(["tar", "-xzf", "a.tar.gz"], cwd=tmp_path, check=True, capture_output=True)
    assert done.stderr == b""
    assert (tmp_path / "logs/after-all.log").read_bytes() == AFTER_ALL
    with zipfile.ZipFile(tmp_path / "a.zip") as plain:
        assert plain.testzip() is None


BUILD = textwrap.dedent("""
    import sys
    from pathlib import Path
    from tests.archive.samples import MANIFEST, MEMBERS
    from bundler.archive import NewMember, write_archive
    target = Path(sys.argv[1])
    big = target.parent / "evidence.log"
    big.write_bytes(b"".join(b"%%%d = arith.addf\\n" % (i % 5000) for i in range(200_000)))
    write_archive(target, MANIFEST, [*MEMBERS, NewMember("logs/big.log", "log", big)])
""")


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_evidence_gives_the_same_bytes_elsewhere_and_later(tmp_path: Path, ending: str) -> None:
    made = []
    for folder, zone, mask, seed in (("here", "UTC", 0o22, "1"), ("there", "Asia/Shanghai", 0o77, "2")):
        target = tmp_path / folder / f"a.{ending}"
        target.parent.mkdir()
        subprocess.run(
            [sys.executable, "-c", BUILD, str(target)],
            check=True,
            cwd=target.parent,
            env={
                **os.environ,
                "TZ": zone,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": REPO,
            },
            umask=mask,
        )
        made.append(target.read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize("ending", ENDINGS)
def test_long_and_foreign_names_survive(tmp_path: Path, ending: str) -> None:
    members = [
        NewMember("ir/c/" + "triton_poi_fused_" * 14 + ".ttir", "ir", b"1"),
        NewMember("ir/核函数/内核.ttir", "ir", b"2"),
        NewMember("ir/" + "d" * 120 + "/" + "e" * 120 + "/k.ttir", "ir", b"3"),
    ]
    write_archive(tmp_path / f"a.{ending}", BARE, members)
    archive = open_archive(tmp_path / f"a.{ending}")
    assert sorted(archive.names) == sorted(member.name for member in members)
    assert archive.read("ir/核函数/内核.ttir") == b"2"


# --- what is refused


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([NewMember("../x", "ir", b"")], "leads out"),
        ([NewMember("/etc/passwd", "ir", b"")], "absolute"),
        ([NewMember("manifest.json", "ir", b"")], "twice"),
        ([NewMember("a", "ir", b""), NewMember("a", "ir", b"")], "twice"),
        ([NewMember("a", "ir", b""), NewMember("A", "ir", b"")], "case"),
        ([NewMember("a", "ir", b""), NewMember("a/b", "ir", b"")], "folder"),
        ([NewMember("a", "Not A Role", b"")], "role"),
    ],
)
def test_what_would_not_be_read_is_not_written(tmp_path: Path, members: list[NewMember], why: str) -> None:
    with pytest.raises(NpubugError) as caught:
        write_archive(tmp_path / "a.zip", BARE, members)
    assert why in caught.value.why
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_that_names_an_absent_member_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(NpubugError) as caught:
        write_archive(tmp_path / "a.zip", dataclasses.replace(MANIFEST, reduction=REDUCTION), MEMBERS)
    assert "reduced/kernel.ttadapter" in caught.value.why


def test_too_much_evidence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NpubugError) as caught:
        write_archive(tmp_path / "a.zip", MANIFEST, MEMBERS, limits=Limits(max_total=100))
    assert "100" in caught.value.why


def test_an_unknown_ending_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(NpubugError) as caught:
        write_archive(tmp_path / "a.rar", BARE, [])
    assert caught.value.code is ExitCode.USAGE
    assert ".tar.zst" in caught.value.hint


def test_a_missing_or_endless_evidence_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for bad in (tmp_path / "gone.log", tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(NpubugError) as caught:
            write_archive(tmp_path / "a.zip", BARE, [NewMember("logs/x.log", "log", bad)])
        assert str(bad) in caught.value.what


def test_evidence_that_grows_meanwhile_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(b"one\n")

    def measure_then_grow(member: NewMember) -> object:
        found = original(member)
        with log.open("ab") as file:
            file.write(b"two\n")
        return found

    original = writer.measure
    monkeypatch.setattr(writer, "measure", measure_then_grow)
    with pytest.raises(NpubugError) as caught:
        write_archive(tmp_path / "a.tar.zst", BARE, [NewMember("logs/x.log", "log", log)])
    assert "changed" in caught.value.what
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.log"]


# --- the target


def run_limited(code: str, *args: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": REPO},
        **options,
    )


WRITE_NOISE = """
    import os, sys
    from pathlib import Path
    from bundler.archive import NewMember, write_archive
    from bundler.errors import NpubugError
    from bundler.manifest import Manifest
    manifest = Manifest(name="k", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")
    try:
        write_archive(Path(sys.argv[1]), manifest, [NewMember("a.bin", "log", os.urandom(3_000_000))])
    except NpubugError as error:
        print(error)
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, ending: str) -> None:
    """The file size limit stands in for the disk: the write call fails in the same place."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    target = tmp_path / f"a.{ending}"
    write_archive(target, MANIFEST, MEMBERS)
    before = target.read_bytes()
    done = run_limited(WRITE_NOISE, target, preexec_fn=limit)
    assert f"cannot write '{target}'" in done.stdout, done.stderr
    assert "try:" in done.stdout
    assert done.stderr == ""
    assert [p.name for p in tmp_path.iterdir()] == [target.name]
    assert target.read_bytes() == before


def test_a_folder_that_is_missing_or_a_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dir.zip").mkdir()
    for bad in (tmp_path / "no/a.zip", tmp_path / "file/a.zip", tmp_path / "dir.zip"):
        with pytest.raises(NpubugError) as caught:
            write_archive(bad, BARE, [])
        assert "cannot write" in caught.value.what
        assert caught.value.why
        assert "--output" in caught.value.hint


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a file system nobody can write to")
def test_a_read_only_folder_is_explained() -> None:
    with pytest.raises(NpubugError) as caught:
        write_archive(Path("/proc/a.zip"), BARE, [])
    assert "cannot write" in caught.value.what


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    target = tmp_path / "a.tar.zst"
    write_archive(target, MANIFEST, MEMBERS)
    before = target.read_bytes()
    code = textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from bundler.archive.atomic import replacing
        with replacing(Path(sys.argv[1])) as out:
            out.write(b"half")
            out.flush()
            print("ready", flush=True)
            time.sleep(60)
    """)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(target)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": REPO},
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        write_archive(target, MANIFEST, MEMBERS)  # must not touch what the other still writes
        assert len(list(tmp_path.glob(".npubug-*"))) == 1
        child.kill()
    assert target.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2
    write_archive(target, MANIFEST, MEMBERS)
    assert [p.name for p in tmp_path.iterdir()] == ["a.tar.zst"]


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bundler.archive.writer.manifest_to_json", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_archive(tmp_path / "a.zip", MANIFEST, MEMBERS)
    assert list(tmp_path.iterdir()) == []


def test_a_replaced_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    real = tmp_path / "real.zip"
    real.touch(mode=0o600)
    real.chmod(0o600)
    link = tmp_path / "link.zip"
    link.symlink_to(real)
    write_archive(link, BARE, [])
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert open_archive(real).names == ()


# --- size, memory


def test_a_log_that_repeats_after_each_pass_shrinks_to_little(tmp_path: Path) -> None:
    module = b"".join(
        b"    %%%d = linalg.generic ins(%%%d) loc(%d)\n" % (i, i * 7 % 977, i) for i in range(900)
    )
    log = b"".join(
        b"// -----// IR Dump After P%d //----- //\n" % n + module.replace(b"%%%d " % n, b"%x ", 1)
        for n in range(300)
    )
    target = tmp_path / "a.tar.zst"
    write_archive(target, BARE, [NewMember("logs/after-all.log", "log", log)])
    assert target.stat().st_size < len(log) / 300


MEASURE = """
    import sys
    from pathlib import Path
    from bundler.archive import NewMember, open_archive, write_archive
    from bundler.manifest import Manifest
    manifest = Manifest(name="k", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")
    target = Path(sys.argv[2])
    write_archive(target, manifest, [NewMember("a.log", "log", Path(sys.argv[1]))])
    open_archive(target)
    status = Path("/proc/self/status").read_text()  # getrusage would count the parent's memory too
    print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_memory_does_not_grow_with_the_log(tmp_path: Path, ending: str) -> None:
    """NPUBUG_TEST_LOG_MB=2048 makes it the full measurement."""
    log = tmp_path / "big.log"
    block = b"".join(b"%%%d = arith.addf %%a, %%b : tensor<%dxf32>\n" % (i, i * i) for i in range(20_000))
    megabytes = int(os.environ.get("NPUBUG_TEST_LOG_MB", "150" if ending == "tar.zst" else "30"))
    with log.open("wb") as file:
        for n in range((megabytes << 20) // len(block) + 1):
            file.write(b"// IR Dump After pass %d\n" % n + block)
    start = time.monotonic()
    done = run_limited(MEASURE, log, tmp_path / f"a.{ending}")
    packed = (tmp_path / f"a.{ending}").stat().st_size
    print(f"{done.stdout.strip()} MB, {packed} bytes, {time.monotonic() - start:.1f} s")
    assert int(done.stdout) < 200
