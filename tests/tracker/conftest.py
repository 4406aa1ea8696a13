from __future__ import annotations

from collections.abc import Iterator

import pytest

from bundler.tracker.places import TRACKERS, Host
from tests.tracker.servers import Tracker, serving


@pytest.fixture(params=["npuir", "triton-ascend"])
def server(request: pytest.FixtureRequest) -> Iterator[Tracker]:
    """A gitcode and a GitHub, with two issues of others on them."""
    place = TRACKERS[request.param]
    site = "gitcode" if place.host is Host.GITCODE else "github"
    tracker = Tracker(site, place.owner, place.repo)
    tracker.add(
        "error: ub overflow, requires 3072000 bits while 1572864 bits avaliable", "### Describe the bug"
    )
    tracker.add("docs are out of date", "please update")
    with serving(tracker):
        yield tracker
