"""Posting once: against a gitcode and a GitHub on this machine, with every way in which a post can go wrong."""

from __future__ import annotations

import pickle
import time
from email.utils import formatdate

import pytest

from bundler.errors import ExitCode, NpubugError
from bundler.tracker.api import Api
from bundler.tracker.client import Client
from bundler.tracker.places import TRACKERS, Host
from bundler.tracker.submit import Patience, Posted, connect, post_once, similar
from bundler.tracker.token import Token, find_token, require_token
from tests.tracker.servers import TOKEN, Tracker, closed_port, serving

MARK = "npubug-report-0123456789abcdef"
TITLE = "[Bug]: hivm-plan-memory 报错：ub overflow & 100% | #1"
BODY = f"### 问题描述\n\n```mlir\nmodule {{}}\n```\n+ a=b&c=d %20 ü\n\n`{MARK}`\n"


def api_of(server: Tracker, token: str = TOKEN, timeout: float = 0.5) -> Api:
    tracker = next(each for each in TRACKERS.values() if each.repo == server.repo)
    return connect(tracker, Token(token), base=server.base, timeout=timeout, environ={})


class Run:
    """One attempt to post: its waits and what was said, instead of waiting."""

    def __init__(self, server: Tracker, token: str = TOKEN) -> None:
        self.api = api_of(server, token)
        self.waits: list[float] = []
        self.said: list[str] = []

    def post(self) -> Posted:
        return post_once(self.api, TITLE, BODY, MARK, sleep=self.waits.append, say=self.said.append)


def ours(server: Tracker) -> list[str]:
    return [each["title"] for each in server.issues if MARK in each["body"]]


def test_a_post_arrives_as_it_was_written(server: Tracker) -> None:
    run = Run(server)
    posted = run.post()
    assert posted.new
    assert server.issues[-1]["title"] == TITLE
    assert server.issues[-1]["body"] == BODY
    assert posted.issue.url == server.issues[-1]["html_url"]
    assert (run.waits, run.said) == ([], [])


def test_a_missing_link_is_made_from_the_number(server: Tracker) -> None:
    server.null_links = True
    assert Run(server).post().issue.url == f"{api_of(server).tracker.url}/issues/3"


def test_the_same_report_is_not_posted_twice(server: Tracker) -> None:
    first = Run(server).post()
    server.add("something newer", "of others")
    again = Run(server).post()
    assert not again.new
    assert again.issue.number == first.issue.number
    assert len(server.posts) == 1


def test_a_list_without_bodies_does_not_hide_the_report(server: Tracker) -> None:
    server.bodies_in_lists = False
    Run(server).post()
    assert not Run(server).post().new


def test_an_issue_of_the_same_title_is_not_taken_for_ours(server: Tracker) -> None:
    server.add(TITLE, "somebody else's")
    assert Run(server).post().new


@pytest.mark.parametrize(
    "fault", ["503-stored", "500-stored", "drop-stored", "hang-stored", "half-stored", "garbage-stored"]
)
def test_a_post_that_arrived_though_it_failed_is_found_and_not_repeated(server: Tracker, fault: str) -> None:
    server.faults.append(fault)
    run = Run(server)
    posted = run.post()
    assert posted.new
    assert ours(server) == [TITLE]
    assert len(server.posts) == 1
    assert "looking whether it was posted" in run.said[0]


@pytest.mark.parametrize("fault", ["503", "502", "drop", "hang", "half", "garbage"])
def test_a_post_that_got_lost_is_repeated(server: Tracker, fault: str) -> None:
    server.faults.append(fault)
    run = Run(server)
    assert run.post().new
    assert ours(server) == [TITLE]
    assert run.waits == [2.0, 2.0], "two looks before it is repeated"


def test_a_post_that_is_carried_out_late_is_still_found(server: Tracker) -> None:
    server.faults.append("503")
    run = Run(server)

    def late(seconds: float) -> None:
        run.waits.append(seconds)
        if len(run.waits) == 2:
            server.add(TITLE, BODY)

    posted = post_once(run.api, TITLE, BODY, MARK, sleep=late)
    assert posted.new
    assert len(server.posts) == 1


