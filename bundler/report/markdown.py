"""Text from outside, made safe to stand in Markdown: always inside code, whose end it cannot reach.

Escaping Markdown character by character is a losing game between dialects; inside a code span or block no
dialect knows links, mentions, HTML or formatting.
"""

from __future__ import annotations

import re

from bundler.printable import printable

_FENCED = re.compile(r"^(`{3,})[^\n`]*\n.*?^\1`*$", re.M | re.S)
_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
_QUOTED_TAB = re.compile(r'"[^"\n]*\t')


def code_span(text: str, limit: int = 300) -> str:
    """Return `text` as inline code on one line; a `-` where there is none."""
    text = printable(text, limit).strip()
    if not text:
        return "-"
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def code_cell(text: str, limit: int = 300) -> str:
    """The same for a cell of a table, where a bar must be escaped even inside code."""
    return code_span(text, limit).replace("|", "\\|")


def code_block(text: str, language: str = "") -> str:
    """Return `text` as a fenced block; its lines stay, other control characters are shown as escapes."""
    body = _body(text)
    ticks = "`" * max(3, _longest_run(body) + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"


def survives(text: str) -> bool:
    """Whether `text` can be copied out of its `code_block` as it went in.

    Blank space at its ends does not count, nor does the width of a tab outside of quotes.
    """
    if _QUOTED_TAB.search(text):
        return False
    return _body(text) == "\n".join(line.expandtabs(4) for line in text.rstrip().split("\n"))


def excerpt(text: str, most: int, left_out: str = "[... {} characters left out ...]") -> str:
    """The first and the last lines of `text`, together about `most` characters; all of a shorter one."""
    text = text.strip("\n")
    if len(text) <= most:
        return text
    head, tail = text[: most // 3], text[-(most - most // 3) :]
    head, tail = head[: head.rfind("\n") + 1], tail[tail.find("\n") + 1 :]
    return f"{head}{left_out.format(len(text) - len(head) - len(tail))}\n{tail}"


def outside_code(markdown: str) -> str:
    """What is left of `markdown` without its fenced blocks and code spans: our own words."""
    return _SPAN.sub("", _FENCED.sub("", markdown))


def _body(text: str) -> str:
    return "\n".join(printable(line.expandtabs(4)) for line in text.rstrip().splitlines())


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
