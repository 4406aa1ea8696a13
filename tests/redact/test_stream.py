"""A member that comes in chunks is redacted as one that is read whole, in bounded memory."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bundler.redact import Redactor, slicing
from bundler.redact.binary import Classifier, is_binary
from bundler.redact.pseudonyms import PSEUDONYM
from tests.redact.machine import redactor as redactor_of
from tests.redact.test_redactor import NEW, TEXTS

SEVERAL_LINES = "first line of a key\nsecond line of it\nthird 3"
ENVIRON = {**NEW["environ"], "MY_SECRET": SEVERAL_LINES}
LINES = st.lists(TEXTS | st.just(SEVERAL_LINES), max_size=8).map("\n".join)


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of a few bytes, so that every text has many."""
    cut = slicing.text_slices

    def small(read: slicing.Read, several_lines: Sequence[bytes] = ()) -> Iterator[bytes]:
        return cut(read, several_lines, size=8, longest=4000)

    monkeypatch.setattr("bundler.redact.redactor.text_slices", small)
    monkeypatch.setattr("bundler.redact.redactor.SLICE", 8)


def redactor() -> Redactor:
    return redactor_of(**{**NEW, "environ": ENVIRON})


def chunks_of(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    source = io.BytesIO(data)
    yield from (source.read(size) for size in sizes)
    yield source.read()


def streamed(data: bytes, sizes: list[int]) -> bytes:
    made = redactor()
    binary = is_binary(data)
    if not binary:
        made.learn_stream(chunks_of(data, sizes))
    return b"".join(made.stream(chunks_of(data, sizes), binary=binary))


def renumbered(data: bytes) -> bytes:
    """Stand-ins numbered in the order in which they appear."""
    seen: dict[bytes, bytes] = {}
    return re.sub(PSEUDONYM, lambda m: seen.setdefault(m[0], b"<%d>" % len(seen)), data)


@pytest.mark.usefixtures("small_slices")
class TestInSmallSlices:
    @settings(max_examples=200, deadline=None)
    @given(text=LINES, sizes=st.lists(st.integers(0, 30), max_size=12))
    def test_a_stream_gives_what_the_whole_gives(self, text: str, sizes: list[int]) -> None:
        data = text.encode("utf-8", "surrogatepass")
        assert streamed(data, sizes) == redactor().data(data)

    def test_a_key_that_spans_slices_goes_as_a_whole(self) -> None:
        body = "\n".join("MIIE" + "a1b2" * 15 for _ in range(20))
        data = f"a\nb\n-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\nlast\n".encode()
        assert streamed(data, [50]) == b"a\nb\nsecret-1\nlast\n"

    def test_a_value_of_several_lines_goes_as_a_whole(self) -> None:
        data = f"before\n{SEVERAL_LINES}\nafter\n{SEVERAL_LINES}".encode()
        assert streamed(data, [3, 4]) == b"before\nsecret-1\nafter\nsecret-1"

    def test_a_name_in_the_last_slice_is_replaced_in_the_first(self) -> None:
        data = b"/scratch/devuser/a\n" + b"nothing here\n" * 20 + b"/home/devuser/b\n"
        assert streamed(data, []).startswith(b"/scratch/user-1/a\n")


@settings(max_examples=200, deadline=None)
@given(text=LINES)
@example("-----BEGIN PRIVATE KEY-----10.1.2.3a@b.comhttp://")
def test_where_slices_end_changes_nothing_but_numbers(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    made, whole = redactor(), redactor()
    for each in (made, whole):
        each.learn(data)  # as the pipeline does, before it redacts anything
    parts = slicing.text_slices(io.BytesIO(data).read, (SEVERAL_LINES.encode(),), size=8, longest=1 << 17)
    piecewise = b"".join(made.data(part) for part in parts)
    assert renumbered(piecewise) == renumbered(whole.data(data))


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=400), sizes=st.lists(st.integers(0, 50), max_size=9))
def test_slices_are_the_bytes_that_came_whatever_the_chunks(data: bytes, sizes: list[int]) -> None:
    for cut in (slicing.text_slices, slicing.binary_slices):
        there = list(cut(slicing.reader_of(chunks_of(data, sizes)), size=7, longest=40))
        assert b"".join(there) == data
        assert there == list(cut(io.BytesIO(data).read, size=7, longest=40))
        assert all(len(part) <= 40 for part in there)


def test_a_line_without_end_is_cut_at_a_blank() -> None:
    line = b"word " * 40
    parts = list(slicing.text_slices(io.BytesIO(line).read, size=8, longest=42))
    assert all(part.endswith(b" ") for part in parts)


def test_binary_data_keeps_its_length_in_a_stream_too() -> None:
    unit = b"\x00\x01/home/devuser/k.py\x00k3y-abcdef\x02"
    data = b"ML\xefR" + (unit + bytes(range(128, 256)) * 8) * 9_000  # more than one slice
    made = redactor()
    found = b"".join(made.stream(chunks_of(data, [1 << 20] * 40), binary=True))
    assert found == redactor().data(data)
    assert len(found) == len(data)
    assert b"devuser" not in found and b"k3y-abcdef" not in found


@pytest.mark.parametrize(
    ("data", "binary"),
    [
        (b"a log\n" * 100, False),
        (b"a log\n" * 100 + b"\0" + b"token\n" * 10, False),
        (b"a log\n" * 1000 + b"\0" * 1000, False),
        (b"ML\xefR\x05MLIR\0text text text", True),
        (b"\x7fELF" + bytes(40), True),
        (b"\0\1\2\3" * 50, True),
        (b"w\0o\0r\0d\0", True),
    ],
)
def test_a_text_with_a_stray_nul_is_a_text(data: bytes, binary: bool) -> None:
    assert is_binary(data) is binary
    piecewise = Classifier()
    for index in range(0, len(data), 7):
        piecewise.feed(data[index : index + 7])
    assert piecewise.is_binary is binary


def test_a_token_in_a_log_with_a_nul_goes() -> None:
    log = b"fine\n" * 50 + b"\0\0" + b"login with ghp_" + b"a1" * 18 + b"\n"
    assert b"ghp_" not in redactor().data(log)
