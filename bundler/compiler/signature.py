"""A failure's identity: the same failure elsewhere, at another size, of another kernel, has the same id.

A signature is a pure function of a diagnosis. What varies between equal failures (paths, SSA names, sizes,
shapes, addresses, line numbers) is replaced by placeholders; what tells failures apart (outcome, stage,
pass, kind, wording, op names, element types) stays.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from enum import Enum

from bundler.compiler.outcome import Diagnosis, Outcome, Stage

_FRAMES_IN_SIGNATURE = 3
_ADDRESS_FRAME = re.compile(r".*\+0x[0-9a-f]+\Z")
_LONGEST_MESSAGE = 2000
# In this order, and with placeholders that no rule matches again: normalising twice must change nothing.
_RULES = (
    (re.compile(r"\s+"), " "),
    (re.compile(r"@(?:\"[^\"]*\"|[\w$.-]+)"), "<symbol>"),
    (re.compile(r"loc\((?:[^()]|\([^()]*\))*\)"), "loc(*)"),
    (re.compile(r"""(?:[A-Za-z]:)?(?:\.{0,2}|~)(?:/[^\s/:'"`<>(),]+)+/?(?::\d+)*"""), "<path>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<address>"),
    (re.compile(r"strided<[^<>]*>"), "strided<*>"),
    (re.compile(r"%[A-Za-z_\d$.][\w$.-]*(?:[:#]\d+)?"), "<value>"),
    (re.compile(r"(?<![\w.])(?:(?:\d+|\?|\*)x)+(?=[a-z!])"), "<dims>x"),
    (re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)"), "<n>"),
    (re.compile(r"\[(?:<n>|\?)(?:, ?(?:<n>|\?))*\]"), "[<n>]"),
)
_PLACEHOLDER = re.compile(r"<(?:n|symbol|path|address|value)>|<dims>x|strided<\*>|loc\(\*\)")


class Level(str, Enum):
    """How alike two failures must be to count as the same."""

    EXACT = "exact"  # every part, so the id
    NORMAL = "normal"  # every part that both know; a pass replayed on its own is the same failure
    KIND = "kind"  # outcome and kind


@dataclass(frozen=True)
class Signature:
    """What identifies a failure. `message` is normalised; `frames` are empty where they would say nothing."""

    id: str
    outcome: Outcome
    stage: Stage
    kind: str
    message: str
    pass_name: str | None
    frames: tuple[str, ...]


def normalise(text: str) -> str:
    """`text` with everything that varies between equal failures replaced. Idempotent."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()


def stable_parts(message: str) -> list[str]:
    """The stretches of a normalised message that stand in every print of the same failure, in order."""
    return [part for part in (piece.strip() for piece in _PLACEHOLDER.split(message)) if part]


def signature_of(diagnosis: Diagnosis) -> Signature:
    """The signature of `diagnosis`; also a healthy end has one."""
    message = normalise(diagnosis.message[:_LONGEST_MESSAGE])
    frames = _telling_frames(diagnosis)
    parts = [
        diagnosis.outcome.value,
        diagnosis.stage.value,
        diagnosis.kind,
        diagnosis.pass_name or "",
        message,
        *frames,
    ]
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:6]
    place = diagnosis.pass_name or diagnosis.stage.value
    return Signature(
        id=f"{diagnosis.kind}@{place}-{digest}",
        outcome=diagnosis.outcome,
        stage=diagnosis.stage,
        kind=diagnosis.kind,
        message=message,
        pass_name=diagnosis.pass_name,
        frames=frames,
    )


def matches(a: Signature, b: Signature, level: Level = Level.NORMAL) -> bool:
    """Whether `a` and `b` are the same failure, at `level`."""
    if level is Level.EXACT:
        return a.id == b.id
    if (a.outcome, a.kind) != (b.outcome, b.kind) or _family(a.stage) != _family(b.stage):
        return False
    if level is Level.KIND:
        return True
    same_pass = a.pass_name is None or b.pass_name is None or a.pass_name == b.pass_name
    return same_pass and a.message == b.message and _same_place(a.frames, b.frames)


def _family(stage: Stage) -> Stage:
    """A pass replayed by the opt tool stands where it stood in the whole compile."""
    return Stage.COMPILE if stage is Stage.PASS else stage


def _same_place(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    if not a or not b or _module(a[0]) != _module(b[0]):
        return True  # one of them is not known, or offsets in two different binaries: not comparable
    return a[0] == b[0]


def _module(frame: str) -> str:
    return frame.rpartition("+0x")[0] if _ADDRESS_FRAME.match(frame) else ""


def _telling_frames(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Symbols always; bare offsets only where there are no words (an assertion has its own)."""
    symbols = tuple(frame for frame in diagnosis.frames if not _ADDRESS_FRAME.match(frame))
    if symbols:
        return symbols[:_FRAMES_IN_SIGNATURE]
    wordless = diagnosis.kind in ("segfault", "bus-error", "abort", "signal")
    return diagnosis.frames[:_FRAMES_IN_SIGNATURE] if wordless else ()
