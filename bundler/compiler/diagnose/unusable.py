"""The tool did not come to work here: nothing about the kernel or the compiler's passes can be said.

Texts: llvm/lib/Support/CommandLine.cpp (`Unknown command line argument`, `Cannot find option named`), the
dynamic loader (`error while loading shared libraries: libX.so: cannot open shared object file`), glibc's
version check (`version `GLIBC_2.34' not found`), the shell or execve (`Exec format error`), the tools
themselves (`Failed to open input file`, `cannot open input file`, `cannot open output file`).
"""

from __future__ import annotations

from bundler.compiler.diagnose._kind import Kind, Tier
from bundler.compiler.diagnose._log import Log
from bundler.compiler.outcome import Diagnosis, Outcome

_TEXTS = (
    ("Unknown command line argument '", "unknown-option", "This compiler version has no such option."),
    (": Cannot find option named '", "unknown-option", "This compiler version has no such option value."),
    (": for the -", "unknown-option", "This compiler version does not take this option value."),
    ("error while loading shared libraries: ", "missing-library", "Source CANN's set_env.sh."),
    ("' not found (required by ", "missing-library", "The system's libraries are too old for it."),
    ("Exec format error", "wrong-architecture", "The compiler was built for another processor."),
    ("cannot execute binary file", "wrong-architecture", "The compiler was built for another processor."),
    ("Failed to open input file", "missing-file", ""),
    ("cannot open input file", "missing-file", ""),
    ("annot open output file", "missing-file", ""),
    ("command not found", "missing-tool", "Source CANN's set_env.sh."),
)  # fmt: skip


def match(log: Log) -> Diagnosis | None:
    if log.run.returncode == 0 or len(log.text) > 100_000:
        return None
    for text, kind, remedy in _TEXTS:
        line = log.line_with(text).strip()
        if line:
            return Diagnosis(
                Outcome.UNUSABLE,
                log.stage,
                kind,
                message=line,
                lines=(line,),
                remedies=(remedy,) if remedy else (),
            )
    return None


KIND = Kind("unusable", Tier.UNUSABLE, match)
