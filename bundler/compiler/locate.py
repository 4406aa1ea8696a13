"""The pass that fails, the IR it met, and one file that makes it fail alone.

MLIR writes that file itself (`--mlir-pass-pipeline-crash-reproducer`, with the smallest pipeline if
`--mlir-pass-pipeline-local-reproducer` is known too): the IR before the pass, and in a resource behind it the
pipeline, which the opt tool reads by `--run-reproducer`. Where a compiler has no such flag, or dies of it (1.1.0
does), the file is put together from the dumps in the same format. Either counts only if it fails alone, and in
the same way.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bundler.compiler.diagnose import diagnose
from bundler.compiler.dumps import parts_of, read_dumps
from bundler.compiler.invoke import AFTER_ALL_FLAG, CompileCommand, compile_file
from bundler.compiler.outcome import Diagnosis, Outcome
from bundler.compiler.passes import Tracker
from bundler.compiler.signature import Signature, matches, signature_of
from bundler.compiler.toolchain import find_opt
from bundler.errors import NpubugError

_NO_THREADS = "--mlir-disable-threading"
_MODULE_SCOPE = "--mlir-print-ir-module-scope"
_REPRODUCER = "--mlir-pass-pipeline-crash-reproducer"
_BEFORE_ALL = "--mlir-print-ir-before-all"
_LOCAL = "--mlir-pass-pipeline-local-reproducer"
_TRAILER = re.compile(r"\n\{-#\s.*mlir_reproducer.*", re.DOTALL)
_PIPELINE = re.compile(r'\bpipeline: "((?:[^"\\]|\\.)*)"')
_BEFORE = ("--mlir-print-ir-before", "--bishengir-print-ir-before")
_RESOURCE = """
{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "{pipeline}",
      disable_threading: true,
      verify_each: true
    }}
  }}
#-}}
"""
_OPTIONS = re.compile(r"\{[^{}]*\}")
_NAME = re.compile(r"([\w.-]+)(\(?)")  # with a parenthesis behind it, it is the op that passes run on


@dataclass(frozen=True)
class Reproducer:
    """A file for `--run-reproducer`. `made_by` says who wrote it; `alone` is how it fails by itself."""

    text: str
    pipeline: str
    made_by: str
    alone: Diagnosis
    tool: str

    @property
    def passes(self) -> tuple[str, ...]:
        """The passes of its pipeline, in order."""
        return passes_of_pipeline(self.pipeline)


@dataclass(frozen=True)
class Located:
    """Where a compile fails.

    Attributes:
        pass_name: the pass's argument, None if nothing tells it.
        order: its place among the pass runs of the log (as `npubug passes` counts), of `runs` in all.
        attempt: the compiler starts anew with other flags after some failures; from 1.
        before: the IR that the pass met: the whole module where it could be had, else the function.
        reproducer: None if there is none that fails alone in the same way.
        notes: what could not be done, and why.
    """

    diagnosis: Diagnosis
    signature: Signature
    pass_name: str | None
    order: int | None
    runs: int
    attempt: int
    before: str | None
    reproducer: Reproducer | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Place:
    """What the dumps tell of the failing pass. `runs` counts the pass runs of the log, `order` is its own."""

    name: str | None = None
    scope: str = ""
    order: int | None = None
    runs: int = 0
    attempt: int = 1
    before: str | None = None


def locate(command: CompileCommand, input: Path, *, timeout: float) -> Located:
    """Find the failing pass of a compile, whose failure the caller checks with `require_failure`.

    Raises:
        NpubugError: the tool cannot be started.
    """
    quiet = command.with_flags(*_supported(command, _NO_THREADS))
    run = compile_file(quiet.with_flags(*_supported(quiet, AFTER_ALL_FLAG)), input, timeout=timeout)
    diagnosis = diagnose(run)
    signature = signature_of(diagnosis)
    if not diagnosis.outcome.is_bug:
        return Located(diagnosis, signature, None, None, 0, 1, None, None, ())
    place = _failed_pass(run.stderr)
    notes = [] if place.runs else [f"{command.tool.name} does not print its passes"]
    if run.truncated:
        notes.append("the log was cut at its size limit, so the pass's place is not known")
    if place.name is None and quiet.supports(_BEFORE_ALL):
        # A pass that crashes or never ends leaves no dump after it, but one before it.
        run = compile_file(quiet.with_flags(_BEFORE_ALL), input, timeout=timeout)
        place = _unfinished_pass(run.stderr, place.runs)
    place = replace(place, name=place.name or diagnosis.pass_name)
    reproducer, why = _reproducer(quiet, input, place, signature, timeout)
    name, before = place.name, place.before
    if reproducer is not None and len(reproducer.passes) == 1:
        name, before = name or reproducer.passes[0], _TRAILER.sub("\n", reproducer.text)
    return Located(
        diagnosis=diagnosis,
        signature=signature,
        pass_name=name,
        order=place.order,
        runs=place.runs,
        attempt=place.attempt,
        before=before,
        reproducer=reproducer,
        notes=(*notes, *why),
    )


def _failed_pass(log: str) -> _Place:
    """The pass whose dump says that it failed; of several attempts the last one's."""
    tracker, place = Tracker(), _Place()
    for dump in read_dumps([log.encode()]):
        step = tracker.feed(dump)
        if step is not None:
            place = replace(place, runs=step.run.order)
            if step.run.failed:
                before = step.before.decode(errors="replace") if step.before is not None else None
                run = step.run
                place = _Place(run.name, run.scope, run.order, run.order, run.attempt, before)
    return place


