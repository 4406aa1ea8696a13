"""What a replay's ending means, and which of several counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundler.compiler.invoke import DEFAULT_FLAGS
from bundler.compiler.outcome import Outcome, Stage
from bundler.compiler.signature import Signature
from bundler.errors import ExitCode
from bundler.evidence.replay import Replay, State, replay, worst
from bundler.manifest import SignatureRecord
from bundler.pipeline.subject import Subject, signature_of_record

MESSAGE = "ub overflow, requires 4194304 bits while 1572864 bits available"
RECORD = SignatureRecord("id", "failed", "compile", "ub-overflow", MESSAGE, "hivm-plan-memory")
HELP = """case "$*" in
    --version) echo "bishengir-compile 9"; exit 0;;
    --help) echo "  --target=<string>"; exit 0;;
esac
"""
ERROR = "echo 'loc(\"k.mlir\":2:3): error: {}' >&2\n"


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    (tmp_path / "kernel.ttadapter").write_text("module {}")
    expected = signature_of_record(RECORD)
    return Subject(
        "k", tmp_path / "kernel.ttadapter", "bishengir-compile", ("--target=Ascend910B3",), expected
    )


def compiler(folder: Path, script: str) -> Path:
    """A compiler that behaves as `script` says."""
    path = folder / "bishengir-compile"
    path.write_text("#!/bin/sh\n" + HELP + script)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("script", "state", "words"),
    [
        (
            ERROR.format(MESSAGE.replace("4194304", "9") + "! (possible reason: x)") + "exit 1",
            State.REPRODUCED,
            "same",
        ),
        (ERROR.format("failed to legalize operation 'math.erf'") + "exit 1", State.DIFFERENT, "math.erf"),
        ("kill -SEGV $$", State.DIFFERENT, "segfault"),
        ('while [ "$1" != -o ]; do shift; done; echo x > "$2.o"; exit 0', State.FIXED, "all passes ran"),
        (
            "echo \"$0: Unknown command line argument '--x'.  Try: '$0 --help'\" >&2; exit 1",
            State.CANNOT_RUN,
            "Unknown",
        ),
    ],
)
def test_each_ending_is_told_apart(
    subject: Subject, tmp_path: Path, script: str, state: State, words: str
) -> None:
    done = replay(subject, compiler(tmp_path, script), runs=1, timeout=10)
    assert (done.state, done.version) == (state, "bishengir-compile 9")
    assert words in done.why


def test_without_a_compiler_the_reason_is_told(subject: Subject, tmp_path: Path) -> None:
    done = replay(subject, tmp_path / "absent", runs=1, timeout=10)
    assert done.state is State.CANNOT_RUN and "not an executable" in done.why


def test_flags_that_this_compiler_does_not_know_are_left_out_and_named(
    subject: Subject, tmp_path: Path
) -> None:
    given = Subject("k", subject.input, subject.tool, ("--target=x", *DEFAULT_FLAGS), subject.expected)
    tool = compiler(tmp_path, f'case "$*" in *multi*) exit 7;; esac\n{ERROR.format(MESSAGE)}exit 1')
    done = replay(given, tool, runs=1, timeout=10)
    assert (done.state, done.ignored) == (State.REPRODUCED, DEFAULT_FLAGS)


def test_a_failure_that_comes_sometimes_is_waited_for(subject: Subject, tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = (
        f"echo x >> {count}\n[ $(wc -l < {count}) -ge 3 ] && {{ {ERROR.format(MESSAGE).strip()}; exit 1; }}\n"
    )
    script += 'while [ "$1" != -o ]; do shift; done; echo x > "$2.o"'
    tool = compiler(tmp_path, script)
    assert replay(subject, tool, runs=1, timeout=10).state is State.FIXED
    count.unlink()
    done = replay(subject, tool, runs=10, timeout=10)
    assert (done.state, done.runs, done.came) == (State.REPRODUCED, 3, 1)


def test_a_bare_file_reproduces_whatever_fails(subject: Subject, tmp_path: Path) -> None:
    bare = Subject("k", subject.input, subject.tool, subject.flags)
    assert replay(bare, compiler(tmp_path, "kill -SEGV $$"), runs=1, timeout=10).state is State.REPRODUCED


def test_the_recorded_signature_compares_with_a_new_one() -> None:
    assert signature_of_record(RECORD) == Signature(
        "id",
        Outcome.FAILED,
        Stage.COMPILE,
        "ub-overflow",
        "ub overflow, requires <n> bits while <n> bits available",
        "hivm-plan-memory",
        (),
    )


@pytest.mark.parametrize(
    ("states", "expected", "code"),
    [
        ((State.FIXED, State.REPRODUCED), State.REPRODUCED, ExitCode.OK),
        ((State.FIXED, State.DIFFERENT), State.DIFFERENT, ExitCode.INCOMPLETE),
        ((State.CANNOT_RUN, State.FIXED), State.FIXED, ExitCode.NOTHING_FAILED),
        ((State.CANNOT_RUN,), State.CANNOT_RUN, ExitCode.TOOL_MISSING),
    ],
)
def test_of_several_compilers_one_that_reproduces_is_enough(
    states: tuple[State, ...], expected: State, code: ExitCode
) -> None:
    assert worst([Replay(None, None, state, "") for state in states]) is expected
    assert expected.exit_code is code
