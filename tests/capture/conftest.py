"""Programs that compile as triton does, and the real compiler for them to call."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bundler.capture.session import Capture, capture

DATA = Path(__file__).with_name("data")
FAILING_IR = DATA / "cumsum.ttadapter"
PROJECT = Path(__file__).parents[2]

# What triton-ascend does for each kernel: a temporary folder, one subprocess.run, and the folder is gone.
TRITON_LIKE = """
import os, subprocess, sys, tempfile
from pathlib import Path

FLAGS = ["--target=Ascend910B3", "--enable-auto-multi-buffer=True", "--enable-hfusion-compile=true",
         "--enable-hivm-compile=true", "--enable-triton-kernel-compile=true"]

def compile(text, tool="bishengir-compile", run=subprocess.run, **options):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "kernel.ttadapter.mlir")
        Path(source).write_text(text)
        options = options or {"capture_output": True, "check": True}
        return run([tool, source, *FLAGS, "-o", os.path.join(folder, "kernel")], **options)

FAILING = Path(os.environ["FAILING_IR"]).read_text()
"""


@pytest.fixture(scope="session")
def compiler_folder() -> Path:
    """The folder of the real compiler, from the ascendnpu-ir wheel. Its absence is a failure."""
    spec = importlib.util.find_spec("ascendnpuir")
    assert spec is not None and spec.origin is not None, (
        "the compiler is missing: pip install -e '.[compiler]'"
    )
    folder = Path(spec.origin).parent / "bin"
    assert (folder / "bishengir-compile").exists(), f"no bishengir-compile in {folder}"
    return folder


@dataclass(frozen=True)
class Stage:
    """A folder with programs to run under capture."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def script(self, text: str, name: str = "program.py") -> Path:
        """Write a program that can `import triton_like`."""
        path = self.folder / name
        path.write_text(text)
        return path

    def tool(self, text: str, name: str = "bishengir-compile") -> Path:
        """Put a stand-in for a compiler tool first on PATH: a shell script."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        path = tools / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        first, _, _ = os.environ["PATH"].partition(os.pathsep)
        if first != str(tools):
            self.monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
        return path

    def capture(self, *command: str | Path, timeout: float | None = 60) -> Capture:
        """Capture a command, or a Python script given alone."""
        if len(command) == 1 and str(command[0]).endswith(".py"):
            command = (sys.executable, *command)
        return capture([str(word) for word in command], self.work, timeout=timeout)

    @property
    def work(self) -> Path:
        """Where captures write."""
        return self.folder / "work"

    def both_ways(
        self, *command: str | Path, **options: object
    ) -> tuple[subprocess.CompletedProcess[bytes], ...]:
        """Run a command plainly and under capture (in a process of its own), to compare what it shows."""
        words = [str(word) for word in command]
        if len(words) == 1:
            words = [sys.executable, *words]
        driver = self.script(
            "import sys; from pathlib import Path; from bundler.capture.session import capture\n"
            f"sys.exit(capture(sys.argv[1:], Path({str(self.work)!r})).exit_code)\n",
            "driver.py",
        )
        plain = subprocess.run(words, capture_output=True, **options)  # type: ignore[call-overload]
        environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
        recorded = subprocess.run(  # type: ignore[call-overload]
            [sys.executable, "-c", _unset_path(driver), *words],
            capture_output=True,
            env=environment,
            **options,
        )
        return plain, recorded


def _unset_path(driver: Path) -> str:
    # The driver needs the project on its path, the program must not see that.
    return f"import os, sys; os.environ.pop('PYTHONPATH'); exec(open({str(driver)!r}).read())"


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage without the real compiler."""
    (tmp_path / "triton_like.py").write_text(TRITON_LIKE)
    monkeypatch.setenv("FAILING_IR", str(FAILING_IR))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return Stage(tmp_path, monkeypatch)


@pytest.fixture
def real_stage(stage: Stage, compiler_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage with the real compiler on PATH."""
    monkeypatch.setenv("PATH", f"{compiler_folder}{os.pathsep}{os.environ['PATH']}")
    return stage


def interpreters() -> list[Path]:
    """The Pythons from 3.8 on that this machine has under pyenv, and the one that runs the tests."""
    found = [Path(sys.executable)]
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for minor in range(8, 14):
        found += sorted(root.glob(f"versions/3.{minor}.*/bin/python"))[:1]
    return found


Predicate = Callable[[], bool]
