"""The user's own list of what to replace and what to leave: `config.ini` in npubug's configuration folder.

    [redact]
    words =
        falcon
        project x
    allow =
        testuser

One word a line; `words` are replaced wherever they stand, whatever the case of their letters; `allow` are
values that look private and are not. An unknown section or name is an error: a misspelt `words` would
silently replace nothing.
"""

from __future__ import annotations

import configparser
from dataclasses import dataclass
from pathlib import Path

from bundler.errors import ExitCode, NpubugError

FILE_NAME = "config.ini"
_KNOWN = ("words", "allow")


@dataclass(frozen=True)
class Settings:
    """What the user wishes for all bundles."""

    words: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


def read_settings(folder: Path) -> Settings:
    """The settings in `folder`; none if there is no file.

    Raises:
        NpubugError: (usage) the file cannot be read, or says something that is not known.
    """
    path = folder / FILE_NAME
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(path, str(error)) from error
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), default_section="")
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise _wrong(path, " ".join(str(error).replace("<string>", "the file").split())) from error
    for section in parser.sections():
        if section != "redact":
            raise _wrong(path, f"there is no section [{section}]")
        for name in parser[section]:
            if name not in _KNOWN:
                raise _wrong(path, f"[redact] has no '{name}'")
    return Settings(*(_lines(parser.get("redact", name, fallback="")) for name in _KNOWN))


def _lines(value: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in value.splitlines() if line.strip())


def _wrong(path: Path, why: str) -> NpubugError:
    return NpubugError(
        f"cannot use the settings in '{path}'",
        why=why,
        hint="a section [redact] with `words =` and `allow =`, one word on each following indented line",
        code=ExitCode.USAGE,
    )
