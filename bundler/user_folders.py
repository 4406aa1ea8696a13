"""Where npubug keeps what is the user's: settings and state, by the XDG base directory rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def config_folder(environ: Mapping[str, str]) -> Path:
    """`$XDG_CONFIG_HOME/npubug`, or `~/.config/npubug`."""
    return _folder(environ, "XDG_CONFIG_HOME", ".config")


def state_folder(environ: Mapping[str, str]) -> Path:
    """`$XDG_STATE_HOME/npubug`, or `~/.local/state/npubug`."""
    return _folder(environ, "XDG_STATE_HOME", ".local/state")


def _folder(environ: Mapping[str, str], variable: str, default: str) -> Path:
    given = environ.get(variable, "")
    if given.startswith("/"):  # relative ones are to be ignored, says the specification
        return Path(given) / "npubug"
    return Path(environ.get("HOME") or Path.home()) / default / "npubug"
