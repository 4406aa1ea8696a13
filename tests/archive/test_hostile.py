"""Archives made to harm: each ends in one clear error, within bounded time and memory."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import json
import os
import resource
import stat
import subprocess
import sys
import tarfile
import textwrap
import time
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bundler.archive import Format, Limits, NewMember, open_archive, write_archive
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import Manifest, Member
from bundler.manifest_json import manifest_to_json
from tests.archive.samples import IR, MANIFEST, MEMBERS

REPO = str(Path(__file__).parents[2])
BARE = Manifest(name="k", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")


def refusal(path: Path, limits: Limits | None = None) -> str:
    with pytest.raises(NpubugError) as caught:
        open_archive(path, limits)
    assert caught.value.code is ExitCode.INVALID_INPUT
    assert str(caught.value).replace("\n", "").isprintable()
    assert len(str(caught.value)) < 1500
    return f"{caught.value.what}: {caught.value.why}"


def described(name: str, content: bytes) -> Member:
    return Member(name, "ir", "text/plain", len(content), hashlib.sha256(content).hexdigest())


def manifest_of(*files: tuple[str, bytes]) -> bytes:
    return manifest_to_json(dataclasses.replace(BARE, members=tuple(described(*file) for file in files)))


def tar_of(*entries: tuple[str, bytes] | tarfile.TarInfo, form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as made:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                made.addfile(entry)
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                made.addfile(info, io.BytesIO(entry[1]))
    return out.getvalue()


def zst_file(folder: Path, tar: bytes) -> Path:
    path = folder / "a.tar.zst"
    path.write_bytes(zstandard.compress(tar))
    return path


def zip_file(folder: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    path = folder / "a.zip"
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        warnings.simplefilter("ignore")  # duplicate names
        for name, content in entries:
            made.writestr(name, content)
    return path


# --- names


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../../etc/cron.d/x", "leads out"),
        ("a/../b", "leads out"),
        ("/etc/passwd", "absolute"),
        ("C:/Windows/x", "absolute"),
        ("a\\..\\b", "not allowed"),
        ("a\nb", "not allowed"),
        ("a\x1b[2Jb", "not allowed"),
        ("a\u202eb", "not allowed"),
        ("a//b", "simple form"),
        ("./a", "simple form"),
        ("a/", "simple form"),
        ("x" * 300, "too long"),
        ("/".join("d" * 100), "too deep"),
        ("manifest.json", "twice"),
        ("MANIFEST.json", "case"),
    ],
)
def test_a_dangerous_name_is_refused(tmp_path: Path, name: str, why: str) -> None:
    tar = tar_of(("manifest.json", manifest_of((name, b""))), (name, b""))
    assert why in refusal(zst_file(tmp_path, tar))


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("a.ttir", "a.ttir"), "twice"),
        (("A.ttir", "a.ttir"), "case"),
        (("\u00c5", "\u212b"), "case or form"),
        (("a", "a/b"), "folder"),
    ],
)
def test_names_that_fall_together_are_refused(tmp_path: Path, names: tuple[str, ...], why: str) -> None:
    files = [(name, b"x") for name in names]
    tar = tar_of(("manifest.json", manifest_of(*files)), *files)
    assert why in refusal(zst_file(tmp_path, tar))


# --- entries that are no plain files


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (tarfile.SYMTYPE, "symbolic link"),
        (tarfile.LNKTYPE, "hard link"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
        (tarfile.FIFOTYPE, "pipe"),
        (tarfile.DIRTYPE, "folder"),
        (tarfile.GNUTYPE_SPARSE, "unknown kind"),
        (tarfile.GNUTYPE_LONGNAME, "unknown kind"),
        (tarfile.XGLTYPE, "unknown kind"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_only_plain_files_are_accepted(tmp_path: Path, kind: bytes, word: str, first: bool) -> None:
    info = tarfile.TarInfo("input/k")
    info.type = kind
    info.linkname = "/etc/shadow"
    entries = [info] if first else [("manifest.json", manifest_of(("input/k", b""))), info]
    assert word in refusal(zst_file(tmp_path, tar_of(*entries)))


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFCHR, stat.S_IFIFO])
def test_a_zip_with_links_is_refused(tmp_path: Path, mode: int) -> None:
    info = zipfile.ZipInfo("input/k")
    info.external_attr = (mode | 0o777) << 16
    path = zip_file(tmp_path, ("manifest.json", manifest_of(("input/k", b"/etc"))), (info, b"/etc"))
    assert "plain files only" in refusal(path)


# --- the manifest against the content


def test_other_content_of_the_same_size_is_noticed(tmp_path: Path) -> None:
    tar = tar_of(("manifest.json", manifest_of(("k", b"good"))), ("k", b"evil"))
    assert "'k' has another content" in refusal(zst_file(tmp_path, tar))


def test_another_size_is_noticed(tmp_path: Path) -> None:
    tar = tar_of(("manifest.json", manifest_of(("k", b"good"))), ("k", b"longer"))
    assert "'k' has 6 bytes" in refusal(zst_file(tmp_path, tar))


def test_a_member_that_the_manifest_does_not_name_is_noticed(tmp_path: Path) -> None:
    tar = tar_of(("manifest.json", manifest_of(("k", b""))), ("k", b""), ("hidden", b""))
    assert "holds 'hidden'" in refusal(zst_file(tmp_path, tar))


def test_a_member_that_is_absent_is_noticed(tmp_path: Path) -> None:
    tar = tar_of(("manifest.json", manifest_of(("a", b""), ("b", b""))), ("a", b""))
    assert "'b' is missing" in refusal(zst_file(tmp_path, tar))


@pytest.mark.parametrize("doubled", [("a", "a", "b"), ("b", "a"), ("a", "b", "b")])
def test_a_member_that_comes_twice_or_out_of_order_is_noticed(
    tmp_path: Path, doubled: tuple[str, ...]
) -> None:
    files = [("manifest.json", manifest_of(("a", b""), ("b", b""))), *((name, b"") for name in doubled)]
    assert "twice or out of order" in refusal(zst_file(tmp_path, tar_of(*files)))
    assert "twice or out of order" in refusal(zip_file(tmp_path, *files))


@pytest.mark.parametrize(
    "break_it",
    [
        lambda m: dataclasses.replace(m, failing_call="call-9"),
        lambda m: dataclasses.replace(m, calls=m.calls * 2),
        lambda m: dataclasses.replace(m, members=m.members[1:]),
        lambda m: dataclasses.replace(m, members=m.members[::-1]),
    ],
    ids=["no such call", "same call twice", "reference to nothing", "not in order"],
)
def test_a_manifest_that_contradicts_itself_is_refused(
    tmp_path: Path, break_it: Callable[[Manifest], Manifest]
) -> None:
    written = write_archive(tmp_path / "good.zip", MANIFEST, MEMBERS)
    data = manifest_to_json(break_it(written))
    files = [(m.name, m.content) for m in sorted(MEMBERS, key=lambda m: m.name)]
    refusal(zst_file(tmp_path, tar_of(("manifest.json", data), *files)))  # type: ignore[arg-type]


def test_an_archive_of_a_newer_format_says_so(tmp_path: Path) -> None:
    data = json.dumps({**json.loads(manifest_to_json(BARE)), "schema_version": "7.0"}).encode()
    assert "7.0" in refusal(zip_file(tmp_path, ("manifest.json", data)))


# --- not an archive of ours


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b"hello", "neither"),
        (os.urandom(1 << 16), "neither"),
        (IR, "neither"),
        (gzip.compress(b"", mtime=0), "ends"),
        (gzip.compress(b"hello", mtime=0), "ends"),
        (zstandard.compress(bytes(10240)), "not written by npubug"),
        (zstandard.compress(b"\xff" * 1024), "header"),
        (zstandard.compress(tar_of(("README", b"hi"))), "not written by npubug"),
        (b"PK\x03\x04", "zip"),
        (b"\x28\xb5\x2f\xfd", "early"),
        (b"\x1f\x8b\x08", "early"),
    ],
)
def test_a_file_that_is_no_archive_of_ours_is_explained(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "a").write_bytes(content)
    assert why in refusal(tmp_path / "a")


def test_a_folder_a_pipe_or_nothing_is_explained(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refusal(tmp_path)
    refusal(tmp_path / "pipe")
    refusal(tmp_path / "nothing.zip")


# --- bombs


def limited(path: Path, megabytes: int) -> str:
    """Open an archive in a process of its own, and return what it said and its peak memory in MB."""
    code = """
        import sys
        from pathlib import Path
        from bundler.archive import open_archive
        from bundler.errors import NpubugError
        try:
            open_archive(Path(sys.argv[1]))
            print("accepted")
        except NpubugError as error:
            print(error.why)
        status = Path("/proc/self/status").read_text()  # getrusage would count the parent's memory too
        print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": REPO},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    )
    assert done.stderr == ""
    said, peak = done.stdout.strip().splitlines()
    assert int(peak) < megabytes
    return said


