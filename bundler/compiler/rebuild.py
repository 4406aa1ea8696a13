"""A compile's command when nobody recorded it: rebuilt from the kernel's options, or from the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundler.compiler.invoke import DEFAULT_TARGET, DEFAULT_TARGET_A5, CompileCommand
from bundler.compiler.options import adapter_flags, compile_flags, is_950, is_simt_only, target_of
from bundler.compiler.toolchain import ADAPTER, COMPILE, find_tool, supported_flags

RECONSTRUCTED = "reconstructed: "  # how a note begins that a part of the command line was not recorded
# NPUOptions of triton-ascend 3.2.0, as far as a flag comes of them.
_DEFAULTS: dict[str, Any] = {"multibuffer": True, "enable_auto_bind_sub_block": True}

_DEFAULT = "npubug's default: nothing here tells the chip"


@dataclass(frozen=True)
class Rebuilt:
    """A command, and what a reader must know of where its flags come from, a line each.

    `target_known` is False if the chip is npubug's default, and so says nothing about the machine.
    """

    command: CompileCommand
    notes: tuple[str, ...]
    target_known: bool = True


def rebuild(
    tool: Path,
    metadata: Mapping[str, Any] | None,
    environ: Mapping[str, str],
    *,
    ttir: bool,
    nearby: Mapping[str, Any] | None = None,
) -> Rebuilt:
    """The command line that triton-ascend 3.2.0 would build.

    Args:
        tool: the compiler; the adapter for a ttir, which a kernel that is compiled as SIMT does without.
        metadata: the kernel's own options, None if they are not there.
        environ: the switches that triton-ascend reads from the environment.
        ttir: the input is a ttir.
        nearby: another kernel's options, which tell the chip.
    """
    options = metadata if metadata is not None else _DEFAULTS
    if metadata is not None:
        notes = [
            f"{RECONSTRUCTED}the flags are rebuilt from the kernel's metadata json, as triton-ascend 3.2.0 does"
        ]
    else:
        notes = [
            f"{RECONSTRUCTED}there is no metadata json (triton writes it after a compile that went well), "
            "so the flags are triton-ascend 3.2.0's defaults; options of this kernel are not known"
        ]
    known_target = True
    if ttir and not is_simt_only(options):
        flags = adapter_flags(metadata or {}, environ)
    else:
        if tool.name == ADAPTER:
            tool = find_tool(COMPILE).path
        target, source = _target(tool, options, nearby)
        known_target = source is not _DEFAULT
        notes.append(f"{RECONSTRUCTED}target {target}, {source}")
        regs = "reg-based" in supported_flags(tool)
        flags = compile_flags(options, environ, target=target, reg_based=regs)
    known, unknown = _split(tool, flags)
    if unknown:
        notes.append(f"{RECONSTRUCTED}left out, as this compiler does not know them: {' '.join(unknown)}")
    return Rebuilt(CompileCommand(tool, known), tuple(notes), known_target)


def _target(tool: Path, options: Mapping[str, Any], nearby: Mapping[str, Any] | None) -> tuple[str, str]:
    own = target_of(options)
    if own is not None:
        return own, "as the metadata json says"
    near = target_of(nearby) if nearby is not None else None
    if near is not None:
        return near, "as another kernel of this cache was compiled for"
    default = DEFAULT_TARGET_A5 if tool.name.endswith("-a5") or is_950(options) else DEFAULT_TARGET
    return default, _DEFAULT


def _split(tool: Path, flags: tuple[str, ...]) -> tuple[tuple[str, ...], list[str]]:
    supported = supported_flags(tool)
    if not supported:
        return flags, []
    known = tuple(flag for flag in flags if flag.lstrip("-").partition("=")[0] in supported)
    return known, [flag for flag in flags if flag not in known]
