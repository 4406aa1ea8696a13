"""Whole terminal and CI logs: prefixes, colours, workers, and the failures in them."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bundler.compiler.command_text import exit_status, quoted_argv
from bundler.compiler.outcome import Outcome, Stage
from bundler.compiler.transcript import incidents, split_prefix
from bundler.report.diagnosis import Home, findings_in, render_json, render_text


def only(text: str):
    (finding,) = findings_in(text)
    return finding


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("missing_scope_2025.log", (Outcome.FAILED, Stage.COMPILE, "unsupported-user", Home.COMPILER)),
        ("vllm_target_310p.log", (Outcome.UNUSABLE, Stage.COMPILE, "unknown-option", Home.MACHINE)),
        ("old_backend.log", (Outcome.FAILED, Stage.BACKEND, "backend-failed", Home.COMPILER)),
        ("old_ub_overflow.log", (Outcome.FAILED, Stage.COMPILE, "ub-overflow", Home.COMPILER)),
        ("device_507035.log", (Outcome.FAILED, Stage.RUNTIME, "vector-core-exception", Home.TRITON)),
        ("device_507014.log", (Outcome.TIMED_OUT, Stage.RUNTIME, "aicore-timeout", Home.TRITON)),
        ("front_end.log", (Outcome.INVALID_INPUT, Stage.FRONT_END, "front-end-error", Home.KERNEL)),
        ("launcher.log", (Outcome.UNUSABLE, Stage.LAUNCHER, "launcher-build", Home.MACHINE)),
        ("adapter_early_64.stderr", (Outcome.CRASHED, Stage.ADAPTER, "assertion", Home.TRITON)),
        ("segfault_1.1.0.stderr", (Outcome.CRASHED, Stage.COMPILE, "segfault", Home.COMPILER)),
    ],
)
def test_a_saved_log_tells_its_failure(recorded, log, expected) -> None:
    finding = only(recorded(log))
    seen = finding.diagnosis
    assert (seen.outcome, seen.stage, seen.kind, finding.home) == expected


def test_the_command_line_comes_back_from_the_traceback(recorded) -> None:
    (incident,) = incidents(recorded("missing_scope_2025.log"))
    assert incident.run.argv[0].endswith("/bishengir-compile") and "--target=Ascend910B3" in incident.run.argv
    assert incident.run.returncode == 1
    assert incident.cache == "/home/dev/.triton/cache/bqVQ8Qyv6VxjF26uwYSg"


def test_a_compiler_killed_by_a_signal_is_known_from_the_traceback() -> None:
    text = (
        "CalledProcessError: Command '['bishengir-compile', 'k']' died with <Signals.SIGSEGV: 11>.\n"
        "///---[ERROR][Triton][BEG]---\n[ConvertLinalgRToBinary] encounters error:\n"
        "///---[ERROR][Triton][END]---\n"
    )
    assert only(text).diagnosis.kind == "segfault"


def test_a_command_that_failed_without_a_block_takes_the_text_above_it() -> None:
    text = (
        'loc("/tmp/k.mlir":1:1): error: Failed to run BiShengHIR pipeline\n\n'
        'loc("/tmp/k.mlir":3:3): error: cbuf overflow, requires 9 bits while 8 bits available!\n'
        "Traceback (most recent call last):\n  File x\n"
        "CalledProcessError: Command '['/a/bishengir-compile', 'k']' returned non-zero exit status 1.\n"
    )
    assert only(text).diagnosis.kind == "cbuf-overflow"


@pytest.mark.parametrize(
    ("line", "who", "what"),
    [
        (
            "(Worker_TP1 pid=24942) ERROR 01-06 02:34:35 [multiproc_executor.py:824] boom",
            "Worker_TP1 pid=24942",
            "boom",
        ),
        ("2026-01-06T02:34:36.0938570Z (A pid=1) x", "A pid=1", "x"),
        ("(SGLangEngine pid=27) [2026-04-22 08:39:14 TP0]   at", "SGLangEngine pid=27 TP0", "  at"),
        ("(VllmWorker rank=0 pid=239570) x", "VllmWorker rank=0 pid=239570", "x"),
        ("[rank7]: Traceback", "rank7", "Traceback"),
        ("trainer-1  | x", "trainer-1", "x"),
        ("[ERROR] Failed to run BiShengIR pipeline", "", "[ERROR] Failed to run BiShengIR pipeline"),
        ("(%in: f32, %init: f32) {", "", "(%in: f32, %init: f32) {"),
        ('loc("k.mlir":1:1): error: x', "", 'loc("k.mlir":1:1): error: x'),
    ],
)
def test_prefixes_are_taken_off_and_name_the_worker(line: str, who: str, what: str) -> None:
    assert split_prefix(line) == (who, what)


def as_worker(text: str, number: int) -> list[str]:
    prefix = f"(Worker_TP{number} pid={4000 + number}) ERROR 01-06 02:34:35 [multiproc_executor.py:824] "
    return [f"{prefix}{line}" for line in text.splitlines()]


def test_interleaved_workers_are_read_apart(recorded) -> None:
    queues = [
        as_worker(recorded("missing_scope_2025.log"), 0),
        as_worker(recorded("old_ub_overflow.log"), 1),
        as_worker(recorded("missing_scope_2025.log"), 2),
    ]
    chance = random.Random(1)
    mixed = []
    while any(queues):
        mixed.append(chance.choice([queue for queue in queues if queue]).pop(0))
    found = {finding.diagnosis.kind: finding for finding in findings_in("\n".join(mixed))}
    assert set(found) == {"unsupported-user", "ub-overflow"}
    assert found["unsupported-user"].count == 2
    assert set(found["unsupported-user"].workers) == {"Worker_TP0 pid=4000", "Worker_TP2 pid=4002"}


@pytest.mark.parametrize(
    "change",
    [lambda t: t.replace("\n", "\r\n"), lambda t: "\x1b[31m" + t.replace("error", "\x1b[1merror\x1b[0m")],
)
def test_line_ends_and_colours_change_nothing(recorded, change) -> None:
    plain = recorded("missing_scope_2025.log")
    assert only(change(plain)).signature == only(plain).signature


def test_a_log_without_failures_finds_none() -> None:
    assert findings_in("INFO all is well\nepoch 1 loss 0.3\n") == ()
    assert "No failure" in render_text(())


def test_what_comes_from_outside_cannot_act_on_the_terminal(recorded) -> None:
    text = recorded("missing_scope_2025.log").replace("arith.select", "arith.\x9b31m\u202eselect")
    assert "\x9b" not in render_text(findings_in(text)) and "\u202e" not in render_text(findings_in(text))
    assert '"version": 1' in render_json(findings_in(text))


def test_argv_with_quotes_and_escapes() -> None:
    argv = ["/a b/tool", "it's", 'say "x"', "back\\slash", "new\nline"]
    assert quoted_argv(f"'{argv}' returned non-zero exit status 1.") == tuple(argv)
    assert exit_status("died with unknown signal 99.") == -99
    assert quoted_argv("'g++ -o x \"a b\"' returned non-zero exit status 1.") == ("g++", "-o", "x", "a b")


MARKS = (
    "///---[ERROR][Triton][BEG]---\n",
    "///---[ERROR][Triton][END]---\n",
    "[X] encounters error:\n",
    "(W pid=1) ",
    "CalledProcessError: Command '['a', 'b",
    "']' returned non-zero exit status 1.\n",
    "errors.CompilationError: at 1:2:\n",
    "error code is 507035",
    "\n",
    "error: ",
    "\r",
    "\x1b[",
    "Traceback (most recent call last)\n",
    "^\n",
    "[rank1]: ",
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(MARKS)).map("".join))
def test_no_log_makes_it_raise(text: str) -> None:
    render_text(findings_in(text))


def test_time_grows_with_the_log_not_with_its_square(recorded) -> None:
    block = "\n".join(as_worker(recorded("missing_scope_2025.log"), 3)) + "\n"
    quiet = (
        "(Worker_TP1 pid=1) INFO 01-06 02:34:35 [loggers.py:123] throughput 1.4 tokens/s, error: 0, x\n" * 200
    )

    def seconds(megabytes: float) -> float:
        text = (block + quiet) * int(megabytes * 1e6 / len(block + quiet))
        start = time.process_time()
        findings_in(text)
        return time.process_time() - start

    seconds(0.2)
    assert seconds(4) < 10 * max(seconds(1), 0.02)
