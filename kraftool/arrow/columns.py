"""The columns of every source: names and Arrow types, from the catalogue where records have them.

Owns the schemas and how a field of Kafka's becomes a column. A typed column holds what Kafka's JSON
form of the record has: null for a field that the record's version lacks, and for a tagged field at
its default. A uuid and bytes are text, as in that form.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from kraftool.arrow.comments import comment_of
from kraftool.arrow.enum_names import words_of
from kraftool.arrow.state_columns import ENTITIES, entity_columns
from kraftool.arrow.untyped import ArrowSchema, ArrowType, pa
from kraftool.decoders import schema
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.schema import Field

RECORDS, BATCHES, FILES, FINDINGS = "kraft", "kraft.batches", "kraft.files", "kraft.findings"
STATE = "kraft.state"
COMMENT = "comment"
"""The key of a column's comment in Arrow's metadata, and in Spark's."""

TEXT, INT, LONG, FLAG = pa.string(), pa.int32(), pa.int64(), pa.bool_()
MOMENT = pa.timestamp("us", tz="UTC")

_SCALARS: dict[str, ArrowType] = {
    "bool": FLAG,
    "int8": pa.int8(),
    "int16": pa.int16(),
    "uint16": INT,
    "int32": INT,
    "uint32": LONG,
    "int64": LONG,
    "float64": pa.float64(),
    # As in Kafka's JSON form, where a masked secret has room too.
    "string": TEXT,
    "uuid": TEXT,
    "bytes": TEXT,
    "records": TEXT,
}

_CONTROL = {kind.label: kind.message for kind in ControlRecordType}
"""Control records, by the names that Kafka's tools print and the column `type` has."""

Columns = dict[str, ArrowType]


def list_of(kind: ArrowType) -> ArrowType:
    """The Arrow type of a list, whose items are called as Spark calls them."""
    return pa.list_(pa.field("element", kind))


IDENTITY: Columns = {
    "cluster_id": TEXT,
    "node_id": INT,
    "directory_id": TEXT,
    "directory": TEXT,
    "file": TEXT,
}
"""Whose file it is, as its meta.properties says; the same in every source."""

_PLACE: Columns = {
    "position": LONG,
    "base_offset": LONG,
    "offset": LONG,
    "epoch": INT,
    "timestamp": MOMENT,
    "timestamp_ms": LONG,
}
"""Where a record lies. `timestamp` is null where no calendar reaches, `timestamp_ms` never."""

_RECORDS: Columns = {
    **IDENTITY,
    "kind": TEXT,
    **_PLACE,
    "control": FLAG,
    "type": TEXT,
    "version": INT,
    "key_size": INT,
    "value_size": INT,
    "valid": FLAG,
    "payload": TEXT,
    "raw": pa.binary(),
    "error": TEXT,
    "damage": TEXT,
    "size": LONG,
    "generation": INT,
}
_VARIANT_PARTS = [
    pa.field("value", pa.binary(), nullable=False),
    pa.field("metadata", pa.binary(), nullable=False, metadata={"variant": "true"}),
]
OF_FRAMES = frozenset(IDENTITY) | frozenset(_PLACE) | {
    "kind", "control", "key_size", "value_size", "valid", "damage", "size", "generation",
}  # fmt: skip
"""Columns of `kraft` for which no record has to be decoded."""
VARIANT: Columns = {"data": pa.struct(_VARIANT_PARTS)}
"""What the option `variant` adds: the payload, parsed, in Spark's form of VARIANT."""

_BATCHES: Columns = {
    **IDENTITY,
    "kind": TEXT,
    "position": LONG,
    "base_offset": LONG,
    "last_offset": LONG,
    "count": INT,
    "epoch": INT,
    "timestamp": MOMENT,
    "timestamp_ms": LONG,
    "size": LONG,
    "magic": INT,
    "compression": TEXT,
    "control": FLAG,
    "transactional": FLAG,
    "crc": LONG,
    "valid": FLAG,
    "error": TEXT,
    "damage": TEXT,
}

_FILES: Columns = {
    **IDENTITY,
    "path": TEXT,
    "kind": TEXT,
    "state": TEXT,
    "size": LONG,
    "modified": MOMENT,
    "identity": TEXT,
    "findings": INT,
    "worst": TEXT,
}

_FINDINGS: Columns = {
    **IDENTITY,
    "code": TEXT,
    "severity": TEXT,
    "text": TEXT,
    "position": LONG,
    "offset": LONG,
    "field": TEXT,
    "expected": TEXT,
    "found": TEXT,
    "advice": TEXT,
    "undecoded": FLAG,
}

