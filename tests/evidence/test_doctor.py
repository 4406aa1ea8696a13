"""What is missing is named with the way to get it, and only hinders what needs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bundler.evidence import doctor as module
from bundler.evidence.doctor import ESSENTIAL, Check, able, examine_machine
from tests.places import compiler_folder


def by_name(checks: tuple[Check, ...]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def test_a_machine_with_the_compiler_can_do_the_essential() -> None:
    environ = {**os.environ, "PATH": f"{compiler_folder()}:{os.environ['PATH']}"}
    checks = examine_machine(environ)
    assert all(able(checks, ability) for ability in ESSENTIAL)
    assert "1.2.0" in (by_name(checks)["bishengir-compile"].found or "")


def test_whatever_is_missing_has_a_remedy() -> None:
    for check in examine_machine(os.environ):
        assert bool(check.remedy) == (check.found is None), check


def test_a_compiler_that_does_not_run_here_is_missing(tmp_path: Path) -> None:
    broken = tmp_path / "bishengir-compile"
    broken.write_bytes(b"\x7fELF for another machine")
    broken.chmod(0o755)
    checks = examine_machine({"PATH": str(tmp_path)})
    assert by_name(checks)["bishengir-compile"].found is None
    assert "does not run here" in by_name(checks)["bishengir-compile"].remedy
    assert not able(checks, "replay")


def test_a_backend_hinders_only_what_needs_it(tmp_path: Path) -> None:
    checks = examine_machine({"PATH": str(compiler_folder())})
    assert by_name(checks)["hivmc"].found is None
    assert able(checks, "replay") and not able(checks, "barrier --install")
    (tmp_path / "hivmc").write_text("#!/bin/sh\n")
    (tmp_path / "hivmc").chmod(0o755)
    checks = examine_machine({"PATH": f"{compiler_folder()}:{tmp_path}"})
    assert able(checks, "barrier --install")


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROOM", 1 << 62)
    checks = examine_machine({"PATH": str(compiler_folder())})
    assert "TMPDIR" in by_name(checks)["room for temporary files"].remedy
    assert not able(checks, "bundle")
