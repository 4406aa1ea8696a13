"""A comparison of two archives, for people and for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from bundler.compiler.irdiff import Gap, Kind
from bundler.printable import printable
from bundler.report.comparison import Comparison, Difference, IrDifference, PassDifference

JSON_VERSION = 1
_VALUE = 240
_LINE = 300
_MOST_LINES = 80


def render_text(found: Comparison) -> str:
    """The comparison as plain text; A is `-`, B is `+`, as in any diff."""
    lines = [f"- {printable(found.a, 200)}", f"+ {printable(found.b, 200)}"]
    sections = (
        ("signature", _differences(found.signature)),
        ("flags", _differences(found.flags)),
        ("environment", _differences(found.environment)),
        ("workaround", _differences(found.workaround)),
        ("input IR", _ir(found.ir)),
        ("passes", _passes(found.passes)),
    )
    for title, body in sections:
        text = list(body)
        lines += ["", title, *text] if text else ["", f"{title}: the same"]
    return "\n".join(lines) + "\n"


def render_json(found: Comparison) -> str:
    """The comparison as JSON."""

    def plain(differences: tuple[Difference, ...]) -> list[dict[str, str | None]]:
        return [{"name": each.name, "a": each.a, "b": each.b} for each in differences]

    first = found.passes.first
    document = {
        "version": JSON_VERSION,
        "a": found.a,
        "b": found.b,
        "same": found.same,
        "signature": plain(found.signature),
        "flags": plain(found.flags),
        "environment": plain(found.environment),
        "workaround": plain(found.workaround),
        "ir": {
            "same": found.ir.same,
            "note": found.ir.note,
            "rows": [
                {"unchanged": row.lines}
                if isinstance(row, Gap)
                else {"kind": row.kind.value, "a": row.left, "b": row.right}
                for row in found.ir.rows
            ],
        },
        "passes": {
            "note": found.passes.note,
            "only_a": list(found.passes.only_a),
            "only_b": list(found.passes.only_b),
            "first_difference": None
            if first is None
            else {"pass": first[0].name, "a": first[0].order, "b": first[1].order},
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _differences(differences: tuple[Difference, ...]) -> Iterator[str]:
    for each in differences:
        name, a, b = printable(each.name, 120), _value(each.a), _value(each.b)
        if len(name) + len(a) + len(b) < 100:
            yield f"  {name}: {a} -> {b}"
        else:
            yield from (f"  {name}", f"  - {a}", f"  + {b}")


def _value(value: str | None) -> str:
    return "(not there)" if value is None else printable(value, _VALUE)


def _ir(found: IrDifference) -> Iterator[str]:
    if found.note:
        yield f"  {printable(found.note, _LINE)}"
    shown = 0
    for row in found.rows:
        if shown >= _MOST_LINES:
            yield "  … the rest is in --json"
            return
        shown += 1
        if isinstance(row, Gap):
            yield f"    … {row.lines} lines alike"
            continue
        if row.kind is Kind.SAME:
            yield f"    {printable(row.right or '', _LINE)}"
            continue
        if row.left is not None:
            yield f"  - {printable(row.left, _LINE)}"
        if row.right is not None:
            yield f"  + {printable(row.right, _LINE)}"


def _passes(found: PassDifference) -> Iterator[str]:
    if found.note:
        yield f"  {printable(found.note, _LINE)}"
    for sign, names in (("-", found.only_a), ("+", found.only_b)):
        for name, count in Counter(names).most_common(20):
            yield f"  {sign} {printable(name, 120)}{f' ({count} times)' if count > 1 else ''}"
    if found.first is not None:
        a, b = found.first
        ends = (
            f", which {'fails' if a.failed else 'passes'} in - and {'fails' if b.failed else 'passes'} in +"
        )
        fails = ends if a.failed != b.failed else ""
        yield (
            f"  the IR differs first after {printable(a.name, 120)} (number {a.order} in -, {b.order} in +){fails}"
        )
