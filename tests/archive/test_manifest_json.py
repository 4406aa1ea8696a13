from __future__ import annotations

import dataclasses
import json
import time
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bundler import manifest_json
from bundler.errors import ExitCode, NpubugError
from bundler.manifest import SCHEMA_VERSION, Manifest, Member
from bundler.manifest_json import CLASSES, PAIRS, manifest_from_json, manifest_to_json, schema
from tests.archive.samples import MANIFEST, REDUCED_MANIFEST

COUNT = {"$ref": "#/$defs/count"}


def document(**changes: Any) -> bytes:
    return json.dumps({**json.loads(manifest_to_json(MANIFEST)), **changes}).encode()


def refusal(data: bytes) -> str:
    with pytest.raises(NpubugError) as caught:
        manifest_from_json(data)
    assert caught.value.code is ExitCode.INVALID_INPUT
    return f"{caught.value.what} {caught.value.why}"


def test_a_manifest_survives_the_trip_to_json_and_back() -> None:
    assert manifest_from_json(manifest_to_json(REDUCED_MANIFEST)) == REDUCED_MANIFEST


def test_the_smallest_manifest_survives_too() -> None:
    least = Manifest(name="k", created="2025-12-01T10:20:30Z", npubug_version="0.1.0")
    assert manifest_from_json(manifest_to_json(least)) == least


def test_redactions_are_written_as_counts_by_kind() -> None:
    assert json.loads(manifest_to_json(MANIFEST))["redactions"] == {"home-path": 3, "user-name": 2}


def test_undecodable_bytes_in_a_command_are_written_readably() -> None:
    manifest = dataclasses.replace(MANIFEST, command=("python", "k\udcff.py", "lone \ud800"))
    command = manifest_from_json(manifest_to_json(manifest)).command
    assert command[1] == "k\\xff.py"
    command[2].encode()


# --- the schema and the classes


def test_the_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("cls", CLASSES.values(), ids=CLASSES)
def test_schema_and_class_have_the_same_fields(cls: type) -> None:
    described = schema() if cls is Manifest else schema()["$defs"][cls.__name__]
    fields = dataclasses.fields(cls)
    assert list(described["properties"]) == [field.name for field in fields]
    no_default = {field.name for field in fields if field.default is dataclasses.MISSING}
    always = {"schema_version", "members"} if cls is Manifest else set()
    assert set(described["required"]) == no_default | always
    for field in fields:
        assert shape(described["properties"][field.name]) == expected_shape(str(field.type)), field.name


def test_every_class_of_the_manifest_is_in_the_schema() -> None:
    assert set(schema()["$defs"]) - {"count"} == set(CLASSES) - {"Manifest"}


def shape(described: dict[str, Any]) -> Any:
    """The part of a property's schema that a field's type decides."""
    if "anyOf" in described:
        return [shape(option) for option in described["anyOf"]]
    if described.get("type") == "array":
        return {"array of": shape(described["items"])}
    if described.get("type") == "object":
        return {"object of": shape(described["additionalProperties"])}
    return "integer" if described == COUNT else described.get("type", described.get("$ref"))


def expected_shape(annotation: str) -> Any:
    if annotation.endswith(" | None"):
        inner = expected_shape(annotation[: -len(" | None")])
        return ["null", inner] if inner.startswith("#") else [inner, "null"]
    if annotation == PAIRS:
        return {"object of": "integer"}
    if annotation.startswith("tuple["):
        return {"array of": expected_shape(annotation[len("tuple[") : -len(", ...]")])}
    if annotation in CLASSES:
        return f"#/$defs/{annotation}"
    return {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}[annotation]


# --- versions


def test_a_newer_minor_version_is_read_for_what_is_known() -> None:
    data = document(schema_version="1.99", moon_phase={"full": [1, 2]})
    assert manifest_from_json(data).signature == MANIFEST.signature


def test_a_newer_major_version_is_refused_with_the_way_out() -> None:
    with pytest.raises(NpubugError) as caught:
        manifest_from_json(document(schema_version="2.0"))
    assert "2.0" in caught.value.what
    assert "upgrade" in caught.value.hint


@pytest.mark.parametrize("version", [None, 1, "", "one", "1", "1.0.0", "9" * 5000 + ".0"])
def test_a_manifest_without_a_version_is_not_ours(version: object) -> None:
    assert "not written by npubug" in refusal(document(schema_version=version))


def test_this_version_is_in_the_form_that_readers_expect() -> None:
    assert json.loads(manifest_to_json(MANIFEST))["schema_version"] == SCHEMA_VERSION


# --- hostile text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "Expecting value"),
        (b"\xff\xfe", "utf-8"),
        (b"[1]", "not a JSON object"),
        (b"[" * 100_000, "too deeply"),
        (b'{"a": ' * 100_000, "too deeply"),
        (b'{"schema_version": "1.0", "schema_version": "1.0"}', "same key twice"),
        (b'{"a": NaN}', "not JSON"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": ' + b"9" * 100_000 + b"}", "too large"),
        (b"[" + b"1," * 400_000 + b"1]", "values"),
        (b" " * (manifest_json.MAX_BYTES + 1), "bytes long"),
    ],
    ids=[
        "empty",
        "binary",
        "list",
        "deep lists",
        "deep objects",
        "same key",
        "nan",
        "inf",
        "digits",
        "many",
        "huge",
    ],
)
def test_text_that_is_no_manifest_is_refused(data: bytes, why: str) -> None:
    assert why in refusal(data)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"name": 3}, "name"),
        ({"created": "yesterday"}, "created"),
        ({"members": {}}, "members"),
        ({"members": [{"name": "a"}]}, "members[0]"),
        ({"calls": [3]}, "calls[0]"),
        ({"redactions": {"a": -1}}, "redactions.a"),
        ({"signature": {"id": "x"}}, "signature"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], where: str) -> None:
    assert f"{where}: " in refusal(document(**changes))


def test_an_error_shows_no_control_characters() -> None:
    why = refusal(document(created="\x1b[31mred\u202e"))
    assert why.isprintable()


def test_the_worst_accepted_size_is_checked_in_seconds() -> None:
    data = document(notes=["n"] * 99_000)
    start = time.monotonic()
    assert len(manifest_from_json(data).notes) == 99_000
    assert time.monotonic() - start < 10


TEXT = st.text(max_size=20)
MANIFESTS = st.builds(
    dataclasses.replace,
    st.just(REDUCED_MANIFEST),
    name=TEXT,
    command=st.lists(TEXT.filter(lambda t: t.isascii()), max_size=3).map(tuple),
    command_exit=st.none() | st.integers(-255, 255),
    redactions=st.dictionaries(TEXT, st.integers(0, 9), max_size=3).map(lambda d: tuple(sorted(d.items()))),
    members=st.lists(
        st.builds(
            Member,
            name=st.text(min_size=1, max_size=9),
            role=st.from_regex(r"[a-z][a-z0-9-]*", fullmatch=True),
            media_type=TEXT,
            size=st.integers(0, 1 << 40),
            sha256=st.from_regex(r"[0-9a-f]{64}", fullmatch=True),
        ),
        max_size=3,
    ).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(MANIFESTS)
def test_any_manifest_survives_the_trip(manifest: Manifest) -> None:
    assert manifest_from_json(manifest_to_json(manifest)) == manifest
