"""The effect of each record on topics and partitions, seen while a log is replayed.

Owns the words of the column `change`, and that rows of a metadata transaction wait for its end,
which says whether anybody sees them. It refuses to replay by itself: it stands between the replay
and the image loader, and asks the loader what was before a record and what is after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kraftool.arrow.fleet import FleetDirectory
from kraftool.arrow.untyped import ArrowBatch, pa
from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.redact import config_value
from kraftool.image.configs import TOPIC, ConfigResource
from kraftool.image.delta import MetadataDelta
from kraftool.image.loader import ABORT, BEGIN, END, ImageLoader
from kraftool.image.topics import PartitionRegistration
from kraftool.reports.state.entities import partition_object
from kraftool.reports.text.json_document import json_value
from kraftool.reports.text.printable import file_text
from kraftool.reports.timeline.events import Visibility
from kraftool.spark.tables.taking import RowWriter, Taking

Row = dict[str, Any]

_PARTITION_COLUMNS = {
    "partition": "partition",
    "leaderId": "leader",
    "leaderEpoch": "leader_epoch",
    "partitionEpoch": "partition_epoch",
    "replicaIds": "replicas",
    "isr": "isr",
    "elr": "elr",
    "lastKnownElr": "last_known_elr",
    "addingReplicaIds": "adding_replicas",
    "removingReplicaIds": "removing_replicas",
    "directoryIds": "directories",
    "leaderRecoveryState": "leader_recovery_state",
}
"""The columns of what `state` calls so."""


def partition_columns(number: int, partition: PartitionRegistration) -> Row:
    """A partition as `state` tells it."""
    told = partition_object(number, partition)
    return {column: told[name] for name, column in _PARTITION_COLUMNS.items()}


def config_pairs(configs: Mapping[str, str], *, show_secrets: bool) -> list[tuple[str, str]]:
    """A topic's configs, as a map column takes them; masked unless asked for."""
    return [
        (json_value(name), json_value(_shown(name, configs[name], show_secrets=show_secrets)))
        for name in sorted(configs)
    ]


def _shown(name: str, value: str, *, show_secrets: bool) -> str:
    return value if show_secrets else config_value(TOPIC, name, value) or ""


class _Held:
    """Takes the rows of an open transaction, as compact as Arrow has them."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str | None, ArrowBatch]] = []

    def write(self, table: str, cluster_id: str | None, day: str | None, batch: ArrowBatch) -> None:
        self._rows.append((table, cluster_id, batch))

    def release(self, sink: Taking, visibility: Visibility) -> None:
        """Hand the rows on, now that it is known who sees them."""
        rows, self._rows = self._rows, []
        for table, cluster_id, batch in rows:
            index = batch.schema.get_field_index("visibility")
            field = batch.schema.field(index)
            known = pa.repeat(pa.scalar(visibility.value, field.type), batch.num_rows)
            sink.write(table, cluster_id, None, batch.set_column(index, field, known))


class _Writers:
    """Both histories on their way to one sink."""

    def __init__(self, sink: Taking, owner: FleetDirectory, visibility: Visibility | None) -> None:
        same = {
            "node_id": owner.node_id,
            "directory_id": owner.directory_id,
            "directory": file_text(owner.name),
            "visibility": visibility.value if visibility is not None else None,
        }
        cluster = owner.cluster_id
        self.topics = RowWriter(sink, "topic_history", cluster, same)
        self.partitions = RowWriter(sink, "partition_history", cluster, same)

    def finish(self) -> None:
        self.topics.finish()
        self.partitions.finish()


class ReplayRecorder:
    """Watches a replay and writes what it sees."""

    def __init__(
        self,
        sink: Taking,
        owner: FleetDirectory,
        told: Callable[[str], str],
        *,
        show_secrets: bool,
    ) -> None:
        self._sink, self._told, self._show_secrets = sink, told, show_secrets
        self._held = _Held()
        self._seen = self._to = _Writers(sink, owner, Visibility.VISIBLE)
        self._unsure = _Writers(self._held, owner, None)

    def watch(
        self,
        loader: ImageLoader,
        file: str,
        batch: RecordBatch,
        record: Record,
        name: str,
        value: Row,
    ) -> None:
        """Replay a record, and tell what it changed. Nothing is told of one that does not fit."""
        teller = _TELLERS.get(name)
        if teller is None:
            loader.replay(record.offset, name, value)
            if name == BEGIN:
                self._to = self._unsure
            elif name in (END, ABORT):
                self._release(Visibility.VISIBLE if name == END else Visibility.ABORTED)
            return
        changes = teller(loader.delta, value, self._show_secrets)
        next(changes)  # it looks at what was before
        loader.replay(record.offset, name, value)
        place: Row | None = None
        for row, of_partition in changes:
            if place is None:
                place = {
                    "file": file_text(self._told(file)),
                    "offset": record.offset,
                    "epoch": batch.epoch,
                    "timestamp": record.timestamp,
                    "timestamp_ms": record.timestamp,
                    "type": name,
                }
            writer = self._to.partitions if of_partition else self._to.topics
            writer.add({**place, **row}, weight=row.get("weight", 0))

    def _release(self, visibility: Visibility) -> None:
        self._seen.finish()
        self._unsure.finish()
        self._held.release(self._sink, visibility)
        self._to = self._seen

    def finish(self) -> None:
        """The log has ended; a transaction that is open stays so."""
        self._release(Visibility.OPEN)


_Changes = Iterator[tuple[Row, bool]]
"""First nothing, before the record is replayed; then each row, and whether it is a partition's."""
_NOTHING: tuple[Row, bool] = ({}, False)


