"""The kernels of a cache or dump as a table or as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from bundler.capture.cache import CachedKernel
from bundler.printable import printable

JSON_VERSION = 1
_HASH = 16  # characters: enough for --hash


def render_text(kernels: Sequence[CachedKernel]) -> str:
    """A line each, in the order given: time, binary or not, hash, stages, name."""
    if not kernels:
        return "No kernel is here.\n"
    lines = [f"{'written':19}  {'binary':6}  {'hash':{_HASH}}  kernel (stages)"]
    for kernel in kernels:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(kernel.mtime))
        stages = " ".join(stage for stage, _ in kernel.paths if stage not in ("npubin", "json"))
        binary = "yes" if kernel.compiled else "none"
        hash = printable(kernel.hash, 200)[:_HASH]
        lines.append(f"{when}  {binary:6}  {hash:{_HASH}}  {printable(kernel.name, 100)} ({stages})")
    return "\n".join(lines) + "\n"


def render_json(kernels: Sequence[CachedKernel], unreadable: int) -> str:
    """`{"version": 1, "unreadable": n, "kernels": [...]}`."""
    document = {
        "version": JSON_VERSION,
        "unreadable": unreadable,
        "kernels": [
            {
                "kernel": kernel.name,
                "hash": kernel.hash,
                "folder": kernel.location,
                "stages": [stage for stage, _ in kernel.paths],
                "compiled": kernel.compiled,
                "mtime": kernel.mtime,
            }
            for kernel in kernels
        ],
    }
    return json.dumps(document, ensure_ascii=False) + "\n"
