"""Record the exception that ends a Python process, and leave it looking as it did.

Loaded into the user's Python at its first compiler call (see `recorder`), so: standard library only, Python
3.8 to 3.13.
"""

# ruff: noqa: PLC0415, PLW0603, PTH110, PTH118
# No pathlib at the top: an import here is time taken from the user's program.
from __future__ import annotations

import json  # noqa: F401 - loaded now, so that nothing is while an interrupt ends the program: see _text
import os
import sys
import time

from .launch import launched
from .recording import middle_cut
from .store import Store

TYPE_CHECKING = False  # without importing typing
if TYPE_CHECKING:
    from typing import Any

_TEXT_CAP = 1 << 18  # bytes of a traceback's text
_watching = False


def watch(store: Store, own: str) -> None:
    """Chain `sys.excepthook`, once.

    Not at the start of the program: libraries look whether the hook is still the built-in one before they set
    theirs. Frames of the file `own` are taken out of what is printed.
    """
    global _watching
    if _watching:
        return
    _watching = True
    previous = sys.excepthook

    def excepthook(kind: Any, value: Any, traceback: Any) -> None:
        try:
            _hide_frames(value, own)
            traceback = value.__traceback__
            record(store, value)
        except Exception as error:
            store.note(f"the final exception was not recorded: {error!r}")
        previous(kind, value, traceback)

    sys.excepthook = excepthook


def record(store: Store, value: Any) -> None:
    """Write down the exception that ends this process; the first one counts. Raises OSError."""
    path = os.path.join(store.folder, f"exception-{os.getpid()}.json")
    if os.path.exists(path):
        return
    text = _text(value).encode("utf-8", "backslashreplace")
    store.append_json(
        path,
        {
            "pid": os.getpid(),
            "type": f"{type(value).__module__}.{type(value).__qualname__}",
            "message": str(value)[:_TEXT_CAP],
            "text": middle_cut(text, _TEXT_CAP).decode("utf-8", "replace"),
            "time": time.time(),
            "argv": list(getattr(sys, "argv", [])),
            "launched": launched(value),
        },
    )


def _hide_frames(value: Any, own: str) -> None:
    """Take the frames of one file out of the tracebacks, so that they print as they would without it."""
    seen = set()
    while value is not None and id(value) not in seen:
        seen.add(id(value))
        entry = value.__traceback__
        while entry is not None:
            while entry.tb_next is not None and entry.tb_next.tb_frame.f_code.co_filename == own:
                entry.tb_next = entry.tb_next.tb_next
            entry = entry.tb_next
        value = value.__cause__ or value.__context__


def _text(value: Any) -> str:
    """The traceback as Python prints it; of an interrupt, a shorter one.

    The traceback module evaluates code while it loads and, in 3.13, while it formats. That makes Python
    forget that it was interrupted, and a program ended by Ctrl-C would exit with 1 in place of the signal.
    """
    if not isinstance(value, KeyboardInterrupt):
        import traceback

        return "".join(traceback.format_exception(type(value), value, value.__traceback__))
    lines = []
    entry = value.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        lines.append(f'  File "{code.co_filename}", line {entry.tb_lineno}, in {code.co_name}\n')
        entry = entry.tb_next
    return "".join(["Traceback (most recent call last):\n", *lines, "KeyboardInterrupt\n"])
