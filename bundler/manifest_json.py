"""The manifest to JSON and back: the one place where `bundler.manifest` meets text.

Writing is a pure function with one result per manifest, so that equal evidence gives equal bytes. Reading
expects a hostile text: size, number of values, nesting, numbers and repeated keys are bounded before the
schema (`schema/manifest.schema.json`) is asked, and the schema before any class is built.

Versions: a file of a newer minor version is read for what is known here (unknown fields are ignored); one of
a newer major version is refused. A field that is missing takes the class's default, so older files stay
readable for good.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from functools import lru_cache
from importlib import resources
from typing import Any

from bundler.errors import ExitCode, NpubugError
from bundler.manifest import (
    SCHEMA_VERSION,
    CallRecord,
    Drop,
    EvidenceRun,
    Fact,
    Launch,
    Manifest,
    Member,
    NamedValue,
    RankRecord,
    Reduction,
    ReductionStep,
    SignatureRecord,
    Workaround,
)
from bundler.printable import printable

MAX_BYTES = 8 << 20
MAX_VALUES = 300_000  # ten thousand members and a few thousand calls; validation takes about 10 us for each

CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        CallRecord,
        Drop,
        EvidenceRun,
        Fact,
        Launch,
        Manifest,
        Member,
        NamedValue,
        RankRecord,
        Reduction,
        ReductionStep,
        SignatureRecord,
        Workaround,
    )
}
PAIRS = "tuple[tuple[str, int], ...]"  # written as an object: {"kind": count}


def manifest_to_json(manifest: Manifest) -> bytes:
    """Return the manifest as UTF-8 JSON: stable field order, two spaces of indentation, a final newline."""
    text = json.dumps(_encode(manifest), indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8") + b"\n"


def manifest_from_json(data: bytes) -> Manifest:
    """Read a manifest that anyone may have written.

    Raises:
        NpubugError: (invalid input) too large, not JSON, of a newer major version, or against the schema.
    """
    document = _parse(data)
    _check_version(document)
    error = next(_validator().iter_errors(document), None)
    if error is not None:
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
        where = printable("".join(steps).lstrip("."), 120) or "the whole"
        raise _invalid(f"{where}: {printable(error.message, 200)}")
    manifest: Manifest = _build(Manifest, document)
    return manifest


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the manifest."""
    text = resources.files("bundler.schema").joinpath("manifest.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _invalid(why: str) -> NpubugError:
    return NpubugError(
        "the archive's manifest.json is not valid",
        why=why,
        hint="get the archive again from whoever made it, or make it anew with `npubug bundle`",
        code=ExitCode.INVALID_INPUT,
    )


@lru_cache(maxsize=1)
def _validator() -> Any:
    import jsonschema  # noqa: PLC0415  (slow to load, and only readers need it)

    return jsonschema.Draft202012Validator(schema())


def _parse(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_BYTES:
        raise _invalid(f"it is {len(data)} bytes long, more than {MAX_BYTES}")
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) > MAX_VALUES:
        raise _invalid(f"it holds more than {MAX_VALUES} values")
    try:
        document = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_int,
            parse_float=_float,
            parse_constant=_constant,
        )
    except RecursionError:
        raise _invalid("it is nested too deeply") from None
    except ValueError as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise _invalid(printable(str(error), 200)) from None
    if not isinstance(document, dict):
        raise _invalid("it is not a JSON object")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):  # two readers could otherwise see two different manifests
        raise ValueError("an object has the same key twice")
    return found


def _int(text: str) -> int:
    if len(text) > 20:  # huge numbers take quadratic time to convert in older Pythons
        raise ValueError("a number is too large")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _check_version(document: dict[str, Any]) -> None:
    version = document.get("schema_version")
    match = re.fullmatch(r"([0-9]{1,6})\.([0-9]{1,6})", version) if isinstance(version, str) else None
    if match is None:
        raise _invalid("it does not name a schema_version, so it was not written by npubug")
    known_major = int(SCHEMA_VERSION.split(".", maxsplit=1)[0])
    if int(match[1]) > known_major:
        raise NpubugError(
            f"the archive has format {version}, and this npubug reads up to {known_major}.x",
            why="it was written by a newer npubug",
            hint="pip install --upgrade npubug",
            code=ExitCode.INVALID_INPUT,
        )


def _encode(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {
            f.name: (
                {_text(kind): count for kind, count in sorted(getattr(value, f.name))}
                if f.type == PAIRS
                else _encode(getattr(value, f.name))
            )
            for f in dataclasses.fields(value)
        }
    if isinstance(value, (tuple, list)):
        return [_encode(item) for item in value]
    return _text(value) if isinstance(value, str) else value


def _text(value: str) -> str:
    """Undecodable bytes in argv and paths arrive as lone surrogates, which UTF-8 has not: write \\xNN."""
    if not any("\ud800" <= ch <= "\udfff" for ch in value):
        return str(value)
    return value.encode("utf-8", "surrogateescape" if _only_bytes(value) else "surrogatepass").decode(
        "utf-8", "backslashreplace"
    )


def _only_bytes(value: str) -> bool:
    return all("\udc80" <= ch <= "\udcff" for ch in value if "\ud800" <= ch <= "\udfff")


def _build(cls: type, document: dict[str, Any]) -> Any:
    """Make a `cls` of a document that the schema has accepted; unknown keys are a newer version's."""
    return cls(
        **{
            f.name: _decode(str(f.type), document[f.name])
            for f in dataclasses.fields(cls)
            if f.name in document
        }
    )


def _decode(annotation: str, value: Any) -> Any:
    """Turn a JSON value into what a field's annotation (as written) asks for."""
    if annotation.endswith(" | None"):
        return None if value is None else _decode(annotation[: -len(" | None")], value)
    if annotation == PAIRS:
        return tuple(sorted((kind, int(count)) for kind, count in value.items()))
    if annotation.startswith("tuple["):
        return tuple(_decode(annotation[len("tuple[") : -len(", ...]")], item) for item in value)
    if annotation in CLASSES:
        return _build(CLASSES[annotation], value)
    return {"str": str, "int": int, "float": float, "bool": bool}[annotation](value)
