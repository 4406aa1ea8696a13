"""`npubug env`: the environment facts alone."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from bundler.commands.redaction import redactor_for
from bundler.compiler.toolchain import COMPILE, find_tool
from bundler.errors import ExitCode, NpubugError
from bundler.evidence.environment import Context, collect
from bundler.manifest import Fact
from bundler.printable import printable


def run(python: Path | None, format: str, redact: str) -> int:
    """Print what is known of this machine, for the user's Python, redacted unless told otherwise."""
    try:
        compiler: Path | None = find_tool(COMPILE).path
    except NpubugError:
        compiler = None
    facts = collect(Context(interpreter=python or Path(sys.executable), compiler=compiler))
    redactor = redactor_for(redact)
    if redactor is not None:
        facts = tuple(
            Fact(f.name, f.value and redactor.text(f.value), redactor.text(f.source), redactor.text(f.reason))
            for f in facts
        )
    if format == "json":
        print(json.dumps([asdict(fact) for fact in facts], indent=2, ensure_ascii=False))
    elif format == "markdown":
        print("| fact | value |\n| --- | --- |")
        for fact in facts:
            print(f"| {fact.name} | {_shown(fact).replace('|', chr(92) + '|')} |")
    else:
        width = max((len(fact.name) for fact in facts), default=0)
        for fact in facts:
            print(f"{fact.name:{width}}  {_shown(fact)}")
    return ExitCode.OK


def _shown(fact: Fact) -> str:
    return (
        printable(fact.value, 300)
        if fact.value is not None
        else f"unavailable: {printable(fact.reason, 300)}"
    )
