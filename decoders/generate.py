"""Shared parts of the generators of decode and encode functions.

Owns the source under construction and the facts about fields that both need. The source is made
from the catalogue only, never from data.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kraftool.decoders.schema.notation import Field
from kraftool.decoders.wire import ZERO_UUID, Malformed

EXPECTED = (
    Malformed,
    IndexError,
    struct.error,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
)
"""What a generated function may raise on bytes or values that do not fit."""

FIXED = {
    "bool": ("?", 1),
    "int8": ("b", 1),
    "int16": ("h", 2),
    "uint16": ("H", 2),
    "int32": ("i", 4),
    "uint32": ("I", 4),
    "int64": ("q", 8),
    "float64": ("d", 8),
    "uuid": ("16s", 16),
}
_MOST_KEPT = 64


class _ByLength(dict[int, Callable[..., Any]]):
    """Functions that pack or unpack a list of fixed-size elements, by its length."""

    def __init__(self, form: str, method: str) -> None:
        super().__init__()
        self._form, self._method = form, method

    def __missing__(self, length: int) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(
            struct.Struct(f">{length}{self._form}"), self._method
        )
        if length <= _MOST_KEPT:
            self[length] = function
        return function


def _by_length(method: str) -> dict[str, _ByLength]:
    return {kind: _ByLength(form, method) for kind, (form, _) in FIXED.items()}


PACKERS, UNPACKERS = _by_length("pack"), _by_length("unpack_from")
UNKNOWN_TAGGED_FIELDS = "unknownTaggedFields"


@dataclass(frozen=True, slots=True)
class Site:
    """The field that a generated line reads; `parts` where one line reads several in a row."""

    path: str
    parts: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class Generated:
    """Source under construction: lines, what each line is about, and the constants it uses."""

    lines: list[str] = field(default_factory=list)
    sites: dict[int, Site] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    counter: int = 0

    @property
    def source(self) -> str:
        return "\n".join(self.lines)

    def line(self, depth: int, text: str, site: Site | None = None) -> None:
        self.lines.append("    " * depth + text)
        if site is not None:
            self.sites[len(self.lines)] = site

    def constant(self, name: str, value: Any) -> str:
        self.constants[name] = value
        return name

    def name(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"


def default_of(schema_field: Field, version: int, *, json: bool = False) -> Any:
    """The value a field has when nothing says otherwise."""
    text = schema_field.default
    if text == "null":
        return None
    if schema_field.is_array:
        return []
    match schema_field.type:
        case "string":
            return text or ""
        case "bool":
            return text == "true"
        case "float64":
            return float(text or 0)
        case "uuid":
            return text or ZERO_UUID
        case "bytes" | "records":
            return "" if json else b""
    if schema_field.is_struct:
        return {
            part.name: default_of(part, version, json=json)
            for part in schema_field.fields
            if version in part.versions and not (json and part.is_tagged(version))
        }
    return int(text or "0", 0)


def is_fixed(schema_field: Field) -> bool:
    return schema_field.type in FIXED


def minimum_size(schema_field: Field, version: int, flexible: bool) -> int:
    """The fewest bytes that a field can take; bounds a count before anything is read."""
    if schema_field.is_array:
        return 1 if flexible else 4
    return minimum_element(schema_field, version, flexible)


def minimum_element(schema_field: Field, version: int, flexible: bool) -> int:
    if schema_field.element in FIXED:
        return FIXED[schema_field.element][1]
    if schema_field.element == "string":
        return 1 if flexible else 2
    if not schema_field.is_struct:
        return 1 if flexible else 4
    if not schema_field.is_array and version in schema_field.nullable:
        return 1
    parts = (p for p in schema_field.fields if version in p.versions and not p.is_tagged(version))
    return sum(minimum_size(part, version, flexible) for part in parts) + flexible


def runs(fields: list[Field]) -> list[list[Field]]:
    """Group neighbours of fixed size, which one struct call reads or writes together."""
    groups: list[list[Field]] = []
    for schema_field in fields:
        if groups and is_fixed(schema_field) and is_fixed(groups[-1][0]):
            groups[-1].append(schema_field)
        else:
            groups.append([schema_field])
    return groups


def run_format(run: list[Field]) -> str:
    return ">" + "".join(FIXED[schema_field.type][0] for schema_field in run)
