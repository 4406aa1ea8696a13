"""Text from outside, made safe to put on a line.

Kernel names, member names and compiler output are written by others: a terminal escape code, a line break or
a right-to-left override in them must never act on the reader's screen.
"""

from __future__ import annotations


def printable(text: str, limit: int | None = None) -> str:
    """Return `text` on one line with every character that is not plainly visible written as an escape.

    Args:
        text: any string, lone surrogates included.
        limit: the most characters to return; what is cut off is replaced by an ellipsis.
    """
    if limit is not None and len(text) > limit:
        text = text[: max(limit - 1, 0)] + "…"
    if text.isprintable():
        return text
    return "".join(ch if ch.isprintable() else _escape(ch) for ch in text)


def _escape(ch: str) -> str:
    return ch.encode("unicode_escape", "surrogatepass").decode("ascii")
