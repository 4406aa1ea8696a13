"""`npubug doctor`: what this machine can do, and how to get what is missing."""

from __future__ import annotations

import os
import sys

from bundler.errors import ExitCode
from bundler.evidence.doctor import ESSENTIAL, able, examine_machine
from bundler.report.doctor import render_json, render_text


def run(as_json: bool) -> int:
    """Returns OK if this machine can bundle, minimise and replay, else TOOL_MISSING."""
    checks = examine_machine(os.environ)
    sys.stdout.write(render_json(checks) if as_json else render_text(checks))
    return ExitCode.OK if all(able(checks, ability) for ability in ESSENTIAL) else ExitCode.TOOL_MISSING
