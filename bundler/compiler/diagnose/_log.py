"""What a compiler tool printed, read once and asked many times.

The reducer diagnoses thousands of runs, and a run with IR dumps prints megabytes of which three lines
matter. So nothing here walks over all lines: every question is a `str.find` for a literal, and only the
lines that hold it are looked at. That keeps the cost linear, whatever a hostile log holds.

Formats: MLIR's diagnostics are `LOC: error: MESSAGE`, LOC being `FILE:LINE:COL` when the tool has the
source at hand (`bishengir-opt`, `triton-adapter-opt`) and `loc(...)` when not (`bishengir-compile`);
mlir/lib/IR/Diagnostics.cpp. The `IR Dump After` banner is that of mlir/lib/Pass/IRPrinting.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from bundler.compiler.outcome import Stage, ToolRun

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9A-B])")
_DUMP_AFTER_FAILURE = re.compile(r"// -----// IR Dump After (\S+) Failed \(([^)]*)\)")
_EXECUTING = re.compile(r"Pipeline failed while executing \[`?([^`' \]]+)")
# Lines that the tools print around an error; they say that something failed, never what. The name of the
# pipeline differs: BiShengHIR, BiShengIR, BiShengHIR HIVM, buildFinalHIVMPipelines.
_WRAPPER = re.compile(
    r"Failed to run \w+(?: \w+)? pipeline"
    r"|Failures have been detected while processing an MLIR pass pipeline"
    r"|A failure has been detected while processing the MLIR module"
    r"|External hivmc run fails"
    r"|Failed to compile BiShengLIR for device"
)
# Options of mlir-opt's own (mlir/lib/Tools/mlir-opt), as against those that are passes.
_OWN_OPTIONS = (
    "-o", "--mlir-", "--allow-unregistered", "--split-input", "--verify", "--emit-bytecode",
    "--run-reproducer", "--no-implicit-module", "--dump-pass-pipeline", "--show-dialects", "--irdl",
    "--bishengir-print",
)  # fmt: skip
_STAGES = (
    ("triton-adapter-opt", Stage.ADAPTER),
    ("bishengir-opt", Stage.PASS),
    ("mlir-opt", Stage.PASS),
    ("bishengir-compile", Stage.COMPILE),
    ("npuc", Stage.COMPILE),
    ("hivmc", Stage.BACKEND),
    ("ccec", Stage.BACKEND),
    ("bisheng", Stage.BACKEND),
)


@dataclass(frozen=True)
class Report:
    """One `error:` line: where (as printed, maybe empty), what, and the whole line."""

    location: str
    message: str
    line: str
    position: int


@dataclass(frozen=True)
class Log:
    """The text of one run, in the form that the failure kinds ask."""

    run: ToolRun
    text: str

    @cached_property
    def tool(self) -> str:
        """The program's name without its folder; empty if it is not known."""
        return PurePosixPath(self.run.argv[0]).name if self.run.argv else ""

    @cached_property
    def stage(self) -> Stage:
        """The stage that the program stands for; a compile, where nothing says otherwise."""
        return next((stage for name, stage in _STAGES if self.tool.startswith(name)), Stage.COMPILE)

    @property
    def is_compiler(self) -> bool:
        """Whether the program is a tool of the NPU's compiler, as against the user's Python or g++."""
        return any(self.tool.startswith(name) for name, _ in _STAGES)

    def has(self, literal: str) -> bool:
        """Whether the text holds `literal`."""
        return literal in self.text

    def lines_with(self, literal: str) -> Iterator[tuple[int, str]]:
        """Every line that holds `literal`, with the position where it starts."""
        at = self.text.find(literal)
        while at >= 0:
            start = self.text.rfind("\n", 0, at) + 1
            end = self.text.find("\n", at)
            end = len(self.text) if end < 0 else end
            yield start, self.text[start:end]
            at = self.text.find(literal, end)

    def line_with(self, literal: str) -> str:
        """The first line that holds `literal`, or an empty string."""
        return next((line for _, line in self.lines_with(literal)), "")

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        """Every `error:` in the order printed."""
        lines = self.lines_with("error: ")
        return tuple(report for position, line in lines if (report := _report(line, position)) is not None)

    @cached_property
    def errors(self) -> tuple[Report, ...]:
        """The errors that say something, each once, in the order in which the passes emitted them.

        `bishengir-compile` collects what its passes emit and prints it newest first: its own `Failed to run
        BiShengHIR pipeline`, the last in time, is then the first line. Each attempt of its own prints such a
        batch; the last one counts, as the last dump does. The opt tools, and the older
        `bishengir-hivm-compile`, print at once.
        """
        batches: list[list[Report]] = [[]]
        newest_first = bool(self.reports) and bool(_WRAPPER.match(self.reports[0].message))
        for report in self.reports:
            if not _WRAPPER.match(report.message):
                batches[-1].append(report)
            elif newest_first and batches[-1]:
                batches.append([])
        told = [batch[::-1] if newest_first else batch for batch in batches if batch]
        last = told[-1] if told else []
        first_of: dict[tuple[str, str], Report] = {}
        for report in last:
            first_of.setdefault((report.location, report.message), report)
        return tuple(first_of.values())

    @property
    def leading(self) -> Report | None:
        """The first error that the failing pass emitted; what follows it is often a consequence."""
        return self.errors[0] if self.errors else None

    @property
    def failed_without_words(self) -> bool:
        """Whether the tool reports that its passes failed, and no pass said why."""
        return bool(self.reports) and not self.errors

    @cached_property
    def failed_pass(self) -> tuple[str, str] | None:
        """Class name and argument of the pass that failed last, from the dump after a failure.

        The last: the dumps before it belong to attempts after which the compiler changed its own flags.
        """
        last = None
        for _, line in self.lines_with("// -----// IR Dump After "):
            match = _DUMP_AFTER_FAILURE.match(line)
            last = match or last
        return (last[1], last[2]) if last else None

    @cached_property
    def pass_name(self) -> str | None:
        """The argument of the pass that failed, as far as the text or the command line says it."""
        if self.failed_pass is not None:
            return self.failed_pass[1]
        for _, line in self.lines_with("Pipeline failed while executing"):
            match = _EXECUTING.search(line)
            if match is not None:
                return match[1]
        return self._only_pass_asked_for

    @cached_property
    def _only_pass_asked_for(self) -> str | None:
        """The one pass of an opt tool's command line: whatever failed, it is this one."""
        if self.stage is not Stage.PASS or "--run-reproducer" in self.run.argv:
            return None
        passes = passes_of(self.run.argv)
        return passes[0] if len(passes) == 1 else None


