"""From a location as the compiler prints it to the line of the user's kernel.

Formats (MLIR's builtin location attributes, mlir/lib/IR/AsmPrinter.cpp): `"file.py":3:4`, named
`"x"("file.py":3:4)`, `callsite(CALLEE at CALLER)`, `fused<...>[A, B]`, `unknown`, aliases `#loc7` defined
once as `#loc7 = loc(...)`; and in messages of the opt tools simply `file.py:3:4`. In each the frames stand
innermost first, so the user's line is the first whose file is not triton's own library: the last frame of a
traceback.

Where the compiler points into an IR file (it had no debug info, or the location is the parser's), the IR's
own line may say where it came from: `%3 = tt.load %2 : ... loc(#loc12)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

# No escapes in file names: with them a hostile text could make this quadratic.
_FRAME = re.compile(r'"([^"\n]*)":(\d{1,9}):(\d{1,9})')
_PLAIN = re.compile(r"\A(\S[^\n]*):(\d{1,9}):(\d{1,9})\Z")
_ALIAS_OR_FRAME = re.compile(r'#loc\d*|"[^"\n]*":\d{1,9}:\d{1,9}')
_DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)[ \t]*$", re.MULTILINE)
_IR_SUFFIXES = (".mlir", ".ttir", ".ttadapter", ".bcmlir", ".mlirbc", ".rep")
_LIBRARY_FOLDERS = ("language", "runtime", "compiler", "backends", "tools", "experimental")
_DEEPEST = 10_000


@dataclass(frozen=True)
class Frame:
    """One place in a source file."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class SourceLine:
    """A line of the user's kernel; `text` is None where the file is not here."""

    frame: Frame
    text: str | None = None


def frames_of(location: str, ir: str | None = None) -> tuple[Frame, ...]:
    """The frames of a printed location, innermost first; aliases are looked up in `ir`. Never raises."""
    plain = _PLAIN.match(location.strip())
    if plain is not None and not location.startswith("loc(") and '"' not in location:
        return (_frame(plain[1], plain[2], plain[3]),)
    definitions = aliases(ir) if ir is not None and "#loc" in location else {}
    found: list[Frame] = []
    seen: set[str] = set()
    todo = [location]
    # A stack, not recursion: chains of inlined calls get deep, and aliases of a broken file may loop.
    while todo and len(found) < _DEEPEST:
        text = todo.pop()
        exact = _FRAME.fullmatch(text)
        if exact is not None:
            found.append(_frame(exact[1], exact[2], exact[3]))
            continue
        if text.startswith("#loc") and text not in seen:
            seen.add(text)
            text = definitions.get(text, "")
        elif text in seen:
            continue
        todo.extend(reversed(_ALIAS_OR_FRAME.findall(text)))
    return tuple(found)


def aliases(ir: str) -> dict[str, str]:
    """The location aliases that an IR text defines."""
    return {match[1]: match[2] for match in _DEFINITION.finditer(ir)} if "#loc" in ir else {}


def is_library(file: str) -> bool:
    """Whether `file` belongs to triton itself (its standard library, `tl.sum` and such) or to Python."""
    parts = file.replace("\\", "/").split("/")
    inside_triton = any(
        parts[index] == "triton" and parts[index + 1] in _LIBRARY_FOLDERS for index in range(len(parts) - 1)
    )
    return inside_triton or parts[-1].startswith("<")


def is_ir(file: str) -> bool:
    """Whether `file` is the compiler's input and not anybody's source."""
    return file.endswith(_IR_SUFFIXES)


def user_frame(location: str | None, ir: str | None = None) -> Frame | None:
    """The user's own kernel line behind a printed location, or None if nothing tells it.

    Args:
        location: as in `Diagnosis.location`.
        ir: the text that was compiled: its aliases are used, and, where the location points into this very
            file, the location that its line carries.
    """
    if not location:
        return None
    frames = frames_of(location, ir)
    found = _first_of_user(frames)
    if found is not None or ir is None:
        return found
    for frame in frames:
        if is_ir(frame.file):
            carried = _carried(ir, frame.line)
            if carried:
                return _first_of_user(frames_of(carried, ir))
    return None


def source_line(frame: Frame, read: Callable[[str], str | None]) -> SourceLine:
    """`frame` with the text of its line; `read` gives a file's text, or None where it is not here."""
    text = read(frame.file)
    lines = text.splitlines() if text is not None else []
    return SourceLine(frame, lines[frame.line - 1] if 0 < frame.line <= len(lines) else None)


def _first_of_user(frames: tuple[Frame, ...]) -> Frame | None:
    return next((each for each in frames if not is_library(each.file) and not is_ir(each.file)), None)


def _carried(ir: str, line: int) -> str:
    """The location that the op on this line of IR carries; of an op with regions it stands behind its `}`."""
    lines = ir.split("\n")
    if not 0 < line <= len(lines):
        return ""
    first = lines[line - 1]
    indent = first[: len(first) - len(first.lstrip())]
    closing = (each for each in lines[line:] if each.startswith(f"{indent}}}"))
    last = next(closing, "") if " loc(" not in first and first.rstrip().endswith("{") else first
    before, mark, location = last.rpartition(" loc(")
    return f"loc({location}" if mark and before else ""


def _frame(file: str, line: str, column: str) -> Frame:
    return Frame(file, int(line), int(column))
