"""What is installed in the user's Python, asked there; and the branch that follows from it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from bundler.evidence import branch, interpreter_probe
from bundler.evidence.context import Context
from bundler.evidence.environment import collect
from bundler.evidence.python_packages import parse_report
from bundler.manifest import Fact

PYTHON = Path(sys.executable)


class Site:
    """A folder of installed packages that the user's PYTHONPATH names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(
        self, name: str, version: str, files: dict[str, str] | None = None, direct_url: str = ""
    ) -> None:
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        record = []
        for path, text in (files or {}).items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            record.append(f"{path},sha256=x,{len(text)}\n")
        (info / "RECORD").write_text("".join(record))
        if direct_url:
            (info / "direct_url.json").write_text(direct_url)

    def facts(self, **changes: object) -> dict[str, Fact]:
        environ = {"PYTHONPATH": str(self.folder), "PATH": "/usr/bin:/bin", "HOME": "/nowhere"}
        context = Context(interpreter=PYTHON, environ=environ, **changes)  # type: ignore[arg-type]
        return {fact.name: fact for fact in collect(context)}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")


BACKEND = {"triton/backends/ascend/compiler.py": "stages['ttadapter'] = ...\nstages['npubin'] = ...\n"}


def test_versions_are_read_without_importing_anything(site: Site) -> None:
    site.install("triton-ascend", "3.2.0", {"triton/__init__.py": "raise SystemExit('imported')"} | BACKEND)
    site.install("torch", "2.7.1", {"torch/__init__.py": "raise SystemExit('imported')"})
    facts = site.facts()
    assert facts["package.triton-ascend"].value == "3.2.0"
    assert facts["package.torch"].value == "2.7.1"
    assert facts["triton.stages"].value == "ttadapter, npubin"
    assert facts["python.version"].value == ".".join(map(str, sys.version_info[:3]))
    assert "warning.community-triton" not in facts


def test_a_package_that_is_absent_says_so(site: Site) -> None:
    site.install("torch", "2.7.1")
    fact = site.facts()["package.torch_npu"]
    assert (fact.value, fact.reason) == (None, "not installed in this Python")


@pytest.mark.parametrize(
    ("last", "words"),
    [("ascend", "look like triton-ascend's"), ("community", "look like community triton's")],
)
def test_community_triton_beside_triton_ascend_is_a_warning(site: Site, last: str, words: str) -> None:
    ascend = {"triton/__init__.py": "ascend's", "triton/runtime/jit.py": "longer"}
    community = {"triton/__init__.py": "community's", "triton/runtime/jit.py": "long"}
    order = [("triton", "3.2.0", community), ("triton-ascend", "3.2.0rc4", ascend)]
    for name, version, files in order if last == "ascend" else reversed(order):
        site.install(name, version, files)
    text = site.facts()["warning.community-triton"].value or ""
    assert "community triton 3.2.0 is installed beside triton-ascend 3.2.0rc4" in text
    assert words in text


def test_an_editable_install_tells_its_branch_and_commit(site: Site, tmp_path: Path) -> None:
    source = tmp_path / "my source"
    source.mkdir()
    commands = (
        ("init", "-q", "-b", "dev/fix"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"),
    )
    for words in commands:
        subprocess.run(["git", "-C", str(source), *words], check=True, env={"PATH": "/usr/bin:/bin"})
    url = f'{{"url": "{source.as_uri()}", "dir_info": {{"editable": true}}}}'
    site.install("triton-ascend", "3.2.0+git1234567", direct_url=url)
    facts = site.facts()
    assert facts["triton.checkout"].value == "dev/fix"
    assert len(facts["triton.commit"].value or "") == 40
    assert facts["triton.branch"].value == "dev/fix"


def test_a_commit_in_the_version_is_read(site: Site) -> None:
    site.install("triton-ascend", "3.2.0+git1234567a")
    assert site.facts()["triton.commit"].value == "1234567a"


def test_a_broken_interpreter_is_a_reason(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho boom >&2\nexit 3\n")
    broken.chmod(0o755)
    facts = {fact.name: fact for fact in collect(Context(interpreter=broken, environ={"PATH": "/bin"}))}
    assert facts["python.version"].reason == "python failed with exit code 3: boom"
    assert facts["package.torch"].reason == "python failed with exit code 3: boom"


@pytest.mark.parametrize(
    "text", ["", "npubug-probe:", "npubug-probe:{}", "npubug-probe:[1]", 'npubug-probe:{"a":']
)
def test_a_damaged_report_is_none(text: str) -> None:
    assert parse_report(text) is None


def test_the_probe_is_python_3_8() -> None:
    source = Path(interpreter_probe.__file__).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 8))
    assert "import bundler" not in source


class TestBranch:
    @pytest.mark.parametrize(
        ("facts", "files", "expected"),
        [
            ({"package.triton-ascend": "3.2.0"}, (), "release/3.2.2"),
            ({"package.triton-ascend": "3.5.0"}, (), "master"),
            ({"package.triton-ascend": "2.1.0"}, (), "other (2.1.0)"),
            ({}, ("abc/k.ttadapter", "abc/k.ttir"), "release/3.2.2"),
            ({}, ("k.ttadapter", "k.bcmlir"), "master"),
            ({"triton.stages": "ttadapter, mlirbc, bcmlir, npubin"}, (), "master"),
            ({"triton.stages": "ttadapter, npubin"}, (), "release/3.2.2"),
            ({"triton.checkout": "release/3.3", "package.triton-ascend": "3.2.0"}, (), "release/3.3"),
            ({"triton.checkout": "detached", "package.triton-ascend": "3.2.0"}, (), "release/3.2.2"),
        ],
    )
    def test_the_strongest_evidence_decides(
        self, facts: dict[str, str], files: tuple[str, ...], expected: str
    ) -> None:
        given = [Fact(name, value) for name, value in facts.items()]
        assert branch.decide(given, files).value == expected

    def test_contradictions_are_named(self) -> None:
        decided = branch.decide([Fact("package.triton-ascend", "3.2.0")], ("k.bcmlir",))
        assert decided.value == "master"
        assert decided.source == "cached file k.bcmlir (but: version 3.2.0)"

    def test_without_evidence_there_is_a_reason(self) -> None:
        decided = branch.decide([], ())
        assert decided.value is None
        assert decided.reason
