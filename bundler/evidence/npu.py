"""The NPUs: model, number, health, memory.

`npu-smi info` prints boxes with two lines a chip (samples: tests/data/npu_smi). Three cells make a device
row, the process table has four. A row `id name | health | ...` opens a chip and the next row `chip [phy-id] |
bus-id | ...` completes it; further rows of numbers are virtual NPUs of that chip. On A3 the name is only
`Ascend910`: there `npu-smi info -t board -i CARD -c CHIP` gives `NPU Name` as well. The command can hang for
minutes when the driver is sick.

Without it: `/dev/davinci<N>`, then PCI devices of vendor 0x19e5, then what the compile line says by
`--target`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bundler.evidence.container import container_kind
from bundler.evidence.context import Answer, Context, Source, ask, find_program, read_text
from bundler.manifest import Fact

NAMES = ("npu.model", "npu.soc", "npu.count", "npu.health", "npu.memory", "npu.smi", "npu.target")

_VERSION = re.compile(r"npu-smi\s+(\S+)")
_PAIR = re.compile(r"(\d+)\s*/\s*(\d+)")
_HUAWEI = "0x19e5"
_ACCELERATOR = "0x1200"  # PCI class "processing accelerator"; Huawei's network cards share the vendor id


@dataclass(frozen=True)
class Chip:
    """One physical chip. `memory_mb` is the size of its HBM, or of its memory where it has none."""

    card: int
    chip: int
    model: str
    health: str
    bus_id: str
    memory_mb: int | None
    phy_id: int | None = None


@dataclass(frozen=True)
class NpuTable:
    """What one `npu-smi info` says."""

    version: str | None
    chips: tuple[Chip, ...]


def parse_npu_smi(text: str) -> NpuTable:
    """Read the output of `npu-smi info`; whatever is not understood is skipped, nothing raises."""
    version = _VERSION.search(text)
    chips: list[Chip] = []
    opened: tuple[int, str, str] | None = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|") or len(cells) != 3:
            continue
        words = cells[0].split()
        numbers = [int(word) for word in words if _is_number(word)]
        if len(words) > 1 and numbers and _is_number(words[0]) and not _is_number(words[1]):
            opened = (int(words[0]), " ".join(words[1:]), cells[1])
        elif words and len(numbers) == len(words) and opened is not None:
            card, model, health = opened
            opened = None  # rows of numbers after this one are virtual NPUs
            pairs = _PAIR.findall(cells[2])
            chips.append(
                Chip(
                    card=card,
                    chip=numbers[0],
                    model=model,
                    health=health,
                    bus_id=cells[1],
                    memory_mb=_number(pairs[-1][1]) if pairs else None,
                    phy_id=numbers[1] if len(numbers) > 1 else None,
                )
            )
    return NpuTable(version[1] if version else None, tuple(chips))


def parse_board(text: str) -> dict[str, str]:
    """`Key : value` lines of `npu-smi info -t board`."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            pairs.setdefault(key.strip(), value.strip())
    return pairs


def target_of(argv: Iterable[str]) -> str | None:
    """The chip a compile line names: `--target=Ascend910B3`."""
    words = list(argv)
    for word, following in zip(words, [*words[1:], ""]):
        if word.lstrip("-").startswith("target=") and word.startswith("-"):
            return word.partition("=")[2] or None
        if word in ("-target", "--target"):
            return following or None
    return None


def _collect(context: Context) -> Iterable[Fact]:
    start = time.monotonic()
    program = _npu_smi(context)
    answer = ask(context, [program, "info"])
    table = parse_npu_smi(answer.text or "")
    reason = answer.reason or "npu-smi printed no table of chips"
    yield from (
        _from_table(context, table, start) if table.chips else _without_table(context, answer, reason)
    )
    if table.version:
        yield Fact("npu.smi", table.version, "npu-smi info")
    else:
        yield Fact("npu.smi", None, "npu-smi info", answer.reason or "npu-smi printed no version")
    target = target_of(context.compiler_argv)
    yield Fact("npu.target", target, "--target", "" if target else "no --target on the compile line")


SOURCE = Source("npu-smi info", NAMES, _collect)