def passes_of(argv: tuple[str, ...]) -> list[str]:
    """The passes that an opt tool's command line asks for, by argument, without dashes and options."""
    words = [word for word in argv[1:] if word.startswith("-") and word != "-"]
    return [
        word.lstrip("-").partition("=")[0]
        for word in words
        if not word.startswith(_OWN_OPTIONS) and not word.lstrip("-").startswith("pass-pipeline")
    ]


def read(run: ToolRun) -> Log:
    """The log of `run`: its stderr, or its stdout where a wrapper has merged the two."""
    text = run.stderr if run.stderr.strip() else run.stdout
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Log(run, text)


def _report(line: str, position: int) -> Report | None:
    """The error that `line` reports, or None if `error: ` only occurs in some IR or other text."""
    if line.startswith("error: "):
        return Report("", line[7:].strip(), line, position)
    location, found, message = line.partition(": error: ")
    if not found:
        return None
    # Stray output without newline may stand before it: `loc("k.mlir":1:1): loc("k.mlir":2:3)`.
    if "): loc(" in location:
        location = "loc(" + location.rpartition("): loc(")[2]
    return Report(location, message.strip(), line, position) if _is_location(location) else None


def _is_location(text: str) -> bool:
    if text.startswith("loc("):
        return text.endswith(")")
    parts = text.rsplit(":", 2)
    return text == "<unknown>:0" or (len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit())
