"""Which kernel of a cache is taken, and what is said about it."""

from __future__ import annotations

import pytest

from bundler.capture.cache import CachedKernel
from bundler.capture.choose import Choice, choose
from bundler.errors import ExitCode, NpubugError


def kernel(name: str, hash: str, *, compiled: bool = False) -> CachedKernel:
    stages = ("ttir", "ttadapter", "npubin") if compiled else ("ttir", "ttadapter")
    return CachedKernel(name, hash, hash, tuple((s, f"{hash}/{name}.{s}") for s in stages), 0.0)


NEWEST_FIRST = (
    kernel("add", "a1", compiled=True),
    kernel("softmax", "b1", compiled=True),
    kernel("softmax", "b2"),
    kernel("softmax", "b3"),
    kernel("matmul", "c1", compiled=True),
)


@pytest.mark.parametrize(
    ("choice", "hash"),
    [
        (Choice(), "b2"),
        (Choice(latest=True), "a1"),
        (Choice(kernel="softmax"), "b2"),
        (Choice(kernel="matmul"), "c1"),
        (Choice(hash="c"), "c1"),
        (Choice(hash="b3"), "b3"),
    ],
    ids=str,
)
def test_the_kernel_that_is_meant_is_taken(choice: Choice, hash: str) -> None:
    assert choose(NEWEST_FIRST, choice)[0].hash == hash


def test_what_was_decided_for_the_person_is_said() -> None:
    assert choose(NEWEST_FIRST, Choice())[1] == (
        "softmax was taken as the newest of 2 kernels without a binary",
    )
    (note,) = choose(NEWEST_FIRST, Choice(kernel="softmax"))[1]
    assert "3 folders" in note and "without a binary" in note
    assert choose(NEWEST_FIRST, Choice(kernel="add"))[1] == ()


@pytest.mark.parametrize(
    ("kernels", "choice", "code", "words"),
    [
        ((), Choice(), ExitCode.INVALID_INPUT, "no kernel"),
        (NEWEST_FIRST[:1], Choice(), ExitCode.NOTHING_FAILED, "has its binary"),
        (NEWEST_FIRST, Choice(kernel="sofmax"), ExitCode.INVALID_INPUT, "near: softmax"),
        (NEWEST_FIRST, Choice(hash="b"), ExitCode.USAGE, "3 folders begin with b"),
        (NEWEST_FIRST, Choice(hash=""), ExitCode.INVALID_INPUT, "no hash"),
        (NEWEST_FIRST, Choice(hash="zz"), ExitCode.INVALID_INPUT, "no hash zz"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_does_not_fit_is_refused_with_the_way_out(
    kernels: tuple[CachedKernel, ...], choice: Choice, code: ExitCode, words: str
) -> None:
    with pytest.raises(NpubugError) as caught:
        choose(kernels, choice)
    assert caught.value.code == code
    assert words in str(caught.value)
    assert caught.value.hint


def test_two_ways_to_choose_exclude_each_other() -> None:
    with pytest.raises(NpubugError) as caught:
        Choice(kernel="add", latest=True)
    assert caught.value.code == ExitCode.USAGE
