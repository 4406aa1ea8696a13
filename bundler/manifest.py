"""The manifest: the archive's typed index, and the hub of the data that flows between the stages.

Frozen dataclasses here, JSON in the archive, `schema/manifest.schema.json` between them; a test holds the
classes and the schema together. Member names are fixed by role:

    manifest.json
    input/<file>            the failing compile's input, as the tool read it          role "input"
    input/<file>.mlir       the text of an input that is MLIR bytecode                role "input-text"
    ir/<call>/<file>        cached or dumped IR of the failing kernel                 role "ir"
    calls/<nnn>/...         input, outputs, stdout, stderr of each recorded call      role "call-input", ...
    logs/after-failure.log  the evidence recompiles                                   role "log"
    logs/after-all.log
    logs/barrier.log
    logs/program.log        what the user's command printed (stdout and stderr)      role "program-log"
    logs/plog/...           device logs of the run's processes                       role "device-log"
    environment.json        the facts, again, for people who grep                     role "environment"
    source/<file>           the user's script, when it is the command's own argument  role "source"
    reduced/<file>          the reduced input, reproduce.sh                           role "reduced"
"""

from __future__ import annotations

from dataclasses import dataclass

# 1.1: original_input_sha256, redaction_level. 1.2: launch, ranks, a call's rank and memory.
SCHEMA_VERSION = "1.2"


@dataclass(frozen=True)
class Member:
    """One file in the archive. `sha256` in hex, `size` in bytes, `name` with forward slashes."""

    name: str
    role: str
    media_type: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Fact:
    """One fact about the environment.

    `value` is None when the fact could not be had; `reason` then says why ("not visible in this container",
    "npu-smi did not answer within 10 s"). `source` names the file, command or variable it came from.
    """

    name: str
    value: str | None
    source: str = ""
    reason: str = ""


@dataclass(frozen=True)
class SignatureRecord:
    """A failure signature as stored: see `bundler.compiler.signature`."""

    id: str
    outcome: str
    stage: str
    kind: str
    message: str
    pass_name: str | None = None
    frames: tuple[str, ...] = ()
    recognised: bool = True


@dataclass(frozen=True)
class CallRecord:
    """One recorded compile call. `input`, `outputs`, `stdout`, `stderr` are member names, or None/empty.

    `rank` to `device` are of the process that made the call, in a distributed run. `peak_memory` is in bytes, None
    where it is not known to be the tool's own.
    """

    id: str
    tool: str
    argv: tuple[str, ...]
    cwd: str
    returncode: int | None
    seconds: float
    outcome: str
    pid: int = 0
    kernel: str | None = None
    input: str | None = None
    outputs: tuple[str, ...] = ()
    stdout: str | None = None
    stderr: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    device: str | None = None
    peak_memory: int | None = None


@dataclass(frozen=True)
class NamedValue:
    """A name and what it stands for, as text."""

    name: str
    value: str


@dataclass(frozen=True)
class Launch:
    """How the failing kernel was compiled and launched, as far as the program's own objects told.

    `source` is FILE:LINE of the kernel. `arguments` are dtype, shape, strides, device and alignment of a tensor
    and the value of a number; never what a tensor holds.
    """

    kernel: str
    source: str = ""
    target: str = ""
    grid: str = ""
    signature: tuple[NamedValue, ...] = ()
    constants: tuple[NamedValue, ...] = ()
    options: tuple[NamedValue, ...] = ()
    arguments: tuple[NamedValue, ...] = ()


@dataclass(frozen=True)
class RankRecord:
    """One rank of a distributed run. `ended`: finished, failed, hung, killed, no-call, unknown."""

    rank: int
    ended: str
    local_rank: int | None = None
    world_size: int | None = None
    device: str | None = None
    calls: int = 0
    note: str = ""


@dataclass(frozen=True)
class EvidenceRun:
    """One recompile made after the capture. `log` is a member name; `reproduced` tells whether the failing
    call's signature came back; `flags` are the ones added to the original command line."""

    name: str
    flags: tuple[str, ...]
    outcome: str
    reproduced: bool
    seconds: float
    log: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Workaround:
    """The barrier-all experiment.

    `verdict`: not-tried, not-applicable, no-change, fixed, made-worse, flaky.
    """

    flag: str
    verdict: str
    runs_default: int = 0
    failures_default: int = 0
    runs_with_flag: int = 0
    failures_with_flag: int = 0
    note: str = ""


@dataclass(frozen=True)
class ReductionStep:
    """One accepted step of a reduction: the size after it, `seconds` after the search began."""

    transform: str
    ops: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Reduction:
    """What `npubug minimize` did. Counts of operations leave out the module, functions and terminators.

    `input` and `script` are the member names of the reduced input and of its reproduce.sh.
    """

    input: str
    ops_before: int
    ops_after: int
    bytes_before: int
    bytes_after: int
    candidates: int
    compiles: int
    invalid: int
    seconds: float
    finished: bool  # False: stopped by the deadline or Ctrl-C, so not known to be 1-minimal
    confirmed: bool  # the result, as written, fails with the original flags and the same signature
    signature_id: str = ""
    script: str | None = None
    finds: tuple[str, ...] = ()  # ids of other failures met on the way
    steps: tuple[ReductionStep, ...] = ()


@dataclass(frozen=True)
class Drop:
    """Something that was captured and is not in the archive, and why."""

    what: str
    reason: str
    size: int = 0


@dataclass(frozen=True)
class Manifest:
    """Everything an archive says about itself.

    `created` is the only time in it, RFC 3339 in UTC. `command` is the user's command line or empty;
    `failing_call` is the id of the call that `signature` describes. `redactions` counts replacements by kind, and
    `redaction_level` says what was looked for: full, paths, off; None if the writer did not say.
    `original_input_sha256` is of the member with the role "input" before anything in it was replaced: the owner
    can tell by it which file it was.
    """

    name: str
    created: str
    npubug_version: str
    schema_version: str = SCHEMA_VERSION
    command: tuple[str, ...] = ()
    command_exit: int | None = None
    signature: SignatureRecord | None = None
    failing_call: str | None = None
    calls: tuple[CallRecord, ...] = ()
    launch: Launch | None = None
    ranks: tuple[RankRecord, ...] = ()
    evidence: tuple[EvidenceRun, ...] = ()
    environment: tuple[Fact, ...] = ()
    workaround: Workaround | None = None
    reduction: Reduction | None = None
    original_input_sha256: str | None = None
    redaction_level: str | None = None
    redactions: tuple[tuple[str, int], ...] = ()
    drops: tuple[Drop, ...] = ()
    members: tuple[Member, ...] = ()
    notes: tuple[str, ...] = ()
