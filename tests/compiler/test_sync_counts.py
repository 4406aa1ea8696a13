"""Counting synchronisation in printed IR, in total and by pass."""

from __future__ import annotations

from bundler.compiler.sync_counts import SyncCounts, SyncStep, count, steps

BANNER = "// -----// IR Dump After {name}{failed} ({argument}) //----- //\n"
SET, WAIT = (
    "    hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n",
    "    hivm.hir.wait_flag[<PIPE_V>]\n",
)
BARRIER, BLOCK = "    hivm.hir.pipe_barrier[<PIPE_ALL>]\n", "    hivm.hir.sync_block_set[<CUBE>] flag = 0\n"


def dump(argument: str, text: str, *, failed: bool = False) -> str:
    return BANNER.format(name="P", failed=" Failed" if failed else "", argument=argument) + text + "\n\n"


def function(name: str, body: str) -> str:
    return f"func.func @{name}(%arg0: memref<?xi8>) {{\n{body}    return\n}}"


def test_each_kind_is_counted_once_and_look_alikes_are_not() -> None:
    text = SET + WAIT + WAIT + BARRIER + BLOCK + "    hivm.hir.sync_block[<ALL>]\n"
    text += '    "hivm.hir.set_flag"() : () -> ()\n'
    text += "    hivm.hir.load ins(%a : memref<1xi8, #hacc.arg_type<sync_block_lock>>)\n"
    text += "    hivm.hir.set_flagship\n"
    assert count(text.encode()) == SyncCounts(set_flag=2, wait_flag=2, pipe_barrier=1, sync_block=2)


def test_functions_printed_one_by_one_are_added_up() -> None:
    log = dump("inject", function("aic", SET + WAIT)) + dump("inject", function("aiv", BARRIER + BARRIER))
    assert steps([log.encode()]) == (
        SyncStep("inject", SyncCounts(1, 1, 0, 0)),
        SyncStep("inject", SyncCounts(1, 1, 2, 0)),
    )


def test_only_passes_that_change_the_whole_are_steps() -> None:
    a, b = function("a", SET), function("b", WAIT)
    log = dump("inject", a) + dump("inject", b) + dump("cse", a) + dump("inline", f"module {{\n{a}\n{b}\n}}")
    log += dump("dce", f"module {{\n{a}\n}}")
    assert [(step.pass_name, step.counts.wait_flag) for step in steps([log.encode()])] == [
        ("inject", 0),
        ("inject", 1),
        ("dce", 0),
    ]


def test_another_attempt_starts_from_nothing() -> None:
    retry = "[NOTE] Ub overflow detected; retrying compilation.\n"
    log = dump("inject", function("a", SET)) + dump("plan", function("a", SET), failed=True) + retry
    log += dump("inject", function("a", BARRIER))
    assert steps([log.encode()]) == (SyncStep("inject", SyncCounts(0, 0, 1, 0)),)


def test_a_log_without_dumps_has_no_steps() -> None:
    assert steps([b"error: nothing here\n"]) == ()
