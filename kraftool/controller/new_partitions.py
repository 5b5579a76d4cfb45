"""Partitions that are to be made: which brokers may have them, and the record of each.

Owns what a new topic and a topic that grows have in common.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kraftool.controller.heartbeats import Heartbeats
from kraftool.controller.placement import UsableBroker
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.image.cluster import BrokerRegistration
from kraftool.image.metadata_version import DIRECTORIES_LEVEL, KAFKA_4_4_LEVEL, partition_version
from kraftool.image.replay import RecordValue, WrittenRecord
from kraftool.image.topics import RECOVERED

MOST_RECORDS = 10_000
"""Of one request, so that they fit into one batch."""
_ASSIGNMENT = "The manual partition assignment"


class NewPartition(NamedTuple):
    """A partition that is to be made."""

    number: int
    replicas: list[int]
    isr: list[int]


def assigned(
    state: ControllerState, number: int, brokers: list[int], *, factor: int | None
) -> NewPartition:
    """A partition on the brokers that a request names. `factor`: the replicas that others have."""
    problem = assignment_problem(state, brokers, factor)
    isr = _isr(state, brokers)
    if problem is None and not isr:
        problem = (
            f"All brokers specified in the manual partition assignment for partition {number} are"
            " fenced or in controlled shutdown."
        )
    if problem is not None:
        raise RequestRefused(Error.INVALID_REPLICA_ASSIGNMENT, problem)
    return NewPartition(number, brokers, isr)


def assignment_problem(
    state: ControllerState, brokers: list[int], factor: int | None = None
) -> str | None:
    """Why brokers cannot be the replicas of a partition, in Kafka's words; None if they can."""
    if not brokers:
        return f"{_ASSIGNMENT} includes an empty replica list."
    before = None
    for broker_id in sorted(brokers):
        broker = state.broker(broker_id)
        if broker is None:
            return f"{_ASSIGNMENT} includes broker {broker_id}, but no such broker is registered."
        if broker_id == before:
            return f"{_ASSIGNMENT} includes the broker {broker_id} more than once."
        if state.level >= KAFKA_4_4_LEVEL and _is_cordoned(broker):
            return (
                f"{_ASSIGNMENT} includes broker {broker_id}, but all its log directories are"
                " cordoned."
            )
        before = broker_id
    if factor is not None and len(brokers) != factor:
        return (
            f"{_ASSIGNMENT} includes a partition with {len(brokers)} replica(s), but this is not"
            f" consistent with previous partitions, which have {factor} replica(s)."
        )
    return None


def placed(
    state: ControllerState, first: int, replicas: Iterable[list[int]]
) -> Iterable[NewPartition]:
    """Partitions where the placement puts them, numbered from `first` on."""
    for number, brokers in enumerate(replicas, first):
        isr = _isr(state, brokers)
        if not isr:
            raise RequestRefused(
                Error.INVALID_REPLICATION_FACTOR,
                f"Unable to replicate the partition {len(brokers)} time(s): All brokers are"
                " currently fenced or in controlled shutdown.",
            )
        yield NewPartition(number, brokers, isr)


def records_of(
    state: ControllerState, topic_id: str, partitions: Iterable[NewPartition]
) -> list[WrittenRecord]:
    """The PartitionRecords."""
    version, directory = partition_version(state.level), state.default_directory
    has_directories = state.level >= DIRECTORIES_LEVEL
    records = []
    for number, replicas, isr in partitions:
        value: RecordValue = {
            "partitionId": number,
            "topicId": topic_id,
            "replicas": replicas,
            "isr": isr,
            "removingReplicas": [],
            "addingReplicas": [],
            "leader": isr[0],
            "leaderRecoveryState": RECOVERED,
            "leaderEpoch": 0,
            "partitionEpoch": 0,
        }
        if has_directories:
            value["directories"] = list(map(directory, replicas))
        records.append(("PartitionRecord", version, value))
    return records


def usable_brokers(state: ControllerState, heartbeats: Heartbeats) -> list[UsableBroker]:
    """The brokers that may get replicas."""
    usable = []
    for broker_id, is_fenced in heartbeats.usable():
        broker = state.broker(broker_id)
        assert broker is not None, "heartbeats are followed of registered brokers"
        if not _is_cordoned(broker):
            usable.append(UsableBroker(broker_id, broker.rack, is_fenced))
    return usable


def _isr(state: ControllerState, replicas: list[int]) -> list[int]:
    return [broker_id for broker_id in replicas if state.is_active(broker_id)]


def _is_cordoned(broker: BrokerRegistration) -> bool:
    """True if none of a broker's directories may get a replica."""
    if not broker.directories or broker.cordoned_directories is None:
        return False
    return set(broker.directories) <= set(broker.cordoned_directories)


def too_many() -> RequestRefused:
    return RequestRefused(
        Error.POLICY_VIOLATION, f"a request may make {MOST_RECORDS} records with its partitions"
    )
