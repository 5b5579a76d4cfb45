"""Puts metadata transactions into a stopped controller's log, as a leader would have left them.

Owns the batches that are appended, made with our encoder. Kafka opens a transaction only for its
bootstrap records and for a migration, and ends it at once: aborted ones are rare, and not to be had
from it on request. Where only an open one is appended, the next leader aborts it itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.meta_properties import decode as decode_meta_properties
from kraftool.decoders.segment import scan

ABORTED_TOPIC, ABORTED_ID = "never-was", "AbortedTopicIdAAAAAAAA"
PLAIN_TOPIC, PLAIN_ID = "plain", "PlainTopicIdAAAAAAAAAA"

Record = tuple[str, int, dict[str, Any]]


@dataclass(slots=True)
class Appender:
    """The end of a log: its next offset, its epoch, and the batches that are to follow."""

    data: bytes
    offset: int = 0
    epoch: int = 0
    timestamp: int = 0
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        last = None
        for item in scan(lambda at, size: self.data[at : at + size]):
            assert isinstance(item, RecordBatch), "the log to append to must be healthy"
            last = item
        assert last is not None
        self.offset, self.epoch = last.last_offset + 1, last.epoch
        self.timestamp = last.header.max_timestamp

    def append(self, *records: Record) -> None:
        """One batch, as the leader of the last epoch would append it."""
        self.timestamp += 1000
        encoded = [(None, encode_record(*record)) for record in records]
        batch = encode_batch(
            encoded, base_offset=self.offset, epoch=self.epoch, timestamp=self.timestamp
        )
        names = ", ".join(
            f"{name} v{version} {json.dumps(value)}" for name, version, value in records
        )
        self.told.append(f"offset {self.offset}, position {len(self.data)}: {names}")
        self.data += batch
        self.offset += len(records)


def topic(name: str, topic_id: str, directory_id: str, broker: int = 1) -> Iterable[Record]:
    """The records of a new topic with one partition."""
    yield "TopicRecord", 0, {"name": name, "topicId": topic_id}
    yield (
        "PartitionRecord",
        2,
        {
            "partitionId": 0,
            "topicId": topic_id,
            "replicas": [broker],
            "isr": [broker],
            "removingReplicas": [],
            "addingReplicas": [],
            "leader": broker,
            "leaderEpoch": 0,
            "partitionEpoch": 0,
            "directories": [directory_id],
        },
    )


def with_open_transaction(log: bytes, directory_id: str) -> Appender:
    """A transaction that creates a topic and is never ended."""
    to = Appender(log)
    to.append(
        ("BeginTransactionRecord", 0, {"name": "opened by hand"}),
        *topic(ABORTED_TOPIC, ABORTED_ID, directory_id),
    )
    return to


def with_aborted_transaction(log: bytes, directory_id: str) -> Appender:
    """A transaction over two batches that is aborted, and a topic and a config outside of it."""
    to = with_open_transaction(log, directory_id)
    config = {"resourceType": 2, "resourceName": ABORTED_TOPIC}
    to.append(("ConfigRecord", 0, config | {"name": "retention.ms", "value": "1"}))
    to.append(("AbortTransactionRecord", 0, {"reason": "aborted by hand"}))
    to.append(*topic(PLAIN_TOPIC, PLAIN_ID, directory_id))
    config |= {"resourceName": PLAIN_TOPIC, "name": "retention.ms", "value": "7200000"}
    to.append(("ConfigRecord", 0, config))
    return to


def directory_id(meta_properties: Path) -> str:
    """The id of a data directory, which partitions name since 3.7."""
    value = decode_meta_properties(meta_properties.read_bytes())[0].directory_id
    assert value is not None
    return value
