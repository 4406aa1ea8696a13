"""What the fuzzer found and began with (`make fuzz`), once more: no fuzzer is needed for this."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fuzz.archive_reader import CORPUS, one_input

KEPT = sorted(CORPUS.iterdir())


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_the_reader_answers_every_kept_input(path: Path, tmp_path: Path) -> None:
    start = time.process_time()
    assert one_input(path.read_bytes(), tmp_path)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "name", ["whole-tar-zst", "whole-tar-gz", "whole-zip", "tar-zstd", "tar-gzip", "manifest-full"]
)
def test_the_seeds_are_archives_that_can_be_read(name: str, tmp_path: Path) -> None:
    """Else the fuzzer would begin, and end, at the first check."""
    assert one_input((CORPUS / name).read_bytes(), tmp_path) == "read"


def test_the_corpus_is_small() -> None:
    assert sum(path.stat().st_size for path in KEPT) < 1 << 20
