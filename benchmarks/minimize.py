"""Minimise every failing case, one after the other, and print a table of what it took.

    python -m benchmarks.minimize [--write README.md README.zh.md] [--jobs N]

Needs the compiler extra and the cases in ../shared/cases. Each case runs in a process of its own; seconds are the
whole process's, from the command to the written result. With --write the table replaces the one between the
markers `<!-- table: minimize -->` and `<!-- end -->` of each file.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT.parent / "shared" / "cases" / "failing"
_TABLE = re.compile(r"(<!-- table: minimize -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = """| case | ops | bytes | compiles | candidates | invalid | seconds |
| --- | --- | --- | --- | --- | --- | --- |
"""


def measure(case: Path, jobs: int | None) -> dict[str, Any]:
    """Minimise one case; the command's own JSON, with the whole process's seconds as `wall`.

    Raises:
        subprocess.CalledProcessError: it did not end well.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / case.name
        shutil.copy(case, copy)
        argv = [sys.executable, "-m", "bundler", "minimize", str(copy), "--json"]
        if jobs is not None:
            argv += ["--jobs", str(jobs)]
        start = time.monotonic()
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        answer: dict[str, Any] = json.loads(done.stdout)
        answer["wall"] = time.monotonic() - start
        return answer


def row(name: str, answer: dict[str, Any]) -> str:
    """One line of the table."""
    ops, size = answer["ops"], answer["bytes"]
    note = "" if answer["finished"] and answer["confirmed"] else " (not finished)"
    return (
        f"| {name}{note} | {ops[0]} → {ops[1]} | {size[0]} → {size[1]} | {answer['compiles']} "
        f"| {answer['candidates']} | {answer['invalid']} | {answer['wall']:.1f} |\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", nargs="*", type=Path, default=[])
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    cases = sorted(CASES.glob("*.ttadapter"))
    if not cases:
        print(f"no cases in {CASES}", file=sys.stderr)
        return 1
    table = HEAD
    print(table, end="")
    for case in cases:
        line = row(case.stem, measure(case, options.jobs))
        print(line, end="", flush=True)
        table += line
    for path in options.write:
        text, count = _TABLE.subn(lambda found: found[1] + table + found[2], path.read_text())
        if not count:
            print(f"{path} has no place for the table", file=sys.stderr)
            return 1
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
