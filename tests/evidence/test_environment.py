"""The whole collection on fake machines, on this one, and with everything broken."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from bundler.evidence import environment
from bundler.evidence.context import Context, Source
from bundler.evidence.environment import SOURCES, collect
from bundler.manifest import Fact
from tests.evidence.machines import OPENEULER, UBUNTU, Machine

PYTHON = Path(sys.executable)


def test_every_fact_has_a_value_or_a_reason_and_is_there_once(machine: Machine) -> None:
    facts = collect(machine.context(interpreter=PYTHON))
    for fact in facts:
        assert (fact.value is None) == bool(fact.reason), fact
    names = [fact.name for fact in facts]
    assert len(names) == len(set(names))


def test_the_docstring_lists_every_fact() -> None:
    listed = set(re.findall(r"[\w-]+\.[\w-]+", environment.__doc__ or ""))
    names = {name for source in SOURCES for name in source.names} | {"triton.branch"}
    assert names <= listed


@pytest.mark.parametrize(
    ("release", "name"), [(UBUNTU, "Ubuntu 22.04.4 LTS"), (OPENEULER, "openEuler 24.03 (LTS)")]
)
def test_the_distribution_is_named(machine: Machine, release: str, name: str) -> None:
    machine.write("/etc/os-release", release)
    assert machine.facts()["os.name"].value == name


class TestNpu:
    def test_a2(self, machine: Machine) -> None:
        machine.npu_smi("910b3_25.5.2")
        facts = machine.facts(compiler_argv=("c", "--target=Ascend910B1"))
        assert facts["npu.model"].value == "910B3"
        assert facts["npu.soc"].value == "Ascend910B3"
        assert facts["npu.count"].value == "2 chips"
        assert facts["npu.health"].value == "NPU 1 chip 1: Warning"
        assert facts["npu.memory"].value == "65536 MB"
        assert facts["npu.target"].value == "Ascend910B1"

    def test_a3_asks_the_board_for_the_name(self, machine: Machine) -> None:
        machine.npu_smi("a3_25.2.1", board="  NPU ID : 0\n  Chip Name : Ascend910\n  NPU Name : 9392\n")
        facts = machine.facts()
        assert facts["npu.soc"].value == "Ascend910_9392"
        assert facts["npu.count"].value == "4 chips on 2 cards"

    def test_a3_without_an_answer_says_so(self, machine: Machine) -> None:
        machine.npu_smi("a3_26.0.rc2")
        fact = machine.facts()["npu.soc"]
        assert (fact.value, fact.reason) == (None, "npu-smi printed nothing")

    def test_310p(self, machine: Machine) -> None:
        machine.npu_smi("310p3_25.5.0")
        facts = machine.facts()
        assert (facts["npu.soc"].value, facts["npu.count"].value) == ("Ascend310P3", "1 chip")

    def test_without_npu_smi_the_compile_line_and_the_devices_tell(self, machine: Machine) -> None:
        for name in ("davinci0", "davinci1", "davinci_manager"):
            machine.write(f"/dev/{name}")
        facts = machine.facts(compiler_argv=("c", "--target=Ascend910B3"))
        assert facts["npu.model"].value == "Ascend910B3"
        assert facts["npu.model"].source == "--target of the compile line (npu-smi not found)"
        assert facts["npu.count"].value == "2 devices"
        assert facts["npu.health"].reason == "npu-smi not found"

    def test_pci_devices_are_the_last_resort(self, machine: Machine) -> None:
        for address, kind in (("0000:66:00.0", "0x120000"), ("0000:67:00.0", "0x020000")):
            for name, text in (("vendor", "0x19e5"), ("device", "0xd802"), ("class", kind)):
                machine.write(f"/sys/bus/pci/devices/{address}/{name}", text + "\n")
        assert machine.facts()["npu.model"].value == "PCI 19e5:d802 (1)"

    @pytest.mark.parametrize(
        ("script", "reason"),
        [
            (
                "echo 'dcmi model initialized failed' >&2; exit 255",
                "npu-smi failed with exit code 255: dcmi model",
            ),
            ("kill -SEGV $$", "npu-smi failed with signal 11"),
            ("printf '\\377\\376\\000garbage\\n'", "npu-smi printed no table of chips"),
            ("echo 错误：没有权限; exit 1", "npu-smi failed with exit code 1: 错误：没有权限"),
            (":", "npu-smi printed nothing"),
        ],
    )
    def test_a_broken_npu_smi_is_a_reason(self, machine: Machine, script: str, reason: str) -> None:
        machine.command("npu-smi", script)
        fact = machine.facts()["npu.model"]
        assert fact.value is None
        assert fact.reason.startswith(reason)

    def test_an_npu_smi_for_another_machine_is_a_reason(self, machine: Machine) -> None:
        machine.write("/usr/bin/npu-smi", "\x7fELF nonsense").chmod(0o755)
        assert "cannot be run" in machine.facts()["npu.model"].reason

    def test_a_hanging_npu_smi_costs_its_time_limit_once(self, machine: Machine) -> None:
        machine.command("npu-smi", "exec /bin/sleep 60")
        start = time.monotonic()
        facts = machine.facts(timeout=1.0)
        assert time.monotonic() - start < 2.5
        assert facts["npu.model"].reason == "npu-smi did not answer within 1 s"


class TestCollection:
    def test_a_source_that_never_returns_is_left_behind(self, machine: Machine) -> None:
        def hang(context: Context) -> Iterable[Fact]:
            time.sleep(8)
            return ()

        start = time.monotonic()
        facts = collect(machine.context(timeout=0.2), [Source("slow", ("slow.fact",), hang)])
        assert time.monotonic() - start < 2
        assert facts[0] == Fact("slow.fact", None, "slow", "did not answer within 0 s")

    def test_a_source_with_a_bug_costs_only_its_own_facts(self, machine: Machine) -> None:
        def fail(context: Context) -> Iterable[Fact]:
            raise RuntimeError("oops")

        facts = collect(machine.context(), [Source("bad", ("bad.fact",), fail)])
        assert facts[0].reason == "npubug failed here: RuntimeError: oops"

    def test_it_takes_under_a_second_here(self) -> None:
        context = Context(
            interpreter=PYTHON, compiler=PYTHON, environ={"PATH": os.defpath, "HOME": "/nowhere"}
        )
        best = min(timed(context) for _ in range(3))
        assert best < 1.0


def timed(context: Context) -> float:
    start = time.monotonic()
    collect(context)
    return time.monotonic() - start


class TestCompiler:
    def test_path_version_and_hash(self, machine: Machine) -> None:
        tool = machine.command(
            "bishengir-compile", "echo 'bishengir-compile 1.2.0 (x)'; echo 'llvm 19.1.7 y'"
        )
        facts = machine.facts(compiler=tool)
        assert facts["compiler.path"].value == str(tool)
        assert facts["compiler.version"].value == "bishengir-compile 1.2.0 (x)"
        assert facts["compiler.llvm"].value == "llvm 19.1.7 y"
        assert facts["compiler.sha256"].value == hashlib.sha256(tool.read_bytes()).hexdigest()

    @pytest.mark.parametrize(
        ("folder", "found_by"),
        [
            ("/usr/bin", "PATH"),
            ("/opt/npuc", "variable"),
            ("/x/site-packages/triton/backends/ascend/bishengir/bin", "bundled"),
            ("/x/site-packages/ascendnpuir/bin", "package"),
            ("/elsewhere", "other"),
        ],
    )
    def test_how_it_was_found(self, machine: Machine, folder: str, found_by: str) -> None:
        tool = machine.command("bishengir-compile", "echo 1", folder=folder)
        environ = {"TRITON_NPU_COMPILER_PATH": str(machine.root / "opt/npuc")}
        assert machine.facts(compiler=tool, environ=environ)["compiler.found-by"].value == found_by

    def test_hivmc_beside_the_compiler_is_found(self, machine: Machine) -> None:
        tool = machine.command("bishengir-compile", "echo 1", folder="/cann/bin")
        hivmc = machine.command("hivmc", "echo hivmc 3.1", folder="/cann/bin")
        facts = machine.facts(compiler=tool)
        assert (facts["hivmc.path"].value, facts["hivmc.version"].value) == (str(hivmc), "hivmc 3.1")

    def test_a_missing_hivmc_is_a_reason(self, machine: Machine) -> None:
        assert machine.facts()["hivmc.path"].reason == "no hivmc on PATH or beside the compiler"

    def test_a_vanished_compiler_is_a_reason(self, machine: Machine) -> None:
        facts = machine.facts(compiler=machine.root / "gone")
        assert facts["compiler.version"].reason == "gone not found"
        assert "No such file" in facts["compiler.sha256"].reason

    def test_a_compiler_of_another_cann_is_a_warning(self, machine: Machine) -> None:
        tool = machine.command("bishengir-compile", "echo 1", folder="/usr/local/Ascend/cann-8.5.0/bin")
        other = str(machine.root / "usr/local/Ascend/cann-9.0.0")
        assert "warning.compiler-cann" in machine.facts(compiler=tool, environ={"ASCEND_HOME_PATH": other})
        same = str(tool.parents[1])
        assert "warning.compiler-cann" not in machine.facts(compiler=tool, environ={"ASCEND_HOME_PATH": same})


class TestContainer:
    def test_limits_of_cgroup_v2(self, machine: Machine) -> None:
        machine.write("/sys/fs/cgroup/memory.max", "4294967296\n")
        machine.write("/sys/fs/cgroup/cpu.max", "150000 100000\n")
        facts = machine.facts()
        assert (facts["container.memory"].value, facts["container.cpus"].value) == ("4.0 GiB", "1.5")
        assert "4.0 GiB" in (facts["warning.container-memory"].value or "")

    def test_the_smallest_limit_of_nested_groups_counts(self, machine: Machine) -> None:
        machine.write("/proc/self/cgroup", "0::/a/b\n")
        machine.write("/sys/fs/cgroup/a/memory.max", "17179869184\n")
        machine.write("/sys/fs/cgroup/a/b/memory.max", "max\n")
        assert machine.facts()["container.memory"].value == "16.0 GiB"

    def test_limits_of_cgroup_v1(self, machine: Machine) -> None:
        machine.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "34359738368\n")
        machine.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
        machine.write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
        facts = machine.facts()
        assert (facts["container.memory"].value, facts["container.cpus"].value) == ("32.0 GiB", "no limit")


def test_variables_of_interest_are_recorded_and_secret_ones_are_not(machine: Machine) -> None:
    environ = {"TRITON_DEBUG": "1", "ASCEND_RT_VISIBLE_DEVICES": "0", "TRITON_API_KEY": "x", "EDITOR": "vi"}
    facts = machine.facts(environ=environ)
    assert facts["env.TRITON_DEBUG"].value == "1"
    assert facts["env.ASCEND_RT_VISIBLE_DEVICES"].value == "0"
    assert facts["env.TRITON_API_KEY"] == Fact(
        "env.TRITON_API_KEY", None, "environment", "not recorded: its name says secret"
    )
    assert "env.EDITOR" not in facts