def bomb(folder: Path, name: str, start: bytes = b"") -> Path:
    """A tar.zst of 300 kB with a file of 10 GB: zstd blocks of four bytes stand for 128 KiB of zeros each."""
    info = tarfile.TarInfo(name)
    info.size = 10_000_000_000
    raw = start + info.tobuf(tarfile.GNU_FORMAT)
    run = (1 << 1 | (128 << 10) << 3).to_bytes(3, "little") + b"\0"
    path = folder / "bomb.tar.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00\x50" + raw_block(raw) + run * 76_000)
    return path


def raw_block(data: bytes) -> bytes:
    return (len(data) << 3).to_bytes(3, "little") + data


@pytest.mark.parametrize("claim", [10, 10_000_000_000, 4_000_000_000])
def test_ten_gigabytes_in_a_small_file_are_not_unpacked(tmp_path: Path, claim: int) -> None:
    member = dataclasses.replace(described("k", b""), size=claim)
    data = manifest_to_json(dataclasses.replace(BARE, members=(member,)))
    info = tarfile.TarInfo("manifest.json")
    info.size = len(data)
    start = time.monotonic()
    said = limited(bomb(tmp_path, "k", info.tobuf() + data + bytes(-len(data) % 512)), 150)
    assert "10000000000 bytes" in said
    assert time.monotonic() - start < 5


