"""CreatePartitions: topics that grow.

A topic that cannot grow does not keep the others of its request from growing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from kraftool.controller import new_partitions
from kraftool.controller.decision import Decision
from kraftool.controller.heartbeats import Heartbeats
from kraftool.controller.new_partitions import MOST_RECORDS, NewPartition, usable_brokers
from kraftool.controller.permissions import Permissions
from kraftool.controller.placement import RandomSource, place
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.image.metadata_version import KAFKA_4_4_LEVEL
from kraftool.image.replay import WrittenRecord


def create_partitions(
    state: ControllerState,
    heartbeats: Heartbeats,
    chance: RandomSource,
    request: dict[str, Any],
    permissions: Permissions,
    *,
    charge: Callable[[int], None],
) -> Decision:
    """Add partitions to topics, where the request or the placement puts them. `charge`: raises
    RequestRefused if the client may not create so many now."""
    results: list[dict[str, Any]] = []
    records: list[WrittenRecord] = []
    names = Counter(topic["name"] for topic in request["topics"])
    # Kafka refuses all of such a request since 4.4.
    if state.level >= KAFKA_4_4_LEVEL and _added(state, request, names) > MOST_RECORDS:
        raise new_partitions.too_many()
    for topic in {topic["name"]: topic for topic in request["topics"]}.values():
        result = {"name": topic["name"], "errorCode": int(Error.NONE), "errorMessage": None}
        try:
            if names[topic["name"]] > 1:
                raise RequestRefused(Error.INVALID_REQUEST, "Duplicate topic name.")
            if not permissions.allows("ALTER", "TOPIC", topic["name"]):
                raise RequestRefused(Error.TOPIC_AUTHORIZATION_FAILED)
            of_topic = _growth(state, heartbeats, chance, topic, charge)
            # Kafka answers UNKNOWN_SERVER_ERROR here, and writes as many of them as fit.
            if len(records) + len(of_topic) > MOST_RECORDS:
                raise new_partitions.too_many()
            records += of_topic
        except RequestRefused as refused:
            result |= {"errorCode": int(refused.error), "errorMessage": refused.text}
        results.append(result)
    if request["validateOnly"]:
        records = []
    return Decision(answer={"results": results}, records=records)


def _added(state: ControllerState, request: dict[str, Any], names: Counter[str]) -> int:
    """Return how many partitions a request asks for."""
    total = 0
    for topic in request["topics"]:
        topic_id = state.topic_id(topic["name"])
        if topic_id is not None and names[topic["name"]] == 1:
            total += max(topic["count"] - len(state.partitions_of(topic_id)), 0)
    return total


def _growth(
    state: ControllerState,
    heartbeats: Heartbeats,
    chance: RandomSource,
    topic: dict[str, Any],
    charge: Callable[[int], None],
) -> list[WrittenRecord]:
    topic_id = state.topic_id(topic["name"])
    if topic_id is None:
        raise RequestRefused(Error.UNKNOWN_TOPIC_OR_PARTITION)
    partitions = state.partitions_of(topic_id)
    there, wanted, assignments = len(partitions), topic["count"], topic["assignments"]
    if wanted <= there:
        problem = f"Topic already has {there} partition(s)."
        if wanted < there:
            problem = (
                f"The topic {topic['name']} currently has {there} partition(s); {wanted} would not"
                " be an increase."
            )
        raise RequestRefused(Error.INVALID_PARTITIONS, problem)
    if assignments is not None and len(assignments) != wanted - there:
        raise RequestRefused(
            Error.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {wanted - there} additional partition(s), but only"
            f" {len(assignments)} assignment(s) were specified.",
        )
    charge(wanted - there)
    factor = len(partitions[0].replicas)
    added: list[NewPartition]
    if assignments is not None:
        added = [
            new_partitions.assigned(state, number, assignment["brokerIds"], factor=factor)
            for number, assignment in enumerate(assignments, there)
        ]
    else:
        replicas = place(
            usable_brokers(state, heartbeats),
            partitions=wanted - there,
            replicas=factor,
            chance=chance,
        )
        added = list(new_partitions.placed(state, there, replicas))
    return new_partitions.records_of(state, topic_id, added)
