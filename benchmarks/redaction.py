"""How fast and in how much memory a large log is redacted and packed (docs/redaction.md has the numbers).

    python -m benchmarks.redaction [MEGABYTES]

The log is what a compiler prints after every pass, with a home path, an address and a token every few hundred
lines, and lines of progress whose numbers all differ.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from pathlib import Path

from bundler.archive import NewMember, write_archive
from bundler.manifest import Manifest
from bundler.pipeline.redaction import redact
from bundler.redact import Redactor


def main(megabytes: int) -> None:
    """Make a log, redact it, pack it, and print what each step took."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "big.log"
        _write(log, megabytes)
        member = NewMember("logs/big.log", "log", log)
        manifest = Manifest(name="k", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")
        start = time.process_time()
        manifest, members = redact(manifest, [member], Redactor(), Path(folder))
        _report("redact", megabytes, time.process_time() - start)
        start = time.process_time()
        path = Path(folder) / "big.npubug.tar.zst"
        write_archive(path, manifest, members)
        _report("pack", megabytes, time.process_time() - start)
        print(f"{path.stat().st_size / 1e6:.1f} MB packed; replaced: {dict(manifest.redactions)}")


def _write(log: Path, megabytes: int) -> None:
    module = b"".join(b"    %%%d = arith.addf %%%d, %%arg%d : f32\n" % (n + 1, n, n % 7) for n in range(300))
    with log.open("wb") as out:
        size = number = 0
        while size < megabytes * 1_000_000:
            number += 1
            token = hashlib.sha256(b"%d" % (number % 300)).hexdigest()[:36]
            parts = (
                b"// -----// IR Dump After Pass%d (some-pass) //----- //\n" % number,
                module,
                b'loc("/home/carol/work/k%d.py":1:2) peer 10.2.3.%d ghp_%s\n'
                % (number % 50, number % 200, token.encode()),
                b"".join(b"[INFO] step %d loss 0.%d\n" % (number * 100 + n, n * 7919) for n in range(100)),
            )
            size += out.write(b"".join(parts))


def _report(step: str, megabytes: int, seconds: float) -> None:
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) // 1024
    print(
        f"{step}: {seconds:.1f} s, {megabytes / seconds:.0f} MB/s, peak memory so far {peak} MB", flush=True
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
