"""Small programs and real ones, parsed once."""

from __future__ import annotations

from functools import cache

from minimizer.ir.program import Program
from minimizer.problem import parse
from tests.places import case, compiler_folder

CHAIN = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8xf32>, memref<8xf32>) -> (), sym_name = "chain"}> ({
  ^bb0(%a: tensor<8xf32>, %o: memref<8xf32>):
    %0 = "math.exp"(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = "arith.addf"(%0, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %2 = "math.log"(%1) : (tensor<8xf32>) -> tensor<8xf32>
    "bufferization.materialize_in_destination"(%2, %o) <{writable}> : (tensor<8xf32>, memref<8xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""

LOOP = """
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, i32, f32, memref<8xf32>, index) -> (), sym_name = "loop"}> ({
  ^bb0(%lo: i32, %hi: i32, %step: i32, %x: f32, %o: memref<8xf32>, %i: index):
    %r = "scf.for"(%lo, %hi, %step, %x) ({
    ^bb0(%iv: i32, %acc: f32):
      %c = "arith.sitofp"(%iv) : (i32) -> f32
      %n = "arith.addf"(%acc, %c) : (f32, f32) -> f32
      "scf.yield"(%n) : (f32) -> ()
    }) : (i32, i32, i32, f32) -> f32
    "memref.store"(%r, %o, %i) : (f32, memref<8xf32>, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""

BRANCHES = """
"builtin.module"() ({
  "func.func"() <{function_type = (i1, i32, memref<1xi32>, index) -> (), sym_name = "branches"}> ({
  ^bb0(%c: i1, %x: i32, %o: memref<1xi32>, %i: index):
    "cf.cond_br"(%c, %x)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (i1, i32) -> ()
  ^bb1:
    %d = "arith.addi"(%x, %x) : (i32, i32) -> i32
    "cf.br"(%d)[^bb2] : (i32) -> ()
  ^bb2(%m: i32):
    "memref.store"(%m, %o, %i) : (i32, memref<1xi32>, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""

REAL = (
    "failing/reshape_128.ttadapter",
    "failing/cumsum_64_1024_1.ttadapter",
    "failing/attn_64_256_128.ttadapter",
    "failing/argmax_64_2048.ttadapter",
    "healthy/softmax_1024.ttadapter",
)


@cache
def real(name: str) -> Program:
    """A case of ../shared/cases as a program, read by the real opt tool."""
    return parse(compiler_folder() / "bishengir-opt", case(name))


def small() -> list[Program]:
    return [Program.parse(text) for text in (CHAIN, LOOP, BRANCHES)]