def test_when_it_cannot_be_told_whether_it_arrived_nothing_is_repeated(server: Tracker) -> None:
    server.faults.append("503-stored")
    run = Run(server)

    def then_reading_fails(line: str) -> None:
        if "looking whether" in line:
            server.read_faults.extend(["500"] * 9)

    with pytest.raises(NpubugError) as caught:
        post_once(run.api, TITLE, BODY, MARK, sleep=run.waits.append, say=then_reading_fails)
    assert "not known whether" in caught.value.what
    assert "/issues" in caught.value.hint
    assert len(server.posts) == 1


def test_nothing_is_posted_when_the_first_look_fails(server: Tracker) -> None:
    server.read_faults.extend(["500"] * 9)
    with pytest.raises(NpubugError):
        Run(server).post()
    assert server.posts == []


def test_a_server_that_never_recovers_ends_the_tries(server: Tracker) -> None:
    server.faults.extend(["503"] * 99)
    with pytest.raises(NpubugError) as caught:
        Run(server).post()
    assert "was not posted" in caught.value.what
    assert "issues/new" in caught.value.hint
    assert len(server.posts) == 4


@pytest.mark.parametrize("fault", ["limit:7", "limit:date", "limit403:reset"])
def test_a_rate_limit_is_waited_for_as_long_as_it_says(server: Tracker, fault: str) -> None:
    soon = time.time() + 30
    server.faults.append(
        fault.replace("date", formatdate(soon, usegmt=True)).replace("reset", str(int(soon)))
    )
    run = Run(server)
    assert run.post().new
    (wait,) = run.waits
    assert wait == 7 if fault == "limit:7" else 25 < wait <= 30
    assert "limits the rate" in run.said[0]


def test_a_rate_limit_without_a_time_is_waited_for_by_our_own(server: Tracker) -> None:
    server.faults.extend(["limit", "limit"])
    run = Run(server)
    assert run.post().new
    assert run.waits == [2.0, 5.0]


def test_a_rate_limit_of_an_hour_is_told_and_not_waited_for(server: Tracker) -> None:
    server.faults.append("limit:3600")
    run = Run(server)
    with pytest.raises(NpubugError) as caught:
        run.post()
    assert "60 minutes" in caught.value.hint
    assert run.waits == []


@pytest.mark.parametrize(
    ("fault", "hint"), [("401", "expired"), ("403", "right"), ("404", "see"), ("422", "hand")]
)
def test_a_refusal_is_final_and_says_what_to_do(server: Tracker, fault: str, hint: str) -> None:
    server.faults.append(fault)
    run = Run(server)
    with pytest.raises(NpubugError) as caught:
        run.post()
    assert hint in caught.value.hint
    assert (len(server.posts), run.waits) == (1, [])


def test_a_wrong_token_is_a_refusal(server: Tracker) -> None:
    with pytest.raises(NpubugError) as caught:
        Run(server, "wrong-token").post()
    assert "401" in caught.value.why and "wrong-token" not in str(caught.value)


def test_nobody_listening_is_tried_again_and_then_told() -> None:
    api = connect(
        TRACKERS["triton-ascend"], Token(TOKEN), base=f"http://127.0.0.1:{closed_port()}", environ={}
    )
    waits: list[float] = []
    with pytest.raises(NpubugError) as caught:
        post_once(api, TITLE, BODY, MARK, sleep=waits.append)
    assert "cannot reach 127.0.0.1" in caught.value.why
    assert len(waits) == 3


def test_a_redirect_within_the_server_is_followed(server: Tracker) -> None:
    server.elsewhere = server.url + ("/api/v5/repos/Ascend/issues" if server.site == "gitcode" else "")
    if server.site == "github":
        server.elsewhere += "/repos/triton-lang/triton-ascend/issues"
    server.faults.append("redirect:307")
    assert Run(server).post().new
    assert server.issues[-1]["body"] == BODY


def test_the_token_follows_no_redirect_to_another_server(server: Tracker) -> None:
    with serving(Tracker(server.site, server.owner, server.repo)) as thief:
        server.elsewhere = thief.url + "/repos/x/y/issues"
        for code in (301, 302, 303, 307, 308):
            server.faults.append(f"redirect:{code}")
            with pytest.raises(NpubugError) as caught:
                Run(server).post()
            assert "--api-url" in caught.value.hint
        server.read_faults.append("redirect:302")
        with pytest.raises(NpubugError):
            Run(server).post()
        assert thief.seen == []