def _from_table(context: Context, table: NpuTable, start: float) -> Iterable[Fact]:
    chips = table.chips
    models = _unique(chip.model for chip in chips)
    source = "npu-smi info"
    yield Fact("npu.model", ", ".join(models), source)
    yield _soc(context, chips, start)
    cards = len({chip.card for chip in chips})
    on_cards = f" on {cards} card{'s' if cards > 1 else ''}" if cards != len(chips) else ""
    yield Fact("npu.count", f"{len(chips)} chip{'s' if len(chips) > 1 else ''}{on_cards}", source)
    ill = [f"NPU {chip.card} chip {chip.chip}: {chip.health}" for chip in chips if chip.health != "OK"]
    yield Fact("npu.health", "; ".join(ill) or "OK", source)
    sizes = _unique(f"{chip.memory_mb} MB" for chip in chips if chip.memory_mb is not None)
    yield Fact("npu.memory", ", ".join(sizes) or None, source, "" if sizes else "no memory column")


def _soc(context: Context, chips: tuple[Chip, ...], start: float) -> Fact:
    """The name `--target` knows: `Ascend910B3`. On A3 it takes a second question."""
    first = chips[0]
    if first.model != "Ascend910":
        return Fact("npu.soc", "Ascend" + first.model.replace("Ascend", ""), "npu-smi info")
    left = context.timeout - (time.monotonic() - start)
    argv = [_npu_smi(context), "info", "-t", "board", "-i", str(first.card), "-c", str(first.chip)]
    answer = ask(context, argv, timeout=left) if left > 0.1 else Answer(None, "no time left to ask for it")
    board = parse_board(answer.text or "")
    name = board.get("NPU Name")
    if name:
        return Fact("npu.soc", f"{board.get('Chip Name') or first.model}_{name}", "npu-smi info -t board")
    return Fact("npu.soc", None, "npu-smi info -t board", answer.reason or "the board has no NPU Name")


def _without_table(context: Context, answer: Answer, reason: str) -> Iterable[Fact]:
    kind, _ = container_kind(context)
    if kind and answer.text is None:
        reason += " (in a container: it may be on the host)"
    devices = _davinci(context)
    pci = _pci(context)
    target = target_of(context.compiler_argv)
    if target:
        yield Fact("npu.model", target, f"--target of the compile line ({reason})")
        yield Fact("npu.soc", target, f"--target of the compile line ({reason})")
    else:
        source = f"/sys/bus/pci/devices ({reason})" if pci else "npu-smi info"
        yield Fact("npu.model", pci, source, "" if pci else reason)
        yield Fact("npu.soc", None, "npu-smi info", reason)
    if devices:
        count = f"{devices} device{'s' if devices > 1 else ''}"
        yield Fact("npu.count", count, f"/dev/davinci* ({reason})")
    else:
        yield Fact("npu.count", None, "/dev/davinci*", f"{reason}; no /dev/davinci*")
    yield Fact("npu.health", None, "npu-smi info", reason)
    yield Fact("npu.memory", None, "npu-smi info", reason)


def _npu_smi(context: Context) -> str:
    """The command: on PATH, or where the driver puts it when PATH lacks the folder."""
    found = find_program(context, "npu-smi")
    if found is not None:
        return str(found)
    for place in ("/usr/local/sbin", "/usr/local/bin", "/usr/local/Ascend/driver/tools"):
        candidate = context.at(place) / "npu-smi"
        if candidate.is_file():
            return str(candidate)
    return "npu-smi"


def _davinci(context: Context) -> int:
    try:
        return sum(1 for path in context.at("/dev").glob("davinci*") if path.name[7:].isdigit())
    except OSError:
        return 0


def _pci(context: Context) -> str | None:
    found = []
    for folder in _devices(context.at("/sys/bus/pci/devices")):
        if (read_text(folder / "vendor") or "").strip() == _HUAWEI:
            kind = (read_text(folder / "class") or "").strip()
            if kind.startswith(_ACCELERATOR):
                found.append(f"PCI 19e5:{(read_text(folder / 'device') or '').strip()[2:]}")
    names = _unique(found)
    return ", ".join(f"{name} ({found.count(name)})" for name in names) or None


def _devices(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 10


def _number(word: str) -> int | None:
    return int(word) if _is_number(word) else None
