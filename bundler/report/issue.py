"""The text of an issue, in the form that its tracker asks for, filled in as far as the archive knows.

The words are in `templates/`: one file a form (`issue_*.md.j2`: headings and order) and one a language
(`words.*.md.j2`: the sentences). Every value that a template inserts is set as code unless it is marked as
our own, so that nothing from an archive can act as Markdown or HTML. Blocks of code go in last, after blank
lines are tidied, so that what is copied out of the issue is what was in the archive.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from bundler.compiler.invoke import command_of
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import CallRecord, Manifest, Member, Reduction, SignatureRecord, Workaround
from bundler.printable import printable
from bundler.report.facts import Row, environment_rows
from bundler.report.issue_evidence import Evidence, input_member
from bundler.report.issue_render import Block, render
from bundler.report.issue_route import route
from bundler.report.markdown import excerpt, outside_code, survives
from bundler.report.terminal import size_text
from bundler.tracker.places import TRACKERS, Tracker

LANGUAGES = ("zh", "en", "both")
INLINE_LINES = 40  # a longer block is folded
_MAX_INPUT = 24_000  # GitHub takes 65,536 characters in all; a longer input is attached instead
_MAX_LOG = 8_000
_MAX_SOURCE = 8_000
_MAX_MESSAGE = 2_000
_MAX_TITLE = 160
_LISTED = ("reduced", "input", "ir", "log", "program-log", "source")
_MARK = re.compile(r"\*\*(?:【请[^】]*】|\[please [^\]]*\])\*\*")
_ENDS = {  # in a title
    "crashed": ("崩溃", " crashes"),
    "timed-out": ("超时", " hangs"),
    "out-of-memory": ("内存耗尽", " runs out of memory"),
}
_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV"}


@dataclass(frozen=True)
class IssueText:
    """A finished issue.

    Attributes:
        tracker: where it goes; `why` is the reason for the choice.
        report_id: the same for every text of this failure for this tracker; it stands in `body`, so that an
            issue posted earlier can be found again.
        to_fill: how many places a person must still write, in one language.
    """

    title: str
    body: str
    tracker: Tracker
    why: str
    report_id: str
    to_fill: int


@dataclass(frozen=True)
class Listed:
    """A member of the archive, as the issue lists it."""

    name: str
    size_text: str


@dataclass(frozen=True)
class Attachment:
    """The archive as a file: what it is called, how large it is, whether the tracker takes it as it is."""

    name: str
    size_text: str
    taken: bool
    too_large: bool


@dataclass(frozen=True)
class Bug:
    """What the templates know as `b`. Strings are set as code, `Block`s as they are."""

    signature: SignatureRecord | None
    tool: str
    kernel: str
    message: Block
    runs: int
    runs_same: int
    compiler: str
    rows: tuple[Row, ...]
    guessed: Mapping[str, str]  # label of a row -> where its value was derived from
    input_name: str
    input_member: str
    input: Block | None
    command: Block | None
    first_words: str
    exit_code: int | None
    signal: str
    reduction: Reduction | None
    program: str
    output: Block | None
    traceback: Block | None
    source: Block | None
    source_name: str
    attachment: Attachment | None
    repack: str
    members: tuple[Listed, ...]
    redactions: int
    workaround: Workaround | None
    barrier_flag: str
    finds: tuple[str, ...]
    version: str
    report_id: Block
    github: bool


def issue_text(
    manifest: Manifest,
    evidence: Evidence | None = None,
    *,
    tracker: str = "auto",
    lang: str = "both",
    attachment: str = "",
    attachment_size: int = 0,
) -> IssueText:
    """Fill in a tracker's form.

    Args:
        manifest: of the archive.
        evidence: what to show of its members; without it everything is referred to the attachment.
        tracker: a name in `TRACKERS`, or auto: by stage and pass.
        lang: one of `LANGUAGES`; with both, each section says it in Chinese, then in English, and gives the
            evidence once.
        attachment: the archive's file name.
        attachment_size: its size in bytes.

    Raises:
        NpubugError: (usage) the tracker or the language is not known.
    """
    if tracker not in (*TRACKERS, "auto") or lang not in LANGUAGES:
        raise NpubugError(
            f"no tracker '{printable(tracker, 40)}' with language '{printable(lang, 40)}'",
            hint=f"trackers: {', '.join(TRACKERS)}, auto; languages: {', '.join(LANGUAGES)}",
            code=ExitCode.USAGE,
        )
    evidence = evidence or Evidence()
    name, why = tracker, "you asked for it"
    if tracker == "auto":
        name, why = route(manifest, f"{evidence.ir or ''}\n{evidence.ttir}", evidence.source)
    place = TRACKERS[name]
    languages = ("zh", "en") if lang == "both" else (lang,)
    report_id = report_id_of(manifest, place)
    bug = _bug(manifest, evidence, place, report_id, attachment, attachment_size)
    body = render(f"issue_{place.form}.md.j2", bug, languages)
    title_language = languages[0] if place.chinese else languages[-1]
    title = _title(manifest, place, bug, title_language)
    return IssueText(title, body, place, why, report_id, marks_in(body) // len(languages))


def report_id_of(manifest: Manifest, tracker: Tracker) -> str:
    """The mark of a report: of this failure, as bundled then, for this tracker; texts of it share it."""
    input = next((member.sha256 for member in manifest.members if member.role == "input"), "")
    signature = manifest.signature.id if manifest.signature is not None else ""
    parts = (tracker.url, manifest.name, manifest.created, signature, input)
    return "npubug-report-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def marks_in(body: str) -> int:
    """How many places in a text are marked for a person to write; in each of its languages."""
    return len(_MARK.findall(outside_code(body)))


def _title(manifest: Manifest, tracker: Tracker, bug: Bug, language: str) -> str:
    signature = bug.signature
    if signature is None:
        return tracker.title_prefix + printable(manifest.name, 100)
    message = signature.message.splitlines()[0] if signature.message else signature.kind
    place = signature.pass_name or bug.tool
    kernel = f" (kernel {bug.kernel})" if bug.kernel else ""
    zh, en = _ENDS.get(signature.outcome, ("报错", ""))
    end = f" {zh}：" if language == "zh" else f"{en}: "
    room = _MAX_TITLE - len(tracker.title_prefix)
    return tracker.title_prefix + printable(
        f"{printable(place, 60)}{end}{message}{printable(kernel, 60)}", room
    )


def _bug(
    manifest: Manifest,
    evidence: Evidence,
    tracker: Tracker,
    report_id: str,
    attachment: str,
    attachment_size: int,
) -> Bug:
    signature = manifest.signature
    call = next((call for call in manifest.calls if call.id == manifest.failing_call), None)
    reproducer = input_member(manifest)
    name = f"kernel{PurePosixPath(reproducer).suffix or '.ttadapter'}"
    ir = evidence.ir
    shown = ir if ir is not None and len(ir) <= _MAX_INPUT and survives(ir) else None
    again = [run for run in manifest.evidence if run.name != "barrier"]
    frames = signature.frames if signature is not None else ()
    message = signature.message[:_MAX_MESSAGE] if signature is not None else ""
    code = call.returncode if call is not None else None
    source_name = next((m.name for m in manifest.members if m.role == "source"), "")
    # The compiler's form asks for IR; a script that is not needed there is not put on show.
    source = evidence.source if tracker.form == "triton" and len(evidence.source) <= _MAX_SOURCE else ""
    flag = manifest.workaround.flag if manifest.workaround is not None else ""
    return Bug(
        signature=signature,
        tool=call.tool if call is not None else "bishengir-compile",
        kernel=call.kernel or "" if call is not None else "",
        message=Block("\n".join((message, *frames)).strip()),
        runs=len(again),
        runs_same=sum(run.reproduced for run in again),
        compiler=next(
            (f.value for f in manifest.environment if f.name == "compiler.version" and f.value), ""
        ),
        rows=tuple(environment_rows(manifest)),
        guessed=_guessed(manifest),
        input_name=name,
        input_member=reproducer,
        input=Block(shown, "mlir", fold=shown.count("\n") > INLINE_LINES) if shown is not None else None,
        command=_command(call, name),
        first_words=message.partition("\n")[0],
        exit_code=code if code is not None and code > 0 else None,
        signal=_SIGNALS.get(-code, f"signal {-code}") if code is not None and code < 0 else "",
        reduction=manifest.reduction,
        program=shlex.join(manifest.command),
        output=_folded(evidence.output),
        traceback=_folded(evidence.program) if "Error" in evidence.program else None,
        source=Block(source, "python", fold=True) if source else None,
        source_name=source_name,
        attachment=_attachment(attachment, attachment_size, tracker),
        repack=f"npubug repack {shlex.quote(attachment)} --format zip",
        members=tuple(Listed(m.name, size_text(m.size)) for m in _listed(manifest.members)),
        redactions=sum(count for _, count in manifest.redactions),
        workaround=manifest.workaround,
        barrier_flag=flag or "--enable-hivm-inject-barrier-all-sync=true",
        finds=manifest.reduction.finds if manifest.reduction is not None else (),
        version=manifest.npubug_version,
        report_id=Block(report_id, inline=True),
        github=not tracker.chinese,
    )


def _command(call: CallRecord | None, input_name: str) -> Block | None:
    """The failing compile as a command for people: bare tool name, our names of input and output."""
    if call is None or not call.argv:
        return None
    command = command_of(call.argv)[0]
    first = shlex.join((PurePosixPath(call.argv[0]).name, input_name, *command.flags[:1]))
    rest = [shlex.quote(flag) for flag in command.flags[1:]]
    return Block(" \\\n    ".join((first, *rest, "-o kernel")), "sh")


def _guessed(manifest: Manifest) -> Mapping[str, str]:
    """Rows whose value was not read from the machine but derived from something else, and from what."""
    labels = {"npu.model": "NPU", "triton.branch": "branch"}
    return {
        labels[fact.name]: fact.source.partition(" (")[0]
        for fact in manifest.environment
        if fact.name in labels and fact.value and not fact.source.startswith("npu-smi")
    }


def _folded(text: str) -> Block | None:
    text = excerpt(text, _MAX_LOG)
    return Block(text, fold=True) if text.strip() else None


def _attachment(name: str, size: int, tracker: Tracker) -> Attachment | None:
    if not name:
        return None
    too_large = bool(tracker.most) and size > tracker.most
    return Attachment(name, size_text(size) if size else "", tracker.takes_file(name), too_large)


def _listed(members: tuple[Member, ...]) -> list[Member]:
    wanted = [member for member in members if member.role in _LISTED]
    return sorted(wanted, key=lambda member: (_LISTED.index(member.role), member.name))[:10]
