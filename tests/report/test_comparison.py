from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bundler.archive import Archive, NewMember, open_archive, write_archive
from bundler.manifest import Fact, Manifest
from bundler.report.comparison import compare
from bundler.report.comparison_text import render_json, render_text
from tests.archive.samples import ENVIRONMENT, MANIFEST, MEMBERS
from tests.report.pages import AFTER, BEFORE, LOG, dump

Make = Callable[..., Archive]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def archive(name: str, manifest: Manifest = MANIFEST, *, ir: bytes = BEFORE, log: bytes = LOG) -> Archive:
        members = {member.name: member for member in MEMBERS}
        members["input/kernel.ttadapter"] = NewMember("input/kernel.ttadapter", "input", ir)
        members["logs/after-all.log"] = NewMember("logs/after-all.log", "log", log)
        path = tmp_path / f"{name}.npubug.tar.gz"
        write_archive(path, manifest, members.values())
        return open_archive(path)

    return archive


def test_an_archive_is_the_same_as_itself(make: Make) -> None:
    found = compare(make("a"), make("b"))
    assert found.same
    assert render_text(found).count(": the same") == 6


def test_facts_and_flags_that_differ_are_told_by_name(make: Make) -> None:
    kept = (fact for fact in ENVIRONMENT if fact.name != "compiler.version")
    facts = (*kept, Fact("compiler.version", "1.1.0"))
    argv = (*MANIFEST.calls[0].argv[:2], "--target=Ascend310P", "--new", "-o", "kernel")
    other = dataclasses.replace(
        MANIFEST, environment=facts, calls=(dataclasses.replace(MANIFEST.calls[0], argv=argv),)
    )
    found = compare(make("a"), make("b", other))
    assert [(d.name, d.a, d.b) for d in found.environment] == [("compiler.version", "1.2.0", "1.1.0")]
    assert {(d.name, d.a, d.b) for d in found.flags} == {
        ("target", "Ascend910B3", "Ascend310P"),
        ("enable-triton-kernel-compile", "true", None),
        ("new", None, "set"),
    }
    assert "compiler.version: 1.2.0 -> 1.1.0" in render_text(found)


def test_ir_with_other_value_names_is_the_same(make: Make) -> None:
    found = compare(make("a"), make("b", ir=BEFORE.replace(b"%0", b"%x")))
    assert found.ir.same and found.same


def test_ir_that_differs_is_shown(make: Make) -> None:
    text = render_text(compare(make("a"), make("b", ir=AFTER)))
    assert "  -     %1 = arith.addf %0, %0 : tensor<4xf32>" in text
    assert "  +     %2 = arith.mulf %1, %1 : tensor<4xf32>" in text


def test_the_first_pass_after_which_the_programs_differ_is_named(make: Make) -> None:
    log = (
        dump("Canonicalizer", "canonicalize", BEFORE) + dump("CSE", "cse", AFTER) + dump("New", "new", AFTER)
    )
    found = compare(make("a"), make("b", log=log)).passes
    assert found.first is not None and found.first[0].name == "cse"
    assert (found.only_a, found.only_b) == (("hivm-plan-memory",), ("new",))


def test_passes_that_only_ran_in_another_order_are_no_difference(make: Make) -> None:
    f = b"func.func @%s() {\n  x.y\n}"
    one, two = (
        dump("P", "p", f % b"f") + dump("P", "q", f % b"f"),
        dump("P", "q", f % b"f") + dump("P", "p", f % b"f"),
    )
    found = compare(make("a", log=one), make("b", log=two)).passes
    assert found.only_a == found.only_b == () and found.first is None


def test_a_run_that_worked_is_compared_by_its_call_of_the_same_kernel(make: Make) -> None:
    call = dataclasses.replace(MANIFEST.calls[0], outcome="healthy", returncode=0)
    other = dataclasses.replace(call, id="call-9", kernel="other", input=None)
    works = dataclasses.replace(
        MANIFEST, signature=None, failing_call=None, calls=(call, other), evidence=(), workaround=None
    )
    found = compare(make("works", works), make("fails"))
    assert found.flags == () and found.ir.same
    assert [(d.name, d.a) for d in found.signature][:2] == [("id", None), ("outcome", None)]


def test_the_json_says_the_same(make: Make) -> None:
    document = json.loads(render_json(compare(make("a"), make("b", ir=AFTER))))
    assert document["version"] == 1 and document["same"] is False
    assert document["ir"]["same"] is False and document["passes"]["first_difference"] is None
