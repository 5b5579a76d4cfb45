"""The catalogue: every message of Kafka as facts, looked up by name or by api key.

Owns the lookup. The facts stand in `metadata_records`, `data_messages` and `rpc_messages`, which
`tools/catalogue.py` writes from released jars; a block is parsed when it is first asked for.
"""

from __future__ import annotations

from functools import cache, lru_cache

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.schema.kafka_release import KAFKA
from kraftool.decoders.schema.notation import Field, MessageSchema, Versions, parse

__all__ = [
    "KAFKA",
    "NEWEST_RELEASE",
    "Field",
    "MessageSchema",
    "UnknownMessage",
    "Versions",
    "message",
    "metadata_record",
    "names",
]

NEWEST_RELEASE = ".".join(KAFKA.split(".")[:2])
"""The newest release that is known, without its patch: whatever says "Kafka up to" names it."""

MOST_KEYS = 1024
"""Lookups by api key that stay in memory. Each record of damaged data may have another key."""

_MODULES = ("metadata_records", "data_messages", "rpc_messages")


class UnknownMessage(KraftoolError):
    """A name or api key that the catalogue does not have."""


@cache
def _blocks(module: str) -> dict[str, str]:
    from importlib import import_module

    text: str = import_module(f"kraftool.decoders.schema.{module}").MESSAGES
    return {block.split(None, 1)[0]: block for block in text.strip().split("\n\n")}


@cache
def message(name: str) -> MessageSchema:
    """Return the message of this name, as in `FetchRequest` or `PartitionRecord`."""
    for module in _MODULES:
        block = _blocks(module).get(name)
        if block is not None:
            return parse(block)
    raise UnknownMessage(f"no message is named {name}")


@cache
def _keys(module: str) -> dict[tuple[str, int], str]:
    message_names = {}
    for name, block in _blocks(module).items():
        _, kind, key, _ = block.split(None, 3)
        if key != "-":
            message_names[kind, int(key)] = name
    return message_names


@lru_cache(maxsize=MOST_KEYS)
def metadata_record(api_key: int) -> MessageSchema | None:
    """Return the metadata record with this api key, or None for one that the catalogue lacks."""
    name = _keys("metadata_records").get(("metadata", api_key))
    return message(name) if name is not None else None


def names(kind: str = "") -> list[str]:
    """Name every message, or those of one kind (request, response, header, metadata, data)."""
    return sorted(
        name
        for module in _MODULES
        for name, block in _blocks(module).items()
        if not kind or block.split(None, 2)[1] == kind
    )


@cache
def record_type(name: str) -> str:
    """Name a record as Kafka's MetadataRecordType does: PartitionRecord is PARTITION_RECORD."""
    # Kafka's MessageGenerator.toSnakeCase: an underscore before each capital but the first.
    return "".join(f"_{c}" if c.isupper() and i else c.upper() for i, c in enumerate(name))
