"""Leaders of partitions that say which replicas are in sync."""

from __future__ import annotations

from typing import Any

from kraftool.controller.decision import Decision
from kraftool.controller.partition_changes import change_of, usual_election
from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.image.replay import WrittenRecord
from kraftool.image.topics import RECOVERED, RECOVERING, PartitionRegistration, merge

_NO_EPOCH = -1
"""Of a replica: whoever asks does not know it, so that it is not checked."""


def alter_partition(state: ControllerState, request: dict[str, Any], *, version: int) -> Decision:
    """Take over the ISRs that a leader proposes, each by itself."""
    state.check_broker_epoch(request["brokerId"], request["brokerEpoch"])
    records: list[WrittenRecord] = []
    topics = []
    for topic in request["topics"]:
        topic_id = topic["topicId"]
        answers = []
        for proposal in topic["partitions"]:
            isr = _proposed_isr(proposal, version)
            key = PartitionKey(topic_id, proposal["partitionIndex"])
            answers.append(_alter(state, request["brokerId"], key, proposal, isr, records))
        topics.append({"topicId": topic_id, "partitions": answers})
    return Decision(answer={"topics": topics}, records=records, is_atomic=False)


def _proposed_isr(proposal: dict[str, Any], version: int) -> list[tuple[int, int]]:
    """The brokers of the new ISR with their epochs."""
    if version < 3:
        return [(broker_id, _NO_EPOCH) for broker_id in proposal["newIsr"]]
    return [
        (replica["brokerId"], replica["brokerEpoch"]) for replica in proposal["newIsrWithEpochs"]
    ]


def _alter(
    state: ControllerState,
    sender: int,
    key: PartitionKey,
    proposal: dict[str, Any],
    isr: list[tuple[int, int]],
    records: list[WrittenRecord],
) -> dict[str, Any]:
    """Answer one partition, and add the record of its change."""
    if state.topic_name(key.topic_id) is None:
        return _refused(key, Error.UNKNOWN_TOPIC_ID)
    partition = state.partition(key)
    if partition is None:
        return _refused(key, Error.UNKNOWN_TOPIC_OR_PARTITION)
    problem = _problem(state, sender, partition, proposal, isr)
    if problem is not None:
        return _refused(key, problem)
    record = change_of(
        state,
        key,
        election=usual_election(state, key),
        isr=tuple(broker_id for broker_id, _ in isr),
        recovery=proposal["leaderRecoveryState"],
    )
    if record is not None:
        records.append(record)
        leader = record[2].get("leader", partition.leader)
        partition = merge(partition, _complete(record))
        if leader != sender:
            # The change completed a reassignment that takes the leadership away: it stays written.
            return _refused(key, Error.NEW_LEADER_ELECTED)
    return {
        "partitionIndex": key.number,
        "errorCode": int(Error.NONE),
        "leaderId": partition.leader,
        "leaderEpoch": partition.leader_epoch,
        "isr": list(partition.isr),
        "leaderRecoveryState": partition.leader_recovery_state,
        "partitionEpoch": partition.partition_epoch,
    }


def _complete(record: WrittenRecord) -> dict[str, Any]:
    """The record's value with the fields that it leaves out."""
    unchanged = {"isr": None, "leader": -2, "replicas": None, "leaderRecoveryState": -1}
    return {**unchanged, **record[2]}


def _problem(
    state: ControllerState,
    sender: int,
    partition: PartitionRegistration,
    proposal: dict[str, Any],
    isr: list[tuple[int, int]],
) -> Error | None:
    """Why a proposal is not taken, by the first thing that is wrong with it."""
    leader_epoch, partition_epoch = proposal["leaderEpoch"], proposal["partitionEpoch"]
    if leader_epoch > partition.leader_epoch or partition_epoch > partition.partition_epoch:
        return Error.NOT_CONTROLLER  # who knows more than this controller knows another one
    if leader_epoch < partition.leader_epoch:
        return Error.FENCED_LEADER_EPOCH
    if sender != partition.leader:
        return Error.INVALID_REQUEST
    if partition_epoch < partition.partition_epoch:
        return Error.INVALID_UPDATE_VERSION
    ids = [broker_id for broker_id, _ in isr]
    recovery = proposal["leaderRecoveryState"]
    if (
        len(set(ids)) != len(ids)
        or not set(ids) <= set(partition.replicas)
        or partition.leader not in ids
        or (recovery == RECOVERING and len(ids) > 1)
        or (partition.leader_recovery_state == RECOVERED and recovery == RECOVERING)
    ):
        return Error.INVALID_REQUEST
    if not all(_is_eligible(state, broker_id, epoch) for broker_id, epoch in isr):
        return Error.INELIGIBLE_REPLICA
    return None


def _is_eligible(state: ControllerState, broker_id: int, epoch: int) -> bool:
    broker = state.broker(broker_id)
    return (
        broker is not None
        and not broker.in_controlled_shutdown
        and not broker.fenced
        and epoch in (_NO_EPOCH, broker.epoch)
    )


def _refused(key: PartitionKey, error: Error) -> dict[str, Any]:
    return {"partitionIndex": key.number, "errorCode": int(error)}
