"""Fuzz the archive reader with bytes: `make fuzz`, or

    python -m fuzz.archive_reader [SECONDS] [options of libFuzzer]

An input's first byte says what the rest is, so that the mutations also reach what lies behind a compression, a
header's checksum or a digest: a file as it is, a tar to be compressed, or a manifest to be put into a tar with
the members it may name. Whatever it is, the reader must answer with an archive or with one error of the
documented kind.
"""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
import tempfile
from pathlib import Path

import zstandard

from bundler.archive import Limits, open_archive
from bundler.completeness import check, render_json, render_text
from bundler.errors import ExitCode, NpubugError

CORPUS = Path(__file__).resolve().parents[1] / "tests" / "archive" / "corpus"
RAW, ZSTD_TAR, GZIP_TAR, MANIFEST = b"rzgm"
FOUND = Path(tempfile.gettempdir()) / "npubug-fuzz-found"
LIMITS = Limits(max_members=200, max_manifest=1 << 18, max_total=1 << 22)
_MEMBERS = ("input/k.ttadapter", "logs/after-all.log")


def file_of(data: bytes) -> bytes:
    """The archive file that an input stands for."""
    kind, rest = data[:1], data[1:]
    if kind == bytes((ZSTD_TAR,)):
        return zstandard.ZstdCompressor(level=1).compress(rest)
    if kind == bytes((GZIP_TAR,)):
        return gzip.compress(rest, 1, mtime=0)
    if kind == bytes((MANIFEST,)):
        return zstandard.ZstdCompressor(level=1).compress(_tar_around(rest))
    return rest


def one_input(data: bytes, folder: Path) -> str:
    """Read what `data` stands for as a command would, and return what came of it.

    Raises:
        Exception: the reader is wrong: anything but an archive or an error of INVALID_INPUT.
    """
    path = folder / "fuzzed.npubug.tar.zst"
    path.write_bytes(file_of(data))
    try:
        archive = open_archive(path, LIMITS)
    except NpubugError as error:
        if error.code is not ExitCode.INVALID_INPUT or not str(error).replace("\n", "").isprintable():
            raise
        return error.why
    for name in archive.names:
        assert len(archive.read(name)) == archive.member(name).size
    judged = check(archive)
    render_json(judged)
    if not render_text(judged).replace("\n", "").isprintable():
        raise AssertionError("what the archive says reaches the terminal")
    return "read"


def _tar_around(manifest: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name, content in (("manifest.json", manifest), *((name, b"") for name in _MEMBERS)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))
    return out.getvalue()


def main() -> None:
    """Fuzz for a while, beginning with the kept corpus; an input that breaks the reader is left in `FOUND`."""
    import atheris  # type: ignore[import-not-found]  # noqa: PLC0415  (extra `fuzz`)

    seconds = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1].isdigit() else "120"
    options = [word for word in sys.argv[1:] if word != seconds]
    FOUND.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="npubug-fuzz-") as work:
        new = Path(work, "new")
        new.mkdir()
        for seed in sorted(CORPUS.iterdir()):  # loads what is loaded late, so that it is instrumented too
            one_input(seed.read_bytes(), Path(work))
        atheris.instrument_all()
        atheris.Setup(
            [
                sys.argv[0],
                f"-max_total_time={seconds}",
                "-timeout=10",
                "-rss_limit_mb=1024",
                "-max_len=65536",
                f"-artifact_prefix={FOUND}/",
                f"-dict={Path(__file__).with_name('archive.dict')}",
                *options,
                str(new),
                str(CORPUS),
            ],
            lambda data: one_input(data, Path(work)),
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