def test_the_token_is_in_no_address_message_or_text_form(server: Tracker) -> None:
    server.faults.extend(["503", "limit:1", "drop", "echo"])
    run = Run(server)
    with pytest.raises(NpubugError) as caught:
        run.post()
    token = Token(TOKEN)
    chain = [caught.value, caught.value.__cause__, caught.value.__context__]
    texts = [
        *run.said,
        str(caught.value),
        *map(repr, chain),
        repr(run.api.client),
        repr(vars(run.api.client)),
    ]
    texts += [repr(token), str(token), f"{token}", f"{token:>40}", repr([token])]
    texts += [each.path + repr(each.query) + each.body for each in server.seen]
    assert not any(TOKEN in text for text in texts)
    assert "[token]" in caught.value.why, "the server repeated it, and it was taken out"
    assert any(TOKEN in repr(each.headers) for each in server.posts)
    with pytest.raises(TypeError):
        pickle.dumps(token)


@pytest.mark.parametrize("value", ["", "  ", "a b", "a\nX-Evil: 1", "a\x00", "ключ"])
def test_what_is_no_token_is_refused_without_being_told(value: str) -> None:
    with pytest.raises(NpubugError) as caught:
        Token(value)
    assert not value.strip() or value not in str(caught.value)


def test_a_token_comes_from_the_environment_or_a_prompt() -> None:
    environ = {"NPUBUG_GITCODE_TOKEN": f" {TOKEN}\n"}
    found = find_token(Host.GITCODE, environ)
    assert found is not None and found.reveal() == TOKEN
    assert find_token(Host.GITHUB, environ) is None
    assert require_token(Host.GITHUB, environ, lambda question: "typed").reveal() == "typed"
    with pytest.raises(NpubugError) as caught:
        require_token(Host.GITHUB, environ, None)
    assert "NPUBUG_GITHUB_TOKEN" in caught.value.hint
    assert caught.value.code is ExitCode.USAGE


@pytest.mark.parametrize(
    "base", ["http://api.github.com", "ftp://127.0.0.1", "https://me:pw@api.github.com", "api.github.com", ""]
)
def test_a_token_is_sent_over_https_only(base: str) -> None:
    with pytest.raises(NpubugError) as caught:
        Client(base, Token(TOKEN), lambda token: ("x", token.reveal()))
    assert "pw" not in str(caught.value)


def test_the_addresses_are_the_sites_own_unless_told(server: Tracker) -> None:
    place = api_of(server).tracker
    assert "https://api." in repr(connect(place, None, environ={}).client)
    variable = {"gitcode": "NPUBUG_GITCODE_API", "github": "NPUBUG_GITHUB_API"}[server.site]
    assert "127.0.0.1" in repr(connect(place, None, environ={variable: server.base}).client)


def test_similar_issues_are_listed_the_most_alike_first(server: Tracker) -> None:
    server.add("UB overflow, requires more", "pass hivm-plan-memory, bits available: few")
    server.add("closed: ub overflow, requires", "", state="closed")
    server.add("ub overflow, requires a pull request", "", pull_request={"url": "x"})
    server.issues[-1]["state"] = "open"
    found = similar(api_of(server), ("ub overflow, requires", "bits available", "hivm-plan-memory"))
    numbers = [each.number for each in found]
    assert numbers[:2] == ["3", "1"]
    assert set(numbers) == {"3", "1"}


def test_an_unreachable_tracker_ends_the_search(server: Tracker) -> None:
    server.read_faults.extend(["500"] * 9)
    with pytest.raises(NpubugError):
        similar(api_of(server), ("ub overflow",), patience=Patience((0.0,)))


def test_an_issue_on_the_tracker_cannot_act_on_the_terminal(server: Tracker) -> None:
    server.add("ub overflow \x1b[2J\u202e\nx", "", html_url="javascript:alert(1)")
    (found,) = [each for each in similar(api_of(server), ("ub overflow",)) if each.number == "3"]
    assert found.title.isprintable()
    assert found.url.startswith("https://")
