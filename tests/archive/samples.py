"""A complete archive's manifest and members, for tests to use as they are or with one thing changed."""

from __future__ import annotations

import dataclasses

from bundler.archive import NewMember
from bundler.manifest import (
    CallRecord,
    EvidenceRun,
    Fact,
    Manifest,
    Reduction,
    SignatureRecord,
    Workaround,
)

IR = b"module {\n  func.func @fold_pairs() {\n    return\n  }\n}\n"
AFTER_FAILURE = (
    b"error: ub overflow, requires 52428800 bits while 1572864 bits available!\n"
    b"// -----// IR Dump After PlanMemory Failed (hivm-plan-memory) //----- //\n" + IR
)
AFTER_ALL = b"// -----// IR Dump After Canonicalizer (canonicalize) //----- //\n" + IR + AFTER_FAILURE
FLAGS = ("--target=Ascend910B3", "--enable-triton-kernel-compile=true")
ARGV = ("/opt/bishengir/bin/bishengir-compile", "kernel.ttadapter.mlir", *FLAGS, "-o", "kernel")

MEMBERS = (
    NewMember("input/kernel.ttadapter", "input", IR),
    NewMember("ir/call-2/kernel.ttir", "ir", IR),
    NewMember("ir/call-2/kernel.ttadapter", "ir", IR),
    NewMember("calls/001/stderr", "call-stderr", b""),
    NewMember("logs/after-failure.log", "log", AFTER_FAILURE),
    NewMember("logs/after-all.log", "log", AFTER_ALL),
    NewMember("logs/program.log", "program-log", b"MLIRCompilationError\n"),
    NewMember("environment.json", "environment", b"{}\n"),
    NewMember("source/fold_pairs.py", "source", b"import triton\n"),
)

ENVIRONMENT = (
    Fact("python.version", "3.11.7", "sys.version"),
    Fact("package.triton-ascend", "3.2.0", "pip"),
    Fact("compiler.path", "/opt/bishengir/bin/bishengir-compile", "recorded call"),
    Fact("compiler.version", "1.2.0", "bishengir-compile --version"),
    Fact("cann.version", None, "ASCEND_HOME_PATH", "not installed on this machine"),
    Fact("npu.model", None, "npu-smi info", "no NPU on this machine"),
    Fact("triton.branch", "release/3.2.2", "version and cache layout"),
)

MANIFEST = Manifest(
    name="fold_pairs-1f2e3d4c",
    created="2025-12-01T10:20:30Z",
    npubug_version="0.1.0",
    command=("python", "fold_pairs.py"),
    command_exit=1,
    signature=SignatureRecord(
        id="1f2e3d4c",
        outcome="failed",
        stage="compile",
        kind="ub-overflow",
        message="ub overflow, requires 52428800 bits while 1572864 bits available!",
        pass_name="hivm-plan-memory",
    ),
    failing_call="call-2",
    calls=(
        CallRecord(
            id="call-2",
            tool="bishengir-compile",
            argv=ARGV,
            cwd="/tmp/work",
            returncode=1,
            seconds=0.61,
            outcome="failed",
            pid=4242,
            kernel="fold_pairs",
            input="input/kernel.ttadapter",
            stderr="calls/001/stderr",
        ),
    ),
    evidence=(
        EvidenceRun(
            "after-failure",
            ("--mlir-print-ir-after-failure",),
            "failed",
            True,
            0.68,
            "logs/after-failure.log",
        ),
        EvidenceRun("after-all", ("--mlir-print-ir-after-all",), "failed", True, 3.1, "logs/after-all.log"),
    ),
    environment=ENVIRONMENT,
    workaround=Workaround(
        "--enable-hivm-inject-barrier-all-sync=true",
        "not-applicable",
        note="the kernel does not compile, so there is nothing to run",
    ),
    redactions=(("home-path", 3), ("user-name", 2)),
    notes=("recorded with the start-up hook",),
)

REDUCED = b"module {\n  func.func @k() {\n    return\n  }\n}\n"
REDUCED_MEMBERS = (
    NewMember("reduced/kernel.ttadapter", "reduced", REDUCED),
    NewMember("reduced/reproduce.sh", "reduced", b"#!/bin/sh\nbishengir-compile kernel.ttadapter\n"),
)
REDUCTION = Reduction(
    input="reduced/kernel.ttadapter",
    ops_before=22,
    ops_after=6,
    bytes_before=4200,
    bytes_after=610,
    candidates=120,
    compiles=31,
    invalid=0,
    seconds=3.3,
    finished=True,
    confirmed=True,
    signature_id="1f2e3d4c",
    script="reduced/reproduce.sh",
)
REDUCED_MANIFEST = dataclasses.replace(MANIFEST, reduction=REDUCTION)
