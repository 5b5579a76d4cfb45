"""The finder of a state: topics, brokers and configs by name, and the partitions of a topic.

Owns what matches, the order and the words of a row. No row shows a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TypeVar

from kraftool.decoders.redact import config_value
from kraftool.image.cluster import BrokerRegistration, ControllerRegistration
from kraftool.image.configs import RESOURCE_TYPES
from kraftool.image.image import MetadataImage
from kraftool.image.topics import NO_LEADER, PartitionRegistration, TopicImage, is_reassigning
from kraftool.reports.findings.status import Status
from kraftool.reports.state.entities import broker_state
from kraftool.reports.state.shell.tree import resource_name
from kraftool.reports.state.summary import (
    MinIsr,
    PartitionCounts,
    is_offline,
    is_under_min_isr,
    is_under_replicated,
)
from kraftool.reports.text.words import many

T = TypeVar("T")

MOST = 500
"""Rows of a kind that are listed; the rest is counted."""


class FoundKind(StrEnum):
    """The kind of thing that a row is about."""

    TOPIC = "topic"
    PARTITION = "partition"
    BROKER = "broker"
    CONTROLLER = "controller"
    CONFIG = "config"
    HEADING = "heading"
    """Words about the rows below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRow:
    """One row of the finder."""

    kind: FoundKind
    name: str = ""
    text: str = ""
    status: Status = Status.NOTE
    path: tuple[str, ...] = ()
    """Its place in the tree of the state; empty if it has none."""


def find_entities(image: MetadataImage, words: str) -> tuple[FoundRow, ...]:
    """Return everything with these words in its name, exact names first, then beginnings of names.

    A config matches by its resource's name or its own.
    """
    wanted = words.strip().casefold()
    least = MinIsr(image)
    return (
        *_cut("topics", _topics(image, wanted), lambda topic: _topic(topic, least)),
        *_cut("brokers", _brokers(image, wanted), _broker),
        *_cut("controllers", _controllers(image, wanted), _controller),
        *_cut("configs", _configs(image, wanted), lambda row: row),
    )


def _cut(what: str, matches: Iterator[T], row: Callable[[T], FoundRow]) -> Iterator[FoundRow]:
    """Yield a row for each of the first matches: a row of a topic counts its partitions."""
    yield from map(row, islice(matches, MOST))
    left = sum(1 for _ in matches)
    if left:
        yield FoundRow(
            kind=FoundKind.HEADING, text=f"… and {left:,} more {what}: type more of the name"
        )


def _rank(name: str, wanted: str) -> tuple[int, str]:
    folded = name.casefold()
    return (0 if folded == wanted else 1 if folded.startswith(wanted) else 2), name


def _topics(image: MetadataImage, wanted: str) -> Iterator[TopicImage]:
    topics = [
        topic
        for topic in image.topics.by_id.values()
        if wanted in topic.name.casefold() or wanted == topic.id.casefold()
    ]
    yield from sorted(topics, key=lambda topic: _rank(topic.name, wanted))


def _topic(topic: TopicImage, least: MinIsr) -> FoundRow:
    counts = PartitionCounts()
    counts.add_all(topic.name, topic.partitions.values(), least)
    parts = [many(counts.partitions, "partition")]
    # What is offline is under min ISR and under-replicated, too: that is said once.
    parts += [
        f"{count:,} {words}"
        for words, count in counts.words()
        if count > (0 if words == "offline" else counts.offline)
    ]
    return FoundRow(
        kind=FoundKind.TOPIC,
        name=topic.name,
        text=", ".join(parts),
        status=_status_of(counts),
        path=("topics", "byName", topic.name),
    )


def _status_of(counts: PartitionCounts) -> Status:
    if counts.offline:
        return Status.BAD
    return Status.WARN if counts.under_min_isr or counts.under_replicated else Status.GOOD


def _brokers(image: MetadataImage, wanted: str) -> Iterator[BrokerRegistration]:
    for node_id, broker in image.cluster.brokers.items():
        if wanted in f"broker {node_id}" or _is_at(broker, wanted):
            yield broker


