"""The index of what a kernel's IR does with other ranks and cores."""

from __future__ import annotations

from bundler.compiler.distribution import Use, index

IR = b"""module {
  tt.func public @all_gather(%arg0: !tt.ptr<i64>) {
    %0 = "distributed.get_rank"() : () -> i32
    %1 = distributed.symm_at %arg0, %0 : !tt.ptr<i64>
    distributed.notify %1, %0 {sig = 1 : i32}
    // distributed.notify in a comment
    %2 = distributed.wait %arg0 : i32
    distributed.notify %1, %0
    hivm.hir.sync_block_set[<CUBE>, <PIPE_FIX>]
    func.call @aclshmem_signal_wait(%1) : (i32) -> ()
    %3 = arith.addi %0, %0 : i32
  }
}
"""


def test_distribution_primitives_and_synchronisation_are_found_with_their_lines() -> None:
    assert index(IR) == (
        Use("distributed.get_rank", 1, (3,)),
        Use("distributed.symm_at", 1, (4,)),
        Use("distributed.notify", 2, (5, 8)),
        Use("distributed.wait", 1, (7,)),
        Use("hivm.hir.sync_block_set", 1, (9,)),
        Use("@aclshmem_signal_wait", 1, (10,)),
    )


def test_a_kernel_of_its_own_has_none() -> None:
    assert index(b"func.func @add(%a: f32) {\n  %0 = arith.addf %a, %a : f32\n}\n") == ()


def test_only_the_first_lines_of_many_are_told() -> None:
    (use,) = index(b"distributed.wait %a\n" * 1000)
    assert str(use) == "1000 distributed.wait (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ...)"
