"""Runs inside the user's Python: what is installed there, read from package metadata, nothing imported.

Only the standard library, Python 3.8 and later, and no project import: its text is given to `python -c`. It
prints one line of JSON after a mark, since a user's sitecustomize may print too.
"""

from __future__ import annotations

import contextlib
import json
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote

MARK = "npubug-probe:"
PACKAGES = (
    "triton-ascend", "triton", "torch", "torch_npu", "flagtree", "ascendnpu-ir", "vllm-ascend", "vllm",
    "sglang", "numpy", "pybind11",
)  # fmt: skip
# Files that both community triton and triton-ascend install; their sizes tell whose copy is there.
SHARED = (
    "triton/__init__.py",
    "triton/compiler/compiler.py",
    "triton/runtime/jit.py",
    "triton/_C/libtriton.so",
)
# How compiler.py of triton-ascend's backend names the stages, by generation.
STAGES = ("ttadapter", "mlirbc", "bcmlir", "npubin")


def package(name: str) -> dict[str, Any] | None:
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return from_conda(name)
    answer: dict[str, Any] = {"version": found.version, "folder": str(found.locate_file(""))}
    answer["by"] = "package metadata"
    try:
        direct = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        direct = {}
    if direct.get("dir_info", {}).get("editable") and str(direct.get("url", "")).startswith("file://"):
        answer["editable"] = unquote(direct["url"][len("file://") :])
    if name in ("triton", "triton-ascend"):
        answer["matching"] = matching(found)
    return answer


def matching(found: metadata.Distribution) -> int:
    """How many of the shared files have the size that this package's RECORD says."""
    count = 0
    for path in found.files or ():
        if str(path) in SHARED and path.size is not None:
            with contextlib.suppress(OSError):
                count += Path(str(path.locate())).stat().st_size == path.size
    return count


def from_conda(name: str) -> dict[str, Any] | None:
    """Packages that conda installed without Python metadata: conda-meta/<name>-<version>-<build>.json."""
    for candidate in sorted({name, name.replace("_", "-")}):
        for path in Path(sys.prefix, "conda-meta").glob(candidate + "-*.json"):
            base = path.stem.rsplit("-", 2)
            if len(base) == 3 and base[0] == candidate:
                return {"version": base[1], "folder": sys.prefix, "by": "conda-meta"}
    return None


def backend() -> dict[str, Any] | None:
    """Triton's Ascend backend as it lies on sys.path: its folder, and the stages its compiler.py names."""
    for folder in sys.path:
        path = Path(folder, "triton", "backends", "ascend", "compiler.py")
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            return {"folder": str(path.parent), "stages": [word for word in STAGES if word in text]}
    return None


def main() -> None:
    sys.path[:] = [entry for entry in sys.path if entry]  # "" is there only because of -c
    environment = "system"
    if Path(sys.prefix, "conda-meta").is_dir():
        environment = "conda at " + sys.prefix
    elif sys.prefix != sys.base_prefix:
        environment = "virtualenv at " + sys.prefix
    report = {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "environment": environment,
        "packages": {name: package(name) for name in PACKAGES},
        "backend": backend(),
    }
    print("\n" + MARK + json.dumps(report))


if __name__ == "__main__":
    main()
