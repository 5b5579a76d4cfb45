"""Brokers that say in which of their directories their replicas are."""

from __future__ import annotations

from typing import Any

from kraftool.controller.decision import Decision
from kraftool.controller.fencing import move_away
from kraftool.controller.partition_changes import Election, change_of
from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.image.metadata_version import DIRECTORIES_LEVEL
from kraftool.image.replay import WrittenRecord


def assign_directories(state: ControllerState, request: dict[str, Any]) -> Decision:
    """Note the directories. A replica in one that is offline leads no more and is not in sync."""
    if state.level < DIRECTORIES_LEVEL:
        raise RequestRefused(
            Error.UNSUPPORTED_VERSION, "this metadata.version has no directories of replicas"
        )
    broker_id: int = request["brokerId"]
    state.check_broker_epoch(broker_id, request["brokerEpoch"])
    records: list[WrittenRecord] = []
    offline: dict[PartitionKey, None] = {}
    directories = []
    for directory in request["directories"]:
        is_online = state.has_online_directory(broker_id, directory["id"])
        topics = []
        for topic in directory["topics"]:
            partitions = []
            for partition in topic["partitions"]:
                key = PartitionKey(topic["topicId"], partition["partitionIndex"])
                problem = _problem(state, broker_id, key)
                if problem is None:
                    record = change_of(
                        state,
                        key,
                        election=Election.ONLINE,
                        assigned=(broker_id, directory["id"]),
                    )
                    records += [record] if record is not None else []
                    if not is_online:
                        offline[key] = None
                code = int(problem or Error.NONE)
                partitions.append({"partitionIndex": key.number, "errorCode": code})
            topics.append({"topicId": topic["topicId"], "partitions": partitions})
        directories.append({"id": directory["id"], "topics": topics})
    records += move_away(state, broker_id, offline)
    return Decision(answer={"directories": directories}, records=records, is_atomic=False)


def _problem(state: ControllerState, broker_id: int, key: PartitionKey) -> Error | None:
    if state.topic_name(key.topic_id) is None:
        return Error.UNKNOWN_TOPIC_ID
    partition = state.partition(key)
    if partition is None:
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return None if broker_id in partition.replicas else Error.NOT_LEADER_OR_FOLLOWER
