"""What the compiler hands to its backend: the IR that all passes made, whether or not hivmc is installed.

A stand-in for `hivmc`, first on PATH, keeps its input file. Users have reported one kernel giving two binaries at
random; comparing this IR tells whether the passes are the reason, without an NPU.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from bundler.compiler.invoke import CompileCommand, compile_file

_NAMES = ("hivmc", "hivmc-a5")
# Called as `hivmc DIR/module.hivm.opt.mlir FLAGS -o OUT`, and before that as `hivmc --version`.
_STAND_IN = """#!/bin/sh
[ "$1" = --version ] && { echo "hivmc 0.0.0"; exit 0; }
cp "$1" "$NPUBUG_HANDED_OVER"
while [ $# -gt 0 ]; do [ "$1" = -o ] && : >"$2"; shift; done
"""


def handed_to_backend(command: CompileCommand, input: Path, *, timeout: float) -> bytes | None:
    """Compile `input` and return the file that the backend was given; None if it was not called.

    Raises:
        NpubugError: the tool cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="npubug-") as folder:
        for name in _NAMES:
            stand_in = Path(folder) / name
            stand_in.write_text(_STAND_IN)
            stand_in.chmod(0o700)
        kept = Path(folder) / "handed-over.mlir"
        path = os.pathsep.join((folder, os.environ.get("PATH", os.defpath)))
        env = {**os.environ, "PATH": path, "NPUBUG_HANDED_OVER": str(kept)}
        compile_file(command, input, timeout=timeout, env=env)
        return kept.read_bytes() if kept.exists() else None
