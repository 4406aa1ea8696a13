"""What the machine can do, as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from bundler.evidence.doctor import ABILITIES, Check, able
from bundler.printable import printable

JSON_VERSION = 1


def render_text(checks: tuple[Check, ...]) -> str:
    """The abilities, then each check with what was found or the way to get it."""
    lines = [f"{'yes' if able(checks, ability) else 'no':4}{ability}" for ability in ABILITIES]
    lines.append("")
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark = "ok" if check.found is not None else "missing" if check.needed_for else "absent"
        lines.append(f"{mark:8}{check.name:{width}}  {printable(check.found or '', 300)}".rstrip())
        if check.remedy:
            lines.append(f"{'':8}{'':{width}}  get it: {printable(check.remedy, 400)}")
    return "\n".join(lines) + "\n"


def render_json(checks: tuple[Check, ...]) -> str:
    """`{"version": 1, "able": {"bundle": true, ...}, "checks": [...]}`."""
    document = {
        "version": JSON_VERSION,
        "able": {ability: able(checks, ability) for ability in ABILITIES},
        "checks": [asdict(check) for check in checks],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
