"""Who a process of a distributed run is, and how each rank ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundler.capture.session import Capture, CapturedException, CapturedProcess
from bundler.pipeline.ranks import Identity, identity_of, ranks_of


@pytest.mark.parametrize(
    ("environment", "identity"),
    [
        ({"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8"}, Identity(5, 1, 8)),
        (
            {
                "OMPI_COMM_WORLD_RANK": "2",
                "OMPI_COMM_WORLD_LOCAL_RANK": "2",
                "OMPI_COMM_WORLD_SIZE": "4",
                "ASCEND_RT_VISIBLE_DEVICES": "4,5,6,7",
            },
            Identity(2, 2, 4, "6"),
        ),
        (
            {"PMI_RANK": "0", "PMI_SIZE": "2", "ASCEND_RT_VISIBLE_DEVICES": "3"},
            Identity(0, None, 2, "3"),
        ),
        ({"LOCAL_RANK": "3", "ASCEND_DEVICE_ID": "7"}, Identity(3, 3, None, "7")),
        ({"SLURM_PROCID": "1", "SLURM_LOCALID": "1", "SLURM_NTASKS": "2"}, Identity(1, 1, 2)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, None),
        ({"SLURM_PROCID": "0"}, None),
        ({"RANK": "first", "WORLD_SIZE": "²"}, None),
        ({"WORLD_SIZE": "8"}, None),
        ({}, None),
    ],
)
def test_each_launcher_is_understood(environment: dict[str, str], identity: Identity | None) -> None:
    assert identity_of(environment) == identity


def process(
    rank: int, ended: bool | None, *, pid: int = 0, stack: str = "", size: int = 4
) -> CapturedProcess:
    environment = (("RANK", str(rank)), ("WORLD_SIZE", str(size)))
    return CapturedProcess(pid or rank + 1, ("train.py",), environment, ended, float(pid), stack)


def run(*processes: CapturedProcess, raised: int | None = None, timed_out: bool = False) -> Capture:
    exceptions = (
        (CapturedException(raised, "builtins.AssertionError", "rank is wrong\nby 2", "", 1.0, ()),)
        if raised
        else ()
    )
    return Capture(("torchrun",), 1, 1.0, (), Path(), exceptions, (), timed_out, processes)


def test_each_way_to_end_is_told_apart() -> None:
    seen = run(process(0, True), process(1, False), process(2, None), process(3, True), raised=4)
    records, notes = ranks_of(seen, [])
    assert [record.ended for record in records] == ["finished", "killed", "unknown", "failed"]
    assert records[3].note == "builtins.AssertionError: rank is wrong"
    assert notes == ("distributed run of 4 ranks; finished: 0; killed: 1; unknown: 2; failed: 3",)


def test_a_rank_that_hangs_says_where() -> None:
    stack = (
        'Thread 0x1 (most recent call first):\n  File "t.py", line 9 in helper\n\n'
        'Current thread 0x2 (most recent call first):\n  File "k.py", line 3 in wait\n  File "m.py"\n'
    )
    (record,), _ = ranks_of(run(process(0, False, stack=stack, size=1), timed_out=True), [])
    assert (record.ended, record.note) == ("hung", 'it stood at File "k.py", line 3 in wait')


def test_ranks_of_which_nothing_was_recorded_are_listed() -> None:
    records, notes = ranks_of(run(process(1, True)), [])
    assert [(record.rank, record.ended) for record in records] == [
        (0, "no-call"),
        (1, "finished"),
        (2, "no-call"),
        (3, "no-call"),
    ]
    assert notes == ("distributed run of 4 ranks; no-call: 0, 2-3; finished: 1",)


def test_a_helper_of_a_rank_does_not_decide_how_the_rank_ended() -> None:
    (record,), _ = ranks_of(run(process(0, True, pid=10, size=1), process(0, False, pid=11, size=1)), [])
    assert record.ended == "finished"


def test_a_run_without_ranks_has_none() -> None:
    alone = CapturedProcess(1, (), (), True)
    assert ranks_of(run(alone), []) == ((), ())
