from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bundler.archive import NewMember, open_archive, write_archive
from bundler.completeness import Completeness, Item, State, check, render_json, render_text
from bundler.errors import ExitCode
from bundler.manifest import Fact, Manifest
from tests.archive.samples import (
    ENVIRONMENT,
    IR,
    MANIFEST,
    MEMBERS,
    REDUCED_MEMBERS,
    REDUCTION,
)

Judge = Callable[..., Completeness]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    def judged(members: Any = MEMBERS, **changes: Any) -> Completeness:
        path = tmp_path / "my bug.npubug.tar.zst"
        write_archive(path, dataclasses.replace(MANIFEST, **changes), members)
        return check(open_archive(path))

    return judged


def item(result: Completeness, key: str) -> Item:
    return next(item for item in result.items if item.key == key)


def without(*starts: str) -> list[NewMember]:
    return [member for member in MEMBERS if not member.name.startswith(starts)]


def test_an_archive_with_all_five_things_is_complete(judge: Judge) -> None:
    result = judge()
    assert [each.state for each in result.items] == [State.PRESENT] * 5
    assert result.complete
    assert result.exit_code is ExitCode.OK


def test_an_empty_run_lacks_everything(judge: Judge) -> None:
    bare = Manifest(name="k", created=MANIFEST.created, npubug_version="0.1.0")
    nothing = {f.name: getattr(bare, f.name) for f in dataclasses.fields(bare) if f.name != "members"}
    result = judge([], **nothing)
    assert [each.state for each in result.items] == [State.MISSING] * 5
    assert result.exit_code is ExitCode.INCOMPLETE
    assert all("npubug bundle -- python your_script.py" in each.supply for each in result.items)


def test_an_unreduced_input_is_a_reproducer_that_could_be_smaller(judge: Judge) -> None:
    found = item(judge(), "reproducer")
    assert found.state is State.PRESENT
    assert found.advice == ("not reduced yet",)
    assert found.supply == "npubug minimize 'my bug.npubug.tar.zst'"


def test_a_finished_reduction_leaves_nothing_to_advise(judge: Judge) -> None:
    found = item(judge((*MEMBERS, *REDUCED_MEMBERS), reduction=REDUCTION), "reproducer")
    assert any("from 22 to 6 operations (minimal" in text for text in found.found)
    assert not found.advice
    assert not found.supply


def test_a_reduction_that_was_stopped_is_told_from_a_minimal_one(judge: Judge) -> None:
    stopped = dataclasses.replace(REDUCTION, finished=False, confirmed=False)
    found = item(judge((*MEMBERS, *REDUCED_MEMBERS), reduction=stopped), "reproducer")
    assert found.state is State.PRESENT
    assert len(found.advice) == 2


def test_an_input_without_its_command_line_is_half_a_reproducer(judge: Judge) -> None:
    found = item(judge(failing_call=None), "reproducer")
    assert found.state is State.PARTIAL
    assert found.wanted == ("the command line that fails",)
    assert found.supply == "npubug bundle -- python fold_pairs.py"


def test_a_failure_that_did_not_come_back_is_told(judge: Judge) -> None:
    runs = tuple(dataclasses.replace(run, reproduced=False) for run in MANIFEST.evidence)
    found = item(judge(evidence=runs), "reproducer")
    assert any("came back 0 times" in text for text in found.found)


def test_ir_of_one_stage_only_is_partial(judge: Judge) -> None:
    found = item(judge(without("ir/call-2/kernel.ttir")), "ir")
    assert found.state is State.PARTIAL
    assert found.wanted == ("kernel.ttir",)


@pytest.mark.parametrize("lowered", ["kernel.bcmlir", "kernel.ttadapter.mlir", "_fwd.with.dots.mlirbc"])
def test_the_lowered_ir_may_have_the_form_of_any_release(judge: Judge, lowered: str) -> None:
    members = [*without("ir/"), NewMember("ir/kernel.ttir", "ir", IR), NewMember(f"ir/{lowered}", "ir", IR)]
    assert item(judge(members), "ir").state is State.PRESENT


