"""What the recorder costs: at the start of a Python, and for each recorded call.

Compares runs with the hook to runs without, in turns, for one interpreter (default: this one). The tool is a
stand-in that does nothing, so that the difference is the recorder's alone.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from bundler.capture import cache, session

CALLS = 60
COMPILES = f"""
import subprocess, sys, time
times = []
for _ in range({CALLS}):
    start = time.perf_counter()
    subprocess.run(["bishengir-compile", sys.argv[1], "-o", sys.argv[1] + ".out"], capture_output=True)
    times.append(time.perf_counter() - start)
times.sort()
print(times[len(times) // 2])
"""


def main() -> None:
    """Print a table of milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = dict(os.environ, PATH=f"{stand_in(folder)}{os.pathsep}{os.environ['PATH']}")
        hooked = session._prepare(folder / "work") | {"PATH": plain["PATH"]}
        for label, code in (
            ("python -c pass", "pass"),
            ("python -c 'import subprocess'", "import subprocess"),
        ):
            command = [options.python, "-c", code]
            pairs = [(seconds(command, plain), seconds(command, hooked)) for _ in range(options.runs)]
            report(label, [pair[0] for pair in pairs], [pair[1] for pair in pairs])
        source = folder / "kernel.mlir"
        for size in (2_000, 20_000, 1_000_000):
            source.write_text("x" * size)
            command = [options.python, "-c", COMPILES, str(source)]
            calls = [(inner_seconds(command, plain), inner_seconds(command, hooked)) for _ in range(3)]
            report(f"one call, input of {size:,} bytes", [c[0] for c in calls], [c[1] for c in calls])
        list_cache(folder / "cache")


def stand_in(folder: Path) -> Path:
    """A `bishengir-compile` that ends at once, as an executable that needs no shell."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "bishengir-compile").symlink_to("/bin/true")
    return tools


def seconds(command: list[str], environment: Mapping[str, str]) -> float:
    """How long a command takes."""
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True)
    return time.perf_counter() - start


def inner_seconds(command: list[str], environment: Mapping[str, str]) -> float:
    """The number that a command prints."""
    return float(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def report(label: str, plain: list[float], hooked: list[float]) -> None:
    """One line: medians without and with the recorder, and their difference."""
    without, with_it = (1000 * statistics.median(times) for times in (plain, hooked))
    print(f"{label:36} {without:8.2f} ms {with_it:8.2f} ms  recorder {with_it - without:6.2f} ms")


def list_cache(folder: Path, kernels: int = 10_000) -> None:
    """How long it takes to list a large cache."""
    for number in range(kernels):
        (folder / str(number)).mkdir(parents=True)
        for stage in ("ttir", "ttadapter"):
            (folder / str(number) / f"k.{stage}").write_bytes(b"x")
    start = time.perf_counter()
    found = len(cache.find(folder))
    print(f"{f'listing {found:,} cached kernels':36} {1000 * (time.perf_counter() - start):8.0f} ms")


if __name__ == "__main__":
    main()
