"""kio (PyPI) as a third opinion: another author's reading of Kafka's messages.

For each message that kio has, in the versions that strategies.py samples and in kio's newest: it
reads our bytes, finds the same values in them, and writes the same bytes again; and we read back
what it wrote. kio has no metadata records, and neither unknown tagged fields nor bytes that are no
UTF-8 survive it, so values are tamed first.
"""

from __future__ import annotations

import base64
import datetime as dt
import io
import math
import re
import uuid
from dataclasses import fields
from functools import cache
from pkgutil import resolve_name
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from kio.schema.errors import ErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from kraftool.decoders import codec, schema
from kraftool.decoders.schema import Field
from tests.decoders.strategies import values, versions_to_try

pytestmark = pytest.mark.slow

Value = dict[str, Any]
EXAMPLES = max(settings().max_examples // 50, 3)
_SUFFIXES = {
    "request": ("Request", EntityType.request),
    "response": ("Response", EntityType.response),
    "header": ("", EntityType.header),
    "data": ("", EntityType.data),
}
_ERROR_CODES = {code.value for code in ErrorCode}
RENAMED = {
    "generationIdOrMemberEpoch": "generationId",
    "acceptableRecoveryLagLegacy": "acceptableRecoveryLag",
}
"""Names of Kafka 4.4 to those of the older release that kio was made from."""
_ZERO_UUID = "A" * 22
_LATEST_MS = 253_402_300_799_000
"""The last second of the year 9999, beyond which Python has no datetime."""


def kio_paths(name: str) -> dict[int, str]:
    """Where kio keeps a message, by version; empty for one that it lacks."""
    message = schema.message(name)
    if message.kind not in _SUFFIXES:
        return {}
    suffix, kind = _SUFFIXES[message.kind]
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix(suffix)).lower()
    by_version = schema_name_map.get(snake, {})
    return {
        version: path
        for version, entities in by_version.items()
        for entity, path in entities.items()
        if entity is kind and version in message.versions
    }


SHARED = {name: paths for name in schema.names() if (paths := kio_paths(name))}


@cache
def shape(entity: Any) -> tuple[Any, ...]:
    """kio's fields as (name, kafka type, whether null is allowed, nested entity)."""
    shapes = []
    for field in fields(entity):
        hint, optional = field.type, False
        if get_origin(hint) is UnionType:
            optional = True
            (hint,) = [part for part in get_args(hint) if part is not type(None)]
        if get_origin(hint) is tuple:
            hint = get_args(hint)[0]
            if get_origin(hint) is UnionType:
                optional = True
                (hint,) = [part for part in get_args(hint) if part is not type(None)]
        nested = hint if hasattr(hint, "__type__") else None
        shapes.append((field.name, field.metadata.get("kafka_type"), optional, nested))
    return tuple(shapes)


def in_common(
    ours: tuple[Field, ...], version: int, entity: Any
) -> list[tuple[Field, str, str, bool, Any]]:
    """Pair our fields with kio's, in order; kio drops the unit at the end of a name."""
    present = [field for field in ours if version in field.versions]
    theirs = shape(entity)
    assert len(present) == len(theirs), entity
    for field, (name, *_) in zip(present, theirs, strict=True):
        known = {field.name, RENAMED.get(field.name, "")}
        assert _plain(name) in {_plain(known_name) for known_name in known}, entity
    return [(field, *rest) for field, rest in zip(present, theirs, strict=True)]


def _plain(name: str) -> str:
    return name.replace("_", "").lower().removesuffix("ms")


def tamed(ours: tuple[Field, ...], version: int, entity: Any, value: Value) -> Value:
    """The value without what kio's Python types cannot hold."""
    return {
        field.name: _tame(field, version, kind, optional, nested, value[field.name])
        for field, _, kind, optional, nested in in_common(ours, version, entity)
    }


def _tame(field: Field, version: int, kind: str, optional: bool, nested: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_tame(field, version, kind, False, nested, item) for item in value]
    if nested is not None and value is not None:
        return tamed(field.fields, version, nested, value)
    if isinstance(value, str) and field.element == "string":
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if kind == "error_code":
        return value if value in _ERROR_CODES else 0
    if kind in ("timedelta_i32", "timedelta_i64"):
        return max(min(value, 2**31 - 1), -(2**31))
    if kind == "datetime_i64":
        return max(min(value, _LATEST_MS), -1 if optional else 0)
    if isinstance(value, float) and not math.isfinite(value):
        return 0.5
    return value


def compare(ours: tuple[Field, ...], version: int, value: Value, entity: Any) -> None:
    """Assert that kio's entity holds our value."""
    for field, name, kind, _, _ in in_common(ours, version, type(entity)):
        _compare(field, version, kind, value[field.name], getattr(entity, name))


def _compare(field: Field, version: int, kind: str, ours: Any, theirs: Any) -> None:
    if isinstance(ours, list):
        assert len(ours) == len(theirs), field.name
        for one, other in zip(ours, theirs, strict=True):
            _compare(field, version, kind, one, other)
        return
    if isinstance(ours, dict):
        compare(field.fields, version, ours, theirs)
        return
    if isinstance(theirs, ErrorCode):
        theirs = theirs.value
    elif isinstance(theirs, dt.timedelta):
        theirs = round(theirs.total_seconds() * 1000)
    elif isinstance(theirs, dt.datetime):
        theirs = round(theirs.timestamp() * 1000)
    elif isinstance(theirs, uuid.UUID):
        theirs = base64.urlsafe_b64encode(theirs.bytes).decode()[:22]
    elif theirs is None and ours is not None and kind == "uuid":
        theirs = _ZERO_UUID
    elif theirs is None and kind == "datetime_i64":
        theirs = -1
    assert ours == theirs, field.name


def test_kio_has_most_messages() -> None:
    assert len(SHARED) > 170
    assert sum(map(len, SHARED.values())) > 500


@pytest.mark.parametrize("name", SHARED)
def test_kio_reads_and_rewrites_our_bytes(name: str) -> None:
    paths = SHARED[name]
    for version in sorted({max(paths), *(paths.keys() & set(versions_to_try(name)))}):
        _agree(name, version)


def _agree(name: str, version: int) -> None:
    message = schema.message(name)
    entity = resolve_name(SHARED[name][version])
    read, write = entity_reader(entity), entity_writer(entity)

    @settings(
        max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None, deadline=None
    )
    @given(values(name, version))
    def run(drawn: Value) -> None:
        value = tamed(message.fields, version, entity, drawn)
        raw = codec.encode(name, version, value)
        theirs, size = read(raw, 0)
        assert size == len(raw)
        compare(message.fields, version, value, theirs)
        again = io.BytesIO()
        write(again, theirs)
        assert again.getvalue() == raw
        assert codec.decode(name, version, again.getvalue()) == (value, len(raw))

    run()
