"""What a source of facts is given, and the few ways it may touch the machine.

A source reads files below `Context.root` and runs commands through `ask`; both give text or the reason why
there is none, never an exception. So a source is a declaration: where to look, what to take, what to call it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bundler.manifest import Fact
from bundler.process import run

_FILE_CAP = 1 << 20  # version files are tiny; a device or a log under such a name must not fill memory
_OUTPUT_CAP = 1 << 20


@dataclass(frozen=True)
class Context:
    """The machine and the failing run, as seen by the sources.

    Args:
        interpreter: the Python that ran the user's program, or None if no Python was involved.
        compiler: the compiler binary of the failing call, or None.
        compiler_argv: its whole command line, for `--target`.
        environ: the environment of the user's program.
        root: where absolute paths start; a test puts a fake machine there.
        cached_files: names of the files that the failing kernel left in the cache.
        timeout: seconds for each command.
    """

    interpreter: Path | None = None
    compiler: Path | None = None
    compiler_argv: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    root: Path = Path("/")
    cached_files: tuple[str, ...] = ()
    timeout: float = 10.0

    def at(self, path: str | Path) -> Path:
        """An absolute path of the machine, below `root`."""
        return self.root / str(path).lstrip("/")

    @property
    def home(self) -> Path | None:
        value = self.environ.get("HOME")
        return Path(value) if value else None


@dataclass(frozen=True)
class Source:
    """One source of facts.

    `names` are the facts it always answers, with a value or a reason; it may add others. `title` says where
    they come from when the source itself gives no answer.
    """

    title: str
    names: tuple[str, ...]
    collect: Callable[[Context], Iterable[Fact]]


@dataclass(frozen=True)
class Answer:
    """What a command said: `text`, or None and the reason."""

    text: str | None
    reason: str = ""


def ask(context: Context, argv: Sequence[str], timeout: float | None = None) -> Answer:
    """Run a command in the user's environment, in the C locale, and return its stdout."""
    limit = context.timeout if timeout is None else timeout
    name = Path(argv[0]).name
    program = find_program(context, argv[0])
    if program is None:
        return Answer(None, f"{name} not found")
    environ = {**context.environ, "LC_ALL": "C"}
    try:
        done = run([str(program), *argv[1:]], timeout=limit, env=environ, output_cap=_OUTPUT_CAP)
    except (OSError, ValueError) as error:
        return Answer(None, f"{name} cannot be run: {getattr(error, 'strerror', None) or error}")
    if done.timed_out:
        return Answer(None, f"{name} did not answer within {limit:.0f} s")
    text = done.stdout.decode(errors="replace")
    code = done.returncode or 0
    if code != 0:
        said = first_line(done.stderr.decode(errors="replace")) or first_line(text)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return Answer(None, f"{name} failed with {how}" + (f": {said}" if said else ""))
    if not text.strip():
        return Answer(None, f"{name} printed nothing")
    return Answer(text)


def find_program(context: Context, name: str) -> Path | None:
    """Look a command up in the user's PATH; a path is taken as it is."""
    if "/" in name:
        return Path(name) if os.access(name, os.X_OK) else None
    found = shutil.which(name, path=context.environ.get("PATH", os.defpath))
    return Path(found) if found else None


def read_text(path: Path) -> str | None:
    """The text of a small file, or None if there is none or it may not be read."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            return stream.read(_FILE_CAP).decode(errors="replace")
    except OSError:
        return None


def key_values(text: str) -> dict[str, str]:
    """`key=value` lines as in Ascend's `version.info` and `*_install.info`; other lines are skipped."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not key.lstrip().startswith("#"):
            pairs.setdefault(key.strip(), value.strip().strip("\"'"))
    return pairs


def first_line(text: str) -> str:
    """The first line with something on it, at most 200 characters."""
    return next((line.strip()[:200] for line in text.splitlines() if line.strip()), "")


def unavailable(names: Iterable[str], source: str, reason: str) -> tuple[Fact, ...]:
    """The same reason for several facts."""
    return tuple(Fact(name, None, source, reason) for name in names)
