"""The story of an archive on one screen: what failed, where, with what, and how small it has become.

Everything that comes from the archive is made printable and printed as plain `Text`, so neither rich's markup
nor a terminal's escape codes in a kernel's name can act on the screen.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from bundler.manifest import CallRecord, Fact, Launch, Manifest, Member
from bundler.printable import printable
from bundler.report.facts import environment_rows

_LISTED_ROLES = ("reduced", "input", "ir", "log", "program-log", "source", "find")
_MAX_LISTED = 12
_MOST_RANKS = 16
_MAX_LINE = 600  # of any one value; a mangled C++ name can fill a screen by itself


def console() -> Console:
    """A console on stdout; a reader that leaves early (`| head`) ends the command quietly, with success."""
    return _Console(highlight=False)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # rich would end us with 1; the default keeps its clean-up of stdout, not its verdict.
        try:
            super().on_broken_pipe()
        except SystemExit:
            raise SystemExit(0) from None


def render_story(manifest: Manifest, console: Console) -> None:
    """Print the story of `manifest`, readable at 80 columns and without colours."""
    _print(console, _headline(manifest))
    if manifest.signature is not None and manifest.signature.message:
        _print(console, Text("  " + _line(manifest.signature.message), style="yellow"))
    console.print()
    _rows(console, _summary(manifest))
    facts = list(_environment(manifest))
    if facts:
        _section(console, "Environment", facts)
    warnings = [fact for fact in manifest.environment if fact.name.startswith("warning.")]
    for fact in warnings:
        _print(console, Text(f"  warning: {_line(fact.value or '')}", style="red"))
    total = sum(member.size for member in manifest.members)
    _section(console, f"Members ({len(manifest.members)}, {size_text(total)})", _members(manifest.members))
    for note in manifest.notes:
        _print(console, Text(f"  note: {_line(note)}"))


def size_text(size: int) -> str:
    """Return a number of bytes as people read it: `610 B`, `12.3 kB`."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def _headline(manifest: Manifest) -> Text:
    signature = manifest.signature
    if signature is None:
        return Text.assemble((_line(manifest.name), "bold"), ": no compile of this run failed")
    place = f" in {signature.pass_name}" if signature.pass_name else ""
    stage = f" ({signature.stage} stage, {signature.outcome})"
    known = "" if signature.recognised else "; npubug does not know this kind of failure"
    return Text.assemble(
        (_line(manifest.name), "bold"),
        ": ",
        (_line(signature.kind + place), "bold red"),
        _line(stage + known),
    )


def _summary(manifest: Manifest) -> Iterator[tuple[str, str]]:
    facts = {fact.name: fact for fact in manifest.environment}
    call = next((call for call in manifest.calls if call.id == manifest.failing_call), None)
    if manifest.signature is not None:
        yield "Signature", manifest.signature.id
    if call is not None and call.kernel:
        yield "Kernel", call.kernel
    if manifest.command:
        ended = "" if manifest.command_exit is None else f" (exit code {manifest.command_exit})"
        yield "Command", shlex.join(manifest.command) + ended
    if call is not None:
        yield "Its compile" if _at_run_time(manifest) else "Failing call", _call(call)
    if manifest.launch is not None:
        yield from _launch(manifest.launch)
    for rank in manifest.ranks[:_MOST_RANKS]:
        device = f" on device {rank.device}" if rank.device is not None else ""
        yield (
            f"Rank {rank.rank}",
            f"{rank.ended}{device}, {rank.calls} compile calls" + (f": {rank.note}" if rank.note else ""),
        )
    yield from _compiler(facts, call)
    if manifest.calls:
        outcomes = Counter(each.outcome for each in manifest.calls)
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        yield "Calls", f"{len(manifest.calls)} recorded: {counts}"
    if manifest.evidence and not _at_run_time(manifest):
        came_back = sum(run.reproduced for run in manifest.evidence)
        yield "Again", f"compiled {len(manifest.evidence)} more times, same failure {came_back} times"
    if manifest.workaround is not None:
        note = f": {manifest.workaround.note}" if manifest.workaround.note else ""
        yield "Workaround", f"barriers everywhere: {manifest.workaround.verdict}{note}"
    yield "Reduced", _reduction(manifest)
    if manifest.redactions:
        yield "Redacted", ", ".join(f"{count} {kind}" for kind, count in manifest.redactions)
    for drop in manifest.drops:
        yield "Left out", f"{drop.what} ({drop.reason}{f', {size_text(drop.size)}' if drop.size else ''})"
    yield "Made", f"{manifest.created} by npubug {manifest.npubug_version}"


