"""Programs: parsing, printing and counting."""

from __future__ import annotations

import pytest
from xdsl.utils.exceptions import ParseError

from bundler.process import run
from minimizer.ir.program import Program
from tests.minimizer.programs import CHAIN, REAL, real
from tests.places import compiler_folder

# ops counts from ../shared/cases/README.md
OPS = {
    "failing/reshape_128.ttadapter": 22,
    "failing/cumsum_64_1024_1.ttadapter": 9,
    "failing/softmax_65536.ttadapter": 38,
    "failing/argmax_64_2048.ttadapter": 26,
    "failing/matmul_256.ttadapter": 64,
    "failing/attn_64_256_128.ttadapter": 97,
    "failing/adamw_16384_2.ttadapter": 167,
    "failing/mlp_256_256_128_4.ttadapter": 264,
}


@pytest.mark.parametrize("name", OPS)
def test_sizes_are_counted_as_the_cases_count_them(name: str) -> None:
    assert real(name).measure.ops == OPS[name]


@pytest.mark.parametrize("name", REAL)
def test_what_we_print_is_what_the_compiler_reads(name: str) -> None:
    program = real(name)
    opt = str(compiler_folder() / "bishengir-opt")
    flags = ["--mlir-print-op-generic", "--mlir-print-local-scope", "--allow-unregistered-dialect"]
    done = run([opt, "-", *flags], timeout=60, input=program.text.encode())
    assert done.returncode == 0, done.stderr
    assert Program.parse(done.stdout.decode()).text == program.text


def test_names_of_values_do_not_matter() -> None:
    renamed = CHAIN.replace("%a", "%input").replace("%2", "%result")
    assert Program.parse(renamed).text == Program.parse(CHAIN).text


@pytest.mark.parametrize(
    "text", ["", "not MLIR", '"builtin.module"() ({', "\x00\x01", "#" * 4000, "(" * 4000]
)
def test_what_is_no_program_raises_a_parse_error(text: str) -> None:
    with pytest.raises(ParseError):
        Program.parse(text)
