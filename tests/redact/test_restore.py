"""Putting originals back, and the maps and settings that the user keeps."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bundler.commands.redaction import listing
from bundler.commands.unredact import choose_map
from bundler.errors import ExitCode, NpubugError
from bundler.redact.maps import KeptMap, read_maps, save_map
from bundler.redact.restore import Restorer
from bundler.redact.settings import Settings, read_settings
from tests.redact.machine import redactor as redactor_of

WORDS = ["Falcon"]


def back_and_forth(text: str) -> str:
    redactor = redactor_of(user="carol", home="/data/team7/carol", hostname="npu-node7", words=WORDS)
    redacted = redactor.text(text)
    assert redacted != text
    return Restorer(redactor.mapping).text(redacted)


@pytest.mark.parametrize(
    "text",
    [
        'loc("/home/devuser/work/k.py":50:0)',
        "at 10.1.2.3:8080 and 10.1.2.4",
        "mail jim@example.com, aa:bb:cc:dd:ee:ff",
        "/data/team7/carol/k.py",
        r"\/data\/team7\/carol\/k.py",
        "%2Fdata%2Fteam7%2Fcarol%2Fk.py",
        "myFalcon_kernel",
        r"line\ncarol wrote",
        "/tmp/torchinductor_carol/x",
        "--index-url https://pypi.corp.lan/team/simple",
        "--index-url http://pypi.corp.lan/team/simple",
    ],
)
def test_what_was_replaced_comes_back(text: str) -> None:
    assert back_and_forth(text) == text


@given(
    st.lists(st.sampled_from(["/home/bob/", "/home/eve/", "10.1.2.3", " at ", "\n", "x ", "9 "]), max_size=12)
)
@settings(max_examples=100, deadline=None)
def test_any_text_comes_back(pieces: list[str]) -> None:
    text = " ".join(pieces)
    redactor = redactor_of()
    assert Restorer(redactor.mapping if redactor.text(text) else {}).text(redactor.text(text)) == text


def test_a_word_that_only_ends_like_a_stand_in_stays() -> None:
    restorer = Restorer({"user-1": "carol", "ip-1": "10.0.0.1"})
    for text in ("superuser-1", "chip-1", "user-12", "user-x", "skip-1"):
        assert restorer.text(text) == text
    assert restorer.restored == {}


def test_secrets_stay_and_are_counted() -> None:
    redactor = redactor_of()
    redacted = redactor.text("password=hunter2222 /home/carol/x")
    restorer = Restorer(redactor.mapping)
    assert restorer.text(redacted) == "password=secret-1 /home/carol/x"
    assert dict(restorer.unknown) == {"secret-1": 1}


def test_binary_data_comes_back_where_the_original_fills_the_place() -> None:
    data = b"ML\xefR\0/home/devuser/k.py\0/home/bo/k.py\0"
    redactor = redactor_of()
    redacted = redactor.data(data)
    restored = Restorer(redactor.mapping).binary(redacted)
    assert len(restored) == len(data)
    assert b"/home/devuser/k.py" in restored


@pytest.mark.parametrize(
    "text",
    [
        "--index-url https://bob:pa55w0rd@pypi.corp.lan/simple",
        "--index-url https://dl.corp.lan/Ab3kd93kdkD93kd02kd/team/simple",
        "https://bob:pa55w0rd@git.corp.lan/x",
        "HTTP_PROXY=http://bob:pa55w0rd@proxy.lan:3128",
    ],
)
def test_credentials_do_not_reach_the_map(text: str) -> None:
    redactor = redactor_of()
    redactor.text(text)
    kept = str(redactor.mapping)
    assert "pa55w0rd" not in kept and "Ab3kd93kdkD93kd02kd" not in kept


# --- maps


KEPT = KeptMap("fold.npubug.tar.zst", "2025-12-01T10:20:30Z", {"user-1": "carol"})
NEWER = KeptMap("add.npubug.tar.zst", "2025-12-02T10:20:30Z", {"user-1": "dave"})


def test_maps_are_for_their_owner_only_and_read_newest_first(tmp_path: Path) -> None:
    folder = tmp_path / "npubug" / "maps"
    paths = [save_map(folder, kept) for kept in (KEPT, NEWER)]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in paths)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "junk.json").write_text('{"archive": []')
    (folder / "list.json").write_text("[]")
    assert read_maps(folder) == [NEWER, KEPT]
    assert read_maps(tmp_path / "nothing") == []


def test_two_archives_of_one_name_have_two_maps(tmp_path: Path) -> None:
    save_map(tmp_path, KEPT)
    save_map(tmp_path, KeptMap(KEPT.archive, "2025-12-03T10:20:30Z", {"user-1": "eve"}))
    assert len(read_maps(tmp_path)) == 2


def test_a_long_name_has_a_map_too(tmp_path: Path) -> None:
    kept = KeptMap("核" * 80 + ".npubug.tar.zst", KEPT.created, {"user-1": "carol"})
    save_map(tmp_path, kept)
    assert read_maps(tmp_path) == [kept]


def test_the_map_of_a_text_is_the_one_it_names_or_the_only_one() -> None:
    assert choose_map([NEWER, KEPT], Path(), None, "in fold.npubug.tar.zst, user-1 ...") == KEPT
    assert choose_map([KEPT], Path(), None, "user-1 ...") == KEPT
    assert choose_map([NEWER, KEPT], Path(), "fold.npubug.tar.zst", "") == KEPT


def test_where_it_cannot_be_told_the_archives_are_listed() -> None:
    with pytest.raises(NpubugError) as caught:
        choose_map([NEWER, KEPT], Path(), None, "user-1 ...")
    assert caught.value.code is ExitCode.USAGE
    assert "add.npubug.tar.zst, fold.npubug.tar.zst" in caught.value.why


@pytest.mark.parametrize("named", [None, "other.npubug.tar.zst"])
def test_without_a_map_it_says_where_one_would_be(named: str | None) -> None:
    with pytest.raises(NpubugError) as caught:
        choose_map([], Path("/state/maps"), named, "user-1")
    assert caught.value.code is ExitCode.INVALID_INPUT
    assert "/state/maps" in caught.value.why


# --- settings


def test_settings_are_words_one_a_line(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings()
    (tmp_path / "config.ini").write_text(
        "[redact]\nwords =\n    Falcon\n    # not this\n    100% x\nallow = me\n"
    )
    assert read_settings(tmp_path) == Settings(("Falcon", "100% x"), ("me",))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[redact]\nword = x\n", "'word'"),
        ("[redaction]\nwords = x\n", "[redaction]"),
        ("words = x\n", "header"),
        ("[redact]\nwords\n", "errors"),
        ("[redact]\nwords = x\nwords = y\n", "already exists"),
    ],
)
def test_settings_that_would_be_ignored_are_an_error(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "config.ini").write_text(text)
    with pytest.raises(NpubugError) as caught:
        read_settings(tmp_path)
    assert caught.value.code is ExitCode.USAGE
    assert why in caught.value.why


# --- what is shown


def test_replacements_are_shown_in_their_context() -> None:
    redactor = redactor_of()
    redactor.looks_at("logs/a.log")
    redactor.data(
        b'x\n  loc("/home/carol/k.py":1:2) token ghp_' + b"a1" * 18 + b"\n" + b"/home/carol/b\n" * 3
    )
    redactor.data(b"ML\xefR\0/home/gertrude/k.py\0")
    lines = list(listing(redactor.counts, redactor.examples, originals=True))
    assert lines[0] == "replaced:"
    assert '    logs/a.log: loc("/home/[carol → user-1]/k.py":1:2) token secret-1' in lines
    assert any("[gertrude → user-2]" in line for line in lines)
    assert any("[ghp_a1" in line for line in lines)
    assert "  user: 5 times, for example" in lines


def test_originals_are_not_shown_where_others_may_read() -> None:
    redactor = redactor_of()
    redactor.text("/home/carol/k.py password=hunter2222")
    text = "\n".join(listing(redactor.counts, redactor.examples, originals=False))
    assert "[user-1]" in text
    assert "carol" not in text and "hunter" not in text


def test_hostile_text_around_a_replacement_is_made_harmless() -> None:
    redactor = redactor_of()
    redactor.text("\x1b]0;owned\x07 /home/carol/\x1b[2J")
    assert all(line.isprintable() for line in listing(redactor.counts, redactor.examples, originals=True))
