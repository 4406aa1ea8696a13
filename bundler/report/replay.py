"""Replays as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bundler.evidence.replay import Replay, worst
from bundler.printable import printable

JSON_VERSION = 1


def render_text(name: str, replays: Sequence[Replay]) -> str:
    """A paragraph for each compiler."""
    lines = []
    for each in replays:
        tool = f"{each.compiler} ({each.version or 'version not known'})" if each.compiler else "no compiler"
        lines.append(f"{printable(name, 100)}: {each.state.value}, with {printable(tool, 300)}")
        lines.append(f"  {printable(each.why, 400)}")
        if each.ignored:
            lines.append(f"  left out, as this compiler does not know them: {' '.join(each.ignored)}")
    return "\n".join(lines) + "\n"


def render_json(name: str, replays: Sequence[Replay]) -> str:
    """`{"version": 1, "state": ..., "replays": [...]}`; `state` is that of all together."""
    document = {
        "version": JSON_VERSION,
        "name": name,
        "state": worst(replays).value,
        "replays": [
            {
                "compiler": str(each.compiler) if each.compiler else None,
                "compiler_version": each.version,
                "state": each.state.value,
                "why": each.why,
                "signature": each.seen.id if each.seen is not None else None,
                "ignored_flags": list(each.ignored),
                "runs": each.runs,
                "failures": each.came,
            }
            for each in replays
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
