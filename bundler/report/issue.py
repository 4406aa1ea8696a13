"""The text of an issue, in the form that its tracker asks for, filled in as far as the archive knows.

The words are in `templates/`, one file a form and language. Every value that a template inserts is set as
code unless it is marked as our own, so that nothing from an archive can act as Markdown or HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from bundler.compiler.invoke import command_of
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import CallRecord, Manifest, Reduction, Workaround
from bundler.printable import printable
from bundler.report.facts import Row, environment_rows
from bundler.report.markdown import code_block, code_span
from bundler.report.terminal import size_text

TRACKERS = {
    "npuir": "https://gitcode.com/Ascend/AscendNPU-IR",
    "triton-distributed": "https://gitcode.com/Ascend/Triton-distributed-ascend",
    "triton-ascend": "https://github.com/triton-lang/triton-ascend",
}
LANGUAGES = ("zh", "en", "both")
_INLINE_LINES = 40
_MAX_INPUT = 30_000  # GitHub takes 65,536 characters in all; a longer input is attached instead
_MAX_MESSAGE = 4_000
_VERDICTS = {
    "not-tried": ("尚未尝试", "not tried"),
    "not-applicable": ("不适用", "not applicable"),
    "no-change": ("没有变化", "no change"),
    "fixed": ("问题消失", "it fixes the problem"),
    "made-worse": ("情况更差", "it makes things worse"),
    "flaky": ("结果不稳定", "the results vary from run to run"),
}
_OUTCOMES = {
    "failed": ("报错", "fails"),
    "crashed": ("崩溃", "crashes"),
    "timed-out": ("超时", "does not end within the time limit"),
    "out-of-memory": ("耗尽内存", "runs out of memory"),
    "invalid-input": ("拒绝输入", "rejects its input"),
}


@dataclass(frozen=True)
class IssueText:
    """A finished issue. `tracker` is the one chosen, `url` its page, `why` the reason for the choice."""

    title: str
    body: str
    tracker: str
    url: str
    why: str


@dataclass(frozen=True)
class Log:
    """A log in the archive, as the issue lists it."""

    name: str
    size_text: str


@dataclass(frozen=True)
class _Bug:
    """What the templates know as `b`."""

    failed: bool
    tool: str
    kernel: str
    kind: str
    stage: str
    pass_name: str
    signature_id: str
    recognised: bool
    outcome_zh: str
    outcome_en: str
    message_block: object
    runs: int
    runs_same: int
    compiler: str
    rows: tuple[Row, ...]
    input_name: str
    input_member: str
    input_block: object
    folded: bool
    command_block: object
    reduction: Reduction | None
    program: str
    attachment: str
    attachment_size: str
    logs: tuple[Log, ...]
    workaround: Workaround | None
    verdict_zh: str
    verdict_en: str


def issue_text(
    manifest: Manifest,
    reduced_input: str | None,
    *,
    tracker: str = "auto",
    lang: str = "both",
    attachment: str = "",
    attachment_size: int = 0,
) -> IssueText:
    """Fill in a tracker's form.

    Args:
        manifest: of the archive.
        reduced_input: the IR to show, or None to refer to the attachment.
        tracker: one of `TRACKERS`, or auto: by stage and outcome.
        lang: one of `LANGUAGES`; with both, Chinese comes first and the evidence is given once.
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
    chosen, why = route(manifest) if tracker == "auto" else (tracker, "you asked for it")
    bug = _bug(manifest, reduced_input, attachment, attachment_size)
    form = "npuir" if chosen == "npuir" else "triton"
    languages: Sequence[str] = ("zh", "en") if lang == "both" else (lang,)
    parts = [
        _render(f"issue_{form}.{language}.md.j2", bug, with_evidence=language == languages[0])
        for language in languages
    ]
    return IssueText(_title(manifest), "\n\n---\n\n".join(parts) + "\n", chosen, TRACKERS[chosen], why)


def route(manifest: Manifest) -> tuple[str, str]:
    """Return the tracker that a failure belongs to, and why."""
    signature = manifest.signature
    if signature is None:
        return "triton-ascend", "no compile failed, so the compiler's own tracker is not the first address"
    if manifest.workaround is not None and manifest.workaround.verdict == "fixed":
        return "npuir", "barriers everywhere fix it, so the compiler's synchronisation is at fault"
    if signature.outcome == "invalid-input":
        return "triton-ascend", "the compiler could not read its input, which triton-ascend wrote"
    if signature.stage in ("compile", "pass", "backend"):
        where = f"the pass {signature.pass_name}" if signature.pass_name else f"the stage {signature.stage}"
        return "npuir", f"it fails in {printable(where, 100)}, inside the compiler"
    return "triton-ascend", f"it fails in the stage {printable(signature.stage, 40)}, before the compiler"


