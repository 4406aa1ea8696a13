"""What the facts together say that none says alone: known causes of trouble, as facts `warning.*`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from bundler.evidence.context import Context
from bundler.manifest import Fact

_GIB = re.compile(r"^([\d.]+) GiB")
LOW_DISK_GIB = 1.0
LOW_MEMORY_GIB = 8.0  # the compiler takes 1 to 3 GiB for large kernels, and several may run at once


def derive(context: Context, facts: Iterable[Fact]) -> Iterable[Fact]:
    """The warnings that apply."""
    values = {fact.name: fact.value for fact in facts if fact.value is not None}
    yield from _compiler_of_other_cann(context, values)
    for name in ("disk.cache", "disk.temporary"):
        free = _gib(values.get(name))
        if free is not None and free < LOW_DISK_GIB:
            yield Fact(f"warning.{name.replace('.', '-')}", f"almost full: {values[name]}", name)
    limit = _gib(values.get("container.memory"))
    if limit is not None and limit < LOW_MEMORY_GIB:
        text = f"this container may use only {values['container.memory']}: a large compile can be killed"
        yield Fact("warning.container-memory", text, "container.memory")


def _compiler_of_other_cann(context: Context, values: Mapping[str, str]) -> Iterable[Fact]:
    home = context.environ.get("ASCEND_HOME_PATH")
    compiler = values.get("compiler.path")
    if not home or not compiler or "/Ascend/" not in compiler:
        return
    # Both through their links: `latest` and `cann` point to a version's folder.
    if not os.path.realpath(compiler).startswith(os.path.realpath(home) + "/"):
        text = f"the compiler {compiler} does not belong to the CANN in use, {home}"
        yield Fact("warning.compiler-cann", text, "compiler.path, ASCEND_HOME_PATH")


def _gib(text: str | None) -> float | None:
    found = _GIB.match(text or "")
    return float(found[1]) if found else None