def _unfinished_pass(log: str, finished: int) -> _Place:
    """The pass that began last; `finished` ones came before it."""
    last = None
    for dump in read_dumps([log.encode()]):
        last = dump if dump.before else last
    if last is None:
        return _Place(runs=finished)
    parts = parts_of(last.text)
    scope = "" if parts.is_module else parts.functions[0].name
    order = finished + 1 if finished else None
    return _Place(last.pass_name, scope, order, order or 0, before=last.text.decode(errors="replace"))


def passes_of_pipeline(pipeline: str) -> tuple[str, ...]:
    """`builtin.module(func.func(cse,hivm-plan-memory{mode=x}))` -> ("cse", "hivm-plan-memory")."""
    plain = _OPTIONS.sub("", pipeline)
    return tuple(name for name, opens in _NAME.findall(plain) if not opens)


def _reproducer(
    command: CompileCommand, input: Path, place: _Place, expected: Signature, timeout: float
) -> tuple[Reproducer | None, list[str]]:
    """The first file that fails alone as the whole does, and why those before it do not count."""
    try:
        opt = find_opt(command.tool).path
    except NpubugError as error:
        return None, [f"no reproducer: {error.what}"]
    notes: list[str] = []
    for made_by, text in _candidates(command, input, place, expected, timeout):
        alone = _alone(opt, text, timeout)
        if alone.outcome.is_bug and matches(signature_of(alone), expected):
            found = _PIPELINE.search(text)
            return Reproducer(text, found[1] if found else "", made_by, alone, opt.name), notes
        notes.append(
            f"not taken, as it ends alone with {signature_of(alone).id}: the reproducer of {made_by}"
        )
    return None, [*notes, f"no file for --run-reproducer: {command.tool.name} makes none that fails alone"]


def _candidates(
    command: CompileCommand, input: Path, place: _Place, expected: Signature, timeout: float
) -> Iterator[tuple[str, str]]:
    """Files that may fail alone, smallest pipeline first, each with who made it."""
    name, scope = place.name, place.scope
    # A compiler that we have to end writes no file.
    ends = expected.outcome is not Outcome.TIMED_OUT
    local = _by_compiler(command, input, timeout, _LOCAL) if ends and command.supports(_LOCAL) else None
    if local is not None:
        yield "the compiler", local
        # A pass on functions would run on all of them again, also on those that it is done with.
        alone = _only_function(local, scope) if scope else None
        if alone is not None:
            yield f"the compiler, without functions other than {scope}", alone
    by_hand = _by_hand(command, input, name, scope, timeout) if name is not None else None
    if by_hand is not None:
        yield "npubug, from the IR before the pass", by_hand
    whole = _by_compiler(command, input, timeout) if ends else None
    if whole is not None:
        yield "the compiler, with its whole pipeline", whole


def _by_compiler(command: CompileCommand, input: Path, timeout: float, *flags: str) -> str | None:
    if not command.supports(_REPRODUCER):
        return None
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        path = Path(scratch) / "reproducer.mlir"
        compile_file(command.with_flags(f"{_REPRODUCER}={path}", *flags), input, timeout=timeout)
        return path.read_text(errors="replace") if path.is_file() else None


def _by_hand(command: CompileCommand, input: Path, name: str, scope: str, timeout: float) -> str | None:
    """The IR before the pass, with the pass and its default options behind it."""
    printing = next((flag for flag in _BEFORE if command.supports(flag)), None)
    if printing is None:
        return None
    flags = (f"{printing}={name}", *_supported(command, _MODULE_SCOPE))
    run = compile_file(command.with_flags(*flags), input, timeout=timeout)
    before = None
    for dump in read_dumps([run.stderr.encode()]):
        before = dump.text if dump.before and dump.pass_name == name else before
    if before is None:
        return None
    parts = parts_of(before)
    on_function = bool(scope) or not parts.is_module
    pipeline = f"builtin.module(func.func({name}))" if on_function else f"builtin.module({name})"
    module = before.decode(errors="replace") if parts.is_module else f"module {{\n{before.decode()}\n}}"
    text = f"{module}\n{_RESOURCE.format(pipeline=pipeline)}"
    return _only_function(text, scope) or text


def _only_function(text: str, name: str) -> str | None:
    """The same module with only that function in it; None if that is all there is, or it is not there."""
    trailer = _TRAILER.search(text)
    parts = parts_of((text[: trailer.start()] if trailer else text).encode())
    kept = next((each for each in parts.functions if each.name == name), None)
    if kept is None or len(parts.functions) == 1:
        return None
    body = parts.frame[0] + kept.text + b"\n" + parts.frame[-1].lstrip()
    return body.decode(errors="replace") + (trailer[0] if trailer else "")


def _alone(opt: Path, text: str, timeout: float) -> Diagnosis:
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        path = Path(scratch) / "reproducer.mlir"
        path.write_text(text)
        diagnosis = diagnose(compile_file(CompileCommand(opt, ("--run-reproducer",)), path, timeout=timeout))
    if diagnosis.pass_name is None:
        found = _PIPELINE.search(text)
        passes = passes_of_pipeline(found[1]) if found else ()
        if len(passes) == 1:
            return replace(diagnosis, pass_name=passes[0])
    return diagnosis


def _supported(command: CompileCommand, *flags: str) -> tuple[str, ...]:
    return tuple(flag for flag in flags if command.supports(flag))
