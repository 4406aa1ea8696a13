"""`npubug check` beyond the five things: advice that decides nothing."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from bundler.advice import Advice, advise
from bundler.archive import open_archive, write_archive
from bundler.completeness import check, render_json, render_text
from bundler.errors import ExitCode
from bundler.evidence.releases import RELEASES, is_older, version_in
from bundler.manifest import EvidenceRun, Fact
from tests.archive.samples import ENVIRONMENT, MANIFEST, MEMBERS


def advice(key: str, **changes: Any) -> Advice:
    manifest = dataclasses.replace(MANIFEST, **changes)
    return next(each for each in advise(manifest, "x.npubug.tar.zst", "npubug bundle") if each.key == key)


def runs(*reproduced: bool) -> tuple[EvidenceRun, ...]:
    return tuple(EvidenceRun(f"run-{n}", (), "failed", came, 0.5) for n, came in enumerate(reproduced))


def facts(**values: str) -> tuple[Fact, ...]:
    changed = {name.replace("__", "."): value for name, value in values.items()}
    names = [name.replace("_ascend", "-ascend") for name in changed]
    others = [fact for fact in ENVIRONMENT if fact.name not in names]
    return (*others, *(Fact(name, value, "x") for name, value in zip(names, changed.values())))


@pytest.mark.parametrize(
    ("reproduced", "told"),
    [
        ((), "not compiled again"),
        ((True,), "3 failures in a row"),
        ((True, True, False), "only sometimes"),
        ((False, False, False), "did not come back"),
    ],
)
def test_a_failure_that_is_not_known_to_be_steady_asks_for_reruns(
    reproduced: tuple[bool, ...], told: str
) -> None:
    found = advice("determinism", evidence=runs(*reproduced))
    assert told in found.advice[0]
    assert found.supply == "npubug replay x.npubug.tar.zst"


def test_three_failures_of_three_are_enough() -> None:
    found = advice("determinism", evidence=runs(True, True, True))
    assert found.found == ("3 of 3 compiles failed in the same way",)
    assert not found.advice and not found.supply


def test_the_barrier_experiment_says_nothing_about_steadiness() -> None:
    tried = (*runs(True, True, True), EvidenceRun("barrier", (), "healthy", False, 0.5))
    assert not advice("determinism", evidence=tried).advice


def test_an_unnamed_pass_can_be_located() -> None:
    signature = dataclasses.replace(MANIFEST.signature, pass_name=None)  # type: ignore[type-var]
    assert advice("failing-pass", signature=signature).supply == "npubug locate x.npubug.tar.zst"
    assert not advice("failing-pass").supply


def test_an_old_version_is_told_with_the_newest_and_where_that_is_written() -> None:
    found = advice("versions", environment=facts(compiler__version="bishengir-compile 1.1.0 (/usr1/x 2026)"))
    (told,) = (text for text in found.advice if text.startswith("compiler"))
    assert "compiler 1.1.0 is older than 1.2.0" in told
    assert "https://pypi.org/project/ascendnpu-ir/" in told
    assert "pip install ascendnpu-ir==1.2.0" in told


def test_the_newest_versions_leave_nothing_to_advise() -> None:
    newest = {release.facts[0].replace(".", "__").replace("-", "_"): release.newest for release in RELEASES}
    found = advice("versions", environment=facts(**newest))
    assert len(found.found) == len(RELEASES)
    assert not found.advice


def test_a_triton_ascend_on_a_cann_that_it_was_not_made_for_is_told() -> None:
    pair = facts(package__triton_ascend="3.2.0", cann__version="8.2.RC1")
    assert any(
        "is made for CANN 8.5.0, and here is 8.2.RC1" in t
        for t in advice("versions", environment=pair).advice
    )
    pair = facts(package__triton_ascend="3.2.0", cann__version="8.5.0")
    assert not any("is made for" in text for text in advice("versions", environment=pair).advice)


def test_versions_that_cannot_be_read_are_passed_over() -> None:
    found = advice("versions", environment=(Fact("compiler.version", "unknown"), Fact("cann.version", "")))
    assert found.found == () and not found.advice


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("1.1.0", "1.2.0"), ("1.9", "1.10"), ("3.2.0rc4", "3.2.0"), ("8.2.RC1", "8.2.RC2"), ("8.2.RC2", "8.3.RC1"),
        ("8.5.0.alpha001", "8.5.0"), ("8.3.RC1", "8.5.0"), ("9.0.0-beta.1", "9.0.0"), ("8.5.0", "8.5.1"),
    ],
)  # fmt: skip
def test_versions_are_ordered_as_their_makers_do(older: str, newer: str) -> None:
    assert is_older(older, newer)
    assert not is_older(newer, older)


def test_trailing_zeros_and_words_do_not_make_a_version_older() -> None:
    assert not is_older("1.2", "1.2.0") and not is_older("1.2.0", "1.2")
    assert not is_older("unknown", "1.2.0")
    assert version_in("bishengir-compile 1.2.0 (/usr1/8.x 2026-07-29)") == "1.2.0"


def test_what_could_not_be_had_comes_with_the_command_that_says_it() -> None:
    missing = (Fact("driver.version", None, "", "not visible in this container"), *ENVIRONMENT)
    told = advice("machine", environment=missing).advice
    assert any(
        t.startswith("driver: not visible in this container. To get it: cat /usr/local/") for t in told
    )
    assert any(t.startswith("CANN: not installed on this machine. To get it: source ") for t in told)


def test_a_fact_that_is_known_or_was_never_asked_for_is_no_gap() -> None:
    known = facts(cann__version="9.2.0", npu__model="910B3")
    assert not advice("machine", environment=known).advice


def test_known_causes_of_trouble_are_repeated() -> None:
    warned = (*ENVIRONMENT, Fact("warning.compiler-cann", "the compiler does not belong to the CANN in use"))
    assert (
        advice("machine", environment=warned).advice[0] == "the compiler does not belong to the CANN in use"
    )


@pytest.mark.parametrize(("level", "told"), [("off", "look through it"), ("paths", "not looked for")])
def test_what_was_not_redacted_is_told(level: str, told: str) -> None:
    assert told in advice("privacy", redaction_level=level).advice[0]
    assert not advice("privacy", redaction_level="full").advice
    assert not advice("privacy").advice  # an archive of format 1.0 does not say


def test_advice_never_makes_an_archive_incomplete(tmp_path: Path) -> None:
    path = tmp_path / "x.npubug.tar.zst"
    old = facts(compiler__version="bishengir-compile 1.0.0")
    write_archive(path, dataclasses.replace(MANIFEST, environment=old, redaction_level="off"), MEMBERS)
    result = check(open_archive(path))
    assert any(each.advice for each in result.further)
    assert result.complete and result.exit_code is ExitCode.OK
    document = json.loads(render_json(result))
    assert (document["version"], document["complete"], len(document["items"])) == (1, True, 5)
    assert [each["key"] for each in document["further"]] == [each.key for each in result.further]
    text = render_text(result)
    assert "  better  versions" in text and "1.0.0 is older than" in text
    assert text.splitlines()[-1].endswith("5 of 5 things are there: complete")


def test_hostile_facts_are_made_harmless(tmp_path: Path) -> None:
    path = tmp_path / "x.npubug.tar.zst"
    hostile = (Fact("driver.version", None, "", "\x1b]0;owned\x07"), Fact("warning.x", "\x1b[2J"))
    write_archive(path, dataclasses.replace(MANIFEST, environment=hostile), MEMBERS)
    assert render_text(check(open_archive(path))).replace("\n", "").isprintable()
