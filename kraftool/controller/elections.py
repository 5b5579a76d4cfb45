"""Elections: leadership back to preferred replicas, and unclean ones, by itself or on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from kraftool.controller.decision import Decision
from kraftool.controller.new_partitions import MOST_RECORDS
from kraftool.controller.partition_changes import Election, change_of
from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.controller.topic_configs import allows_unclean_election
from kraftool.decoders.error_codes import Error
from kraftool.image.replay import WrittenRecord
from kraftool.image.topics import NO_LEADER

MOST_ELECTIONS = 1000
"""Of one turn; the next one comes at once if there may be more."""


def elect_preferred(state: ControllerState) -> list[WrittenRecord]:
    """Give leadership back to the first replicas, where they can lead."""
    return _limited(
        change_of(state, key, election=Election.PREFERRED)
        for key in state.partitions.not_led_by_preferred()
    )


def elect_uncleanly(state: ControllerState) -> list[WrittenRecord]:
    """Let partitions without a leader lose records rather than stay without one, if they may."""
    return _limited(
        change_of(state, key, election=Election.UNCLEAN)
        for key in state.partitions.leaderless()
        if allows_unclean_election(state, key)
    )


_KINDS: Mapping[int, Election] = {0: Election.PREFERRED, 1: Election.UNCLEAN}
"""As a request numbers them."""


def elect_leaders(state: ControllerState, request: dict[str, Any]) -> Decision:
    """Return what somebody asks for; an unclean election then asks no topic whether it may be
    so.
    """
    election = _KINDS.get(request.get("electionType", 0))
    if election is None:
        raise RequestRefused(
            Error.INVALID_REQUEST, f"Unknown election type {request['electionType']}"
        )
    records: list[WrittenRecord] = []
    results: list[dict[str, Any]] = []
    for topic, numbers in _asked_for(state, request["topicPartitions"]):
        of_topic = []
        topic_id = state.topic_id(topic)
        for number in numbers:
            error, record = _elected(state, election, topic_id, number)
            if record is not None:
                records.append(record)
            if error is Error.ELECTION_NOT_NEEDED and request["topicPartitions"] is None:
                continue
            reason = _reason(error, topic, number, is_known=topic_id is not None)
            of_topic.append(
                {"partitionId": number, "errorCode": int(error), "errorMessage": reason}
            )
        results.append({"topic": topic, "partitionResult": of_topic})
    if len(records) > MOST_RECORDS:
        raise RequestRefused(
            Error.POLICY_VIOLATION, f"a request may elect {MOST_RECORDS} leaders at most"
        )
    return Decision(
        answer={"errorCode": int(Error.NONE), "replicaElectionResults": results},
        records=records,
        is_atomic=False,
    )


_REASONS: Mapping[Error, str] = {
    Error.ELECTION_NOT_NEEDED: "Leader election not needed for topic partition.",
    Error.PREFERRED_LEADER_NOT_AVAILABLE: "The preferred leader was not available.",
    Error.ELIGIBLE_LEADERS_NOT_AVAILABLE: "Eligible topic partition leaders are not available.",
}
"""Kafka's sentences."""


def _reason(error: Error, topic: str, number: int, *, is_known: bool) -> str | None:
    if error is Error.UNKNOWN_TOPIC_OR_PARTITION:
        return f"No such partition as {topic}-{number}" if is_known else f"No such topic as {topic}"
    return _REASONS.get(error)


def _asked_for(
    state: ControllerState, asked: list[dict[str, Any]] | None
) -> Iterator[tuple[str, list[int]]]:
    """The partitions of a request; None stands for all there are."""
    if asked is None:
        for topic in state.topics():
            yield topic.name, list(topic.partitions)
    else:
        for item in asked:
            yield item["topic"], item["partitions"]


def _elected(
    state: ControllerState, election: Election, topic_id: str | None, number: int
) -> tuple[Error, WrittenRecord | None]:
    key = PartitionKey(topic_id or "", number)
    partition = state.partition(key)
    if partition is None:
        return Error.UNKNOWN_TOPIC_OR_PARTITION, None
    is_preferred = election is Election.PREFERRED
    is_led = (
        partition.leader == partition.replicas[0] if is_preferred else partition.leader != NO_LEADER
    )
    if is_led:
        return Error.ELECTION_NOT_NEEDED, None
    record = change_of(state, key, election=election)
    if record is not None:
        return Error.NONE, record
    if is_preferred:
        return Error.PREFERRED_LEADER_NOT_AVAILABLE, None
    return Error.ELIGIBLE_LEADERS_NOT_AVAILABLE, None


def _limited(changes: Iterator[WrittenRecord | None]) -> list[WrittenRecord]:
    return list(islice((record for record in changes if record is not None), MOST_ELECTIONS))
