"""What the compiler hands to its closed backend, without having the backend.

`bishengir-compile` runs `hivmc DIR/module.hivm.opt.mlir --... -o OUT`; a stand-in of that name on PATH
keeps the file. So the compiler's own output can be compared, between runs and versions, on any x86_64
machine.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from bundler.compiler.invoke import CompileCommand
from bundler.process import run

# Its own path tells the stand-in where to put the copy: the compiler passes no variables on its own.
_STAND_IN = """#!/bin/sh
if [ "$1" = --version ]; then
    echo "hivmc 0.1.0 (0000000 2025-01-01)"
    exit 0
fi
cp "$1" "$(dirname "$0")/handed-over"
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then
        : > "$2"
        : > "$2.o"
    fi
    shift
done
"""


def ir_for_backend(command: CompileCommand, input: Path, *, timeout: float) -> bytes | None:
    """The IR that `command` hands to its backend for `input`; None if the compile does not get that far.

    Raises:
        OSError: the tool cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        folder = Path(scratch)
        for name in ("hivmc", "hivmc-a5"):
            stand_in = folder / name
            stand_in.write_text(_STAND_IN)
            stand_in.chmod(0o755)
        environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
        argv = command.argv(input.resolve(), folder / "kernel")
        run(argv, timeout=timeout, cwd=folder, env=environment)
        kept = folder / "handed-over"
        return kept.read_bytes() if kept.exists() else None
