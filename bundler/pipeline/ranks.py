"""The ranks of a distributed run: who made which call, how each one ended, and where they differ.

Who a process is, its launcher says in its environment: torchrun, Open MPI, MPICH and its kin, Slurm. All ranks
record into one folder, each call on its own, so what one rank wrote is there whatever became of the others.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bundler.capture.session import Capture, CapturedCall, CapturedException, CapturedProcess
from bundler.compiler.invoke import command_of
from bundler.compiler.outcome import Diagnosis
from bundler.manifest import RankRecord

_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_LOCAL_RANK = (
    *("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_LOCAL_RANK", "MPI_LOCALRANKID"),
    "SLURM_LOCALID",
)
_WORLD_SIZE = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
_LOCAL_SIZE = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
_MOST_RANKS = 4096
_LONGEST_NOTE = 200


@dataclass(frozen=True)
class Identity:
    """Who a process of a distributed run is. `device` as it was given one; None if it was not."""

    rank: int
    local_rank: int | None = None
    world_size: int | None = None
    device: str | None = None


def identity_of(environment: Mapping[str, str]) -> Identity | None:
    """The rank that an environment makes its process, or None if it is not part of a distributed run."""
    local_rank = _number(environment, _LOCAL_RANK)
    rank = _number(environment, _RANK)
    rank = local_rank if rank is None else rank
    size = _number(environment, _WORLD_SIZE)
    if rank is None or ("SLURM_PROCID" in environment and size in (None, 1)):
        return None  # any job of Slurm has a number, a single one too
    return Identity(rank, local_rank, size, _device(environment, local_rank))


def ranks_of(
    seen: Capture, judged: Sequence[tuple[CapturedCall, Diagnosis]]
) -> tuple[tuple[RankRecord, ...], tuple[str, ...]]:
    """The ranks of a run, and what a reader should know of them, a line each; nothing for a run without ranks."""
    who: dict[int, Identity] = {}
    processes: dict[int, list[CapturedProcess]] = defaultdict(list)
    calls: dict[int, list[tuple[CapturedCall, Diagnosis]]] = defaultdict(list)
    for process in seen.processes:
        identity = identity_of(dict(process.environment))
        if identity is not None:
            who.setdefault(identity.rank, identity)
            processes[identity.rank].append(process)
    for call, diagnosis in judged:
        identity = identity_of(dict(call.environment))
        if identity is not None:
            who.setdefault(identity.rank, identity)
            calls[identity.rank].append((call, diagnosis))
    if not who:
        return (), ()
    exceptions = {exception.pid: exception for exception in seen.exceptions}
    records = [
        _record(who[rank], processes[rank], calls[rank], exceptions, seen.timed_out) for rank in sorted(who)
    ]
    records += [RankRecord(rank, "no-call", note=_UNSEEN) for rank in _missing(who, seen)]
    records.sort(key=lambda record: record.rank)
    notes = [*_ends(records), *_differences(calls)]
    return tuple(records), tuple(notes)


_UNSEEN = "nothing of it was recorded: it never started Python, or runs on another machine"


def _record(
    who: Identity,
    processes: Sequence[CapturedProcess],
    calls: Sequence[tuple[CapturedCall, Diagnosis]],
    exceptions: Mapping[int, CapturedException],
    timed_out: bool,
) -> RankRecord:
    # A rank starts helpers, which come after it; the process that was there first is the rank itself.
    main = min(processes, key=lambda process: process.started, default=None)
    pids = {call.pid for call, _ in calls} | ({main.pid} if main is not None else set())
    raised = sorted((exceptions[pid] for pid in pids if pid in exceptions), key=lambda each: each.time)
    failed = [diagnosis for call, diagnosis in calls if call.finished and diagnosis.outcome.is_bug]
    if raised:
        ended, note = "failed", f"{raised[0].type}: {(raised[0].message.splitlines() or [''])[0]}"
    elif main is not None and main.ended is False:
        ended = "hung" if timed_out else "killed"
        note = _where(main.stack) if timed_out else "it ended by a signal, or without running exit functions"
    elif failed:
        ended, note = "failed", f"a compile: {failed[-1].kind}"
    elif main is not None and main.ended:
        ended, note = "finished", "" if calls else "it compiled nothing: a cache may have had the kernel"
    else:
        ended, note = "unknown", "its process was forked: its end cannot be seen"
    return RankRecord(
        rank=who.rank,
        ended=ended,
        local_rank=who.local_rank,
        world_size=who.world_size,
        device=who.device,
        calls=len(calls),
        note=note[:_LONGEST_NOTE],
    )


def _where(stack: str) -> str:
    """The innermost line of the thread that was asked, which is listed last."""
    lines = [line.strip() for line in stack.splitlines()]
    starts = [index for index, line in enumerate(lines) if line.endswith("(most recent call first):")]
    inner = lines[starts[-1] + 1 : starts[-1] + 2] if starts else []
    return f"it stood at {inner[0]}" if inner else "it stood somewhere that it could not tell"


def _missing(who: Mapping[int, Identity], seen: Capture) -> Iterator[int]:
    sizes = [identity.world_size for identity in who.values() if identity.world_size is not None]
    size = max(sizes, default=0)
    environments = [process.environment for process in seen.processes]
    environments += [call.environment for call in seen.calls]
    local = [_number(dict(environment), _LOCAL_SIZE) or size for environment in environments]
    if size <= min(_MOST_RANKS, max(local, default=0)):  # otherwise some of them run on other machines
        yield from (rank for rank in range(size) if rank not in who)


def _ends(records: Sequence[RankRecord]) -> Iterator[str]:
    groups: dict[str, list[int]] = defaultdict(list)
    for record in records:
        groups[record.ended].append(record.rank)
    told = "; ".join(f"{ended}: {_listed(ranks)}" for ended, ranks in groups.items())
    yield f"distributed run of {len(records)} ranks; {told}"


def _differences(calls: Mapping[int, Sequence[tuple[CapturedCall, Diagnosis]]]) -> Iterator[str]:
    """Where ranks gave a compiler different IR or flags for a kernel of the same name."""
    inputs: dict[tuple[str, str], dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    flags: dict[tuple[str, str], dict[int, set[tuple[str, ...]]]] = defaultdict(lambda: defaultdict(set))
    for rank, made in calls.items():
        for call, _ in made:
            if call.input is not None and call.kernel is not None:
                key = (call.kernel, call.tool)
                inputs[key][rank].add(_sha256(call.input))
                flags[key][rank].add(command_of(call.argv)[0].flags)
    for what, found in (("IR", inputs), ("flags", flags)):
        for (kernel, tool), by_rank in found.items():
            groups: dict[frozenset[object], list[int]] = defaultdict(list)
            for rank, values in by_rank.items():
                groups[frozenset(values)].append(rank)
            if len(groups) > 1:
                told = " / ".join(_listed(ranks) for ranks in sorted(map(sorted, groups.values())))
                yield f"{kernel}: ranks differ in the {what} given to {tool}: {told}"


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _listed(ranks: Sequence[int]) -> str:
    """`0-3, 5`."""
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and rank == parts[-1][-1] + 1:
            parts[-1].append(rank)
        else:
            parts.append([rank])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts)


def _number(environment: Mapping[str, str], names: Sequence[str]) -> int | None:
    values = (environment.get(name, "") for name in names)
    return next((int(v) for v in values if v.isascii() and v.isdecimal() and len(v) < 10), None)


def _device(environment: Mapping[str, str], local_rank: int | None) -> str | None:
    """The device's number; of several that are visible, the one that a rank of this number takes."""
    if environment.get("ASCEND_DEVICE_ID"):
        return environment["ASCEND_DEVICE_ID"]
    visible = [each.strip() for each in environment.get("ASCEND_RT_VISIBLE_DEVICES", "").split(",")]
    if local_rank is not None and len(visible) > 1 and local_rank < len(visible):
        return visible[local_rank]
    return ",".join(visible) or None
