"""Fake machines below a folder: CANN, driver and firmware trees, os-release, commands with scripted answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bundler.evidence.context import Context
from bundler.evidence.environment import collect
from bundler.manifest import Fact

SAMPLES = Path(__file__).parents[1] / "data" / "npu_smi"
UBUNTU = 'NAME="Ubuntu"\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.4 LTS"\nID=ubuntu\n'
OPENEULER = 'NAME="openEuler"\nVERSION="24.03 (LTS)"\nID="openEuler"\nPRETTY_NAME="openEuler 24.03 (LTS)"\n'


@dataclass(frozen=True)
class Machine:
    """A machine whose root is a folder; `write` puts files there, `command` an executable on its PATH."""

    root: Path

    def write(self, path: str, text: str = "") -> Path:
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def link(self, path: str, to: str) -> None:
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(to)

    def command(self, name: str, script: str, folder: str = "/usr/bin") -> Path:
        program = self.write(f"{folder}/{name}", f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return program

    def npu_smi(self, sample: str, board: str = "") -> None:
        table = SAMPLES / f"{sample}.txt"
        answer = self.write("/board.txt", board)
        self.command("npu-smi", f'case "$*" in info) /bin/cat {table};; *) /bin/cat {answer};; esac')

    def context(self, timeout: float = 10.0, **changes: object) -> Context:
        environ = {"PATH": str(self.root / "usr/bin"), "HOME": "/home/devuser"}
        environ.update(changes.pop("environ", {}))  # type: ignore[call-overload]
        return Context(root=self.root, environ=environ, timeout=timeout, **changes)  # type: ignore[arg-type]

    def facts(self, **changes: object) -> dict[str, Fact]:
        return {fact.name: fact for fact in collect(self.context(**changes))}  # type: ignore[arg-type]


def toolkit_info(version: str, arch: str = "aarch64") -> str:
    return (
        f"package_name=Ascend-cann-toolkit\nversion={version}\ninnerversion=V100R001C25SPC002B220\n"
        f"compatible_version=[V100R001C15]\narch={arch}\nos=linux\npath=/usr/local/Ascend\n"
    )