def _title(manifest: Manifest) -> str:
    signature = manifest.signature
    if signature is None:
        return f"[Bug] {printable(manifest.name, 100)}"
    place = signature.pass_name or signature.stage
    first = signature.message.splitlines()[0] if signature.message else signature.kind
    return printable(f"[Bug] {place}: {first}", 120)


def _bug(manifest: Manifest, reduced_input: str | None, attachment: str, attachment_size: int) -> _Bug:
    signature = manifest.signature
    call = next((call for call in manifest.calls if call.id == manifest.failing_call), None)
    member = next((member.name for member in manifest.members if member.role == "input"), "")
    shown = reduced_input if reduced_input is not None and len(reduced_input) <= _MAX_INPUT else None
    if shown is None and manifest.reduction is not None:
        member = manifest.reduction.input
    name = f"kernel{PurePosixPath(member).suffix or '.ttadapter'}"
    runs = [run.reproduced for run in manifest.evidence]
    verdict = manifest.workaround.verdict if manifest.workaround is not None else "not-tried"
    outcome = _OUTCOMES.get(signature.outcome if signature is not None else "", ("失败", "fails"))
    message = (signature.message if signature is not None else "")[:_MAX_MESSAGE]
    frames = signature.frames if signature is not None else ()
    return _Bug(
        failed=signature is not None,
        tool=call.tool if call is not None else "bishengir-compile",
        kernel=call.kernel or "" if call is not None else "",
        kind=signature.kind if signature is not None else "",
        stage=signature.stage if signature is not None else "",
        pass_name=signature.pass_name or "" if signature is not None else "",
        signature_id=signature.id if signature is not None else "",
        recognised=signature.recognised if signature is not None else True,
        outcome_zh=outcome[0],
        outcome_en=outcome[1],
        message_block=_ours(code_block("\n".join((message, *frames)))),
        runs=len(runs),
        runs_same=sum(runs),
        compiler=_fact(manifest, "compiler.version"),
        rows=tuple(environment_rows(manifest)),
        input_name=name,
        input_member=member,
        input_block=_ours(code_block(shown, "mlir")) if shown is not None else "",
        folded=shown is not None and shown.count("\n") > _INLINE_LINES,
        command_block=_ours(code_block(_command(call, name), "sh")),
        reduction=manifest.reduction if shown is not None else None,
        program=" ".join(manifest.command),
        attachment=attachment,
        attachment_size=size_text(attachment_size) if attachment_size else "",
        logs=tuple(Log(m.name, size_text(m.size)) for m in manifest.members if m.role == "log"),
        workaround=manifest.workaround,
        verdict_zh=_VERDICTS.get(verdict, ("未知", "unknown"))[0],
        verdict_en=_VERDICTS.get(verdict, ("未知", "unknown"))[1],
    )


def _command(call: CallRecord | None, input_name: str) -> str:
    if call is None or not call.argv:
        return f"npubug minimize {input_name}"
    return command_of(call.argv)[0].shell(input_name, "kernel")


def _fact(manifest: Manifest, name: str) -> str:
    return next((fact.value for fact in manifest.environment if fact.name == name and fact.value), "")


def _ours(text: str) -> object:
    import markupsafe  # noqa: PLC0415  (comes with Jinja2; only this command needs them)

    return markupsafe.Markup(text)


def _render(template: str, bug: _Bug, *, with_evidence: bool) -> str:
    import jinja2  # noqa: PLC0415

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        autoescape=False,  # `finalize` sets every value as code instead, which HTML escapes would spoil
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["trusted"] = _ours
    text = environment.get_template(template).render(b=bug, with_evidence=with_evidence)
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return "\n".join(lines)


def _source(template: str) -> str:
    return resources.files("bundler.templates").joinpath(template).read_text(encoding="utf-8")


def _finalize(value: Any) -> Any:
    """Set a value as code, unless it is a number or was marked as ours."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return code_span(value)
    return value
