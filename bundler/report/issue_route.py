"""Which tracker a failure belongs to: by the stage and pass it fails in, and by what the workaround showed."""

from __future__ import annotations

import re

from bundler.manifest import Manifest, SignatureRecord
from bundler.printable import printable

_INSIDE_COMPILER = ("compile", "pass", "backend")
_BEFORE_COMPILER = {
    "front-end": "triton's own front end (Python to ttir)",
    "adapter": "the adapter (ttir to ttadapter)",
    "launcher": "building triton's launcher with the host compiler, which is no NPU compiler problem",
    "runtime": "running the kernel, and nothing points at the compiler's synchronisation",
}
# Ops of the distributed dialect, or the Python package that makes them.
_DISTRIBUTED = re.compile(r"\bdistributed\.(?:wait|notify|symm_at|consume_token|get_rank|get_num_ranks)\b")
_DISTRIBUTED_PYTHON = re.compile(r"^\s*(?:from|import)\s+triton_dist\b", re.M)


def route(manifest: Manifest, ir: str = "", source: str = "") -> tuple[str, str]:
    """Return the name of the tracker that a failure belongs to, and why.

    Args:
        manifest: of the archive.
        ir: the failing input or the ttir, to see whether it uses distributed primitives.
        source: the user's script, for the same question.
    """
    signature = manifest.signature
    front = "triton-ascend"
    if _DISTRIBUTED.search(ir) or _DISTRIBUTED_PYTHON.search(source):
        front = "triton-distributed"
    if signature is None:
        return front, "no compile failed, so the compiler's own tracker is not the first address"
    if manifest.workaround is not None and manifest.workaround.verdict == "fixed":
        return "npuir", "barriers everywhere fix it, so the compiler's synchronisation is at fault"
    if signature.outcome == "invalid-input":
        return front, "the compiler could not read its input, which Triton's adapter wrote"
    if signature.stage in _INSIDE_COMPILER:
        return "npuir", f"it fails in {_place(signature)}, inside the compiler"
    where = _BEFORE_COMPILER.get(signature.stage, f"the stage {printable(signature.stage, 40)}")
    if signature.stage not in ("launcher", "runtime"):
        where = f"{where}, before the compiler"
    return front, f"it fails in {where}" if signature.stage != "runtime" else f"it fails while {where}"


def _place(signature: SignatureRecord) -> str:
    if signature.stage == "backend":
        return "the backend hivmc"
    name = signature.pass_name
    if not name:
        return f"the stage {printable(signature.stage, 40)}"
    family = next((each for each in ("hivm", "hfusion", "hacc") if name.startswith(each)), "")
    return f"the pass {printable(name, 80)}" + (f" ({family.upper()})" if family else "")
