"""The quick check of tests/support and jsonschema: one verdict on documents and their changes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.json_contract import SCHEMAS, schema
from tests.support.quick_schema import UnknownKeyword, quick_check

NAMES = sorted(path.stem for path in SCHEMAS.glob("*.json"))
VALUES: tuple[Any, ...] = (None, True, False, 0, 1, -1, 1.0, 1.5, "", "x", [], [None], {}, {"x": 1})
"""What takes the place of a value."""
CHANGES = 150
"""Of each schema."""

Schema = dict[str, Any]


class _Maker:
    """Makes documents that keep a schema."""

    def __init__(self, whole: Schema, seed: int) -> None:
        self._whole, self._random = whole, random.Random(seed)

    def document(self, node: Schema, depth: int = 0) -> Any:
        if "$ref" in node:
            return self.document(self._referred(node), depth)
        for several in ("anyOf", "oneOf"):
            if several in node:
                return self.document(self._random.choice(node[several]), depth)
        if "const" in node or "enum" in node:
            return self._random.choice(node.get("enum", [node.get("const")]))
        kinds = node.get("type", "object" if "properties" in node else "null")
        match kinds if isinstance(kinds, str) else self._random.choice(kinds):
            case "object":
                return self._object(node, depth)
            case "array":
                count = self._random.randrange(3) if depth < 4 else 0
                return [self.document(node.get("items", {}), depth + 1) for _ in range(count)]
            case "string":
                return "text"
            case "boolean":
                return self._random.random() < 0.5
            case "integer" | "number":
                return node.get("minimum", 0) + self._random.randrange(9)
        return None

    def _referred(self, node: Schema) -> Schema:
        referred: Schema = self._whole["$defs"][node["$ref"].rpartition("/")[2]]
        return referred

    def _merged(self, node: Schema) -> Schema:
        """The node that another refers to, with what that one refers to for all its members."""
        merged = self._referred(node)
        for branch in map(self._merged, merged.get("allOf", ())):
            merged = _together(branch, merged)
        return merged

    def _object(self, node: Schema, depth: int) -> Any:
        made: dict[str, Any] = {}
        for branch in map(self._merged, node.get("allOf", ())):
            node = _together(branch, node)
        for name, member in node.get("properties", {}).items():
            if name in node.get("required", ()) or (depth < 4 and self._random.random() < 0.7):
                made[name] = self.document(member, depth + 1)
        if node.get("additionalProperties") and depth < 4:
            for name in node.get("propertyNames", {}).get("enum", ["a", "b"])[:2]:
                made[name] = self.document(dict(node["additionalProperties"]), depth + 1)
        return made


def _together(base: Schema, node: Schema) -> Schema:
    properties = {**base.get("properties", {}), **node.get("properties", {})}
    required = [*base.get("required", ()), *node.get("required", ())]
    return {**node, "properties": properties, "required": required}


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in a document: the object or list, and the name or number in it."""
    if isinstance(value, dict | list):
        for at in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, at
            yield from _places(value[at])


@pytest.mark.parametrize("name", NAMES)
def test_both_say_the_same_of_documents_and_of_each_change_of_them(name: str) -> None:
    whole = schema(name)
    quick, slow = quick_check(whole), Draft202012Validator(whole)
    chance = random.Random(name)
    verdicts = list[bool]()
    for seed in range(CHANGES):
        document = _Maker(whole, seed).document(whole)
        assert slow.is_valid(document), "the maker does not know the schema"
        assert quick(document), (seed, document)
        places = list(_places(document))
        for owner, at in chance.sample(places, min(len(places), 12)):
            kept = owner[at]
            owner[at] = chance.choice(VALUES)
            verdicts.append(_same(quick(document), slow.is_valid(document), document))
            owner[at] = kept
            if isinstance(owner, dict):
                more = {**owner, "more": 1}
                less = {name: member for name, member in owner.items() if name != at}
                for other in (more, less):
                    owner.clear()
                    owner.update(other)
                    verdicts.append(_same(quick(document), slow.is_valid(document), document))
                owner.clear()
                owner.update({**less, at: kept})
        if len(verdicts) > CHANGES:
            break
    assert set(verdicts) == {True, False}


def _same(quick: bool, slow: bool, document: Any) -> bool:
    assert quick == slow, (quick, slow, document)
    return quick


SMALL = (
    {"type": "integer"},
    {"type": "number"},
    {"const": 1},
    {"enum": [0, "a", None]},
    {"oneOf": [{"type": "number"}, {"const": 1}]},
)


@pytest.mark.parametrize("small", SMALL, ids=str)
def test_both_tell_numbers_from_booleans_and_one_branch_from_two(small: Schema) -> None:
    for value in VALUES:
        assert quick_check(small)(value) == Draft202012Validator(small).is_valid(value), value


UNKNOWN: tuple[Schema, ...] = ({"pattern": "x"}, {"items": {"not": {}}}, {"enum": [True]})


@pytest.mark.parametrize("unknown", UNKNOWN, ids=str)
def test_a_keyword_that_is_not_known_is_not_passed_over(unknown: Schema) -> None:
    with pytest.raises(UnknownKeyword):
        quick_check(unknown)
