"""The topics, brokers, configs and other objects that the records of a loss concern, by name.

Owns which field of a record names its object. It reads names from the log, so a plan from a collect
file has no names. It reads no value of a config and no credential. It refuses to guess the objects
of a damaged record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.log_record import LogRecord, decode_batch, decode_data
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Item, Walk
from kraftool.image.acls import ACL_RESOURCES
from kraftool.image.configs import RESOURCE_TYPES
from kraftool.repair.log_survey import SegmentFile
from kraftool.repair.plan import UNREADABLE, LostObjects, LostRecords
from kraftool.reports.logs.native_sieve import sieve_for
from kraftool.reports.state.entities import word
from kraftool.reports.text.words import many, offsets

MOST_NAMES = 20
"""So many names of a kind are kept."""

_Data = Mapping[str, Any]


def _config(data: _Data) -> str:
    kind = RESOURCE_TYPES.get(data["resourceType"], "UNKNOWN").lower()
    return f"{kind} {data['resourceName'] or '(default)'}: {data['name']}"


def _acl(data: _Data) -> str:
    kind = word(ACL_RESOURCES, data["resourceType"]).lower()
    return f"{data['principal']} on {kind} {data['resourceName']}"


def _quota(data: _Data) -> str:
    entity = ", ".join(
        f"{part['entityType']} {part['entityName'] or '(default)'}" for part in data["entity"]
    )
    return f"{entity}: {data['key']}"


_TOPIC, _DELETED_TOPIC = "topics", "deleted topics"
_TOPIC_RECORD, _TOPIC_FRAME = "TopicRecord", b"\x01\x02"
_OF_TOPICS = (_TOPIC_RECORD, "PartitionRecord", "PartitionChangeRecord", "ClearElrRecord")
_NAMES: dict[str, tuple[str, Callable[[_Data], object]]] = {
    "RegisterBrokerRecord": ("brokers", lambda data: data["brokerId"]),
    "UnregisterBrokerRecord": ("brokers", lambda data: data["brokerId"]),
    "BrokerRegistrationChangeRecord": ("brokers", lambda data: data["brokerId"]),
    "FenceBrokerRecord": ("brokers", lambda data: data["id"]),
    "UnfenceBrokerRecord": ("brokers", lambda data: data["id"]),
    "RegisterControllerRecord": ("controllers", lambda data: data["controllerId"]),
    "ConfigRecord": ("configs", _config),
    "AccessControlEntryRecord": ("ACLs", _acl),
    "RemoveAccessControlEntryRecord": ("deleted ACLs", lambda data: data["id"]),
    "UserScramCredentialRecord": ("SCRAM users", lambda data: data["name"]),
    "RemoveUserScramCredentialRecord": ("SCRAM users", lambda data: data["name"]),
    "ClientQuotaRecord": ("quotas", _quota),
    "DelegationTokenRecord": ("delegation tokens", lambda data: f"of {data['owner']}"),
    "RemoveDelegationTokenRecord": ("delegation tokens", lambda data: "removed"),
    "FeatureLevelRecord": ("features", lambda data: data["name"]),
}


_UNDECODED = "records that cannot be decoded"


@dataclass(slots=True)
class _Names:
    """The names in a stretch of a log. Topics are known by their ids until all records passed."""

    first: int
    names: dict[str, dict[str, None]] = field(default_factory=dict)
    topic_ids: dict[str, dict[str, None]] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    """Names by id, also of topics that were created before."""
    records: int = 0
    """The records of the sound batches in the stretch."""
    undecoded: list[str] = field(default_factory=list)
    """The records among them that do not show their objects."""

    def take(self, batch: RecordBatch) -> None:
        """Take a sound batch. All of it is lost: a batch is committed as one."""
        if batch.last_offset < self.first:
            self._take_topics(batch)
            return
        offset, self.records = batch.base_offset, self.records + batch.header.record_count
        try:
            for record in decode_batch(batch):
                self._take_lost(record)
                offset = record.record.offset + 1
        except KraftoolError:
            self.undecoded.append(offsets(offset, batch.last_offset + 1))

    def _take_topics(self, batch: RecordBatch) -> None:
        """Take only the names of topics. A log can be long, with the loss at its end."""
        with suppress(KraftoolError):
            for record in decode_data(
                record
                for record in batch.shared_records()
                if record.value is not None and record.value.startswith(_TOPIC_FRAME)
            ):
                self._take_topic(record)

    def _take_topic(self, record: LogRecord) -> None:
        if isinstance(record.data, Mapping):
            self.topics[str(record.data["topicId"])] = str(record.data["name"])

    def _take_lost(self, record: LogRecord) -> None:
        if record.is_control:
            return
        data = record.data
        if not isinstance(data, Mapping):
            self.undecoded.append(f"{record.type or 'a record'} at offset {record.record.offset}")
            return
        if record.name == _TOPIC_RECORD:
            self._take_topic(record)
        if record.name == "RemoveTopicRecord":
            self.topic_ids.setdefault(_DELETED_TOPIC, {})[str(data["topicId"])] = None
        elif record.name in _OF_TOPICS:
            topic = data.get("topicId") or data.get("topicName")
            if topic is not None:
                self.topic_ids.setdefault(_TOPIC, {})[str(topic)] = None
        elif record.name in _NAMES:
            kind, name_of = _NAMES[record.name]
            self.names.setdefault(kind, {})[str(name_of(data))] = None

    def objects(self, readable: int) -> Iterable[LostObjects]:
        """The objects; `readable` is how many records a survey could read."""
        for kind in (_TOPIC, _DELETED_TOPIC):
            ids = self.topic_ids.get(kind, {})
            if ids:
                names = (self.topics.get(topic_id, f"topic id {topic_id}") for topic_id in ids)
                yield _objects(kind, dict.fromkeys(names))
        for kind in dict.fromkeys(kind for kind, _ in _NAMES.values()):
            if kind in self.names:
                yield _objects(kind, self.names[kind])
        undecoded = self.undecoded
        if readable > self.records:  # a survey puts flipped bits back
            undecoded = [*undecoded, f"{many(readable - self.records, 'record')} with flipped bits"]
        if undecoded:
            yield _objects(_UNDECODED, undecoded)


def _objects(kind: str, names: Iterable[str]) -> LostObjects:
    all_names = list(names)
    return LostObjects(kind=kind, count=len(all_names), names=tuple(all_names[:MOST_NAMES]))


def _left(walk: Walk, first: int) -> Iterator[Item]:
    """The items of a walk, except batches before an offset that create no topic."""
    sieve = sieve_for([_TOPIC_RECORD])
    for item in walk.spans():
        if not isinstance(item, BatchSpan):
            yield item
        elif sieve is None or item.last_offset >= first:
            yield from item.read_batches(item.at, item.end)
        else:
            yield from sieve.left(item)


def with_objects(records: LostRecords, segments: Sequence[SegmentFile]) -> LostRecords:
    """The records with the names of their objects, read from the log that has them."""
    names = _Names(records.first_offset)
    for segment in sorted(segments, key=lambda segment: segment.base_offset):
        if segment.base_offset >= records.end_offset:
            break
        with segment.open() as source:
            for item in _left(Walk(source.read_at), records.first_offset):
                if not isinstance(item, Faulty) and item.base_offset < records.end_offset:
                    names.take(item)
    readable = sum(count.count for count in records.types if count.type != UNREADABLE)
    return replace(records, objects=tuple(names.objects(readable)), has_names=True)
