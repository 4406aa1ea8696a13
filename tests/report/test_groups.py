from __future__ import annotations

import dataclasses
import json

from bundler.manifest import Manifest
from bundler.report.groups import Entry, group, render_json, render_text
from tests.archive.samples import MANIFEST, REDUCED_MANIFEST


def entry(
    path: str, manifest: Manifest = MANIFEST, *, id: str = "", complete: bool = True, size: int = 9
) -> Entry:
    if id and manifest.signature is not None:
        manifest = dataclasses.replace(manifest, signature=dataclasses.replace(manifest.signature, id=id))
    return Entry(path, size, manifest, complete)


def test_the_largest_group_comes_first_and_archives_without_failure_last() -> None:
    healthy = dataclasses.replace(MANIFEST, signature=None, failing_call=None)
    groups = group(
        [entry("h1", healthy), entry("h2", healthy), entry("h3", healthy), entry("a", id="x"), entry("b", id="y"),
         entry("c", id="y")]
    )  # fmt: skip
    assert [(g.signature, len(g.entries)) for g in groups] == [("y", 2), ("x", 1), ("", 3)]


def test_in_a_group_the_reduced_then_the_complete_then_the_small_come_first() -> None:
    entries = [
        entry("large", size=90),
        entry("small", size=5),
        entry("incomplete", size=1, complete=False),
        entry("reduced", REDUCED_MANIFEST, size=99),
    ]
    (only,) = group(entries)
    assert [e.path for e in only.entries] == ["reduced", "small", "large", "incomplete"]


def test_the_text_counts_and_cannot_act_on_a_terminal() -> None:
    groups = group([entry("a\x1b[2J.npubug.zip"), entry("b", REDUCED_MANIFEST)])
    text = render_text(groups, [("bad\n.npubug.zip", "it is empty\x07")])
    assert text.replace("\n", "").isprintable()
    assert "2 archives  1f2e3d4c" in text and "reduced to 6 operations" in text
    assert text.endswith("2 archives, 1 different failure, 1 invalid\n")


def test_the_json_names_every_archive() -> None:
    document = json.loads(render_json(group([entry("a"), entry("b", REDUCED_MANIFEST)]), [("c", "why")]))
    assert [a["path"] for a in document["groups"][0]["archives"]] == ["b", "a"]
    assert document["groups"][0]["archives"][0]["reduced_ops"] == 6
    assert document["invalid"] == [{"path": "c", "why": "why"}]
