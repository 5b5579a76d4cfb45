"""The columns of every source: names and Spark types, from the catalogue where records have them.

Owns the schemas and how a field of Kafka's becomes a column. It refuses to fill them. A typed
column holds what Kafka's JSON form of the record has: null for a field that the record's version
lacks, and for a tagged field at its default. A uuid and bytes are text, as in that form.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampType,
    VariantType,
)

from kraftool.decoders import schema
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.schema import Field

RECORDS, BATCHES, FILES, FINDINGS = "kraft", "kraft.batches", "kraft.files", "kraft.findings"

_TEXT, _INT, _LONG, _FLAG = StringType(), IntegerType(), LongType(), BooleanType()

_SCALARS: dict[str, DataType] = {
    "bool": _FLAG,
    "int8": ByteType(),
    "int16": ShortType(),
    "uint16": _INT,
    "int32": _INT,
    "uint32": _LONG,
    "int64": _LONG,
    "float64": DoubleType(),
    # As in Kafka's JSON form, where a masked secret has room too.
    "string": _TEXT,
    "uuid": _TEXT,
    "bytes": _TEXT,
    "records": _TEXT,
}

Columns = dict[str, DataType]

IDENTITY: Columns = {
    "cluster_id": _TEXT,
    "node_id": _INT,
    "directory_id": _TEXT,
    "directory": _TEXT,
    "file": _TEXT,
}
"""Whose file it is, as its meta.properties says; the same in every source."""

_PLACE: Columns = {
    "position": _LONG,
    "base_offset": _LONG,
    "offset": _LONG,
    "epoch": _INT,
    "timestamp": TimestampType(),
    "timestamp_ms": _LONG,
}
"""Where a record lies. `timestamp` is null where no calendar reaches, `timestamp_ms` never."""

_RECORDS: Columns = {
    **IDENTITY,
    "kind": _TEXT,
    **_PLACE,
    "control": _FLAG,
    "type": _TEXT,
    "version": _INT,
    "key_size": _INT,
    "value_size": _INT,
    "valid": _FLAG,
    "payload": _TEXT,
    "raw": BinaryType(),
    "error": _TEXT,
    "damage": _TEXT,
    "size": _LONG,
    "generation": _INT,
}
VARIANT: Columns = {"data": VariantType()}
"""What the option `variant` adds: the payload, parsed."""

_BATCHES: Columns = {
    **IDENTITY,
    "kind": _TEXT,
    "position": _LONG,
    "base_offset": _LONG,
    "last_offset": _LONG,
    "count": _INT,
    "epoch": _INT,
    "timestamp": TimestampType(),
    "timestamp_ms": _LONG,
    "size": _LONG,
    "magic": _INT,
    "compression": _TEXT,
    "control": _FLAG,
    "transactional": _FLAG,
    "crc": _LONG,
    "valid": _FLAG,
    "error": _TEXT,
    "damage": _TEXT,
}

_FILES: Columns = {
    **IDENTITY,
    "path": _TEXT,
    "kind": _TEXT,
    "state": _TEXT,
    "size": _LONG,
    "modified": TimestampType(),
    "identity": _TEXT,
    "findings": _INT,
    "worst": _TEXT,
}

_FINDINGS: Columns = {
    **IDENTITY,
    "code": _TEXT,
    "severity": _TEXT,
    "text": _TEXT,
    "position": _LONG,
    "offset": _LONG,
    "field": _TEXT,
    "expected": _TEXT,
    "found": _TEXT,
    "advice": _TEXT,
    "undecoded": _FLAG,
}

_TYPED: Columns = {
    **IDENTITY,
    **_PLACE,
    "type": _TEXT,
    "version": _INT,
    "valid": _FLAG,
    "error": _TEXT,
}
"""What stands before the fields of a record type."""


@cache
def record_types() -> tuple[str, ...]:
    """Every record type of the catalogue that has a source of its own: data, then control."""
    control = dict.fromkeys(record_type.message for record_type in ControlRecordType)
    return (*schema.names("metadata"), *control)


@cache
def types_of(name: str) -> frozenset[str]:
    """Return what the column `type` has for a record of the catalogue: its name in Kafka's
    sources.
    """
    labels = {record_type.label for record_type in ControlRecordType if record_type.message == name}
    return frozenset(labels or {name})


def column_of(name: str) -> str:
    """The column of a record's field: its own name, unless the log's numbers have it."""
    return f"record_{name}" if name.lower() in _TYPED else name


def typed_fields(record: str) -> tuple[Field, ...]:
    """The fields of a record type that become columns.

    The version that a control record's value opens with is the column `version` already.
    """
    fields = schema.message(record).fields
    if record in schema.names("metadata"):
        return fields
    return tuple(field for field in fields if field.name != "version")


def spark_type(field: Field) -> DataType:
    """The Spark type of a field, nested as deep as it is."""
    kind: DataType
    if field.is_struct:
        kind = StructType([StructField(each.name, spark_type(each)) for each in field.fields])
    else:
        kind = _SCALARS[field.element]
    return ArrayType(kind) if field.is_array else kind


@cache
def columns(source: str) -> Columns:
    """The columns of a source, by the name of its format."""
    fixed = {RECORDS: _RECORDS, BATCHES: _BATCHES, FILES: _FILES, FINDINGS: _FINDINGS}
    if source in fixed:
        return fixed[source]
    record = source.removeprefix(f"{RECORDS}.")
    fields = {
        column_of(typed_field.name): spark_type(typed_field) for typed_field in typed_fields(record)
    }
    return {**_TYPED, **fields}


def spark_schema(source: str, wanted: Iterable[str] = (), *, variant: bool = False) -> StructType:
    """The schema of a source, or of those of its columns that are wanted, in that order."""
    known = {**columns(source), **(VARIANT if variant else {})}
    by_lower = {name.lower(): name for name in known}
    names = []
    for each in wanted:
        if each.strip().lower() not in by_lower:
            raise KraftoolError(
                f"{source} has no column {each.strip()}", hint=f"it has {', '.join(known)}"
            )
        names.append(by_lower[each.strip().lower()])
    return StructType([StructField(name, known[name]) for name in names or known])