def _broker(broker: BrokerRegistration) -> FoundRow:
    rack = "" if broker.rack is None else f", rack {broker.rack}"
    return FoundRow(
        kind=FoundKind.BROKER,
        name=str(broker.id),
        text=f"{broker_state(broker)}{rack}, {_listeners(broker)}",
        status=Status.WARN if broker.fenced or broker.in_controlled_shutdown else Status.GOOD,
        path=("cluster", "brokers", str(broker.id)),
    )


def _controllers(image: MetadataImage, wanted: str) -> Iterator[ControllerRegistration]:
    for node_id, controller in image.cluster.controllers.items():
        if wanted in f"controller {node_id}" or _is_at(controller, wanted):
            yield controller


def _controller(controller: ControllerRegistration) -> FoundRow:
    return FoundRow(
        kind=FoundKind.CONTROLLER,
        name=str(controller.id),
        text=_listeners(controller),
        path=("cluster", "controllers", str(controller.id)),
    )


def _is_at(node: BrokerRegistration | ControllerRegistration, wanted: str) -> bool:
    return bool(wanted) and any(wanted in listener.host.casefold() for listener in node.listeners)


def _listeners(node: BrokerRegistration | ControllerRegistration) -> str:
    return ", ".join(
        f"{listener.name}://{listener.host}:{listener.port}" for listener in node.listeners
    )


def _configs(image: MetadataImage, wanted: str) -> Iterator[FoundRow]:
    for resource, configs in image.configs.resources.items():
        kind = RESOURCE_TYPES.get(resource.type, "UNKNOWN").lower()
        named = wanted in resource.name.casefold()
        for name, value in configs.items():
            if named or wanted in name.casefold():
                yield FoundRow(
                    kind=FoundKind.CONFIG,
                    name=f"{kind} {resource.name or '(default)'}",
                    text=f"{name} = {config_value(resource.type, name, value)}",
                    path=("configs", resource_name(resource), name),
                )


# --- one topic ----------------------------------------------------------------------------------


def topic_partitions(image: MetadataImage, name: str) -> tuple[FoundRow, ...]:
    """Return two headings and a row for each partition; nothing if there is no such topic."""
    topic = image.topics.by_name.get(name)
    if topic is None:
        return ()
    least = MinIsr(image)
    row = _topic(topic, least)
    cells = [
        _cells(topic, number, partition, least)
        for number, partition in sorted(topic.partitions.items())
    ]
    headings = ("partition", "leader", "ISR", "replicas", "min ISR", "")
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    states = [_partition_status(partition, least.of(name, partition.leader))
              for _, partition in sorted(topic.partitions.items())]  # fmt: skip
    words = FoundRow(kind=FoundKind.HEADING, name=name, text=f"{row.text}, topic id {topic.id}")
    head = FoundRow(kind=FoundKind.HEADING, text=_line(headings, widths))
    return (
        words,
        head,
        *(
            FoundRow(
                kind=FoundKind.PARTITION,
                name=f"{name}-{number}",
                text=_line(line, widths),
                status=status,
                path=("topics", "byName", name, str(number)),
            )
            for number, line, (status, _) in zip(
                sorted(topic.partitions), cells, states, strict=True
            )
        ),
    )


def _cells(
    topic: TopicImage, number: int, partition: PartitionRegistration, least: MinIsr
) -> tuple[str, ...]:
    min_isr = least.of(topic.name, partition.leader)
    leader = "none" if partition.leader == NO_LEADER else str(partition.leader)
    return (
        f"{topic.name}-{number}",
        leader,
        _ids(partition.isr),
        _ids(partition.replicas),
        str(min_isr),
        _partition_status(partition, min_isr)[1],
    )


def _partition_status(partition: PartitionRegistration, min_isr: int) -> tuple[Status, str]:
    if is_offline(partition):
        elr = f", ELR {_ids(partition.elr)}" if partition.elr else ""
        return Status.BAD, f"offline{elr}"
    if is_under_min_isr(partition, min_isr):
        return Status.WARN, "under min ISR"
    if is_under_replicated(partition):
        return Status.WARN, "under-replicated"
    return (
        (Status.NOTE, "being reassigned") if is_reassigning(partition) else (Status.GOOD, "in sync")
    )


def _ids(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids)) or "-"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(padded).rstrip()
