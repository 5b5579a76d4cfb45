"""A sentence on each column, for catalogs and DESCRIBE.

Owns the sentences. A column that has none is a field of Kafka's: its comment says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kraftool.arrow.words import words_of
from kraftool.decoders.schema import Field

COMMON: Mapping[str, str] = MappingProxyType(
    {
        "cluster_id": "cluster.id of the directory's meta.properties",
        "node_id": "node.id of the directory's meta.properties",
        "directory_id": "directory.id of the directory's meta.properties",
        "directory": "the data directory",
        "file": "the file that the row is from",
        "position": "byte position in the file",
        "base_offset": "first offset of the batch",
        "last_offset": "last offset of the batch",
        "offset": "offset of the record; in a snapshot it counts the snapshot's own records",
        "epoch": "leader epoch of the batch",
        "timestamp": "time of the record or batch; null where no calendar reaches",
        "timestamp_ms": "the same in epoch milliseconds, never null",
        "control": "true for control records, which Raft writes",
        "type": "record type as Kafka's sources name it",
        "version": "version of the record's format",
        "valid": "true if the batch's CRC is right",
        "error": "why it could not be decoded, read or loaded; null if it could",
        "payload": "the record as Kafka's JSON; secrets are masked",
        "raw": "the bytes of a record that could not be decoded; withheld if they may hold secrets",
        "damage": "kind of damage, of rows of kind problem",
        "generation": "in streams: rises when a log is truncated or written again",
        "kind": "record, batch, problem or change; of a file: what it is",
        "key_size": "bytes of the record's key, -1 for none",
        "value_size": "bytes of the record's value, -1 for none",
        "size": "bytes of the file, of the batch, or of what is damaged",
        "end_offset": "the state's end: the offset after its last record",
        "end_epoch": "leader epoch of the state's last record",
        "data": "the payload as VARIANT",
    }
)


def comment_of(column: str, record: str | None, field: Field | None) -> str:
    """The comment of a column; of a record type's own column, `record` and `field` say of which."""
    if field is not None:
        return f"{record}.{field.name}, {field.type}, in versions {field.versions}"
    if record is not None and column in words_of(record):
        return f"Kafka's word for {words_of(record)[column][0]}; null for a number without one"
    return COMMON.get(column, "")
