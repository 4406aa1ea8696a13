"""The environment variables that change what Triton-Ascend, the compiler or the NPU run time do.

Facts `env.NAME`, one for each variable that is set. Values are redacted later, like everything; a variable
whose name says that it holds a secret is named but its value is never taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bundler.evidence.context import Context, Source
from bundler.manifest import Fact

_PREFIXES = (
    "TRITON_", "ASCEND_", "NPU", "TORCHINDUCTOR_", "TORCH_NPU_", "HCCL_", "ACL_", "BISHENG", "FLAGTREE_",
)  # fmt: skip
_NAMES = frozenset(
    (
        "MLIR_ENABLE_DUMP", "LLVM_IR_ENABLE_DUMP", "LLVM_DEBUG_ONLY", "MLIR_ENABLE_TIMING",
        "LLVM_ENABLE_TIMING", "ENABLE_PRINT_UB_BITS", "USE_IR_LOC", "DISABLE_LLVM_OPT", "TASK_QUEUE_ENABLE",
        "INF_NAN_MODE_ENABLE", "PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "OMP_NUM_THREADS",
        "CUDA_VISIBLE_DEVICES", "LOCAL_RANK", "RANK", "WORLD_SIZE", "LANG", "LC_ALL", "CC", "CXX",
    )
)  # fmt: skip
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|(?:^|_)KEY$|API_?KEY", re.IGNORECASE)


def is_worth_recording(name: str) -> bool:
    """Whether this variable can matter to a compile or a kernel."""
    return name in _NAMES or name.startswith(_PREFIXES)


def _collect(context: Context) -> Iterable[Fact]:
    for name in sorted(context.environ):
        if is_worth_recording(name):
            if _SECRET.search(name):
                yield Fact(f"env.{name}", None, "environment", "not recorded: its name says secret")
            else:
                yield Fact(f"env.{name}", context.environ[name], "environment")


SOURCE = Source("environment", (), _collect)
