"""`npubug issue`: the text for a tracker's form, and on request the search for similar issues and the posting."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bundler.archive import open_archive
from bundler.archive.atomic import replacing
from bundler.errors import ExitCode
from bundler.report.issue import IssueText, issue_text
from bundler.report.issue_evidence import evidence_of


def run(archive: Path, to: str, lang: str, output: Path | None, as_json: bool) -> int:
    """Write the text to `output` or standard output; what is said about it goes to standard error."""
    opened = open_archive(archive)
    text = issue_text(
        opened.manifest,
        evidence_of(opened),
        tracker=to,
        lang=lang,
        attachment=archive.name,
        attachment_size=archive.stat().st_size,
    )
    _say(f"for {text.tracker.name} ({text.tracker.url}): {text.why}")
    _write(text, output, as_json)
    _say(f"title: {text.title}")
    if text.to_fill:
        _say(f"{text.to_fill} places are marked for you to fill in or confirm")
    _say(f"new issue: {text.tracker.url}/issues/new")
    return ExitCode.OK


def _write(text: IssueText, output: Path | None, as_json: bool) -> None:
    if output is not None:
        with replacing(output) as file:
            file.write(text.body.encode())
        _say(f"wrote {output}")
    if as_json:
        print(
            json.dumps(
                {
                    "title": text.title,
                    "body": text.body,
                    "tracker": text.tracker.name,
                    "url": text.tracker.url,
                    "why": text.why,
                    "report_id": text.report_id,
                    "to_fill": text.to_fill,
                },
                ensure_ascii=False,
            )
        )
    elif output is None:
        sys.stdout.write(text.body)


def _say(line: str) -> None:
    print(f"npubug: {line}", file=sys.stderr, flush=True)
