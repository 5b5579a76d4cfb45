"""The topics, brokers, configs and other objects that the records of a loss concern, by name.

Owns which field of a record names its object. It reads names from the log, so a plan from a collect
file has no names. It reads no value of a config and no credential. It refuses to guess the objects
of a damaged record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.log_record import LogRecord, decode_batch
from kraftool.decoders.walk import Faulty, Walk
from kraftool.image.configs import RESOURCE_TYPES
from kraftool.repair.log_survey import SegmentFile
from kraftool.repair.plan import LostObjects, LostRecords
from kraftool.reports.state.entities import word
from kraftool.reports.state.shell.kafka_text import ACL_RESOURCES

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
_TOPIC_RECORDS = ("PartitionRecord", "PartitionChangeRecord", "ClearElrRecord")
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


@dataclass(slots=True)
class _Found:
    """The names in a stretch of a log. Topics are known by their ids until all records passed."""

    names: dict[str, dict[str, None]] = field(default_factory=dict)
    topic_ids: dict[str, dict[str, None]] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    """Names by id, also of topics that were created before."""

    def take(self, item: LogRecord, *, is_lost: bool) -> None:
        data = item.data
        if item.is_control or not isinstance(data, Mapping):
            return
        if item.name == "TopicRecord":
            self.topics[str(data["topicId"])] = str(data["name"])
        if not is_lost:
            return
        if item.name == "RemoveTopicRecord":
            self.topic_ids.setdefault(_DELETED_TOPIC, {})[str(data["topicId"])] = None
        elif item.name in _TOPIC_RECORDS or item.name == "TopicRecord":
            topic = data.get("topicId") or data.get("topicName")
            if topic is not None:
                self.topic_ids.setdefault(_TOPIC, {})[str(topic)] = None
        elif item.name in _NAMES:
            kind, name_of = _NAMES[item.name]
            self.names.setdefault(kind, {})[str(name_of(data))] = None

    def objects(self) -> Iterable[LostObjects]:
        for kind in (_TOPIC, _DELETED_TOPIC):
            ids = self.topic_ids.get(kind, {})
            if ids:
                names = (self.topics.get(topic_id, f"topic id {topic_id}") for topic_id in ids)
                yield _objects(kind, dict.fromkeys(names))
        for kind in dict.fromkeys(kind for kind, _ in _NAMES.values()):
            if kind in self.names:
                yield _objects(kind, self.names[kind])


def _objects(kind: str, names: Iterable[str]) -> LostObjects:
    all_names = list(names)
    return LostObjects(kind=kind, count=len(all_names), names=tuple(all_names[:MOST_NAMES]))


def with_objects(records: LostRecords, segments: Sequence[SegmentFile]) -> LostRecords:
    """The records with the names of their objects, read from the log that has them."""
    collector = _Found()
    for segment in sorted(segments, key=lambda segment: segment.base_offset):
        if segment.base_offset >= records.end_offset:
            break
        with segment.open() as source:
            for item in Walk(source.read_at):
                if isinstance(item, Faulty) or item.is_control:
                    continue
                is_lost = records.first_offset <= item.base_offset < records.end_offset
                try:
                    for record in decode_batch(item):
                        collector.take(record, is_lost=is_lost)
                except KraftoolError:
                    continue  # the types say how many records cannot be read
    return replace(records, objects=tuple(collector.objects()), has_names=True)
