"""`npubug check`: is an archive valid, and is it complete?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bundler.archive import open_archive
from bundler.completeness import check, render_json, render_text
from bundler.errors import ExitCode, NpubugError


def run(archive: Path, as_json: bool) -> int:
    """Returns OK when valid and complete, INCOMPLETE when only valid; invalid ones are INVALID_INPUT."""
    try:
        result = check(open_archive(archive))
    except NpubugError as error:
        if not as_json or error.code is not ExitCode.INVALID_INPUT:
            raise
        print(
            json.dumps(
                {"version": 1, "archive": archive.name, "valid": False, "why": error.why or error.what}
            )
        )
        return error.code
    sys.stdout.write(render_json(result) if as_json else render_text(result))
    return result.exit_code
