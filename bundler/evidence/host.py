"""The machine: operating system, kernel, C library, processor, memory, room on the disks.

`/etc/os-release` is read by `distro`; the C library's version comes from `confstr`, which asks the library
that is really loaded; the processor's name from `/proc/cpuinfo` (`model name` on x86-64; aarch64 has only
numbers there, so its implementer and part are given).
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import distro
import psutil

from bundler.evidence.container import gib
from bundler.evidence.context import Context, Source, read_text
from bundler.manifest import Fact

# Linux arch/arm64 MIDR values that one meets beside Ascend cards.
_ARM_PARTS = {"0x48/0xd01": "HiSilicon Kunpeng 920", "0x48/0xd02": "HiSilicon Kunpeng 920B"}


def _system(context: Context) -> Iterable[Fact]:
    yield _distribution(context)
    yield Fact("os.kernel", f"{platform.system()} {platform.release()}", "uname")
    yield Fact("os.arch", platform.machine(), "uname")
    yield _libc()


def _hardware(context: Context) -> Iterable[Fact]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    info = read_text(context.at("/proc/cpuinfo")) or ""
    model = cpu_model(info)
    count = f"{cores} of {os.cpu_count()} CPUs usable"
    yield Fact("cpu.model", model, "/proc/cpuinfo", "" if model else "/proc/cpuinfo does not name it")
    yield Fact("cpu.count", count, "sched_getaffinity")
    memory = psutil.virtual_memory()
    yield Fact("memory.total", gib(memory.total), "psutil")
    yield Fact("memory.available", gib(memory.available), "psutil")


def _disks(context: Context) -> Iterable[Fact]:
    cache = context.environ.get("TRITON_CACHE_DIR")
    if cache is None and context.home is not None:
        cache = str(context.home / ".triton" / "cache")
    yield _free("disk.cache", Path(cache) if cache else None)
    yield _free("disk.temporary", Path(context.environ.get("TMPDIR") or tempfile.gettempdir()))


SYSTEM = Source("uname", ("os.name", "os.kernel", "os.arch", "os.libc"), _system)
HARDWARE = Source("psutil", ("cpu.model", "cpu.count", "memory.total", "memory.available"), _hardware)
DISKS = Source("statvfs", ("disk.cache", "disk.temporary"), _disks)


def cpu_model(cpuinfo: str) -> str | None:
    """The processor's name from the text of `/proc/cpuinfo`."""
    fields: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    if fields.get("model name"):
        return fields["model name"]
    if "CPU implementer" in fields and "CPU part" in fields:
        part = f"{fields['CPU implementer']}/{fields['CPU part']}"
        return _ARM_PARTS.get(part, f"ARM implementer/part {part}")
    return None


def _distribution(context: Context) -> Fact:
    # A fake root must not be answered with this machine's lsb_release.
    here = distro.LinuxDistribution(
        include_lsb=False, include_uname=False, include_oslevel=False, root_dir=str(context.root)
    )
    name = here.name(pretty=True)
    if not name:
        return Fact("os.name", None, "/etc/os-release", "no /etc/os-release or it names no distribution")
    return Fact("os.name", name, "/etc/os-release")


def _libc() -> Fact:
    try:
        value = os.confstr("CS_GNU_LIBC_VERSION")
    except (OSError, ValueError):
        value = None
    if value:
        return Fact("os.libc", value, "confstr")
    guess = " ".join(platform.libc_ver()).strip()
    return Fact("os.libc", guess or None, "platform", "" if guess else "not glibc (musl?)")


def _free(name: str, folder: Path | None) -> Fact:
    if folder is None:
        return Fact(name, None, "statvfs", "no cache folder: HOME is not set")
    # The folder itself may not be there yet; its nearest parent is on the same disk.
    place = next((p for p in (folder, *folder.parents) if p.exists()), Path("/"))
    try:
        usage = shutil.disk_usage(place)
    except OSError as error:
        return Fact(name, None, "statvfs", f"{folder}: {error.strerror}")
    return Fact(name, f"{gib(usage.free)} free of {gib(usage.total)} at {folder}", "statvfs")
