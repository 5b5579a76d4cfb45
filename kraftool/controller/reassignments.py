"""AlterPartitionReassignments and ListPartitionReassignments: partitions move to other brokers.

Owns the step from the replicas that somebody wants to those that are added and removed, and the way
back. `partition_changes.py` completes a reassignment, whichever change makes that possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kraftool.controller.decision import Decision
from kraftool.controller.new_partitions import MOST_RECORDS, assignment_problem
from kraftool.controller.partition_changes import Election, change_of, usual_election
from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.controller.topic_configs import allows_unclean_election
from kraftool.decoders.error_codes import Error
from kraftool.image.replay import WrittenRecord
from kraftool.image.topics import (
    PartitionRegistration,
    TopicImage,
    TopicsImage,
    is_reassigning,
)

Body = dict[str, Any]


def alter_partition_reassignments(state: ControllerState, request: Body) -> Decision:
    """Start, replace and cancel reassignments, each by itself, in one batch."""
    allows_other_factor: bool = request.get("allowReplicationFactorChange", True)
    records: list[WrittenRecord] = []
    responses = []
    for topic in request["topics"]:
        results = []
        for item in topic["partitions"]:
            error, text = Error.NONE, None
            try:
                record = _altered(
                    state, topic["name"], item, allows_other_factor=allows_other_factor
                )
                if record is not None:
                    if len(records) == MOST_RECORDS:
                        raise _too_many()
                    records.append(record)
            except RequestRefused as refused:
                error, text = refused.error, refused.text
            results.append(
                {
                    "partitionIndex": item["partitionIndex"],
                    "errorCode": int(error),
                    "errorMessage": text,
                }
            )
        responses.append({"name": topic["name"], "partitions": results})
    answer = {
        "allowReplicationFactorChange": allows_other_factor,
        "errorCode": int(Error.NONE),
        "errorMessage": None,
        "responses": responses,
    }
    return Decision(answer=answer, records=records)


def _altered(
    state: ControllerState, topic: str, item: Body, *, allows_other_factor: bool
) -> WrittenRecord | None:
    number, target = item["partitionIndex"], item["replicas"]
    topic_id = state.topic_id(topic)
    if topic_id is None:
        raise RequestRefused(
            Error.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {topic}."
        )
    key = PartitionKey(topic_id, number)
    partition = state.partition(key)
    if partition is None:
        raise RequestRefused(
            Error.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {topic}:{number}."
        )
    if target is None:
        return _cancelled(state, key, partition, topic)
    problem = assignment_problem(state, target)
    if problem is not None:
        raise RequestRefused(Error.INVALID_REPLICA_ASSIGNMENT, problem)
    factor = len(_target_of(partition))
    if not allows_other_factor and len(target) != factor:
        raise RequestRefused(
            Error.INVALID_REPLICATION_FACTOR,
            f"The replication factor is changed from {factor} to {len(target)}",
        )
    return _started(state, key, partition, target)


def _target_of(partition: PartitionRegistration) -> set[int]:
    """Return the replicas that a partition has once its reassignment is complete."""
    return {*partition.replicas, *partition.adding_replicas} - {*partition.removing_replicas}


def _started(
    state: ControllerState, key: PartitionKey, partition: PartitionRegistration, target: list[int]
) -> WrittenRecord | None:
    """The record of a reassignment. Replicas that are there already decide what is added, also
    those that another reassignment is adding. If nothing is to be added, or removed, the list of
    the reassignment before stays, as in Kafka."""
    removing = sorted(set(partition.replicas) - set(target))
    adding = sorted(set(target) - set(partition.replicas))
    return change_of(
        state,
        key,
        election=Election.ONLINE,
        replicas=(*target, *removing),
        removing=tuple(removing) or None,
        adding=tuple(adding) or None,
    )


def _cancelled(
    state: ControllerState, key: PartitionKey, partition: PartitionRegistration, topic: str
) -> WrittenRecord | None:
    """The record that takes a reassignment back: the replicas that it was adding go again."""
    if not is_reassigning(partition):
        raise RequestRefused(Error.NO_REASSIGNMENT_IN_PROGRESS)
    adding = partition.adding_replicas
    replicas = tuple(replica for replica in partition.replicas if replica not in adding)
    isr = tuple(replica for replica in partition.isr if replica not in adding)
    if not replicas:
        raise RequestRefused(
            Error.INVALID_REPLICA_ASSIGNMENT,
            "Invalid replica assignment: addingReplicas contains all replicas.",
        )
    if not isr:
        if not allows_unclean_election(state, key):
            raise RequestRefused(
                Error.INVALID_REPLICA_ASSIGNMENT,
                f"Unable to revert partition assignment for {topic}:{key.number} because it would"
                " require an unclean leader election.",
            )
        isr = replicas[:1]
    return change_of(
        state,
        key,
        election=usual_election(state, key),
        isr=isr,
        replicas=replicas,
        removing=(),
        adding=(),
    )


def _too_many() -> RequestRefused:
    return RequestRefused(
        Error.UNKNOWN_SERVER_ERROR, f"a request may alter {MOST_RECORDS} partitions at most"
    )


def list_partition_reassignments(topics: TopicsImage, request: Body) -> Body:
    """The partitions of an image that are moving: all of them, or those that are asked for."""
    listed = []
    for topic, numbers in _asked_for(topics, request["topics"]):
        moving = [
            {
                "partitionIndex": number,
                "replicas": list(partition.replicas),
                "addingReplicas": list(partition.adding_replicas),
                "removingReplicas": list(partition.removing_replicas),
            }
            for number in numbers
            if (partition := topic.partitions.get(number)) is not None and is_reassigning(partition)
        ]
        if moving:
            listed.append({"name": topic.name, "partitions": moving})
    return {"errorCode": int(Error.NONE), "errorMessage": None, "topics": listed}


def _asked_for(
    topics: TopicsImage, asked: list[Body] | None
) -> Iterator[tuple[TopicImage, Iterable[int]]]:
    """The partitions of a request; None stands for all there are. Unknown topics are left out."""
    if asked is None:
        for topic in topics.by_id.values():
            yield topic, topic.partitions
        return
    for item in asked:
        known = topics.by_name.get(item["name"])
        if known is not None:
            yield known, item["partitionIndexes"]
