"""A command line and its end, back from the text that Python prints of them.

Formats: `subprocess.CalledProcessError.__str__`: `Command '['TOOL', 'ARG']' returned non-zero exit status
1.`, `... died with <Signals.SIGABRT: 6>.`, `... died with unknown signal 99.`; a list is printed by `repr`,
a shell command as it is.
"""

from __future__ import annotations

import re
import shlex

_STATUS = re.compile(r"returned non-zero exit status (\d{1,5})")
_SIGNAL = re.compile(r"died with (?:<Signals\.\w+: (\d{1,3})>|unknown signal (\d{1,3}))")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_LONGEST = 1 << 16


def quoted_argv(text: str) -> tuple[str, ...]:
    """The words of the command at the start of `text` (what follows `Command `); () if there are none."""
    text = text[:_LONGEST]
    if text.startswith("'["):
        return tuple(_list_items(text[2:]))
    if text.startswith("["):
        return tuple(_list_items(text[1:]))
    if text.startswith("'"):
        command = re.split(r"' (?:returned|died|timed)", text[1:], maxsplit=1)[0]
        try:
            return tuple(shlex.split(command))
        except ValueError:
            return tuple(command.split())
    return ()


def exit_status(text: str) -> int | None:
    """The return code that `text` tells, negative for a signal; None if it tells none."""
    status = _STATUS.search(text)
    if status is not None:
        return int(status[1])
    died = _SIGNAL.search(text)
    return -int(died[1] or died[2]) if died is not None else None


def _list_items(text: str) -> list[str]:
    """The strings of a printed list, up to its `]`. A loop, as a pattern would backtrack on hostile text."""
    items: list[str] = []
    current: list[str] | None = None
    quote = ""
    escaped = False
    for character in text:
        if current is None:
            if character == "]":
                break
            if character in "'\"":
                current, quote = [], character
        elif escaped:
            current.append(_ESCAPES.get(character, character))
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == quote:
            items.append("".join(current))
            current = None
        else:
            current.append(character)
    return items
