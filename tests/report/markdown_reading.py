"""Read Markdown as CommonMark does, as far as code is concerned: what is in a block, and what is outside."""

from __future__ import annotations

import re

_FENCED = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1`*$\n?", re.M | re.S)
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", re.S)


def blocks(markdown: str, language: str) -> list[str]:
    """The contents of the fenced blocks of a language, in order."""
    return [found[3] for found in _FENCED.finditer(markdown) if found[2].strip() == language]


def outside_code(markdown: str) -> str:
    """What is left when fenced blocks and code spans are taken out."""
    return _SPAN.sub("", _FENCED.sub("", markdown))
