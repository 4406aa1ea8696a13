"""Ask triton-ascend 3.2.0 itself which command lines it builds from which options (see README beside the output)."""

import dataclasses, json, os, subprocess, sys, types
from triton.backends.ascend import compiler as c
from triton.backends.compiler import GPUTarget

TEXT = 'func.func @k() attributes {a = "b", mix_mode = "aiv", parallel_mode = "simd"} {}'
g = c.__dict__
g["NPUUtils"] = lambda: types.SimpleNamespace(get_arch=lambda: "Ascend910B3")
g["_get_npucompiler_path"] = lambda: "/opt/bishengir-compile"
g["_get_triton_adapter_opt_path"] = lambda: "/opt/triton-adapter-opt"
g["_check_bishengir_api_change"] = lambda: True
g["_check_bishengir_is_regbased"] = lambda: False


class Stop(Exception):
    pass


seen = []


def fake(argv, **k):
    seen.append(argv)
    raise Stop


real = subprocess.run
CASES = [
    ({}, {}),
    ({"multibuffer": False, "enable_auto_bind_sub_block": None}, {}),
    (
        {
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
        },
        {},
    ),
    (
        {},
        {
            "TRITON_ENABLE_SANITIZER": "1",
            "TRITON_DISABLE_LINE_INFO": "0",
            "ENABLE_PRINT_UB_BITS": "true",
            "TRITON_ALL_BLOCKS_PARALLEL": "1",
            "TRITON_DISABLE_FFTS": "1",
        },
    ),
    (
        {"compile_on_910_95": True, "unit_flag": True, "inject_barrier_all": False, "tile_mix_cube_loop": 2},
        {"TRITON_DISABLE_FFTS": "1"},
    ),
    (
        {
            "enable_linearize": True,
            "enable_nd2nz_on_vector": True,
            "force_simt_template": True,
            "enable_select_analysis": True,
        },
        {},
    ),
    ({"compile_mode": "simt_only", "num_warps": 8}, {}),
]
out = []
for options, env in CASES:
    opt = c.NPUOptions(**options)
    md = {
        "hash": "0" * 64,
        "target": GPUTarget("npu", "Ascend910B3", 0),
        **{f.name: getattr(opt, f.name) for f in dataclasses.fields(opt)},
    }
    md_json = json.loads(json.dumps(md, default=lambda o: vars(o)))
    old = dict(os.environ)
    os.environ.update(env)
    c.subprocess.run = fake
    lines = {}

    def call(name, fn, *a, **k):
        seen.clear()
        try:
            fn(*a, **k)
        except Stop:
            pass
        lines[name] = [w for w in seen[0][2:-2] if True]
        tail = seen[0]
        i = tail.index("-o")
        lines[name] = tail[2:i] + tail[i + 2 :]

    if opt.force_simt_only:
        call("bishengir-compile", c.ttir_to_npubin, "tt.func public @k() {}", dict(md), opt)
    else:
        call("triton-adapter-opt", c.ttir_to_linalg, "x", dict(md), opt, named_ops=True)
        fn = (
            c.linalg_to_bin_enable_npu_compile_910_95
            if opt.compile_on_910_95
            else c.linalg_to_bin_enable_npu_compile_A2_A3
        )
        call("bishengir-compile", fn, TEXT, dict(md), opt)
    c.subprocess.run = real
    os.environ.clear()
    os.environ.update(old)
    out.append({"metadata": md_json, "environ": env, "flags": lines})
json.dump(out, sys.stdout, indent=1)
print()
