"""What a crash leaves behind: the signal, and the stack that LLVM's handler prints.

Format (llvm/lib/Support/Unix/Signals.inc): ` #9 0x000055a142a5473d symbol(args) (/path/to/tool+0x1f2173d)`,
without the symbol in a stripped binary. Addresses move with every run; module plus offset does not.
"""

from __future__ import annotations

import re
import signal

from bundler.compiler.diagnose._log import Log

_FRAME = re.compile(r"\s*#(\d+) 0x[0-9a-fA-F]+ (.*)")
_MODULE = re.compile(r"\(([^()\s]+)\+0x([0-9a-fA-F]+)\)\Z")
_SYSTEM = re.compile(r"(?:libc|libc-[\d.]+|libpthread[-\d.]*|ld-linux[^/]*|libstdc\+\+|libgcc_s)\.so[.\d]*\Z")
_LIBC_SOURCE = re.compile(r" \./\S+:\d+:\d+\Z")
_SYSTEM_SYMBOLS = (
    "__pthread_kill", "pthread_kill", "raise", "abort", "gsignal", "__assert_fail", "__restore_rt",
    "__libc_", "__GI_", "_nl_load_domain", "start_thread", "clone", "call_init", "_start", "__libc_start",
    "std::terminate", "__gnu_cxx::", "__cxxabiv1::", "__cxa_",
)  # fmt: skip
_REPORTERS = (
    "llvm::sys::PrintStackTrace", "llvm::sys::RunSignalHandlers", "SignalHandler", "PrintStackTraceSignal",
    "llvm::report_fatal_error", "llvm::llvm_unreachable_internal",
)  # fmt: skip
_DEPTH = 5


def crash_signal(log: Log) -> int | None:
    """The number of the signal that ended the run, if one did: directly, or as 128+N through a shell."""
    code = log.run.returncode
    if code is None:
        return None
    if code < 0:
        return -code
    return code - 128 if 128 < code < 128 + 65 else None


def signal_name(number: int) -> str:
    """`SIGSEGV` for 11; `signal 99` for a number without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def fatal_message(log: Log) -> str | None:
    """What `LLVM ERROR: ...` says, or None; a string in some IR is not it."""
    for _, line in log.lines_with("LLVM ERROR: "):
        before, _, message = line.partition("LLVM ERROR: ")
        if '"' not in before:
            return message.strip()
    return None


def unreachable_message(log: Log) -> str | None:
    """The words above `UNREACHABLE executed`, empty if there are none; None without that line."""
    for position, line in log.lines_with("UNREACHABLE executed"):
        if not line.startswith("UNREACHABLE executed"):
            continue
        above = log.text[max(0, position - 500) : position].rstrip("\n").rpartition("\n")[2].strip()
        return "" if "error: " in above or "note: " in above else above  # a diagnostic speaks for itself
    return None


def frames(log: Log) -> tuple[str, ...]:
    """The innermost frames inside the compiler: symbols, or `tool+0xOFFSET` without them.

    The handler's own frames, libc's and those of the reporting functions say nothing about the place.
    """
    stack: list[tuple[str, bool]] = []
    for _, line in log.lines_with(" 0x"):
        found = _FRAME.match(line)
        if found is None:
            continue
        if int(found[1]) == 0 and stack:
            break  # a second stack: of another process, or of a retry
        stack.append(_frame(found[2]))
    system = [index for index, (_, is_system) in enumerate(stack) if is_system]
    start = 0
    if system:
        # Up to the first run of libc's frames is the handler; the place lies below it.
        start = system[0]
        while start < len(stack) and stack[start][1]:
            start += 1
        if start >= len(stack):
            start = 0
    inside = [name for name, is_system in stack[start:] if not is_system and not name.startswith(_REPORTERS)]
    return tuple(inside[:_DEPTH])


def _frame(text: str) -> tuple[str, bool]:
    module = _MODULE.search(text)
    symbol = text[: module.start()].strip() if module else text.strip()
    library = module[1].rpartition("/")[2] if module else ""
    symbol = re.sub(r" (?:\./|/)\S+:\d+(?::\d+)?\Z", "", symbol)
    # A distribution's libc is built in `./nptl`, `./string` and so on; the compiler's own paths are absolute.
    is_system = (
        bool(_SYSTEM.match(library))
        or symbol.startswith(_SYSTEM_SYMBOLS)
        or _LIBC_SOURCE.search(text) is not None
    )
    if symbol:
        return re.sub(r"\(.*", "", symbol) or symbol, is_system
    return (f"{library}+0x{module[2].lower()}" if module else "?"), is_system
