"""`npubug diff`: one kernel, bundled with and without a flag."""

from __future__ import annotations

import json
from pathlib import Path

from bundler.errors import ExitCode
from tests.cli.command import npubug
from tests.places import case


def test_two_bundles_of_one_kernel_differ_by_their_flags_alone(tmp_path: Path) -> None:
    ir = case("failing/cumsum_64_1024_1.ttadapter")
    flags = "--target=Ascend910B3 --enable-hfusion-compile=true --enable-hivm-compile=true"
    flags += " --enable-triton-kernel-compile=true"
    for name, more in (("a", ""), ("b", " --enable-auto-multi-buffer=true")):
        words = ("bundle", "--ir", ir, "--flags", flags + more, "-o", f"{name}.npubug.zip")
        assert npubug(*words, cwd=tmp_path).code == ExitCode.OK
    done = npubug("diff", "a.npubug.zip", "b.npubug.zip", cwd=tmp_path)
    assert done.code == ExitCode.OK
    assert "enable-auto-multi-buffer: (not there) -> true" in done.out
    for section in ("signature", "input IR", "workaround"):
        assert f"{section}: the same" in done.out
    document = json.loads(npubug("diff", "a.npubug.zip", "b.npubug.zip", "--json", cwd=tmp_path).out)
    assert document["same"] is False
    assert [each["name"] for each in document["flags"]] == ["enable-auto-multi-buffer"]
    itself = json.loads(npubug("diff", "a.npubug.zip", "a.npubug.zip", "--json", cwd=tmp_path).out)
    assert itself["same"] is True


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.npubug.zip").write_text("no")
    done = npubug("diff", "x.npubug.zip", "x.npubug.zip", cwd=tmp_path)
    assert done.code == ExitCode.INVALID_INPUT and "not a valid npubug archive" in done.err
