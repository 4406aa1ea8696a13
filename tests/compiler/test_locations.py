"""A printed location leads to the user's own kernel line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bundler.compiler.locations import Frame, frames_of, source_line, user_frame
from bundler.compiler.outcome import ToolRun
from bundler.report.diagnosis import finding_of

LIBRARY = "/usr/lib/python3.11/site-packages/triton/language/standard.py"
KERNEL = "/home/dev/kernels.py"
IR = f"""#loc = loc("{KERNEL}":5:0)
#loc1 = loc(unknown)
module {{
  func.func @k(%arg0: memref<?xf32> loc("{KERNEL}":5:0)) {{
    %0 = tt.load %arg0 : memref<?xf32> loc(#loc7)
    return loc(#loc)
  }} loc(#loc)
}} loc(#loc)
#loc5 = loc("{LIBRARY}":290:12)
#loc6 = loc("{KERNEL}":9:36)
#loc7 = loc(callsite(#loc5 at #loc6))
"""


def test_a_plain_and_a_wrapped_location() -> None:
    assert frames_of(f"{KERNEL}:9:36") == frames_of(f'loc("{KERNEL}":9:36)') == (Frame(KERNEL, 9, 36),)


def test_a_chain_of_calls_leads_out_of_tritons_library() -> None:
    chain = f'loc(callsite("{LIBRARY}":290:12 at callsite("{LIBRARY}":310:4 at "{KERNEL}":9:36)))'
    assert user_frame(chain) == Frame(KERNEL, 9, 36)


def test_the_innermost_function_of_the_user_is_the_line() -> None:
    helper = Frame("/home/dev/helpers.py", 3, 1)
    assert user_frame(f'loc(callsite("{helper.file}":3:1 at "{KERNEL}":9:36))') == helper


def test_named_and_fused_locations() -> None:
    assert user_frame(f'loc("x"("{KERNEL}":9:36))') == Frame(KERNEL, 9, 36)
    assert user_frame(f'loc(fused<"cse">["{LIBRARY}":1:1, "{KERNEL}":9:36])') == Frame(KERNEL, 9, 36)


def test_aliases_are_looked_up_in_the_ir() -> None:
    assert user_frame("loc(#loc7)", IR) == Frame(KERNEL, 9, 36)


def test_a_place_in_the_ir_leads_to_the_line_that_it_carries() -> None:
    assert user_frame('loc("/tmp/x/kernel.ttadapter.mlir":5:10)', IR) == Frame(KERNEL, 9, 36)


def test_an_op_with_a_region_carries_its_location_behind_the_brace() -> None:
    ir = IR.replace(f' loc("{KERNEL}":5:0))', ")")
    assert user_frame('loc("/tmp/x/kernel.ttadapter.mlir":4:3)', ir) == Frame(KERNEL, 5, 0)


def test_nothing_is_made_up() -> None:
    assert user_frame("loc(unknown)") is None
    assert user_frame('loc("/tmp/x/kernel.ttadapter.mlir":3:3)') is None
    assert user_frame(None) is None


def test_a_very_deep_chain_is_followed() -> None:
    deep = f'callsite("{LIBRARY}":1:1 at ' * 3000 + f'"{KERNEL}":9:36' + ")" * 3000
    assert user_frame(f"loc({deep})") == Frame(KERNEL, 9, 36)


def test_aliases_in_a_circle_end() -> None:
    assert frames_of("loc(#loc1)", "#loc1 = loc(#loc2)\n#loc2 = loc(#loc1)\n") == ()


@given(st.text(alphabet='loc(callsite"at#0123456789:,fused<>[] \n/.py', max_size=80))
def test_no_text_makes_it_raise(text: str) -> None:
    user_frame(text, text)


def test_the_line_is_shown_where_the_file_is_here(recorded) -> None:
    run = ToolRun(("triton-adapter-opt",), -6, stderr=recorded("adapter_early_64_linearize.stderr"))
    source = "\n".join(f"line {number}" for number in range(1, 20))
    finding = finding_of(run, read=lambda _: source)
    assert finding.source is not None and finding.source.text == "line 9"
    assert source_line(Frame("/gone.py", 3, 1), lambda _: None).text is None
