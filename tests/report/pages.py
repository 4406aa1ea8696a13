"""Archives to make pages of: a plain one with everything in it, and one in which every text is an attack."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from bundler.archive import Archive, NewMember, open_archive, write_archive
from bundler.manifest import Drop, Fact
from tests.archive.samples import MANIFEST, MEMBERS, REDUCED_MANIFEST, REDUCED_MEMBERS

ATTACK = (
    "\"'></td></pre></style></title><script>document.title='owned'</script>"
    "<img src=x onerror=\"document.title='owned'\"><a href=\"javascript:document.title='owned'\">x</a>"
    "{{ 7*7 }}{% raw %}${7*7} \x00\x1b[2J\u202e &lt;b&gt;"
)
# What may stand in a member's name and in IR; the archive itself refuses control characters there.
NAME = "<script>document.title='owned'<&\"'>{{7*7}}"

BEFORE = b"""module {
  func.func @fold_pairs(%arg0: memref<?xf32>) {
    %0 = tensor.empty() : tensor<4xf32>
    %1 = arith.addf %0, %0 : tensor<4xf32>
    return
  }
}"""
AFTER = b"""module {
  func.func @fold_pairs(%arg0: memref<?xf32>) {
    %0 = arith.constant 1 : i32
    %1 = tensor.empty() : tensor<4xf32>
    %2 = arith.mulf %1, %1 : tensor<4xf32>
    return
  }
}"""


def dump(pass_class: str, name: str, ir: bytes, remark: bytes = b"") -> bytes:
    """A dump as the compiler prints it."""
    return b"// -----// IR Dump After %s (%s) //----- //\n%s\n\n\n%s" % (
        pass_class.encode(),
        name.encode(),
        ir,
        remark,
    )


LOG = (
    b"$ bishengir-compile\n# --- stderr ---\n"
    + dump("Canonicalizer", "canonicalize", BEFORE)
    + dump("CSE", "cse", BEFORE)
    + dump("PlanMemory Failed", "hivm-plan-memory", AFTER)
    + b'loc("/tmp/kernel.ttadapter":2:3): error: ub overflow, requires 52428800 bits while 1572864 bits available!\n'
)


def sample(folder: Path, log: bytes = LOG) -> Archive:
    """A reduced archive whose failing pass changed the IR."""
    members = {member.name: member for member in (*MEMBERS, *REDUCED_MEMBERS)}
    members["logs/after-all.log"] = NewMember("logs/after-all.log", "log", log)
    members["logs/after-failure.log"] = NewMember("logs/after-failure.log", "log", log)
    members["source/fold_pairs.py"] = NewMember(
        "source/fold_pairs.py",
        "source",
        b"import triton\n\n@triton.jit\ndef fold_pairs(x):\n    tl.store(x, 1)\n",
    )
    path = folder / "sample.npubug.tar.zst"
    write_archive(path, REDUCED_MANIFEST, members.values())
    return open_archive(path)


def hostile(folder: Path) -> Archive:
    """An archive in which everything that is free to choose tries to inject something."""
    ir = f'module {{\n  func.func @"{ATTACK.replace(chr(0), "")}"() {{\n    return\n  }}\n}}'.encode()
    log = dump(ATTACK.split(maxsplit=1)[0], "canonicalize", ir) + dump(
        "PlanMemory Failed", NAME, ir.replace(b"return", b'%0 = a.b {x = "</script>"} : i1'), ATTACK.encode()
    )
    extra = NewMember(f"calls/{NAME.replace('/', '')}", "call-stderr", b"x")
    members = {m.name: m for m in (*MEMBERS, *REDUCED_MEMBERS, extra)}
    for name in ("logs/after-all.log", "logs/after-failure.log"):
        members[name] = NewMember(name, "log", log)
    for name, role in (("reduced/kernel.ttadapter", "reduced"), ("source/fold_pairs.py", "source")):
        members[name] = NewMember(name, role, f"def {ATTACK}\n".encode())
    assert MANIFEST.signature is not None and MANIFEST.workaround is not None
    assert REDUCED_MANIFEST.reduction is not None
    manifest = dataclasses.replace(
        REDUCED_MANIFEST,
        name=ATTACK,
        npubug_version=ATTACK,
        command=("python", ATTACK),
        signature=dataclasses.replace(
            MANIFEST.signature, id=ATTACK, kind=ATTACK, message=ATTACK * 3, pass_name=ATTACK, frames=(ATTACK,)
        ),
        calls=(dataclasses.replace(MANIFEST.calls[0], kernel=ATTACK, argv=(ATTACK, ATTACK), tool=ATTACK),),
        evidence=tuple(dataclasses.replace(run, note=ATTACK, flags=(ATTACK,)) for run in MANIFEST.evidence),
        environment=(
            Fact("cann.version", ATTACK, ATTACK),
            Fact("npu.model", None, "", ATTACK),
            Fact("warning.x", ATTACK),
            Fact(ATTACK, ATTACK, ATTACK),
        ),
        workaround=dataclasses.replace(MANIFEST.workaround, note=ATTACK, flag=ATTACK, verdict="no-change"),
        reduction=dataclasses.replace(REDUCED_MANIFEST.reduction, finds=(ATTACK,)),
        redactions=((ATTACK, 1),),
        drops=(Drop(ATTACK, ATTACK, 3),),
        notes=(ATTACK,),
    )
    path = folder / "hostile.npubug.tar.zst"
    write_archive(path, manifest, members.values())
    return open_archive(path)
