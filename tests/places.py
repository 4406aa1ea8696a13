"""Where tests find the real inputs and the real compiler. Missing ones fail a test; nothing is skipped."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
CASES = ROOT.parent / "shared" / "cases"
FAILING = sorted((CASES / "failing").glob("*.ttadapter"))


def compiler_folder() -> Path:
    """The folder of the compiler under test: the ascendnpu-ir wheel beside this Python."""
    spec = importlib.util.find_spec("ascendnpuir")
    if spec is None or not spec.submodule_search_locations:
        raise AssertionError("the real compiler is missing: pip install -e '.[compiler,test]'")
    return Path(next(iter(spec.submodule_search_locations))) / "bin"


def case(name: str) -> Path:
    """An input of ../shared/cases by its path there."""
    path = CASES / name
    if not path.exists():
        raise AssertionError(f"no {path}: the cases belong beside the repository, in ../shared/cases")
    return path