def _topic(topic: str | None, topic_id: str | None) -> Row:
    return {"topic": None if topic is None else json_value(topic), "topic_id": topic_id}


def _configs(delta: MetadataDelta, topic: str, show_secrets: bool) -> Row:
    configs = delta.configs.of(ConfigResource(TOPIC, topic))
    weight = sum(len(name) + len(value) for name, value in configs.items())
    return {"configs": config_pairs(configs, show_secrets=show_secrets), "weight": weight}


def _created(delta: MetadataDelta, value: Row, show_secrets: bool) -> _Changes:
    yield _NOTHING
    name = value["name"]
    configs = _configs(delta, name, show_secrets)
    yield {**_topic(name, value["topicId"]), **configs, "change": "created"}, False


def _removed(delta: MetadataDelta, value: Row, show_secrets: bool) -> _Changes:
    topic_id = value["topicId"]
    topic = _topic(delta.topics.name_of(topic_id), topic_id)
    numbers = sorted(delta.topics.partitions(topic_id))
    yield _NOTHING
    yield {**topic, "change": "removed"}, False
    for number in numbers:
        yield {**topic, "partition": number, "change": "removed"}, True


def _configured(delta: MetadataDelta, value: Row, show_secrets: bool) -> _Changes:
    yield _NOTHING
    if value["resourceType"] == TOPIC:
        name = value["resourceName"]
        change = "config removed" if value["value"] is None else "config set"
        topic = _topic(name, delta.topics.id_of(name))
        configs = _configs(delta, name, show_secrets)
        yield {**topic, **configs, "config": json_value(value["name"]), "change": change}, False


def _partition(delta: MetadataDelta, value: Row, show_secrets: bool) -> _Changes:
    topic_id, number = value["topicId"], value["partitionId"]
    before = delta.topics.partition(topic_id, number)
    yield _NOTHING
    change = "created" if before is None else "replaced"
    yield {**_of_partition(delta, topic_id, number), "change": change}, True


def _changed(delta: MetadataDelta, value: Row, show_secrets: bool) -> _Changes:
    yield _NOTHING
    row = _of_partition(delta, value["topicId"], value["partitionId"])
    yield {**row, "change": "changed"}, True


def _elr_cleared(delta: MetadataDelta, value: Row, show_secrets: bool) -> _Changes:
    found = delta.topics.with_elr(value["topicName"])
    yield _NOTHING
    for topic_id, numbers in found.items():
        for number in numbers:
            yield {**_of_partition(delta, topic_id, number), "change": "ELR cleared"}, True


def _of_partition(delta: MetadataDelta, topic_id: str, number: int) -> Row:
    partition = delta.topics.partition(topic_id, number)
    assert partition is not None, "it was replayed just now"
    topic = _topic(delta.topics.name_of(topic_id), topic_id)
    return {**topic, **partition_columns(number, partition)}


_TELLERS: dict[str, Callable[[MetadataDelta, Row, bool], _Changes]] = {
    "TopicRecord": _created,
    "RemoveTopicRecord": _removed,
    "ConfigRecord": _configured,
    "PartitionRecord": _partition,
    "PartitionChangeRecord": _changed,
    "ClearElrRecord": _elr_cleared,
}
