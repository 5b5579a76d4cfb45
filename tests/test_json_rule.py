"""The names in all JSON documents keep the rule of docs/json.md, and the schemas are fresh."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from kraftool.decoders.json_marks import Count, Hidden, Ids, Moment, in_json
from kraftool.reports.text.json_document import json_document, json_value, members
from tests.support.json_contract import SCHEMAS, schema
from tests.support.places import ROOT
from tools import schemas

NAMES = sorted(schemas.DOCUMENTS)
OTHER_WORDS = {
    "text": "reason", "sentence": "reason", "why": "reason", "message": "reason",
    "live": "isLive", "at": "…Ms", "told": "name its kind",
}  # fmt: skip
"""Names that a member may not have, and the one that stands for it."""
COMMON = {"voters", "voterSet", "findings", "places", "endpoints", "evidence", "assessment"}
"""Objects that are the same class in every document."""
MORE = {"fleetFinding": "finding", "diagnosis": "finding"}
"""Classes that add members to another."""


class Property(NamedTuple):
    owner: str
    name: str
    schema: dict[str, Any]

    @property
    def types(self) -> set[str]:
        kind = self.schema.get("type", [])
        return {kind} if isinstance(kind, str) else set(kind)


def properties(name: str) -> Iterator[Property]:
    whole = schema(name)
    owners = {"document": whole, **whole.get("$defs", {})}
    for number, branch in enumerate(whole.get("anyOf", [])):
        owners[f"document {number}"] = branch
    for owner, owned in owners.items():
        for member, value in owned.get("properties", {}).items():
            yield Property(f"{name} {owner}", member, value)


@cache
def all_properties() -> tuple[Property, ...]:
    """Those of every document. No import of this file reads the schemas: each worker imports it,
    and one runs it."""
    return tuple(field for name in NAMES for field in properties(name))


def test_the_schemas_are_fresh() -> None:
    for path, text in schemas.schema_files().items():
        assert path.read_text() == text, f"run `{schemas.MEND}`"


_ALONE = """
import json, os, sys
from tools import schemas
for name, described in schemas.DOCUMENTS.items():
    for path in described.documents:
        if os.fork() == 0:
            alone = schemas.schema_of(schemas.Described(title="", documents=(path,)))
            print(path, json.dumps(alone, sort_keys=True), flush=True)
            os._exit(0)
        os.wait()
