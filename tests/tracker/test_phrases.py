"""What is searched for."""

from __future__ import annotations

from bundler.manifest import SignatureRecord
from bundler.tracker.phrases import phrases_of


def test_numbers_are_no_part_of_a_phrase() -> None:
    message = "ub overflow, requires 52428800 bits while 1572864 bits available!"
    signature = SignatureRecord("id-1", "failed", "compile", "ub-overflow", message, "hivm-plan-memory")
    assert phrases_of(signature) == (
        "ub overflow, requires",
        "bits available",
        "bits while",
        "hivm-plan-memory",
        "id-1",
    )


def test_a_crash_without_words_is_known_by_its_pass_and_frame() -> None:
    signature = SignatureRecord("id-2", "crashed", "compile", "segfault", "", "canonicalize", ("mlir::fold",))
    assert phrases_of(signature) == ("canonicalize", "mlir::fold", "id-2", "segfault")
