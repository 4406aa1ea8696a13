"""Ask triton-ascend 3.2.0 itself which command lines it builds of which options; prints JSON (see README.md)."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
import types
from unittest import mock

from triton.backends.ascend import compiler
from triton.backends.compiler import GPUTarget

TTADAPTER = 'func.func @k() attributes {a = "b", mix_mode = "aiv", parallel_mode = "simd"} {}'
TTIR = "tt.func public @k() {}"
EVERYTHING = {
    "multibuffer": True,
    "enable_hivm_auto_cv_balance": True,
    "sync_solver": True,
    "unit_flag": False,
    "inject_barrier_all": True,
    "inject_block_all": False,
    "limit_auto_multi_buffer_only_for_local_buffer": True,
    "limit_auto_multi_buffer_of_local_buffer": "no-l0c",
    "set_workspace_multibuffer": 2,
    "tile_mix_vector_loop": 4,
    "tile_mix_cube_loop": 8,
    "disable_auto_inject_block_sync": True,
}
SWITCHES = {
    "TRITON_ENABLE_SANITIZER": "1",
    "TRITON_DISABLE_LINE_INFO": "0",
    "ENABLE_PRINT_UB_BITS": "true",
    "TRITON_ALL_BLOCKS_PARALLEL": "1",
    "TRITON_DISABLE_FFTS": "1",
}
NEWER = {"compile_on_910_95": True, "unit_flag": True, "inject_barrier_all": False, "tile_mix_cube_loop": 2}
ADAPTER = {
    "enable_linearize": True,
    "enable_nd2nz_on_vector": True,
    "force_simt_template": True,
    "enable_select_analysis": True,
}
CASES = [
    ({}, {}),
    ({"multibuffer": False, "enable_auto_bind_sub_block": None}, {}),
    (EVERYTHING, {}),
    ({}, SWITCHES),
    (NEWER, {"TRITON_DISABLE_FFTS": "1"}),
    (ADAPTER, {}),
    ({"compile_mode": "simt_only", "num_warps": 8}, {}),
]


class Stop(Exception):
    """Raised in the compiler's place."""


def flags_of(function, *arguments, **options):
    """The argv that `function` builds, without tool, input and output."""
    seen = []

    def refuse(argv, **_):
        seen.extend(argv)
        raise Stop

    with mock.patch.object(compiler.subprocess, "run", refuse), contextlib.suppress(Stop):
        function(*arguments, **options)
    at = seen.index("-o")
    return seen[2:at] + seen[at + 2 :]


def lines_of(options, environ):
    """One case, as it goes into the file."""
    opt = compiler.NPUOptions(**options)
    fields = {field.name: getattr(opt, field.name) for field in dataclasses.fields(opt)}
    metadata = {"hash": "0" * 64, "target": GPUTarget("npu", "Ascend910B3", 0), **fields}
    cached = json.loads(json.dumps(metadata, default=vars))
    flags = {}
    with mock.patch.dict(os.environ, environ):
        if opt.force_simt_only:
            flags["bishengir-compile"] = flags_of(compiler.ttir_to_npubin, TTIR, dict(metadata), opt)
        else:
            lower = (
                compiler.linalg_to_bin_enable_npu_compile_910_95
                if opt.compile_on_910_95
                else compiler.linalg_to_bin_enable_npu_compile_A2_A3
            )
            flags["triton-adapter-opt"] = flags_of(
                compiler.ttir_to_linalg, "x", dict(metadata), opt, named_ops=True
            )
            flags["bishengir-compile"] = flags_of(lower, TTADAPTER, dict(metadata), opt)
    return {"metadata": cached, "environ": environ, "flags": flags}


def main():
    """Answer for the machine, which may have no NPU and no compiler, and print."""
    stand_ins = {
        "NPUUtils": lambda: types.SimpleNamespace(get_arch=lambda: "Ascend910B3"),
        "_get_npucompiler_path": lambda: "/opt/bishengir-compile",
        "_get_triton_adapter_opt_path": lambda: "/opt/triton-adapter-opt",
        "_check_bishengir_api_change": lambda: True,
        "_check_bishengir_is_regbased": lambda: False,
    }
    with mock.patch.multiple(compiler, **stand_ins):
        json.dump([lines_of(*case) for case in CASES], sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
