"""Tell the words of an IR line apart, for colours: in the terminal and on a page. Textual, and never fails."""

from __future__ import annotations

import re
from dataclasses import dataclass

_START = re.compile(r'(\s*(?:%[^=\n]*= )?)("?)([A-Za-z_]\w*(?:\.[\w.$]+)?)("?)(?=[ (<{:]|$)')
_WORD = re.compile(
    r"(?P<comment>//.*)"
    r'|(?P<string>"[^"]*"?)'
    r"|(?P<value>%[\w$.-]+(?:[:#]\d+)?)"
    r'|(?P<symbol>@(?:"[^"]*"|[\w$.-]+))'
    r"|(?P<block>\^\w+)"
    r"|(?P<attribute>#[\w.$-]+)"
    r"|(?P<type>![\w.$-]+|\b(?:tensor|memref|vector|complex|tuple)(?=<)|\b(?:[su]?i\d+|b?f\d\w*|tf32|index)\b)"
    r"|(?P<number>(?<![\w.])-?\d[\w.]*(?:(?<=[eE])[+-]\d+)?)"
    r"|(?P<keyword>\b(?:ins|outs|attributes|to|into|step|iter_args|else|true|false|dense|loc)\b)"
)
_NESTED = ("type", "attribute")
_LONGEST = 4000  # of one line; beyond, it is plain


@dataclass(frozen=True)
class Token:
    """Some characters of a line; `kind` is op, value, symbol, type, attribute, string, number, ... or plain."""

    kind: str
    text: str


def tokens(line: str) -> list[Token]:
    """Cut a line of IR into tokens; together they are the line. A type with its `<...>` is one token."""
    found: list[Token] = []
    position = 0
    start = _START.match(line)
    if start is not None and (
        "." in start[3] or start[1].strip() or start[3] in ("module", "return", "call")
    ):
        found += _words(start[1], 0, len(start[1]))
        found.append(Token("op", start[2] + start[3] + start[4]))
        position = start.end()
    end = min(len(line), _LONGEST)
    found += _words(line, position, end)
    if end < len(line):
        found.append(Token("plain", line[end:]))
    return found


def _words(line: str, position: int, end: int) -> list[Token]:
    found: list[Token] = []
    while position < end:
        match = _WORD.search(line, position, end)
        if match is None or match.lastgroup is None:
            found.append(Token("plain", line[position:end]))
            break
        if match.start() > position:
            found.append(Token("plain", line[position : match.start()]))
        stop = match.end()
        if match.lastgroup in _NESTED and line[stop : stop + 1] == "<":
            stop = _closing(line, stop, end)
        found.append(Token(match.lastgroup, line[match.start() : stop]))
        position = stop
    return found


def _closing(line: str, position: int, end: int) -> int:
    """Behind the `>` that closes the `<` at `position`; an arrow closes nothing."""
    depth = 0
    for index in range(position, end):
        letter = line[index]
        if letter == "<":
            depth += 1
        elif letter == ">" and line[index - 1] != "-":
            depth -= 1
            if depth == 0:
                return index + 1
    return end
