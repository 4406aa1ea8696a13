"""A manifest to write issues about, as it is or with one thing changed."""

from __future__ import annotations

import dataclasses
from typing import Any

from bundler.manifest import Manifest
from bundler.report.issue import IssueText, issue_text
from bundler.report.issue_evidence import Evidence
from tests.archive.samples import MANIFEST, REDUCED


def filled(manifest: Manifest, evidence: Evidence | None = None, **options: Any) -> IssueText:
    options = {"lang": "en", "attachment": "a.npubug.zip", "attachment_size": 11018, **options}
    return issue_text(manifest, evidence or Evidence(ir=REDUCED.decode()), **options)


def signed(manifest: Manifest = MANIFEST, **changes: Any) -> Manifest:
    assert manifest.signature is not None
    return dataclasses.replace(manifest, signature=dataclasses.replace(manifest.signature, **changes))
