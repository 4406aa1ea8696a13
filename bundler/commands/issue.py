"""`npubug issue`: the text for a tracker's form, and on request the search for similar issues and the posting."""

from __future__ import annotations

import dataclasses
import getpass
import json
import os
import shlex
import sys
from pathlib import Path

from bundler.archive import open_archive
from bundler.archive.atomic import replacing
from bundler.commands.say import say
from bundler.errors import ExitCode, NpubugError
from bundler.printable import printable
from bundler.report.issue import IssueText, issue_text, marks_in
from bundler.report.issue_evidence import evidence_of

_LISTED = 10


def run(
    archive: Path,
    to: str,
    lang: str,
    output: Path | None,
    search: bool,
    submit: bool,
    yes: bool,
    api_url: str | None,
    as_json: bool,
) -> int:
    """Write the text to `output` or standard output; what is said about it goes to standard error.

    Returns OK, also when the user decided not to post.
    """
    if (yes or api_url) and not (submit or search):
        raise NpubugError(
            "--yes and --api-url are for posting", hint="add --submit, or --search", code=ExitCode.USAGE
        )
    opened = open_archive(archive)
    text = issue_text(
        opened.manifest,
        evidence_of(opened),
        tracker=to,
        lang=lang,
        attachment=archive.name,
        attachment_size=archive.stat().st_size,
    )
    say(f"for {text.tracker.name} ({text.tracker.url}): {text.why}")
    if opened.manifest.signature is not None and opened.manifest.signature.outcome == "unusable":
        say(
            "the compiler could not do its work on this machine at all: mend the installation before you report"
        )
    if opened.manifest.signature is not None and opened.manifest.reduction is None:
        say(f"the input is not reduced yet; first: npubug minimize {shlex.quote(str(archive))}")
    answer: dict[str, object] = {
        "title": text.title,
        "body": text.body,
        "tracker": text.tracker.name,
        "url": text.tracker.url,
        "why": text.why,
        "report_id": text.report_id,
        "to_fill": text.to_fill,
    }
    if search:
        from bundler.tracker.phrases import phrases_of

        signature = opened.manifest.signature
        answer["similar"] = _search(text, phrases_of(signature) if signature is not None else (), api_url)
    if output is not None:
        with replacing(output) as file:
            file.write(text.body.encode())
        say(f"wrote {output}")
    if submit:
        answer |= _submit(text, archive, yes, api_url, shown=not as_json)
    elif not as_json and output is None:
        sys.stdout.write(text.body)
    if as_json:
        print(json.dumps(answer, ensure_ascii=False))
    if not submit:
        say(f"title: {text.title}")
        _say_marks(text)
        say(f"new issue: {text.tracker.url}/issues/new")
    return ExitCode.OK


def _search(text: IssueText, phrases: tuple[str, ...], api_url: str | None) -> list[dict[str, str]]:
    from bundler.tracker.submit import connect, similar
    from bundler.tracker.token import find_token

    if not phrases:
        say("nothing to search for: no compile failed")
        return []
    api = connect(text.tracker, find_token(text.tracker.host, os.environ), base=api_url)
    try:
        found = similar(api, phrases, say=say)[:_LISTED]
    except NpubugError as error:
        # A search that fails is no reason to keep the text back.
        say(f"could not search {text.tracker.url}: {error.what}{f' ({error.why})' if error.why else ''}")
        return []
    say(f"{len(found) or 'no'} open issues there have words of this failure" + (":" if found else ""))
    for issue in found:
        say(f"  #{issue.number} {issue.title}  {issue.url}")
    return [{"number": each.number, "title": each.title, "url": each.url} for each in found]


def _submit(text: IssueText, archive: Path, yes: bool, api_url: str | None, shown: bool) -> dict[str, object]:
    from bundler.tracker.submit import connect, post_once
    from bundler.tracker.token import find_token, require_token

    host = text.tracker.host
    prompt = getpass.getpass if sys.stdin.isatty() and not yes else None
    # Before any question, a script is told what it lacks; a person is asked for the token last.
    token = find_token(host, os.environ) if prompt else require_token(host, os.environ, None)
    connect(text.tracker, None, base=api_url)  # says at once if the address is no good
    _show(text, shown)
    if not yes:
        decided = _ask(text, shown)
        if decided is None:
            say("nothing was posted")
            return {"posted": None}
        text = decided
    api = connect(text.tracker, token or require_token(host, os.environ, prompt), base=api_url)
    posted = post_once(api, text.title, text.body, text.report_id, say=say)
    if not posted.new:
        say("this report is there already; nothing was posted")
    say(f"{'posted' if posted.new else 'it is'}: {posted.issue.url}")
    _say_attach(text, archive)
    return {"posted": posted.issue.url, "new": posted.new}


def _show(text: IssueText, shown: bool) -> None:
    stream = sys.stdout if shown else sys.stderr
    stream.write(f"{text.title}\n\n{text.body}\n")
    stream.flush()
    _say_marks(text)


def _ask(text: IssueText, shown: bool) -> IssueText | None:
    """The text as the user wants it posted, or None."""
    while True:
        print(
            f"Post exactly this to {text.tracker.url}? [y]es, [e]dit first, [N]o: ",
            end="",
            file=sys.stderr,
            flush=True,
        )
        line = sys.stdin.readline()
        if not line:
            raise NpubugError(
                "nothing was posted, as there is nobody to ask",
                hint="add --yes to post without a question",
                code=ExitCode.USAGE,
            )
        word = line.strip().lower()
        if word in ("y", "yes"):
            return text
        if word in ("", "n", "no"):
            return None
        if word in ("e", "edit"):
            text = _edited(text)
            _show(text, shown)


def _edited(text: IssueText) -> IssueText:
    import click

    body = click.edit(text.body, extension=".md")
    if body is None:
        return text
    if text.report_id not in body:
        body = f"{body.rstrip()}\n\n`{text.report_id}`\n"  # without it, a retry could post twice
    return dataclasses.replace(text, body=body, to_fill=marks_in(body))


def _say_marks(text: IssueText) -> None:
    if text.to_fill:
        say(f"{text.to_fill} places are marked for you to fill in or confirm")


def _say_attach(text: IssueText, archive: Path) -> None:
    name = printable(shlex.quote(str(archive)), 300)
    page = "the page's comment box"
    if not text.tracker.takes_file(archive.name):
        say(f"add the archive by hand: npubug repack {name} --format zip, then drag the .zip into {page}")
        return
    say(f"add the archive by hand: drag {name} into {page}")
    if not text.tracker.takes:
        say(f"if the page refuses the format: npubug repack {name} --format zip")
