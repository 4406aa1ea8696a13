"""How small an archive makes a print-ir-after-all log, against plain zstd and gzip.

    python -m benchmarks.compression [CASE ...]

Needs the compiler extra and the cases in ../shared/cases. Prints the table of docs/archive.md.
"""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
from pathlib import Path

import zstandard

from bundler.archive.zstd import compressor
from bundler.compiler.invoke import AFTER_ALL_FLAG, compile_file, default_command

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases" / "failing"
DEFAULT = ("reshape_128", "attn_64_256_128", "mlp_256_256_128_4")


def log_of(case: Path) -> bytes:
    """The log of compiling `case` with the IR printed after every pass."""
    with tempfile.TemporaryDirectory():
        run = compile_file(default_command(case, None, None).with_flags(AFTER_ALL_FLAG), case, timeout=600)
    return run.stderr.encode()


def ours(data: bytes) -> int:
    """Bytes with the archive's own parameters."""
    out = io.BytesIO()
    with compressor(out) as stream:
        stream.write(data)
    return len(out.getvalue())


def main() -> int:
    print("| log of | size | gzip -9 | zstd -3 | zstd -19 | archive |\n| --- | --- | --- | --- | --- | --- |")
    for name in sys.argv[1:] or DEFAULT:
        data = log_of(CASES / f"{name}.ttadapter")
        sizes = (
            len(data),
            len(gzip.compress(data, 9)),
            len(zstandard.ZstdCompressor(level=3).compress(data)),
            len(zstandard.ZstdCompressor(level=19).compress(data)),
            ours(data),
        )
        print(f"| {name} | " + " | ".join(f"{size / 1000:.1f} kB" for size in sizes) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
