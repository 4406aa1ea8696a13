"""Everything worth knowing about the machine, asked of all sources side by side.

`collect` never raises and never takes longer than `Context.timeout` plus about a second: a source that hangs
is left behind and its facts get that as their reason. These facts are always there, with a value or a reason:

| fact | example |
| --- | --- |
| python.version, python.implementation | 3.11.9, CPython |
| python.executable, python.environment | /opt/venv/bin/python, virtualenv at /opt/venv |
| package.triton-ascend, package.triton, package.torch, package.torch_npu, package.flagtree | 3.2.0 |
| package.ascendnpu-ir, package.vllm-ascend, package.vllm, package.sglang, package.numpy, package.pybind11 | |
| triton.backend, triton.stages | folder of the Ascend backend; ttadapter, npubin |
| triton.checkout, triton.commit | branch and commit of an editable install |
| triton.branch | release/3.2.2, master, or another; `source` is the evidence that decided |
| compiler.path, compiler.found-by | found by: bundled, PATH, variable, package, other |
| compiler.version, compiler.llvm, compiler.sha256 | first line of --version |
| hivmc.path, hivmc.version | |
| os.name, os.kernel, os.arch, os.libc | openEuler 22.03 (LTS-SP4), Linux 5.10.0, aarch64, glibc 2.34 |
| cpu.model, cpu.count, memory.total, memory.available | |
| disk.cache, disk.temporary | 12.0 GiB free of 100.0 GiB at ... |
| container.kind, container.memory, container.cpus | docker; none, no limit |
| cann.version, cann.path, cann.innerversion, cann.ops, cann.others | 8.2.RC1 |
| driver.version, driver.innerversion, driver.ascendhal | 25.5.0 |
| firmware.version, firmware.package | 7.8.0.5.216 |
| npu.model, npu.soc, npu.count, npu.health, npu.memory | 910B3, Ascend910B3, 2 chips, OK, 65536 MB |
| npu.smi, npu.target | version of npu-smi; chip on the compile line |

and as they apply: `env.NAME` for each variable of interest that is set, `warning.*` for known causes of
trouble.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from bundler.evidence import (
    branch,
    cann,
    compiler_facts,
    concerns,
    container,
    driver,
    host,
    npu,
    python_packages,
    variables,
)
from bundler.evidence.context import Context, Source
from bundler.manifest import Fact

__all__ = ["SOURCES", "Context", "collect"]

SOURCES: tuple[Source, ...] = (
    python_packages.SOURCE,
    *compiler_facts.SOURCES,
    host.SYSTEM,
    host.HARDWARE,
    host.DISKS,
    container.SOURCE,
    cann.SOURCE,
    driver.SOURCE,
    npu.SOURCE,
    variables.SOURCE,
)

# A child that does not die by SIGKILL (stuck in the driver) is waited for by `process.run`; we do not wait
# for it.
_GRACE = 1.0


def collect(context: Context, sources: Sequence[Source] = SOURCES) -> tuple[Fact, ...]:
    """Ask every source at once and return all facts, in the order of `sources`, then branch and warnings."""
    boxes: list[list[Fact] | None] = [None] * len(sources)

    def work(index: int) -> None:
        try:
            boxes[index] = list(sources[index].collect(context))
        except Exception as error:  # a source's bug must not cost the user the bundle
            reason = f"npubug failed here: {type(error).__name__}: {error}"
            boxes[index] = [Fact(name, None, sources[index].title, reason) for name in sources[index].names]

    # Daemon threads and not a pool: a pool would wait at exit for one that hangs.
    threads = [
        threading.Thread(target=work, args=(index,), daemon=True, name=f"evidence-{source.title}")
        for index, source in enumerate(sources)
    ]
    deadline = time.monotonic() + context.timeout + _GRACE
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    facts = [fact for source, box in zip(sources, boxes) for fact in _complete(source, box, context.timeout)]
    facts.append(branch.decide(facts, context.cached_files))
    facts.extend(concerns.derive(context, facts))
    return tuple(facts)


def _complete(source: Source, answered: list[Fact] | None, timeout: float) -> list[Fact]:
    """What a source said, and a reason for each fact that it owes."""
    if answered is None:
        reason = f"did not answer within {timeout:.0f} s"
        return [Fact(name, None, source.title, reason) for name in source.names]
    said = {fact.name for fact in answered}
    owed = [name for name in source.names if name not in said]
    return answered + [Fact(name, None, source.title, "not answered") for name in owed]
