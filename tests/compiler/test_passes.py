from __future__ import annotations

import re

from bundler.compiler.lifetime import lives
from bundler.compiler.passes import index, steps

A = b"func.func @a() {\n  %0 = x.one\n  return\n}"
B = b"func.func @b() {\n  %0 = x.two\n  return\n}"


def module(*functions: bytes) -> bytes:
    inner = b"\n".join(b"  " + f.replace(b"\n", b"\n  ") for f in functions)
    return b"module {\n" + inner + b"\n}"


def dump(name: str, ir: bytes, remark: bytes = b"", failed: bool = False) -> bytes:
    word = b" Failed" if failed else b""
    return b"// -----// IR Dump After X%s (%s) //----- //\n%s\n\n%s\n" % (word, name.encode(), ir, remark)


def test_a_function_that_is_what_it_was_in_the_module_is_no_change() -> None:
    runs = list(index([dump("p", module(A, B)) + dump("q", A) + dump("r", B) + dump("s", module(A, B))]))
    assert [run.changed for run in runs] == [False, False, False, False]
    assert [run.scope for run in runs] == ["", "a", "b", ""]
    assert [run.ops for run in runs] == [2, 2, 2, 2]


def test_the_pass_that_changed_one_function_is_told_and_counts_are_the_program_s() -> None:
    grown = A.replace(b"  return", b"  %1 = x.one\n  return")
    runs = list(index([dump("p", module(A, B)) + dump("q", grown) + dump("r", module(grown, B))]))
    assert [(run.name, run.changed, run.ops) for run in runs] == [
        ("p", False, 2),
        ("q", True, 3),
        ("r", False, 3),
    ]


def test_a_module_that_lost_a_function_or_got_an_attribute_has_changed() -> None:
    log = (
        dump("p", module(A, B)) + dump("q", module(A)) + dump("r", module(A).replace(b"module", b"module @m"))
    )
    assert [run.changed for run in index([log])] == [False, True, True]


def test_a_step_shows_the_same_scope_before_and_after() -> None:
    grown = A.replace(b"x.one", b"x.uno")
    *_, function, whole = steps([dump("p", module(A, B)) + dump("q", grown) + dump("r", module(grown))])
    assert (function.before, function.after) == (A, grown)
    assert whole.before == module(grown, B) and whole.after == module(grown)


def test_another_attempt_starts_anew() -> None:
    log = dump("p", module(A)) + dump("q", A, b"[NOTE] and retrying compilation.", failed=True)
    log += dump("p", module(B)) + dump("q", B, failed=True)
    runs = list(index([log]))
    assert [run.attempt for run in runs] == [1, 1, 2, 2]
    assert not any(run.changed for run in runs)
    assert [run.failed for run in runs] == [False, True, False, True]


def test_a_thing_s_life_goes_from_the_pass_that_brings_it_to_the_one_that_takes_it() -> None:
    with_two = A.replace(b"  return", b"  %1 = x.two\n  return")
    log = dump("p", module(A)) + dump("q", with_two) + dump("r", module(with_two)) + dump("s", A)
    (life,) = lives([log], re.compile(rb"x\.two$", re.MULTILINE))
    assert (life.first.name, life.last.name, life.gone and life.gone.name) == ("q", "r", "s")
    assert (life.from_start, life.most, life.sample) == (False, 1, "%1 = x.two")
    (other,) = lives([log], re.compile(rb"x\.one"))
    assert other.from_start and other.gone is None and other.last.name == "s"
    assert list(lives([log], re.compile(b"x.three"))) == []
