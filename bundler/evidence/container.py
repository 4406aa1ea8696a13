"""Container and cgroup limits: is this a container, and how much of the machine may it use?

Marks: `/.dockerenv` (Docker), `/run/.containerenv` (Podman), `$container` (systemd-nspawn, LXC, Podman),
`$KUBERNETES_SERVICE_HOST`, and the cgroup path of process 1. Limits: cgroup v2 `memory.max` and `cpu.max`, or
v1 `memory.limit_in_bytes` and `cpu.cfs_quota_us`; the smallest from our own group up to the root counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from bundler.evidence.context import Context, Source, read_text
from bundler.manifest import Fact

_CGROUP_WORDS = ("docker", "kubepods", "containerd", "libpod", "lxc")
_V1_UNLIMITED = 1 << 60  # v1 says "no limit" by a number near 2**63


def container_kind(context: Context) -> tuple[str | None, str]:
    """The kind of container and what told; (None, "") outside of one."""
    if context.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes", "KUBERNETES_SERVICE_HOST"
    for mark, kind in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        if context.at(mark).exists():
            return kind, mark
    if context.environ.get("container"):
        return context.environ["container"], "$container"
    first = read_text(context.at("/proc/1/cgroup")) or ""
    for word in _CGROUP_WORDS:
        if word in first:
            return word, "/proc/1/cgroup"
    return None, ""


def memory_limit(context: Context) -> tuple[int | None, str]:
    """Bytes this process may use by its cgroup, and the file that says so."""
    best: tuple[int | None, str] = (None, "")
    for folder in _groups(context, "memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            text = (read_text(folder / name) or "").strip()
            if text.isdigit() and int(text) < _V1_UNLIMITED and (best[0] is None or int(text) < best[0]):
                best = (int(text), _shown(context, folder / name))
    return best


def cpu_limit(context: Context) -> tuple[float | None, str]:
    """CPUs this process may use by its cgroup quota, and the file that says so."""
    best: tuple[float | None, str] = (None, "")
    for folder in _groups(context, "cpu"):
        v2 = (read_text(folder / "cpu.max") or "").split()
        v1 = [(read_text(folder / name) or "").strip() for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")]
        for words, name in ((v2, "cpu.max"), (v1, "cpu.cfs_quota_us")):
            if len(words) == 2 and all(word.isdigit() for word in words) and int(words[1]):
                cpus = int(words[0]) / int(words[1])
                if best[0] is None or cpus < best[0]:
                    best = (cpus, _shown(context, folder / name))
    return best


def _collect(context: Context) -> Iterable[Fact]:
    kind, told_by = container_kind(context)
    yield Fact("container.kind", kind or "none", told_by or "no mark of a container")
    memory, memory_file = memory_limit(context)
    yield Fact("container.memory", gib(memory) if memory is not None else "no limit", memory_file or "cgroup")
    cpus, cpu_file = cpu_limit(context)
    yield Fact("container.cpus", f"{cpus:g}" if cpus is not None else "no limit", cpu_file or "cgroup")


SOURCE = Source("cgroup", ("container.kind", "container.memory", "container.cpus"), _collect)


def gib(size: int) -> str:
    """Bytes for people."""
    return f"{size / (1 << 30):.1f} GiB"


def _groups(context: Context, controller: str) -> Iterator[Path]:
    """The folders of our own cgroup and its parents; inside a container that may be just the root."""
    base = context.at("/sys/fs/cgroup")
    for line in (read_text(context.at("/proc/self/cgroup")) or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        top = base / controller if controllers else base
        folder = top / path.strip("/")
        while folder != top and top in folder.parents:
            yield folder
            folder = folder.parent
    yield base
    yield base / controller


def _shown(context: Context, path: Path) -> str:
    """The path as the machine knows it, without the test's root."""
    try:
        return "/" + str(path.relative_to(context.root))
    except ValueError:
        return str(path)