def test_a_failure_of_the_adapter_needs_no_ttadapter(judge: Judge) -> None:
    members = [
        *without("ir/", "input/"),
        NewMember("ir/k.ttir", "ir", IR),
        NewMember("input/kernel.ttir", "input", IR),
    ]
    signature = dataclasses.replace(MANIFEST.signature, stage="adapter")  # type: ignore[type-var]
    call = dataclasses.replace(MANIFEST.calls[0], input="input/kernel.ttir")
    assert item(judge(members, signature=signature, calls=(call,)), "ir").state is State.PRESENT


def test_a_bundle_of_a_bare_ir_file_has_no_earlier_stage(judge: Judge) -> None:
    found = item(judge(without("ir/"), command=()), "ir")
    assert found.state is State.PRESENT
    assert any("not from a Python program" in text for text in found.found)


def test_ir_of_another_kernel_does_not_count(judge: Judge) -> None:
    other = dataclasses.replace(
        MANIFEST.calls[0], id="call-3", kernel="other", input="calls/call-3/k.ttir", stderr=None
    )
    members = [*without("ir/"), NewMember("calls/call-3/k.ttir", "call-input", IR)]
    assert item(judge(members, calls=(*MANIFEST.calls, other)), "ir").wanted == ("kernel.ttir",)


def test_a_log_without_dumps_is_not_the_full_log(judge: Judge) -> None:
    members = [*without("logs/after-all"), NewMember("logs/after-all.log", "log", b"unknown option\n")]
    found = item(judge(members), "logs")
    assert found.state is State.PARTIAL
    assert any("without IR" in text for text in found.found)


def test_without_recompiles_the_failing_calls_own_output_is_a_part(judge: Judge) -> None:
    found = item(judge(evidence=()), "logs")
    assert found.state is State.PARTIAL
    assert any("calls/001/stderr" in text for text in found.found)


def test_a_failure_outside_of_any_pass_needs_no_pass_name(judge: Judge) -> None:
    signature = dataclasses.replace(MANIFEST.signature, pass_name=None)  # type: ignore[type-var]
    found = item(judge(signature=signature), "logs")
    assert found.state is State.PRESENT
    assert found.advice


def test_a_fact_that_could_not_be_had_is_an_answer_and_is_listed(judge: Judge) -> None:
    found = item(judge(), "environment")
    assert found.state is State.PRESENT
    assert "CANN: could not be had: not installed on this machine" in found.found


def test_a_fact_that_nobody_asked_for_is_wanted(judge: Judge) -> None:
    facts = tuple(fact for fact in ENVIRONMENT if fact.name not in ("npu.model", "npu.soc"))
    found = item(judge(environment=facts), "environment")
    assert found.state is State.PARTIAL
    assert found.wanted == ("NPU",)
    silent = tuple(Fact(fact.name, None) for fact in ENVIRONMENT)
    assert item(judge(environment=silent), "environment").state is State.MISSING


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        ("not-tried", State.MISSING),
        ("not-applicable", State.PRESENT),
        ("no-change", State.PRESENT),
        ("fixed", State.PRESENT),
        ("flaky", State.PRESENT),
    ],
)
def test_only_an_untried_workaround_is_missing(judge: Judge, verdict: str, state: State) -> None:
    tried = dataclasses.replace(MANIFEST.workaround, verdict=verdict)  # type: ignore[type-var]
    assert item(judge(workaround=tried), "workaround").state is state


def test_the_text_says_what_is_there_and_ends_with_the_verdict(judge: Judge) -> None:
    lines = render_text(judge(without("ir/"))).splitlines()
    assert any(line.startswith("  partly  cached IR") for line in lines)
    assert "wanted: kernel.ttir" in "\n".join(lines)
    assert "4 of 5" in lines[-1]
    assert "incomplete" in lines[-1]


def test_hostile_text_from_the_archive_is_made_harmless(judge: Judge) -> None:
    tried = dataclasses.replace(MANIFEST.workaround, note="\x1b]0;owned\x07\nall fine")  # type: ignore[type-var]
    text = render_text(judge(workaround=tried, command=("python", "\x1b[2J.py")))
    assert text.replace("\n", "").isprintable()
    assert "\nall fine" not in text


def test_the_json_holds_the_same_verdict(judge: Judge) -> None:
    result = judge(without("ir/"))
    document = json.loads(render_json(result))
    assert document["valid"] is True
    assert document["complete"] is False
    assert [each["state"] for each in document["items"]] == [each.state.value for each in result.items]
