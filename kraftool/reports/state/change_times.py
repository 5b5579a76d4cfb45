"""The time of each difference between two states of one log: its last record that changed it.

Owns which records change which entity. It gives no time if the states are not of one
log, or if the log does not have all records between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.log_record import decode_data
from kraftool.decoders.native_values import NativeValues, native_values
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Walk
from kraftool.image.configs import TOPIC
from kraftool.image.topics import TopicImage
from kraftool.reports.logs.source import LogFile
from kraftool.reports.state.diff import ChangeType, EntityChange
from kraftool.reports.state.files import StateFiles, base_offset

Key = tuple[Any, ...]
_Decoded = tuple[int, int, str, dict[str, Any]]
_OF_PARTITIONS = frozenset({"PartitionRecord", "PartitionChangeRecord"})


class LastRecord(NamedTuple):
    """The record that changed an entity last."""

    offset: int
    timestamp: int


def dated(
    changes: Iterable[EntityChange], times: Mapping[Key, LastRecord]
) -> Iterator[EntityChange]:
    """The same changes, each with its last record if that is known."""
    for change in changes:
        last = _last_of(change, times)
        yield (
            change
            if last is None
            else replace(change, last_offset=last.offset, last_timestamp=last.timestamp)
        )


def _last_of(change: EntityChange, times: Mapping[Key, LastRecord]) -> LastRecord | None:
    """The last record of an entity; None if a later record may have changed it as well."""
    own, other = _latest(_keys_of(change), times), _latest(_unsure_keys_of(change), times)
    if other is None or (own is not None and own.offset > other.offset):
        return own
    return other if own is None else None


def _latest(keys: Iterable[Key], times: Mapping[Key, LastRecord]) -> LastRecord | None:
    return max((times[key] for key in keys if key in times), default=None)


def last_records(
    files: StateFiles, first: int, end: int, topics: Mapping[str, TopicImage]
) -> dict[Key, LastRecord]:
    """Return the last record of each entity between two offsets; empty if a batch is missing.
    `topics` are the topics at the first offset, by id."""
    if not files.segments or base_offset(files.segments[0]) > first:
        return {}
    names = {topic_id: topic.name for topic_id, topic in topics.items()}
    times, pending = dict[Key, LastRecord](), list[tuple[Key, LastRecord]]()
    in_transaction, reached, native = False, first, native_values()
    for batch in _batches(files, first, end):
        if batch.base_offset > reached:
            return {}
        reached = batch.last_offset + 1
        for offset, timestamp, name, data in _decoded(batch, native):
            if not first <= offset < end:
                continue
            last = LastRecord(offset, timestamp)
            if name in _OF_PARTITIONS and not in_transaction:
                # Most of a log is such records.
                times["partition", data["topicId"], data["partitionId"]] = last
            elif name == "BeginTransactionRecord":
                in_transaction = True
            elif name in ("EndTransactionRecord", "AbortTransactionRecord"):
                times.update(pending if name == "EndTransactionRecord" else ())
                pending, in_transaction = [], False
            elif in_transaction:
                pending += ((key, last) for key in _keys(name, data, names))
            else:
                times.update((key, last) for key in _keys(name, data, names))
    return times if reached >= end else {}


def _decoded(batch: RecordBatch, native: NativeValues | None) -> Iterator[_Decoded]:
    """The data records of a batch, as far as they can be decoded: offset, time, name and value."""
    if batch.is_control:
        return
    offset, timestamp = batch.base_offset, batch.header.base_timestamp
    for values in () if native is None else native.read(batch):
        # All records of a plain batch have its time.
        for name, data in values:
            yield offset, timestamp, name, data
            offset += 1
    if offset > batch.last_offset:
        return
    try:
        for record in decode_data(islice(batch.records(), offset - batch.base_offset, None)):
            if record.data is not None:
                yield record.record.offset, record.record.timestamp, record.name, record.data
    except DecodeError:
        return  # the state has a finding for it


def _batches(files: StateFiles, first: int, end: int) -> Iterator[RecordBatch]:
    """The sound batches that have records between two offsets."""
    for segment, following in zip(files.segments, (*files.segments[1:], None), strict=True):
        if following is not None and base_offset(following) <= first:
            continue
        for batch in batches_from(segment, first):
            if batch.base_offset >= end:
                return
            yield batch


def batches_from(segment: LogFile, offset: int) -> Iterator[RecordBatch]:
    """Yield the sound batches of a segment, from the batch with `offset` on."""
    with segment.open() as source:
        for item in Walk(source.read_at).spans():
            if isinstance(item, Faulty) or item.last_offset < offset:
                continue
            batches = (
                item.read_batches(item.at, item.end) if isinstance(item, BatchSpan) else (item,)
            )
            yield from (batch for batch in batches if batch.last_offset >= offset)


def _keys(name: str, data: dict[str, Any], names: dict[str, str]) -> Iterator[Key]:
    """The entities that a record changes. `names` are those of topics, by id."""
    match name:
        case "FeatureLevelRecord":
            yield "feature", data["name"]
        case "ZkMigrationStateRecord":
            yield ("zkMigration",)
        case "ProducerIdsRecord":
            yield ("producerIds",)
        case "RegisterBrokerRecord" | "UnregisterBrokerRecord" | "BrokerRegistrationChangeRecord":
            yield "broker", data["brokerId"]
        case "FenceBrokerRecord" | "UnfenceBrokerRecord":
            yield "broker", data["id"]
        case "RegisterControllerRecord" | "UnregisterControllerRecord":
            yield "controller", data["controllerId"]
        case "TopicRecord":
            yield "topic", data["topicId"]
            names[data["topicId"]] = data["name"]
        case "RemoveTopicRecord":
            yield "topic", data["topicId"]
            yield "configs", names.get(data["topicId"])
        case "ClearElrRecord":
            yield "elr", data["topicName"] or ""
        case "PartitionRecord" | "PartitionChangeRecord":
            yield "partition", data["topicId"], data["partitionId"]
        case "ConfigRecord":
            yield "config", data["resourceType"], data["resourceName"], data["name"]
        case "ClientQuotaRecord":
            parts = ((part["entityType"], part["entityName"]) for part in data["entity"])
            yield "clientQuota", frozenset(parts), data["key"]
        case "AccessControlEntryRecord" | "RemoveAccessControlEntryRecord":
            yield "acl", data["id"]
        case "UserScramCredentialRecord" | "RemoveUserScramCredentialRecord":
            yield "scramCredential", data["name"], data["mechanism"]
        case "DelegationTokenRecord" | "RemoveDelegationTokenRecord":
            yield "delegationToken", data["tokenId"]


def _keys_of(change: EntityChange) -> Iterator[Key]:
    """The keys of an entity that changed, as records have them."""
    of, kind = change.entity, change.entity_kind
    match kind:
        case "feature":
            yield kind, of["name"]
        case "broker" | "controller":
            yield kind, of["id"]
        case "topic":
            yield kind, of["topicId"]
        case "partition":
            yield kind, of["topicId"], of["partition"]
            yield "topic", of["topicId"]
        case "config":
            yield kind, of["resourceTypeId"], of["resourceName"], of["name"]
        case "clientQuota":
            parts = frozenset((part["type"], part["name"]) for part in of["entityParts"])
            yield kind, parts, of["key"]
        case "acl":
            yield kind, of["aclId"]
        case "scramCredential":
            yield kind, of["user"], of["mechanismId"]
        case "delegationToken":
            yield kind, of["tokenId"]
        case _:
            yield (kind,)


def _unsure_keys_of(change: EntityChange) -> Iterator[Key]:
    """The keys of records that change an entity only if it has a value at that moment."""
    of, is_removed = change.entity, change.change_type is ChangeType.REMOVED
    if change.entity_kind == "partition" and not is_removed:
        yield "elr", of["topic"]
        yield "elr", ""
    elif change.entity_kind == "config" and is_removed and of["resourceTypeId"] == TOPIC:
        yield "configs", of["resourceName"]