"""


def test_the_module_of_a_document_brings_all_forms_that_it_is_written_in() -> None:
    """A form counts from its import on: a document must not depend on what else was imported."""
    done = subprocess.run(
        [sys.executable, "-c", _ALONE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    alone = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert len(alone) > len(NAMES)
    for path, text in alone.items():
        whole = schemas.schema_of(schemas.Described(title="", documents=(path,)))
        assert json.loads(text) == json.loads(json.dumps(whole)), path


@pytest.mark.parametrize("name", sorted(path.stem for path in SCHEMAS.glob("*.json")))
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


def test_names_are_in_camel_case() -> None:
    assert [
        field for field in all_properties() if not re.fullmatch("[a-z][A-Za-z0-9]*", field.name)
    ] == []


def test_booleans_are_questions_that_is_or_has_begins() -> None:
    wrong = [
        field
        for field in all_properties()
        if ("boolean" in field.types) != bool(re.match("(is|has)[A-Z]", field.name))
    ]
    assert wrong == []


def test_times_and_spans_end_with_ms_and_only_they() -> None:
    times = ("timestamp", "at", "time", "since", "milliseconds", "duration", "took")
    wrong = [
        field
        for field in all_properties()
        if "integer" in field.types
        and (field.name.lower().endswith(times) or "millisecond" in field.name.lower())
    ]
    assert wrong == []


def test_what_counts_ends_with_count_and_ids_with_id() -> None:
    """A plural noun is a list of objects or texts, not a number and not a list of ids."""
    lists = {field.name for field in all_properties() if "array" in field.types}
    wrong = [
        field for field in all_properties() if "integer" in field.types and field.name in lists
    ]
    wrong += [
        field
        for field in all_properties()
        if field.schema.get("items") == {"type": "integer"}
        and not field.name.endswith("s")
        and field.name not in ("isr", "elr", "lastKnownElr")
    ]
    assert wrong == []


def test_one_word_for_one_thing() -> None:
    assert [field for field in all_properties() if field.name in OTHER_WORDS] == []


def test_the_same_name_is_the_same_thing_in_every_document() -> None:
    """By its type, apart from null: an object, a list of these, a number, a text, a truth."""
    shapes: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for field in all_properties():
        if shape := _shape(field.schema, has_names=field.name in COMMON):
            shapes[field.name][shape].add(field.owner)
    several = {name: dict(owners) for name, owners in shapes.items() if len(owners) > 1}
    assert several == {}


def _shape(value: dict[str, Any], *, has_names: bool) -> str:
    if "enum" in value or "const" in value:
        return "text"
    if "$ref" in value:
        name = str(value["$ref"]).rpartition("/")[2]
        return MORE.get(name, name) if has_names else "object"
    if "anyOf" in value:
        inner = [branch for branch in value["anyOf"] if branch != {"type": "null"}]
        return " or ".join(dict.fromkeys(_shape(branch, has_names=has_names) for branch in inner))
    declared = value.get("type", "")
    kinds = (
        [declared] if isinstance(declared, str) else [kind for kind in declared if kind != "null"]
    )
    if kinds == ["array"]:
        return f"list of {_shape(value['items'], has_names=has_names)}"
    return " or ".join("text" if kind == "string" else kind for kind in kinds)


# --- the serializer -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Inner:
    """Something with a time."""

    seen: Moment | None
    """When it was seen."""
    secret: Hidden[str] = ""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Members whose names their types give."""

    batches: Count
    entries: Count | None
    voters: Ids
    open: bool
    is_live: bool | None


@dataclass(frozen=True, kw_only=True)
class Outer:
    """A document."""

    is_whole: bool
    kind: Literal["one", "two"] = "one"
    parts: Iterator[Inner]

    @property
    @in_json
    def part_size(self) -> int:
        """Bytes of a part."""
        return 7

    @property
    def unseen(self) -> int:
        return 8


def test_a_moment_is_written_twice_and_what_is_hidden_not_at_all() -> None:
    assert json_value(Inner(seen=1_700_000_000_001, secret="x")) == {
        "seenMs": 1_700_000_000_001,
        "seen": "2023-11-14T22:13:20.001Z",
    }
    assert json_value(Inner(seen=-1)) == {"seenMs": -1, "seen": None}
    assert json_value(Inner(seen=None)) == {"seenMs": None, "seen": None}
    assert json_value(Inner(seen=1 << 62)) == {"seenMs": 1 << 62, "seen": None}, "damage"


def test_a_name_says_what_the_value_is() -> None:
    made = json_value(Counted(batches=1, entries=2, voters=(1, 2), open=True, is_live=None))
    assert made == {
        "batchCount": 1, "entryCount": 2, "voterIds": [1, 2], "isOpen": True, "isLive": None
    }  # fmt: skip


def test_properties_are_members_only_if_they_are_marked() -> None:
    assert [member.name for member in members(Outer)] == ["isWhole", "kind", "parts", "partSize"]


def test_an_iterator_is_written_element_by_element() -> None:
    made: list[int] = []

    def parts() -> Iterator[Inner]:
        for number in range(3):
            made.append(number)
            yield Inner(seen=number)

    pieces = json_document(Outer(is_whole=True, parts=parts()))
    before = b""
    while b'"seenMs":0' not in before:
        before += next(pieces)
    assert made == [0], "the others are not made before they are written"
    whole = (before + b"".join(pieces)).decode()
    assert '"isWhole": true' in whole
    assert whole.endswith('"partSize": 7\n}\n')


def test_a_name_that_is_no_utf_8_does_not_break_the_document() -> None:
    assert json_value("\udcff.log") == "\\xff.log"
