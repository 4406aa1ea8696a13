"""The kernel compiled, and failed or hung on the device.

Codes (CANN, acl/error_codes/rt_error_codes.h): 507014 aicore timeout, 507015 aicore exception, 507034
vector core timeout, 507035 vector core exception, 507016 and 507036 the traps, 507046 stream synchronize
timeout, 507048 fftsplus timeout. torch_npu prints `..., error code is 507035`, the runtime `runtime result
= 507035` and, as the device's own words, `errorStr: The DDR address of the MTE instruction is out of
range.`, `fault kernel_name=NAME`.
"""

from __future__ import annotations

import re

from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome, Stage

_KINDS = {
    "507014": "aicore-timeout",
    "507015": "aicore-exception",
    "507016": "aicore-trap",
    "507034": "vector-core-timeout",
    "507035": "vector-core-exception",
    "507036": "vector-core-trap",
    "507046": "stream-timeout",
    "507048": "fftsplus-timeout",
}
_CODE = re.compile(r"(?:error code is |runtime result = |failed: |ErrCode=)(50\d{4})\b")
_CODE_MARKS = ("error code is 507", "runtime result = 507", "failed: 507", "ErrCode=507")
_WORDS = re.compile(r"errorStr: ([^.]*)")
_KERNEL = re.compile(r"fault kernel_name=([\w ]+)")
_REMEDIES = (
    "Try the barrier workaround (npubug barrier): if it helps, the compiler's synchronisation is at fault.",
    "Check the kernel's own masks and offsets: an address out of range is reported in the same way.",
)


def match(log: Log) -> Diagnosis | None:
    if log.is_compiler:
        return None
    code = next(
        (
            found[1]
            for mark in _CODE_MARKS
            for _, line in log.lines_with(mark)
            if (found := _CODE.search(line))
        ),
        None,
    )
    words = next(
        (found[1].strip() for _, line in log.lines_with("errorStr: ") if (found := _WORDS.search(line))), ""
    )
    if code is None and not words:
        return None
    kind = _KINDS.get(code or "", "device-error")
    kernel = _KERNEL.search(log.line_with("fault kernel_name="))
    details = (("code", code), ("error", words), ("kernel", kernel[1].replace(" ", "") if kernel else None))
    lines = [line.strip() for mark in (*_CODE_MARKS, "errorStr: ") for _, line in log.lines_with(mark)]
    timed_out = "timeout" in kind
    return Diagnosis(
        Outcome.TIMED_OUT if timed_out else Outcome.FAILED,
        Stage.RUNTIME,
        kind,
        message=words or kind.replace("-", " "),
        details=tuple((name, value) for name, value in details if value),
        lines=tuple(dict.fromkeys(lines))[:8],
        recognised=code is None or code in _KINDS,
        remedies=_REMEDIES,
    )


KIND = Kind("device", Tier.PROGRAM, match)
