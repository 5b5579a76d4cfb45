"""Hypothesis strategies: values of any message and version, and damage to any bytes.

Owns what tests of codecs have in common. A value has the form of `decoders/codec.py`.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

from hypothesis import strategies as st

from kraftool.decoders import schema, spec
from kraftool.decoders.schema import Field

Value = dict[str, Any]

_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
# Lengths on both sides of the places where a varint grows.
_LENGTHS = st.sampled_from([0, 1, 2, 7, 126, 127, 128, 300])
_MOST_ELEMENTS = 3
FieldForm = tuple[str, bool, bool, bool]
"""Its path, whether the version is flexible, and whether the field may be null or has a tag."""

_SOAK = os.environ.get("KRAFTOOL_SOAK") == "1"


def forms(name: str, version: int) -> Iterator[FieldForm]:
    """How the fields of a version are written: what decides over the bytes of a field."""
    message = schema.message(name)
    flexible = message.is_flexible(version)
    fields = [("", field) for field in message.fields]
    for path, field in fields:
        if version in field.versions:
            here = f"{path}.{field.name}"
            yield here, flexible, version in field.nullable, field.is_tagged(version)
            fields += [(here, part) for part in field.fields]


@cache
def sampled_versions(name: str) -> tuple[int, ...]:
    """The oldest and the newest version of a message, and those with a form that these lack."""
    versions = list(schema.message(name).versions)
    sample = {*versions[:1], *versions[-1:]}
    seen = {form for version in sample for form in forms(name, version)}
    for version in versions:
        if new := set(forms(name, version)) - seen:
            sample.add(version)
            seen |= new
    return tuple(sorted(sample))


def versions_to_try(name: str) -> tuple[int, ...]:
    """The versions that the tests of all messages try: a sample, or in `make soak` all."""
    return tuple(schema.message(name).versions) if _SOAK else sampled_versions(name)


def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.sampled_from([0, 1, -1 if low < 0 else 2, low, high]) | st.integers(low, high)


def _uuid_text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode()[:22]


def _repeated(pattern: str, length: int) -> str:
    return (pattern * length)[:length]


_STRINGS = st.one_of(
    st.text(max_size=12),
    st.builds(_repeated, st.sampled_from(["a", "é", "日本", "\x00", '"\\']), _LENGTHS),
    # Bytes that are no UTF-8, as the value form keeps them.
    st.binary(max_size=6).map(lambda raw: raw.decode("utf-8", "surrogateescape")),
)
_BYTES = st.binary(max_size=12) | st.builds(lambda n: bytes(range(256)) * 2 * (n > 0), _LENGTHS)
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "float64": st.floats(allow_nan=False),
    "string": _STRINGS,
    "bytes": _BYTES,
    "records": _BYTES,
    "uuid": st.just("A" * 22) | st.binary(min_size=16, max_size=16).map(_uuid_text),
    **{kind: _integers(low, high) for kind, (low, high) in _RANGES.items()},
}


@cache
def values(name: str, version: int) -> st.SearchStrategy[Value]:
    """Values of a message: every field of the version, and now and then unknown tagged fields."""
    message = schema.message(name)
    return _struct(message.fields, version, message.is_flexible(version))


def _struct(fields: tuple[Field, ...], version: int, flexible: bool) -> st.SearchStrategy[Value]:
    present = [field for field in fields if version in field.versions]
    whole = st.fixed_dictionaries(
        {field.name: _field(field, version, flexible) for field in present}
    )
    if not flexible:
        return whole
    taken = {field.tag for field in present if field.tag is not None}
    unknown = st.lists(
        st.tuples(st.sampled_from([0, 9, 127, 128, 10_000, 2**31 - 1]), st.binary(max_size=5)),
        max_size=3,
        unique_by=lambda entry: entry[0],
    ).map(lambda entries: sorted([tag, raw] for tag, raw in entries if tag not in taken))
    return st.builds(
        lambda value, extra: value | {"unknownTaggedFields": extra} if extra else value,
        whole,
        st.just([]) | unknown,
    )


def _field(field: Field, version: int, flexible: bool) -> st.SearchStrategy[Any]:
    one: st.SearchStrategy[Any]
    one = _struct(field.fields, version, flexible) if field.is_struct else _SCALARS[field.element]
    if field.is_array:
        one = st.lists(one, max_size=_MOST_ELEMENTS)
    return st.none() | one if version in field.nullable else one


@st.composite
def damaged(draw: st.DrawFn, name: str, version: int, data: bytes) -> bytes:
    """The bytes of a message after one to three accidents."""
    for _ in range(draw(st.integers(1, 3))):
        if not data:
            return draw(st.binary(max_size=4))
        at = draw(st.integers(0, len(data) - 1))
        match draw(st.sampled_from(["flip", "set", "cut", "insert", "remove", "length"])):
            case "flip":
                bit = 1 << draw(st.integers(0, 7))
                data = data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
            case "set":
                byte = draw(st.sampled_from([0x00, 0x01, 0x7F, 0x80, 0xFF]))
                data = data[:at] + bytes([byte]) + data[at + 1 :]
            case "cut":
                data = data[:at]
            case "insert":
                data = data[:at] + draw(st.binary(min_size=1, max_size=6)) + data[at:]
            case "remove":
                data = data[:at] + data[at + draw(st.integers(1, 4)) :]
            case "length":
                data = draw(_absurd_length(name, version, data))
    return data


_ABSURD = {
    "int16": ["7fff", "8000", "fffe", "ffff"],
    "int32": ["7fffffff", "80000000", "fffffffe", "ffffffff", "00ffffff"],
    "uvarint": ["ffffffff07", "ffffffff7f", "ffffffffffff7f", "80", "8000", "ffff03"],
}


@st.composite
def _absurd_length(draw: st.DrawFn, name: str, version: int, data: bytes) -> bytes:
    """Overwrite one length, count, tag or size with something that cannot be."""
    annotation = spec.annotate(name, version, data)
    places = [
        leaf
        for span in annotation.spans
        for leaf in span.leaves()
        if leaf.type.startswith(("length", "count", "tag", "size"))
    ]
    if not places:
        return data
    leaf = draw(st.sampled_from(places))
    form = leaf.type.partition("(")[2].rstrip(")")
    absurd = bytes.fromhex(draw(st.sampled_from(_ABSURD[form])))
    return data[: leaf.start] + absurd + data[leaf.end :]