def test_a_manifest_of_ten_gigabytes_is_not_unpacked(tmp_path: Path) -> None:
    assert "too large" in limited(bomb(tmp_path, "manifest.json"), 150)


def test_a_zip_that_lies_about_its_sizes_is_not_unpacked(tmp_path: Path) -> None:
    content = bytes(200 << 20)
    path = zip_file(tmp_path, ("manifest.json", manifest_of(("k", b"x" * 10))), ("k", content))
    data = path.read_bytes().replace((200 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(data)
    assert limited(path, 150) != "accepted"


def test_hundreds_of_thousands_of_members_are_refused_quickly(tmp_path: Path) -> None:
    start = time.monotonic()
    header = tarfile.TarInfo("k").tobuf()
    data = manifest_of(("k", b""))
    start_of_tar = tar_of(("manifest.json", data))[: 512 + len(data) + -len(data) % 512]
    tar = start_of_tar + header * 200_000
    assert "twice" in limited(zst_file(tmp_path, tar), 150)
    entry = b"PK\x01\x02" + bytes(24) + b"\x01\x00" + bytes(16) + b"k"
    index = entry * 200_000
    end = b"PK\x05\x06" + bytes(4) + b"\xff\xff\xff\xff" + len(index).to_bytes(4, "little") + bytes(6)
    (tmp_path / "many.zip").write_bytes(b"PK\x03\x04" + index + end)
    assert "index is too large" in limited(tmp_path / "many.zip", 150)
    assert time.monotonic() - start < 20


def test_more_members_than_allowed_are_refused(tmp_path: Path) -> None:
    files = [(f"{n:02}", b"") for n in range(11)]
    path = zst_file(tmp_path, tar_of(("manifest.json", manifest_of(*files)), *files))
    assert open_archive(path).names
    assert "11 members, more than 10" in refusal(path, Limits(max_members=10))


def test_a_huge_tar_extension_is_not_read(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type = tarfile.XHDTYPE
    info.size = 8_000_000_000
    assert "too large" in refusal(zst_file(tmp_path, info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)))


@pytest.mark.parametrize(
    "extension",
    [
        b"99 path=x\n",
        b"0 path=x\n",
        b"9999999999999999999999999 a=b\n",
        b"x",
        b"12 size=123\n",
        b"13 path=\xff\xff\xff\n",
    ],
)
def test_a_broken_tar_extension_is_refused(tmp_path: Path, extension: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type = tarfile.XHDTYPE
    info.size = len(extension)
    tar = info.tobuf() + extension.ljust(512, b"\0") + tar_of(("manifest.json", manifest_of()))
    refusal(zst_file(tmp_path, tar))


def test_a_window_of_gigabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00" + bytes([(31 - 10) << 3]) + raw_block(tar_of(("a", b"")))[:2000])
    refusal(path)


def test_a_member_too_large_for_the_caller_is_not_read(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.zip", BARE, [NewMember("logs/x.log", "log", b"12345678")])
    archive = open_archive(tmp_path / "a.zip")
    with pytest.raises(NpubugError) as caught:
        archive.read("logs/x.log", limit=7)
    assert caught.value.code is ExitCode.INVALID_INPUT
    assert archive.head("logs/x.log", 3) == b"123"
    with pytest.raises(NpubugError):
        archive.read("logs/none.log")


def test_a_file_that_changes_after_it_was_checked_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.zst"
    write_archive(path, BARE, [NewMember("k", "ir", b"good")])
    archive = open_archive(path)
    write_archive(path, BARE, [NewMember("k", "ir", b"evil")])
    with pytest.raises(NpubugError) as caught:
        archive.read("k")
    assert caught.value.code is ExitCode.INVALID_INPUT
    with pytest.raises(NpubugError):
        archive.extract_to("k", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    write_archive(path, BARE, [])
    with pytest.raises(NpubugError):
        archive.read("k")


def test_a_member_is_extracted_to_where_the_caller_says(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.zip", BARE, [NewMember("ir/x", "ir", IR)])
    open_archive(tmp_path / "a.zip").extract_to("ir/x", tmp_path / "mine")
    assert (tmp_path / "mine").read_bytes() == IR


# --- damage


@cache
def intact(packed_as: Format) -> bytes:
    import tempfile  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{packed_as.value}"
        write_archive(path, MANIFEST, MEMBERS)
        return path.read_bytes()


@pytest.mark.parametrize("packed_as", Format)
def test_cut_off_anywhere_it_is_refused(tmp_path: Path, packed_as: Format) -> None:
    whole = intact(packed_as)
    path = tmp_path / "a"
    for end in {*range(0, len(whole), 37), *range(len(whole) - 24, len(whole))}:
        path.write_bytes(whole[:end])
        refusal(path)


@pytest.mark.parametrize("packed_as", [Format.TAR_ZST, Format.TAR_GZ])
def test_something_after_the_end_is_refused(tmp_path: Path, packed_as: Format) -> None:
    for extra in (b"x", b"junk" * 4096, intact(packed_as)):
        (tmp_path / "a").write_bytes(intact(packed_as) + extra)
        refusal(tmp_path / "a")


FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def opened_or_refused(path: Path) -> None:
    try:
        archive = open_archive(path)
        for name in archive.names:
            archive.read(name)
    except NpubugError as error:
        assert error.code is ExitCode.INVALID_INPUT
        assert str(error).replace("\n", "").isprintable()


@FUZZ
@given(
    st.sampled_from(Format),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=4),
)
def test_flipped_bytes_never_escape_as_another_error(
    tmp_path: Path, packed_as: Format, flips: list[tuple[float, int]]
) -> None:
    data = bytearray(intact(packed_as))
    for where, mask in flips:
        data[int(where * len(data))] ^= mask
    (tmp_path / "a").write_bytes(data)
    opened_or_refused(tmp_path / "a")


@FUZZ
@given(
    st.sampled_from([Format.TAR_ZST, Format.TAR_GZ]),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=12)), max_size=4),
)
def test_a_tar_with_anything_in_it_never_escapes_as_another_error(
    tmp_path: Path, packed_as: Format, patches: list[tuple[float, bytes]]
) -> None:
    """Flips under the compression, where its checksum does not catch them first."""
    data = bytearray(gzip.decompress(intact(Format.TAR_GZ)))
    for where, patch in patches:
        at = int(where * len(data))
        data[at : at + len(patch)] = patch
    pack = zstandard.compress if packed_as is Format.TAR_ZST else gzip.compress
    (tmp_path / "a").write_bytes(pack(bytes(data)))
    opened_or_refused(tmp_path / "a")


@FUZZ
@given(
    st.sampled_from([b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08\x00", b"PK\x03\x04", b""]), st.binary(max_size=400)
)
@example(b"PK\x03\x04", b"PK\x05\x06" + bytes(18))
def test_any_bytes_are_opened_or_refused(tmp_path: Path, magic: bytes, rest: bytes) -> None:
    (tmp_path / "a").write_bytes(magic + rest)
    opened_or_refused(tmp_path / "a")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(Format),
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}(/[a-z.]{1,8})?", fullmatch=True), st.binary(max_size=2000), max_size=6
    ),
)
def test_whatever_is_written_is_read_back(tmp_path: Path, packed_as: Format, files: dict[str, bytes]) -> None:
    path = tmp_path / f"a.{packed_as.value}"
    members = [NewMember(name, "ir", content) for name, content in files.items()]
    try:
        write_archive(path, BARE, members)
    except NpubugError as error:
        assert error.why
        return
    archive = open_archive(path)
    assert {name: archive.read(name) for name in archive.names} == files
