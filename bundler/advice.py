"""What a maintainer would ask after the five things: advice, which never makes an archive incomplete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bundler.evidence.releases import PAIRS, PAIRS_SOURCE, RELEASES, is_older, version_in
from bundler.manifest import Fact, Manifest

STEADY_RUNS = 3  # as many failures in a row as `npubug bundle` asks for


@dataclass(frozen=True)
class Advice:
    """One further question.

    Attributes:
        found: what the archive answers.
        advice: what would make it better, each with the way to it where there is one.
        remedy: the command that supplies what is advised; may be empty.
    """

    key: str
    title: str
    found: tuple[str, ...]
    advice: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def supply(self) -> str:
        """The remedy, where there is something to supply."""
        return self.remedy if self.advice else ""


@dataclass(frozen=True)
class _Gap:
    """Facts of the machine that are often not to be had, and the command that says them there."""

    label: str
    facts: tuple[str, ...]
    command: str


_GAPS = (
    _Gap("CANN", ("cann.version",), "source /usr/local/Ascend/ascend-toolkit/set_env.sh, then bundle again"),
    _Gap("driver", ("driver.version",), "cat /usr/local/Ascend/driver/version.info (on the host)"),
    _Gap("firmware", ("firmware.version",), "cat /usr/local/Ascend/firmware/version.info (on the host)"),
    _Gap("NPU model", ("npu.model", "npu.soc"), "npu-smi info (on the machine with the NPU)"),
    _Gap("torch_npu", ("package.torch_npu",), "python -m pip show torch_npu (in the Python that runs the kernel)"),
    _Gap("branch", ("triton.branch",), "bundle the program itself: npubug bundle -- python your_script.py"),
)  # fmt: skip


def advise(manifest: Manifest, quoted_name: str, again: str) -> tuple[Advice, ...]:
    """Judge what goes beyond the five things.

    Args:
        quoted_name: the archive's name as a word for a shell.
        again: the command that makes the archive anew.
    """
    return (
        _determinism(manifest, quoted_name),
        _failing_pass(manifest, quoted_name),
        _versions(manifest, quoted_name),
        _machine(manifest),
        _privacy(manifest, again),
    )


def _determinism(manifest: Manifest, name: str) -> Advice:
    title = "determinism: does it fail each time?"
    remedy = f"npubug replay {name}"
    runs = [run.reproduced for run in manifest.evidence if run.name != "barrier"]
    failed = sum(runs)
    if not runs:
        return Advice("determinism", title, (), ("it was not compiled again",), remedy)
    found = (f"{failed} of {len(runs)} compiles failed in the same way",)
    if failed == 0:
        return Advice(
            "determinism", title, found, ("the failure did not come back where it was bundled",), remedy
        )
    if failed < len(runs):
        return Advice("determinism", title, found, ("it fails only sometimes: say so in the report",), remedy)
    if failed < STEADY_RUNS:
        advice = (f"{STEADY_RUNS} failures in a row would show that it is steady",)
        return Advice("determinism", title, found, advice, remedy)
    return Advice("determinism", title, found)


def _failing_pass(manifest: Manifest, name: str) -> Advice:
    title = "failing pass: which one, and does it fail alone?"
    signature = manifest.signature
    if signature is None:
        return Advice("failing-pass", title, (), ("there is no failure",))
    if signature.pass_name is not None:
        return Advice("failing-pass", title, (f"{signature.pass_name}",))
    advice = (f"no pass is named; the failure is in the stage '{signature.stage}'",)
    return Advice("failing-pass", title, (), advice, f"npubug locate {name}")


def _versions(manifest: Manifest, name: str) -> Advice:
    title = "versions: is it still so with the newest?"
    found, advice = [], []
    for release in RELEASES:
        fact = _known(manifest, release.facts)
        version = version_in(fact.value) if fact is not None and fact.value else None
        if version is None:
            continue
        found.append(f"{release.label} {version}")
        if is_older(version, release.newest):
            advice.append(
                f"{release.label} {version} is older than {release.newest} "
                f"({release.as_of}, {release.source}): {release.remedy}"
            )
    advice += _pairs(manifest)
    return Advice("versions", title, tuple(found), tuple(advice), f"npubug replay {name} --all-compilers")


def _pairs(manifest: Manifest) -> Iterator[str]:
    triton, cann = (_known(manifest, (name,)) for name in ("package.triton-ascend", "cann.version"))
    if triton is None or cann is None or triton.value not in PAIRS:
        return
    made_for = PAIRS[triton.value]
    if cann.value is not None and not cann.value.startswith(made_for):
        yield (
            f"Triton-Ascend {triton.value} is made for CANN {' or '.join(made_for)}, and here is {cann.value} "
            f"({PAIRS_SOURCE})"
        )


def _machine(manifest: Manifest) -> Advice:
    title = "machine: what could not be had, and known causes of trouble"
    missing = [
        f"{gap.label}: {reason}. To get it: {gap.command}"
        for gap in _GAPS
        if (reason := _missing(manifest, gap.facts)) is not None
    ]
    warnings = [f"{fact.value}" for fact in manifest.environment if fact.name.startswith("warning.")]
    known = sum(fact.value is not None for fact in manifest.environment)
    found = (f"{known} of {len(manifest.environment)} facts are known",) if manifest.environment else ()
    return Advice("machine", title, found, (*warnings, *missing))


def _privacy(manifest: Manifest, again: str) -> Advice:
    title = "privacy: what was replaced"
    replaced = (
        ", ".join(f"{kind} {count}" for kind, count in manifest.redactions) or "nothing private was found"
    )
    if manifest.redaction_level == "off":
        advice = ("made with --redact off: look through it before you hand it on",)
        return Advice("privacy", title, (), advice, again)
    if manifest.redaction_level == "paths":
        advice = ("made with --redact paths: addresses and tokens were not looked for",)
        return Advice("privacy", title, (replaced,), advice, again)
    return Advice("privacy", title, (replaced,))


def _known(manifest: Manifest, names: tuple[str, ...]) -> Fact | None:
    return next((fact for fact in manifest.environment if fact.name in names and fact.value), None)


def _missing(manifest: Manifest, names: tuple[str, ...]) -> str | None:
    """Why none of these facts is known; None if one is, or if nobody asked."""
    if _known(manifest, names) is not None:
        return None
    asked = [fact for fact in manifest.environment if fact.name in names]
    return next((fact.reason for fact in asked if fact.reason), "not known") if asked else None
