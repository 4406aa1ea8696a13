"""Run the npubug command as a person does: a process of its own, with the real compiler on PATH."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.places import compiler_folder

# Calls the compiler the way triton-ascend does: a temporary folder, an argv list, captured output, check=True.
TRITON_LIKE = """
import os, pathlib, subprocess, sys, tempfile
print("before")
text = pathlib.Path(sys.argv[1]).read_text()
cache = pathlib.Path(os.environ["TRITON_CACHE_DIR"], "A1B2C3")
cache.mkdir(parents=True)
(cache / "cumsum.ttadapter").write_text(text)
(cache / "cumsum.ttir").write_text("// the ttir of this kernel")
with tempfile.TemporaryDirectory() as folder:
    source = os.path.join(folder, "kernel.ttadapter.mlir")
    pathlib.Path(source).write_text(text)
    subprocess.run(
        ["bishengir-compile", source, "--target=Ascend910B3", "--enable-auto-multi-buffer=True",
         "--enable-auto-bind-sub-block=True", "--enable-hfusion-compile=true", "--enable-hivm-compile=true",
         "--enable-triton-kernel-compile=true", "-o", os.path.join(folder, "kernel")],
        capture_output=True, check=True)
"""


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


# Settings and state of whoever runs the tests are neither read nor written.
XDG = Path(tempfile.mkdtemp(prefix="npubug-tests-"))
atexit.register(shutil.rmtree, XDG, ignore_errors=True)


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{compiler_folder()}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
        "XDG_CONFIG_HOME": str(XDG / "config"),
        "XDG_STATE_HOME": str(XDG / "state"),
    }


def argv(*words: object) -> list[str]:
    return [sys.executable, "-m", "bundler", *map(str, words)]


def npubug(*words: object, cwd: Path) -> Done:
    """Run the command to its end."""
    done = subprocess.run(
        argv(*words),
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    # A user's program may print a traceback; ours never does.
    assert "bundler/" not in done.stderr and "minimizer/" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
