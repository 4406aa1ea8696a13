"""What `--redact`, `--redact-word` and `--show-redactions` mean, for every command that has them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bundler.errors import ExitCode, NpubugError
from bundler.manifest import Manifest
from bundler.printable import printable
from bundler.redact import Redactor
from bundler.redact.examples import Example
from bundler.redact.maps import KeptMap, maps_folder, save_map
from bundler.redact.settings import FILE_NAME, read_settings
from bundler.user_folders import config_folder, state_folder

LEVELS = ("full", "paths", "off")


def redactor_for(level: str, words: Sequence[str] = ()) -> Redactor | None:
    """The redactor for a level, with the user's settings; None for "off".

    Raises:
        NpubugError: (usage) words to replace where nothing is replaced, or settings that cannot be used.
    """
    if level == "off":
        if words:
            raise NpubugError(
                "--redact-word with --redact off would replace nothing",
                hint="--redact paths replaces little besides",
                code=ExitCode.USAGE,
            )
        return None
    settings = read_settings(config_folder(os.environ))
    return Redactor(words=(*words, *settings.words), allow=settings.allow, level=level)


def review_for(
    redactor: Redactor | None, *, show: bool, yes: bool, say: Callable[[str], None]
) -> Callable[[Redactor], None] | None:
    """What happens between redaction and writing: show and ask, show, or nothing.

    Raises:
        NpubugError: (usage) there is nothing to show, or nobody to ask.
    """
    if not show:
        return None
    if redactor is None:
        raise NpubugError("--show-redactions: --redact off replaces nothing", code=ExitCode.USAGE)
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NpubugError(
            "--show-redactions asks before it writes, and this is not a terminal",
            hint="add --yes to write without being asked",
            code=ExitCode.USAGE,
        )

    def review(redactor: Redactor) -> None:
        # Originals are for the user's screen only: standard error may go to a file that is passed on.
        for line in listing(redactor.counts, redactor.examples, originals=sys.stderr.isatty()):
            say(line)
        if not yes:
            _ask()

    return review


def listing(
    counts: Sequence[tuple[str, int]], examples: Sequence[Example], *, originals: bool
) -> Iterator[str]:
    """Each kind of replacement with its number and a few examples in their context."""
    if not counts:
        yield "nothing private was found"
        return
    yield "replaced:"
    for kind, number in counts:
        yield f"  {kind}: {number} {'time' if number == 1 else 'times'}, for example"
        for each in examples:
            if each.kind == kind:
                original = f"{printable(each.original, 60)} → " if originals else ""
                before, after = printable(each.before.lstrip()), printable(each.after)
                yield f"    {printable(each.member, 60)}: {before}[{original}{each.stand_in}]{after}"


def _ask() -> None:
    import click

    if click.confirm("npubug: write the archive with these replacements?", err=True):
        return
    raise NpubugError(
        "nothing was written",
        why="you said no",
        hint=f"--redact-word WORD replaces more; words and exceptions can also stand in "
        f"{config_folder(os.environ) / FILE_NAME}",
        code=ExitCode.INTERRUPTED,
    )


def keeper_for(
    redactor: Redactor | None, say: Callable[[str], None]
) -> Callable[[Path, Manifest], None] | None:
    """What happens after writing: the map of the stand-ins is kept for `npubug unredact`."""
    if redactor is None:
        return None

    def keep(path: Path, manifest: Manifest) -> None:
        if not redactor.mapping:
            return
        kept = KeptMap(path.name, manifest.created, redactor.mapping)
        folder = maps_folder(state_folder(os.environ))
        try:
            save_map(folder, kept)
        except OSError as error:  # the archive is there: that counts
            say(f"the originals could not be kept in {folder}: {error.strerror or error}")

    return keep
