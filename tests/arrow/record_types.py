"""The types of records as dump-log's lines have them, beside those of tables."""

from __future__ import annotations

from kraftool.decoders import schema


def type_of_dump_log(name: str) -> str:
    """PARTITION_RECORD for PartitionRecord; control records have one name everywhere."""
    return schema.record_type(name) if name in schema.names("metadata") else name
