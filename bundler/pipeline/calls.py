"""The recorded calls as manifest records and archive members."""

from __future__ import annotations

from pathlib import Path

from bundler.archive import NewMember
from bundler.capture.session import Capture, CapturedCall
from bundler.compiler.diagnose import diagnose
from bundler.manifest import CallRecord, Drop
from bundler.pipeline.captured import recorded_run


class CallMembers:
    """The recorded calls as manifest records and archive members, numbered in the order they were made."""

    def __init__(self, seen: Capture | None, failing: CapturedCall | None = None) -> None:
        self.records: list[CallRecord] = []
        self.members: list[NewMember] = []
        self.drops: list[Drop] = []
        self.failing_id: str | None = None
        for number, call in enumerate(seen.calls if seen is not None else (), start=1):
            self._add(f"call-{number}", call, is_failing=failing is not None and call.id == failing.id)

    def _add(self, id: str, call: CapturedCall, *, is_failing: bool) -> None:
        if is_failing:
            self.failing_id = id
        diagnosis = diagnose(recorded_run(call))
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
            )
        )
        self.drops += [Drop(f"{id}: {note}", "recording limit") for note in call.notes]

    def _member(self, id: str, path: Path | None, role: str) -> str | None:
        if path is None or not path.is_file():
            return None
        name = f"calls/{id}/{path.name}"
        self.members.append(NewMember(name, role, path))
        return name
