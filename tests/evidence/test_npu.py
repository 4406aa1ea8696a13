"""`npu-smi info` in the layouts that are known, and everything else it may print."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundler.evidence.npu import Chip, parse_board, parse_npu_smi, target_of

SAMPLES = Path(__file__).parents[1] / "data" / "npu_smi"


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")


def test_910b_has_two_chips_and_its_virtual_npus_are_none() -> None:
    table = parse_npu_smi(sample("910b3_25.5.2"))
    assert table.version == "25.5.2"
    assert table.chips == (
        Chip(0, 0, "910B3", "OK", "0000:66:00.0", 65536),
        Chip(1, 1, "910B3", "Warning", "0000:19:00.0", 65536),
    )


def test_310p_has_memory_without_an_hbm_column() -> None:
    table = parse_npu_smi(sample("310p3_25.5.0"))
    assert table.chips == (Chip(5, 0, "310P3", "OK", "0000:5E:00.0", 44280, phy_id=0),)


@pytest.mark.parametrize(("name", "cards"), [("a3_25.2.1", [0, 0, 1, 1]), ("a3_26.0.rc2", [0, 0])])
def test_a3_has_two_chips_a_card(name: str, cards: list[int]) -> None:
    chips = parse_npu_smi(sample(name)).chips
    assert [chip.card for chip in chips] == cards
    assert [chip.chip for chip in chips] == [index % 2 for index in range(len(cards))]
    assert [chip.phy_id for chip in chips] == list(range(len(cards)))
    assert {(chip.model, chip.memory_mb) for chip in chips} == {("Ascend910", 65536)}


def test_release_candidates_keep_their_version() -> None:
    assert parse_npu_smi(sample("a3_26.0.rc2")).version == "26.0.rc2"


def test_running_processes_are_not_chips() -> None:
    text = sample("910b3_25.5.2")
    assert "21355" in text
    assert len(parse_npu_smi(text).chips) == 2


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    parse_npu_smi(text)
    parse_board(text)


@given(st.data())
def test_a_damaged_table_is_taken(data: st.DataObject) -> None:
    text = sample(data.draw(st.sampled_from(["910b3_25.5.2", "a3_25.2.1", "310p3_25.5.0"])))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    table = parse_npu_smi(text[:start] + data.draw(st.text(max_size=20)) + text[end:])
    assert len(table.chips) <= 4


def test_huge_numbers_are_not_read() -> None:
    assert parse_npu_smi("| 9" + "9" * 5000 + " X | OK | |\n| 0 | b | 1/" + "9" * 5000 + " |\n").chips == ()


@pytest.mark.parametrize(
    ("argv", "target"),
    [
        (("c", "x.mlir", "--target=Ascend910B3", "-o", "k"), "Ascend910B3"),
        (("c", "-target=Ascend310P3"), "Ascend310P3"),
        (("c", "--target", "Ascend950PR_9579"), "Ascend950PR_9579"),
        (("c", "--enable-target=1"), None),
        (("c", "--target="), None),
        ((), None),
    ],
)
def test_the_target_is_read_from_the_compile_line(argv: tuple[str, ...], target: str | None) -> None:
    assert target_of(argv) == target
