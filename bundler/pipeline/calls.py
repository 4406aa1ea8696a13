"""The recorded calls as manifest records and archive members."""

from __future__ import annotations

import hashlib
from pathlib import Path

from bundler.archive import NewMember
from bundler.capture.session import Capture, CapturedCall
from bundler.compiler.diagnose import diagnose
from bundler.manifest import CallRecord, Drop
from bundler.pipeline.captured import recorded_run
from bundler.pipeline.ranks import identity_of


class CallMembers:
    """The recorded calls as manifest records and archive members, numbered in the order they were made.

    What several calls have in common, as the IR of the ranks of a distributed run, is one member.
    """

    def __init__(self, seen: Capture | None, failing: CapturedCall | None = None) -> None:
        self.records: list[CallRecord] = []
        self.members: list[NewMember] = []
        self.drops: list[Drop] = []
        self.failing_id: str | None = None
        self._stored: dict[tuple[str, str, bytes], str] = {}
        for number, call in enumerate(seen.calls if seen is not None else (), start=1):
            self._add(f"call-{number}", call, is_failing=failing is not None and call.id == failing.id)

    def _add(self, id: str, call: CapturedCall, *, is_failing: bool) -> None:
        if is_failing:
            self.failing_id = id
        diagnosis = diagnose(recorded_run(call))
        who = identity_of(dict(call.environment))
        self.records.append(
            CallRecord(
                id=id,
                tool=call.tool,
                argv=call.argv,
                cwd=call.cwd,
                returncode=call.returncode,
                seconds=round(call.seconds, 3),
                outcome=diagnosis.outcome.value,
                pid=call.pid,
                kernel=call.kernel,
                input=self._member(id, call.input, "call-input"),
                outputs=tuple(name for o in call.outputs if (name := self._member(id, o, "call-output"))),
                stdout=self._member(id, call.stdout, "call-stdout"),
                stderr=self._member(id, call.stderr, "call-stderr"),
                rank=who.rank if who is not None else None,
                local_rank=who.local_rank if who is not None else None,
                world_size=who.world_size if who is not None else None,
                device=who.device if who is not None else None,
                peak_memory=call.peak_memory,
            )
        )
        self.drops += [Drop(f"{id}: {note}", "recording limit") for note in call.notes]

    def _member(self, id: str, path: Path | None, role: str) -> str | None:
        if path is None or not path.is_file():
            return None
        name = f"calls/{id}/{path.name}"
        with path.open("rb") as file:
            digest = hashlib.sha256()
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        stored = self._stored.setdefault((role, path.suffix, digest.digest()), name)
        if stored == name:
            self.members.append(NewMember(name, role, path))
        return stored