def _launch(launch: Launch) -> Iterator[tuple[str, str]]:
    """What a person needs to launch the kernel in the same way: arguments where they are known, else types."""
    known = launch.arguments or launch.signature
    words = [f"{each.name}: {each.value}" for each in known]
    words += [f"{each.name}={each.value}" for each in launch.constants]
    grid = f" on grid {launch.grid}" if launch.grid else ""
    yield "Launch", f"{launch.kernel}({', '.join(words)}){grid}"


def _at_run_time(manifest: Manifest) -> bool:
    return manifest.signature is not None and manifest.signature.stage == "runtime"


def _call(call: CallRecord) -> str:
    if call.returncode is None:
        ended = call.outcome
    elif call.returncode < 0:
        ended = f"{call.outcome}, signal {-call.returncode}"
    else:
        ended = f"{call.outcome}, exit code {call.returncode}"
    return f"{call.id}: {ended} after {call.seconds:.2f} s"


def _compiler(facts: dict[str, Fact], call: CallRecord | None) -> Iterator[tuple[str, str]]:
    version, path = facts.get("compiler.version"), facts.get("compiler.path")
    yield "Compiler", version.value if version is not None and version.value else "version not known"
    if path is not None and path.value:
        yield "", path.value
    elif call is not None and call.argv:
        yield "", call.argv[0]


def _reduction(manifest: Manifest) -> str:
    done = manifest.reduction
    if done is None:
        return "not yet (npubug minimize)"
    minimal = "minimal" if done.finished else "stopped before it was minimal"
    confirmed = "confirmed" if done.confirmed else "NOT confirmed with the original flags"
    operations = f"from {done.ops_before} to {done.ops_after} operations"
    sizes = f"{size_text(done.bytes_before)} to {size_text(done.bytes_after)}"
    return f"{operations}, {sizes}; {minimal}, {confirmed}; {done.compiles} compiles in {done.seconds:.0f} s"


def _environment(manifest: Manifest) -> Iterator[tuple[str, str]]:
    for row in environment_rows(manifest):
        yield row.label, row.value or f"- ({row.reason})"


def _members(members: tuple[Member, ...]) -> Iterator[tuple[str, str]]:
    """The members that people open, then a line for each other role."""
    by_interest = sorted(
        (member for member in members if member.role in _LISTED_ROLES),
        key=lambda member: (_LISTED_ROLES.index(member.role), member.name),
    )
    listed = by_interest[:_MAX_LISTED]
    for member in listed:
        yield size_text(member.size), member.name
    rest = [member for member in members if member not in listed]
    for role in sorted({member.role for member in rest}):
        same = [member for member in rest if member.role == role]
        noun = "member" if len(same) == 1 else "members"
        yield size_text(sum(member.size for member in same)), f"{len(same)} {noun} with the role {role}"


def _section(console: Console, title: str, rows: Iterable[tuple[str, str]]) -> None:
    console.print()
    _print(console, Text(title, style="bold"))
    _rows(console, rows, indent=2)


def _rows(console: Console, rows: Iterable[tuple[str, str]], indent: int = 0) -> None:
    """Print labels with their values beside them, wrapped; a table would pad each line with blanks."""
    pairs = [(label, Text(_line(value))) for label, value in rows]
    left = indent + max((len(label) for label, _ in pairs), default=0) + 2
    for label, value in pairs:
        lines = value.wrap(console, max(console.width - left, 20), overflow="fold")
        for number, line in enumerate(lines):
            head = " " * indent + label if number == 0 else ""
            line.rstrip()
            _print(console, Text.assemble((head.ljust(left), "cyan"), line))


def _print(console: Console, what: Text) -> None:
    console.print(what, markup=False, highlight=False, emoji=False)


def _line(text: str) -> str:
    return printable(text, _MAX_LINE)
