"""What an issue says of the failure's ending, its steadiness and the workaround, in both languages."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from bundler.manifest import EvidenceRun, Manifest, Workaround
from tests.report.issue_samples import filled, signed


@pytest.mark.parametrize(
    ("verdict", "english", "chinese"),
    [
        ("no-change", "no effect", "无效"),
        ("fixed", "the problem goes away", "问题消失"),
        ("made-worse", "worse with the flag", "情况更差"),
        ("flaky", "vary from run to run", "结果不稳定"),
        ("not-applicable", "not applicable", "不适用"),
        ("not-tried", "**[please say whether", "**【请补充：加上该选项后"),
    ],
)
def test_the_workarounds_verdict_is_a_sentence(
    written: Manifest, verdict: str, english: str, chinese: str
) -> None:
    tried = dataclasses.replace(written, workaround=Workaround("--b=true", verdict, 3, 3, 3, 1))
    assert english in filled(tried).body
    assert chinese in filled(tried, lang="zh").body
    if verdict not in ("not-tried",):
        assert "3 of 3 runs failed; with the flag: 1 of 3" in filled(tried).body


def test_a_workaround_that_nobody_tried_is_asked_for(written: Manifest) -> None:
    body = filled(dataclasses.replace(written, workaround=None)).body
    assert "`--enable-hivm-inject-barrier-all-sync=true`) has not been tried" in body


@pytest.mark.parametrize(
    ("changes", "returncode", "english", "chinese"),
    [
        (
            {"outcome": "crashed", "message": "", "frames": ("mlir::f",), "pass_name": None},
            -11,
            ("crashes while compiling", "The innermost frames:", "is ended by `SIGSEGV`", "does not crash"),
            ("时崩溃", "栈顶函数：", "进程被 `SIGSEGV` 终止", "编译器不应崩溃"),
        ),
        (
            {"outcome": "timed-out", "message": "", "kind": "hang"},
            None,
            ("does not end within the time limit", "The compile does not end.", "in reasonable time"),
            ("未能在限定时间内结束", "当时正在执行 pass `hivm-plan-memory`", "编译会一直不结束"),
        ),
        (
            {"stage": "adapter", "kind": "legalization", "recognised": False},
            1,
            ("(stage: ttir to ttadapter)", "exits with code 1", "The kernel compiles.", "did not recognise"),
            ("（ttir → ttadapter 阶段）", "退出码为 1", "编译成功。", "未能识别"),
        ),
    ],
)
def test_each_kind_of_ending_is_told_as_what_it_is(
    written: Manifest,
    changes: dict[str, Any],
    returncode: int | None,
    english: tuple[str, ...],
    chinese: tuple[str, ...],
) -> None:
    calls = tuple(dataclasses.replace(call, returncode=returncode) for call in written.calls)
    ended = dataclasses.replace(signed(written, **changes), calls=calls)
    for lang, parts in (("en", english), ("zh", chinese)):
        body = filled(ended, lang=lang, tracker="npuir").body
        for part in parts:
            assert part in body


@pytest.mark.parametrize(
    ("reproduced", "english", "chinese"),
    [
        ((True, True), "2 more times and failed in the same way each time", "每次均以同样的方式失败"),
        ((True, False), "1 of them: the failure is intermittent", "其中 1 次复现，属偶现问题"),
        ((False, False), "did not fail again", "均未复现"),
        ((True,), "1 more time and", "又编译了 1 次"),
    ],
)
def test_how_steady_the_failure_is_is_told(
    written: Manifest, reproduced: tuple[bool, ...], english: str, chinese: str
) -> None:
    runs = tuple(EvidenceRun(f"rerun-{n}", (), "failed", came, 1.0) for n, came in enumerate(reproduced))
    with_barrier = (*runs, EvidenceRun("barrier", ("--b",), "failed", True, 1.0))
    again = dataclasses.replace(written, evidence=with_barrier)
    assert english in filled(again).body
    assert chinese in filled(again, lang="zh").body
