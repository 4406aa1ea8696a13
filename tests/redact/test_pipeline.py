"""Redaction of a whole archive: all members together, and files of any size."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from bundler.archive import NewMember, open_archive, write_archive
from bundler.errors import NpubugError
from bundler.manifest import Drop, Manifest
from bundler.pipeline.redaction import input_sha256, redact
from tests.archive.samples import MANIFEST, MEMBERS
from tests.places import ROOT
from tests.redact.machine import redactor as redactor_of

BARE = Manifest(name="k", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")


def contents(members: list[NewMember]) -> list[bytes]:
    return [m.content if isinstance(m.content, bytes) else m.content.read_bytes() for m in members]


def test_a_name_in_the_last_member_is_replaced_in_the_first(tmp_path: Path) -> None:
    late = tmp_path / "late.log"
    late.write_bytes(b"/home/devuser/b\n")
    members = [NewMember("a", "log", b"/scratch/devuser/a\n"), NewMember("b", "log", late)]
    _, clean = redact(BARE, members, redactor_of(), tmp_path)
    assert contents(clean) == [b"/scratch/user-1/a\n", b"/home/user-1/b\n"]
    assert late.read_bytes() == b"/home/devuser/b\n"


def test_a_name_that_only_the_manifest_gives_away_is_replaced_in_the_members(tmp_path: Path) -> None:
    said = Manifest(name="k", created=BARE.created, npubug_version="0.1.0", command=("/home/devuser/x.py",))
    manifest, clean = redact(said, [NewMember("a", "log", b"/scratch/devuser/a\n")], redactor_of(), tmp_path)
    assert contents(clean) == [b"/scratch/user-1/a\n"]
    assert manifest.command == ("/home/user-1/x.py",)
    assert manifest.redactions == (("user", 2),)
    assert manifest.redaction_level == "full"


def test_a_file_and_the_same_bytes_are_redacted_alike(tmp_path: Path) -> None:
    text = b"at /home/devuser/k.py from 10.1.2.3\n" * 5
    (tmp_path / "log").write_bytes(text)
    for content in (text, tmp_path / "log"):
        _, clean = redact(BARE, [NewMember("a", "log", content)], redactor_of(), tmp_path)
        assert contents(clean) == [b"at /home/user-1/k.py from ip-1\n" * 5]
        (tmp_path / "0").unlink(missing_ok=True)


def test_words_of_the_user_cannot_break_the_manifest(tmp_path: Path) -> None:
    words = ["2025", "1.1", "failed", "compile", "not-applicable", "0.1.0"]
    manifest, clean = redact(MANIFEST, MEMBERS, redactor_of(words=words), tmp_path)
    path = tmp_path / "a.npubug.tar.zst"
    write_archive(path, manifest, clean)
    read = open_archive(path).manifest
    assert read.created == MANIFEST.created
    assert read.signature is not None and read.signature.outcome == "failed"


def test_the_members_that_the_manifest_names_are_still_named(tmp_path: Path) -> None:
    manifest, clean = redact(MANIFEST, MEMBERS, redactor_of(words=["fold_pairs", "kernel"]), tmp_path)
    write_archive(tmp_path / "a.npubug.tar.zst", manifest, clean)
    assert open_archive(tmp_path / "a.npubug.tar.zst").manifest.drops == manifest.drops


def test_drops_are_redacted_too(tmp_path: Path) -> None:
    said = Manifest(
        name="k", created=BARE.created, npubug_version="0.1.0", drops=(Drop("/home/devuser/x", "size"),)
    )
    manifest, _ = redact(said, [], redactor_of(), tmp_path)
    assert manifest.drops == (Drop("/home/user-1/x", "size"),)


def test_the_sha256_is_of_the_input_before_redaction(tmp_path: Path) -> None:
    text = b'loc("/home/devuser/k.py":1:1)\n'
    (tmp_path / "k").write_bytes(text)
    members = [NewMember("a", "log", b"x"), NewMember("input/k", "input", tmp_path / "k")]
    assert input_sha256(members) == hashlib.sha256(text).hexdigest()
    assert input_sha256(members[:1]) is None


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(NpubugError, match=r"gone\.log"):
        redact(BARE, [NewMember("a", "log", tmp_path / "gone.log")], redactor_of(), tmp_path)


@pytest.mark.parametrize("kind", ["passes", "numbers", "private", "one line", "binary"])
def test_memory_does_not_grow_with_a_log(tmp_path: Path, kind: str) -> None:
    """48 MB stand for 2 GB (docs/redaction.md has that measurement): beyond a few slices nothing grows."""
    unit = {
        "passes": b"// IR Dump After Pass //\n" + b"    %1 = arith.addf %2, %3 : f32\n" * 400,
        "numbers": b"".join(b"[INFO] step %d loss 0.%d at %d\n" % (n * 7, n * 31, n) for n in range(9000)),
        "private": b"".join(b"peer 10.1.%d.%d has joined\n" % (n // 250, n % 250) for n in range(20000)),
        "one line": b"a word and another, " * 1000,
        "binary": b"\x00\x01\x02\x03" * 4000 + b"/home/devuser/k.py\x00",
    }[kind]
    with (tmp_path / "big.log").open("wb") as out:
        for number in range(48_000_000 // len(unit)):
            out.write(unit if kind != "numbers" else unit.replace(b"step", b"step%d" % number))
    code = """
        import sys
        from pathlib import Path
        from bundler.archive import NewMember
        from bundler.manifest import Manifest
        from bundler.pipeline.redaction import redact
        from bundler.redact import Redactor
        folder = Path(sys.argv[1])
        redactor = Redactor(environ={"API_KEY": "k3y-abcdef"}, home="", user="carol", hostname="npu-node7")
        manifest = Manifest(name="k", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")
        redact(manifest, [NewMember("logs/big.log", "log", folder / "big.log")], redactor, folder)
        status = Path("/proc/self/status").read_text()  # getrusage would count the parent's memory too
        print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    for path in tmp_path.iterdir():
        path.unlink()
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 150, f"{done.stdout} MB"
