"""A quick check that a document keeps its schema, of the keywords that docs/schemas uses.

jsonschema looks at the schema again for each value of a document, which takes ten times the CPU of
the command that wrote it. Here a schema becomes functions, once. Owns no verdict against a
document: jsonschema says what is wrong, if anything is. tests/test_quick_schema.py compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Check = Callable[[Any], bool]
Node = dict[str, Any] | bool

_ANNOTATIONS = {"$schema", "$defs", "title", "description", "contentEncoding"}
"""Keywords that say nothing about a value."""


class UnknownKeyword(Exception):
    """The schema has a keyword that is not here: the check has to be jsonschema's."""


def quick_check(schema: dict[str, Any]) -> Check:
    """Return a function that is true of each value that keeps the schema."""
    return _Schema(schema).check(schema)


class _Schema:
    """The functions of one schema, by the nodes that others refer to."""

    def __init__(self, whole: dict[str, Any]) -> None:
        self._whole = whole
        self._by_ref: dict[str, Check] = {}

    def check(self, node: Node) -> Check:
        if isinstance(node, bool):
            return lambda _: node
        checks = [
            self._keyword(keyword, value, node)
            for keyword, value in node.items()
            if keyword not in _ANNOTATIONS
        ]
        return _all_of([check for check in checks if check is not None])

    def _keyword(self, keyword: str, argument: Any, node: dict[str, Any]) -> Check | None:
        match keyword:
            case "type":
                return _of_types([argument] if isinstance(argument, str) else argument)
            case "const":
                return _equal_to([argument])
            case "enum":
                return _equal_to(argument)
            case "minimum":
                return lambda value: not _is_number(value) or value >= argument
            case "$ref":
                return self._reference(argument)
            case "allOf":
                return _all_of([self.check(branch) for branch in argument])
            case "anyOf":
                return _any_of([self.check(branch) for branch in argument])
            case "oneOf":
                checks = [self.check(branch) for branch in argument]
                return lambda value: sum(check(value) for check in checks) == 1
            case "items":
                item = self.check(argument)
                return lambda value: not isinstance(value, list) or all(map(item, value))
            case "required":
                names = frozenset(argument)
                return lambda value: not isinstance(value, dict) or names <= value.keys()
            case "propertyNames":
                name = self.check(argument)
                return lambda value: not isinstance(value, dict) or all(map(name, value))
            case "properties":
                return self._members(argument, node.get("additionalProperties", True))
            case "additionalProperties":
                # With `properties` they are one loop over the members.
                return None if "properties" in node else self._members({}, argument)
            case "unevaluatedProperties" if argument is False:
                known = frozenset(self._evaluated(node))
                return lambda value: not isinstance(value, dict) or value.keys() <= known
        raise UnknownKeyword(keyword)

    def _reference(self, ref: str) -> Check:
        """The check of another node, made when it is first needed: a schema may contain itself."""

        def check(value: Any) -> bool:
            if ref not in self._by_ref:
                self._by_ref[ref] = self.check(self._node(ref))
            return self._by_ref[ref](value)

        self._node(ref)
        return check

    def _node(self, ref: str) -> Node:
        if not ref.startswith("#/$defs/"):
            raise UnknownKeyword(ref)
        node: Node = self._whole["$defs"][ref.removeprefix("#/$defs/")]
        return node

    def _members(self, properties: dict[str, Node], additional: Node) -> Check:
        checks = {name: self.check(node) for name, node in properties.items()}
        other = self.check(additional)

        def check(value: Any) -> bool:
            if isinstance(value, dict):
                for name, member in value.items():
                    if not checks.get(name, other)(member):
                        return False
            return True

        return check

    def _evaluated(self, node: Node) -> Iterable[str]:
        """The members that a node, and those that it refers to, have checks for."""
        if isinstance(node, bool) or node.keys() & {"anyOf", "oneOf", "additionalProperties"}:
            raise UnknownKeyword("unevaluatedProperties")
        yield from node.get("properties", {})
        for branch in node.get("allOf", ()):
            yield from self._evaluated(branch)
        if "$ref" in node:
            yield from self._evaluated(self._node(node["$ref"]))


def _all_of(checks: list[Check]) -> Check:
    match checks:
        case []:
            return lambda _: True
        case [check]:
            return check
        case [one, other]:
            return lambda value: one(value) and other(value)
    return lambda value: all(check(value) for check in checks)


def _any_of(checks: list[Check]) -> Check:
    match checks:
        case [check]:
            return check
        case [one, other]:
            return lambda value: one(value) or other(value)
    return lambda value: any(check(value) for check in checks)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: dict[str, Check] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
}


def _of_types(names: list[str]) -> Check:
    return _any_of([_TYPES[name] for name in names])


def _equal_to(choices: list[Any]) -> Check:
    if not all(_is_plain(choice) for choice in choices):
        raise UnknownKeyword("enum of something else")
    known = frozenset(choices)
    return lambda value: _is_plain(value) and value in known


def _is_plain(value: Any) -> bool:
    """True of what is equal to the same values in Python and in JSON: in Python True is 1."""
    return value is None or isinstance(value, str) or _is_number(value)
