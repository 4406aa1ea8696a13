"""From a kernel's options, as triton caches them in its json, to the command line they were compiled with.

The same order and the same spelling as triton-ascend 3.2.0's compiler.py: `linalg_to_bin_enable_npu_compile_A2_A3`,
`..._910_95`, `ttir_to_linalg` and `ttir_to_npubin`. Options that are absent or None add no flag. Some flags came
from the environment of the run, which the json does not hold; the caller's is looked at in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bundler.compiler.invoke import DEFAULT_ADAPTER_FLAGS

Metadata = Mapping[str, Any]

_BOTH, _A2_A3 = True, False
# Option, flag, and whether the 910_95 command line has it too.
_HEAD = (
    ("multibuffer", "enable-auto-multi-buffer", _BOTH),
    ("enable_auto_bind_sub_block", "enable-auto-bind-sub-block", _BOTH),
)
_TAIL = (
    ("enable_hivm_auto_cv_balance", "enable-hivm-auto-cv-balance", _BOTH),
    ("sync_solver", "enable-hivm-graph-sync-solver", _A2_A3),
    ("unit_flag", "enable-hivm-unit-flag-sync", _BOTH),
    ("inject_barrier_all", "enable-hivm-inject-barrier-all-sync", _BOTH),
    ("inject_block_all", "enable-hivm-inject-block-all-sync", _A2_A3),
    ("limit_auto_multi_buffer_only_for_local_buffer", "limit-auto-multi-buffer-only-for-local-buffer", _BOTH),
    ("set_workspace_multibuffer", "set-workspace-multibuffer", _BOTH),
    ("tile_mix_vector_loop", "tile-mix-vector-loop", _BOTH),
    ("tile_mix_cube_loop", "tile-mix-cube-loop", _BOTH),
    ("limit_auto_multi_buffer_of_local_buffer", "limit-auto-multi-buffer-of-local-buffer", _BOTH),
    ("disable_auto_inject_block_sync", "disable-auto-inject-block-sync", _A2_A3),
)
# Variable, flag, whether only the 910_95 command line has it, and what the variable is when unset.
_SWITCHES = (
    ("TRITON_DISABLE_FFTS", "--disable-ffts", True, "false", True),
    ("TRITON_ENABLE_SANITIZER", "--enable-sanitizer=true", False, "false", True),
    ("TRITON_DISABLE_LINE_INFO", "--enable-debug-info=true", False, "true", False),
    ("ENABLE_PRINT_UB_BITS", "--enable-print-memory-allocated-size", False, "false", True),
)


def target_of(metadata: Metadata) -> str | None:
    """The chip it was compiled for, `Ascend910B3`; None where the json does not say."""
    target = metadata.get("target")
    arch = target.get("arch") if isinstance(target, Mapping) else None
    return arch if isinstance(arch, str) and arch.startswith("Ascend") else None


def is_simt_only(metadata: Metadata) -> bool:
    """Whether its ttir went to the compiler itself, without the adapter."""
    return bool(metadata.get("force_simt_only"))


def is_950(metadata: Metadata) -> bool:
    """Whether it was compiled with the command line of the 910_95 generation."""
    return bool(metadata.get("compile_on_910_95"))


def compile_flags(
    metadata: Metadata, environ: Mapping[str, str], *, target: str, reg_based: bool = False
) -> tuple[str, ...]:
    """The flags of `bishengir-compile` for a ttadapter with these options.

    Args:
        metadata: the options; an empty one gives the flags that every command line has.
        environ: where the switches that triton-ascend reads from the environment are looked up.
        target: the chip.
        reg_based: the compiler's `--help` lists `--reg-based`.
    """
    if is_simt_only(metadata):
        return _simt_flags(metadata, target)
    newer = is_950(metadata)
    flags = [f"--target={target}", *_options(_HEAD, metadata, newer)]
    for variable, flag, only_newer, unset, meaning in _SWITCHES:
        is_set = environ.get(variable, unset).lower() in ("true", "1")
        if is_set is meaning and (newer or not only_newer):
            flags.append(flag)
    flags += _options(_TAIL, metadata, newer)
    if environ.get("TRITON_ALL_BLOCKS_PARALLEL", "false").lower() in ("true", "1"):
        flags.append("--enable-auto-blockify-loop")
    flags.append("--enable-hfusion-compile=true")
    if not newer:
        flags.append("--reg-based=true" if reg_based else "--enable-hivm-compile=true")
    return (*flags, "--enable-triton-kernel-compile=true")


def adapter_flags(metadata: Metadata, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The flags of `triton-adapter-opt` for a ttir with these options."""
    newer, simt = metadata.get("compile_on_910_95", False), metadata.get("force_simt_template", False)
    replaced = {
        "discrete-mask-access-conversion": f"compile-on-910-95={newer} force-simt-template={simt}",
        "triton-to-unstructure": f"compile-on-910-95={newer} force-simt-template={simt}",
        "triton-to-linalg": f"global-kernel=false named-ops=True "
        f"enable-nd2nz-on-vector={metadata.get('enable_nd2nz_on_vector', False)} "
        f"enable-select-analysis={metadata.get('enable_select_analysis', False)} compile-on-910-95={newer}",
    }
    flags = ["--triton-linearize"] if metadata.get("enable_linearize") else []
    for flag in DEFAULT_ADAPTER_FLAGS:
        name = flag.lstrip("-").partition("=")[0]
        flags.append(f"--{name}={replaced[name]}" if name in replaced else flag)
    with_lines = environ.get("TRITON_DISABLE_LINE_INFO", "true").lower() not in ("true", "1")
    sanitized = environ.get("TRITON_ENABLE_SANITIZER", "false").lower() in ("true", "1")
    return (*flags, "--mlir-print-debuginfo") if with_lines or sanitized else tuple(flags)


def _options(table: tuple[tuple[str, str, bool], ...], metadata: Metadata, newer: bool) -> list[str]:
    return [
        f"--{flag}={metadata[option]}"
        for option, flag, both in table
        if metadata.get(option) is not None and (both or not newer)
    ]


def _simt_flags(metadata: Metadata, target: str) -> tuple[str, ...]:
    return (
        f"--target={target}",
        "--enable-triton-ir-compile",
        "--pure-simt",
        f"--num-warps={metadata.get('num_warps', 4)}",
        f"--threads-per-warp={metadata.get('warp_size', 32)}",
    )
