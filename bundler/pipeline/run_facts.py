"""What a recorded run tells beyond its calls: how the kernel was launched, the ranks, the device logs, the stacks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundler.archive import NewMember
from bundler.capture.session import Capture, CapturedCall
from bundler.compiler.distribution import index
from bundler.compiler.inputs import is_bytecode
from bundler.evidence.plog import DeviceLog, device_logs, log_folder
from bundler.manifest import Launch, NamedValue, RankRecord
from bundler.pipeline.captured import judge_capture
from bundler.pipeline.ranks import identity_of, ranks_of

_MOST_IR = 64 << 20


@dataclass(frozen=True)
class RunFacts:
    """What goes into the manifest and the archive of any recorded run."""

    launch: Launch | None
    ranks: tuple[RankRecord, ...]
    notes: tuple[str, ...]
    members: tuple[NewMember, ...]


def run_facts(seen: Capture, failing: CapturedCall | None) -> RunFacts:
    """Collect them; `failing` is the call that the archive is about."""
    ranks, notes = ranks_of(seen, judge_capture(seen))
    logs = run_logs(seen)
    members = [NewMember(f"logs/plog/{log.name}", "device-log", log.text) for log in logs]
    members += list(_stacks(seen))
    if failing is not None and failing.input is not None:
        notes += tuple(communication_notes(failing.input))
    if logs:
        notes += (f"{len(logs)} device logs of the run's processes",)
    return RunFacts(launch_of(failing), ranks, notes, tuple(members))


def run_logs(seen: Capture) -> tuple[DeviceLog, ...]:
    """The device logs of a run's processes."""
    pids = {call.pid for call in seen.calls} | {process.pid for process in seen.processes}
    pids |= {exception.pid for exception in seen.exceptions}
    environments = [process.environment for process in seen.processes]
    environments += [call.environment for call in seen.calls]
    folders = {log_folder({**os.environ, **dict(environment)}) for environment in environments}
    return tuple(log for folder in sorted(folders) for log in device_logs(folder, pids, seen.started))


def launch_of(call: CapturedCall | None) -> Launch | None:
    """How a call's kernel was compiled and launched; None where nothing was to be learnt of it."""
    told = call.launch if call is not None else None
    if not told:
        return None
    return Launch(
        kernel=str(told.get("kernel", "")),
        source=str(told.get("source", "")),
        target=str(told.get("target", "")),
        grid=str(told.get("grid", "")),
        signature=_named(told.get("signature")),
        constants=_named(told.get("constants")),
        options=_named(told.get("options")),
        arguments=_named(told.get("arguments")),
    )


def communication_notes(path: Path) -> Iterator[str]:
    """A line that lists what an input does with other ranks and cores, if it does anything."""
    if path.stat().st_size > _MOST_IR or is_bytecode(path):
        return
    uses = index(path.read_bytes())
    if uses:
        yield "communication and synchronisation in the input: " + "; ".join(map(str, uses))


def _named(pairs: Any) -> tuple[NamedValue, ...]:
    return tuple(NamedValue(str(name), str(value)) for name, value in pairs or ())


def _stacks(seen: Capture) -> Iterator[NewMember]:
    for process in seen.processes:
        if process.stack:
            who = identity_of(dict(process.environment))
            rank = f"rank-{who.rank}-" if who is not None else ""
            yield NewMember(f"logs/stack-{rank}{process.pid}.txt", "stack", process.stack.encode())
