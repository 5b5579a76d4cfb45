"""Events of topics and partitions: created, deleted, unclean elections, partitions without leader.

Owns the summing up by batch: a broker that dies takes the leaders of thousands of partitions with
it, which is one event and not thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kraftool.image.configs import TOPIC
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.words import many
from kraftool.reports.timeline.batches import Watched
from kraftool.reports.timeline.event_words import named
from kraftool.reports.timeline.events import Category, Event
from kraftool.reports.timeline.knowledge import Knowledge
from kraftool.reports.timeline.record_event import record_event

MOST_LISTED = 1000
"""Partitions that an event lists at most; it always counts all."""


def create_topic(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A TopicRecord."""
    name, id = record.data["name"], record.data["topicId"]
    known.topics[id] = name
    known.new_topics.add(name)
    known.metadata.topics_created += 1
    yield _topic(record, epoch, "topic-created", f"topic {name} created", name, id)


def delete_topic(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A RemoveTopicRecord."""
    id = record.data["topicId"]
    name = known.topic(id)
    known.metadata.topics_deleted += 1
    known.metadata.configs.pop((TOPIC, name), None)  # no record says so
    yield _topic(record, epoch, "topic-deleted", f"topic {name} deleted", name, id)


def count_partitions(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """The PartitionRecords of a batch: those of new topics are only counted."""
    known.metadata.partitions_created += record.data["count"]
    for id, partition_ids in record.data["added"].items():
        name, count = known.topic(id), len(partition_ids)
        what = f"{many(count, 'partition')} added to topic {name}"
        what += f", which now has {max(partition_ids) + 1}"
        yield _topic(
            record, epoch, "partitions-added", what, name, id, Category.PARTITIONS,
            partitionIds=sorted(partition_ids)[:MOST_LISTED], count=count,
        )  # fmt: skip


def clear_elr(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A ClearElrRecord, of one topic or, without a name, of all."""
    name = record.data["topicName"]
    what = f"eligible leader replicas of {f'topic {name}' if name else 'all topics'} cleared"
    data = {"topic": name or None}
    topics = (name,) if name else ()
    yield record_event(record, epoch, Category.PARTITIONS, "elr-cleared", what, data, topics=topics)


def _topic(
    record: Watched,
    epoch: int,
    type: str,
    what: str,
    name: str,
    id: str,
    category: Category = Category.TOPICS,
    **data: object,
) -> Event:
    is_known = name != id
    fields = {"topic": name if is_known else None, "topicId": id, **data}
    details = [f"id {id}"] if is_known else []
    return record_event(record, epoch, category, type, what, fields, details, topics=(name, id))


def changes(records: Sequence[Watched], epoch: int, known: Knowledge) -> Iterator[Event]:
    """The PartitionChangeRecords of one batch that take a leader away or elect an unclean one, or
    move replicas."""
    unclean = [record for record in records if record.data.get("leaderRecoveryState", -1) == 1]
    if unclean:
        leaders = {
            record.data["leader"] for record in unclean if record.data.get("leader", -2) >= 0
        }
        first = unclean[0].data
        what = many(len(unclean), "unclean leader election")
        details = (
            [f"led by {named([str(leader) for leader in sorted(leaders)])}"] if leaders else []
        )
        if len(unclean) == 1 and first.get("isr") is not None:
            details.append(f"ISR {first['isr']}")
        details.append("records may be lost")
        yield _partitions(
            unclean, epoch, known, "unclean-election", what, details, severity=Severity.ERROR
        )
    without = [record for record in records if record.data.get("leader", -2) == -1]
    if without:
        what = f"{many(len(without), 'partition')} without a leader"
        yield _partitions(without, epoch, known, "leaderless", what, severity=Severity.WARNING)
    moving = [record for record in records if _is_moving(record.data)]
    if moving:
        what = f"reassignment of {many(len(moving), 'partition')} began"
        yield _partitions(moving, epoch, known, "reassignment-began", what)
    moved = [
        record for record in records if record.data.get("replicas") and not _is_moving(record.data)
    ]
    if moved:
        what = f"replicas of {many(len(moved), 'partition')} changed"
        details = [f"now {moved[0].data['replicas']}"] if len(moved) == 1 else []
        yield _partitions(moved, epoch, known, "replicas-changed", what, details)


def _is_moving(change: dict[str, Any]) -> bool:
    return bool(change.get("addingReplicas") or change.get("removingReplicas"))


def _partitions(
    records: Sequence[Watched],
    epoch: int,
    known: Knowledge,
    type: str,
    what: str,
    details: Sequence[str] = (),
    *,
    severity: Severity = Severity.INFO,
) -> Event:
    """Return an event of several partitions. Their names follow its words."""
    ids = [record.data["topicId"] for record in records]
    names = [
        f"{known.topic(id)}-{record.data['partitionId']}"
        for id, record in zip(ids, records, strict=True)
    ]
    listed = [
        {
            "partition": name,
            "topicId": record.data["topicId"],
            "offset": record.offset,
            "leader": None if (leader := record.data.get("leader", -2)) == -2 else leader,
        }
        for name, record in zip(names[:MOST_LISTED], records[:MOST_LISTED], strict=True)
    ]
    data = {"count": len(records), "partitions": listed}
    return record_event(
        records[0], epoch, Category.PARTITIONS, type, f"{what}: {named(names)}", data, details,
        severity=severity, topics={*ids, *map(known.topic, ids)},
    )  # fmt: skip
