"""Text from outside, made safe to stand in Markdown: always inside code, whose end it cannot reach.

Escaping Markdown character by character is a losing game between dialects; inside a code span or block no
dialect knows links, mentions, HTML or formatting.
"""

from __future__ import annotations

import re

from bundler.printable import printable


def code_span(text: str, limit: int = 300) -> str:
    """Return `text` as inline code on one line, also good inside a table."""
    text = printable(text, limit).replace("|", "\\|").strip()
    if not text:
        return "-"
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def code_block(text: str, language: str = "") -> str:
    """Return `text` as a fenced block; its lines stay, other control characters are shown as escapes."""
    lines = [printable(line.expandtabs(4)) for line in text.rstrip().splitlines()]
    body = "\n".join(lines)
    ticks = "`" * max(3, _longest_run(body) + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
