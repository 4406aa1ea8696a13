"""The journal: nothing lost by a kill, nothing believed that does not belong to the job."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from bundler.compiler.outcome import Outcome, Stage
from bundler.compiler.signature import Signature
from minimizer.journal import Journal
from minimizer.oracle import Judgement, Verdict
from tests.cli.command import argv, environment, npubug
from tests.places import case

ABOUT = {"input": "1234", "question": "normal ub-overflow"}
CRASH = Signature("segfault@compile-123456", Outcome.CRASHED, Stage.COMPILE, "segfault", "", None, ())


def silent(line: str) -> None:
    raise AssertionError(f"nothing should be said: {line}")


def test_verdicts_and_finds_come_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", ABOUT, silent)
    journal.put("a", Judgement(Verdict.INTERESTING, 0.5), "text a")
    journal.put("b", Judgement(Verdict.OTHER, 0.1, CRASH), "text b")
    journal.close()
    again = Journal(tmp_path / "j", ABOUT, silent)
    assert again.verdicts() == {"a": Judgement(Verdict.INTERESTING, 0.5), "b": Judgement(Verdict.OTHER, 0.1)}
    assert again.finds() == {CRASH.id: "text b"}
    again.close(discard=True)
    assert not list(tmp_path.iterdir())


def test_a_journal_about_something_else_is_set_aside(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", ABOUT, silent)
    journal.put("a", Judgement(Verdict.BORING), "")
    journal.close()
    said: list[str] = []
    other = Journal(tmp_path / "j", {**ABOUT, "question": "another"}, said.append)
    assert other.verdicts() == {}
    assert len(said) == 1 and "another input" in said[0]
    assert (tmp_path / "j.old").exists()


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\x00" + b"\xff" * 4000])
def test_a_corrupt_journal_is_set_aside_and_begun_again(damage: bytes, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", ABOUT, silent)
    journal.put("a", Judgement(Verdict.BORING), "")
    journal.close()
    (tmp_path / "j").write_bytes(damage)
    said: list[str] = []
    again = Journal(tmp_path / "j", ABOUT, said.append)
    assert again.verdicts() == {}
    assert bool(damage) == ((tmp_path / "j.corrupt").exists() and len(said) == 1)
    again.put("b", Judgement(Verdict.BORING), "")
    assert set(again.verdicts()) == {"b"}


def test_a_journal_that_cannot_be_written_does_not_end_the_reduction(tmp_path: Path) -> None:
    said: list[str] = []
    journal = Journal(tmp_path / "no" / "such" / "folder" / "j", ABOUT, said.append)
    journal.put("a", Judgement(Verdict.BORING), "")
    assert journal.verdicts() == {} and journal.finds() == {}
    assert "going on without" in said[-1]


def test_a_full_disk_ends_the_journal_not_the_reduction(tmp_path: Path) -> None:
    said: list[str] = []
    journal = Journal(tmp_path / "j", ABOUT, said.append)
    assert journal._connection is not None
    journal._connection.execute("PRAGMA max_page_count = 12")
    for number in range(3000):
        journal.put(f"hash {number}", Judgement(Verdict.BORING), "")
    assert len(said) == 1 and "full" in said[0]


def test_the_file_can_be_queried_by_a_person(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", ABOUT, silent)
    journal.put("a", Judgement(Verdict.INVALID, 0.25), "")
    journal.close()
    with sqlite3.connect(tmp_path / "j") as connection:
        assert connection.execute("SELECT verdict, seconds FROM verdicts").fetchall() == [("invalid", 0.25)]
    connection.close()


def test_a_reduction_killed_at_random_moments_ends_with_the_same_result(tmp_path: Path) -> None:
    shutil.copy(case("failing/argmax_64_2048.ttadapter"), tmp_path / "k.ttadapter")
    assert npubug("minimize", "k.ttadapter", "--output", "whole.ttadapter", cwd=tmp_path).code == 0
    random.seed(5)
    kills = 0
    while kills < 5:
        child = subprocess.Popen(
            argv("minimize", "k.ttadapter", "--output", "killed.ttadapter"),
            cwd=tmp_path,
            env=environment(),
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        time.sleep(random.uniform(0.5, 1.6))
        if child.poll() is not None:
            child.communicate()
            break
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        kills += 1
    assert kills
    assert npubug("minimize", "k.ttadapter", "--output", "killed.ttadapter", cwd=tmp_path).code == 0
    assert (tmp_path / "killed.ttadapter").read_text() == (tmp_path / "whole.ttadapter").read_text()
    assert not list(tmp_path.glob("*journal*"))