_OWNER: Columns = {name: kind for name, kind in IDENTITY.items() if name != "file"}
_END: Columns = {"newest": FLAG, "end_offset": LONG, "end_epoch": INT}
"""Up to where a state goes: the offset after the last record in it, and that record's epoch; and
whether no other directory of the cluster goes further."""
SUMMARY: Columns = {
    **_END,
    "timestamp": MOMENT,
    "timestamp_ms": LONG,
    "start_offset": LONG,
    "snapshot": TEXT,
    "complete": FLAG,
    "error": TEXT,
}
"""Of a state as a whole: when its last record was written, from where on the log was replayed after
which snapshot, if all is there that it consists of, and why there is none."""

_TYPED: Columns = {
    **IDENTITY,
    **_PLACE,
    "type": TEXT,
    "version": INT,
    "valid": FLAG,
    "error": TEXT,
}
"""What stands before the fields of a record type."""


@cache
def record_types() -> tuple[str, ...]:
    """Every record type of the catalogue that has a source of its own: data, then control."""
    return (*schema.names("metadata"), *_CONTROL)


@cache
def sources() -> tuple[str, ...]:
    """Every source: records, batches, files, findings, states and their entities, and each type."""
    entities = (f"{STATE}.{rows}" for rows in ENTITIES)
    typed = (f"{RECORDS}.{record}" for record in record_types())
    return (RECORDS, BATCHES, FILES, FINDINGS, STATE, *entities, *typed)


def is_state(source: str) -> bool:
    """True if the rows of a source are of the metadata at the end of a directory."""
    return source == STATE or source.startswith(f"{STATE}.")


def is_of_files(source: str) -> bool:
    """True if the rows of a source are about files as a whole."""
    return source in (FILES, FINDINGS)


def record_of(source: str) -> str | None:
    """The record type that a source has the records of; None if it has others."""
    name = source.removeprefix(f"{RECORDS}.")
    return name if name in record_types() else None


def message_of(record: str) -> str:
    """The message of Kafka's that has the fields of a record type."""
    return _CONTROL.get(record, record)


def column_of(name: str) -> str:
    """The column of a record's field: its own name, unless the log's numbers have it."""
    return f"record_{name}" if name.lower() in _TYPED else name


def typed_fields(record: str) -> tuple[Field, ...]:
    """The fields of a record type that become columns.

    The version that a control record's value opens with is the column `version` already.
    """
    fields = schema.message(message_of(record)).fields
    if record not in _CONTROL:
        return fields
    return tuple(field for field in fields if field.name != "version")


def arrow_type(field: Field) -> ArrowType:
    """The Arrow type of a field, nested as deep as it is."""
    if field.is_struct:
        kind = pa.struct([(part.name, arrow_type(part)) for part in field.fields])
    else:
        kind = _SCALARS[field.element]
    return list_of(kind) if field.is_array else kind


@cache
def columns(source: str) -> Columns:
    """The columns of a source, by the name of its format."""
    fixed = {
        RECORDS: _RECORDS,
        BATCHES: _BATCHES,
        FILES: _FILES,
        FINDINGS: _FINDINGS,
        STATE: {**_OWNER, **SUMMARY},
    }
    if source in fixed:
        return fixed[source]
    if is_state(source):
        return {**_OWNER, **_END, **entity_columns(source.removeprefix(f"{STATE}."))}
    record = source.removeprefix(f"{RECORDS}.")
    fields = {
        column_of(typed_field.name): arrow_type(typed_field) for typed_field in typed_fields(record)
    }
    return {**_TYPED, **fields}


@cache
def _with_words(source: str) -> Columns:
    """The columns of a source, and words beside the numbers that Kafka has words for."""
    record = record_of(source)
    words = {number: name for name, (number, _) in words_of(record).items()} if record else {}
    known: Columns = {}
    for name, kind in columns(source).items():
        known[name] = kind
        if name in words:
            known[words[name]] = TEXT
    return known


@cache
def _comments(source: str) -> dict[str, str]:
    record = record_of(source)
    own = {column_of(field.name): field for field in typed_fields(record)} if record else {}
    message = message_of(record) if record else None
    names = (*_with_words(source), *VARIANT)
    return {name: comment_of(name, message, own.get(name)) for name in names}


def arrow_schema(source: str, wanted: Iterable[str] = (), *, variant: bool = False) -> ArrowSchema:
    """The schema of a source, or of those of its columns that are wanted, in that order.

    Each field has its comment in its metadata.
    """
    known = {**_with_words(source), **(VARIANT if variant else {})}
    by_lower = {name.lower(): name for name in known}
    names = []
    for name in (text.strip() for text in wanted):
        if name.lower() not in by_lower:
            raise KraftoolError(f"{source} has no column {name}", hint=f"it has {', '.join(known)}")
        names.append(by_lower[name.lower()])
    comments = _comments(source)
    return pa.schema(
        [
            pa.field(
                name, known[name], metadata={COMMENT: comments[name]} if comments[name] else None
            )
            for name in names or known
        ]
    )
