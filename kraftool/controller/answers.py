"""Answers that take no decision: to requests that ask for nothing, and to refused ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kraftool.controller import acls, delegation_tokens, delete_topics, scram_credentials
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from kraftool.image.acls import ANONYMOUS
from kraftool.image.uuids import NO_ID

Body = dict[str, Any]


def answered_at_once(api: str, body: Body) -> Body | None:
    """The answer to a request that asks for nothing, which any controller gives; None if it asks
    for something."""
    match api:
        case "CreateTopics" | "AlterPartition" if not body["topics"]:
            return {"topics": []}
        case "AlterPartitionReassignments" if not body["topics"]:
            return {"errorCode": int(Error.NONE), "errorMessage": "", "responses": []}
        case "ListPartitionReassignments" if body["topics"] == []:
            return {"errorCode": int(Error.NONE), "errorMessage": None, "topics": []}
        case "CreatePartitions" if not body["topics"]:
            return {"results": []}
        case "IncrementalAlterConfigs" | "AlterConfigs" if not body["resources"]:
            return {"responses": []}
        case "AlterClientQuotas" if not body["entries"]:
            return {"entries": []}
        case "CreateAcls" if not body["creations"]:
            return {"results": []}
        case "DeleteAcls" if not body["filters"]:
            return {"filterResults": []}
        case "AlterUserScramCredentials" if not body["deletions"] and not body["upsertions"]:
            return {"results": []}
        case "DeleteTopics" if not any(delete_topics.asked_for(body)):
            return {"responses": []}
        case "ElectLeaders" if body["topicPartitions"] == []:
            return {"errorCode": int(Error.NONE), "replicaElectionResults": []}
    return None


def refused_answer(api: str, body: Body, refused: RequestRefused) -> Body:
    """The answer that says why a request was refused."""
    code: Body = {"errorCode": int(refused.error)}
    by_item = _BY_ITEM.get(api)
    if by_item is not None:
        return by_item(body, code | {"errorMessage": refused.text})
    return code | {"errorMessage": refused.text} if api in _WITH_MESSAGE else code


_WITH_MESSAGE = frozenset(
    {
        "ControllerRegistration",
        "DescribeAcls",
        "UnregisterBroker",
        "UnregisterController",
        "UpdateFeatures",
    }
)
"""Requests whose answers have a sentence beside the error."""


def _topics(body: Body, error: Body) -> Body:
    return {"topics": [{"name": topic["name"], **error} for topic in body["topics"]]}


def _results(body: Body, error: Body) -> Body:
    return {"results": [{"name": topic["name"], **error} for topic in body["topics"]]}


def _responses(body: Body, error: Body) -> Body:
    return {
        "responses": [
            {"name": name, "topicId": topic_id or NO_ID, **error}
            for name, topic_id in delete_topics.asked_for(body)
        ]
    }


def _resources(body: Body, error: Body) -> Body:
    return {
        "responses": [
            {key: item[key] for key in ("resourceType", "resourceName")} | error
            for item in body["resources"]
        ]
    }


def _entities(body: Body, error: Body) -> Body:
    return {"entries": [{"entity": entry["entity"], **error} for entry in body["entries"]]}


def _token(body: Body, error: Body) -> Body:
    return delegation_tokens.not_created(body, Error(error["errorCode"]), ANONYMOUS, ANONYMOUS)


def _elections(body: Body, error: Body) -> Body:
    results = [
        {
            "topic": topic["topic"],
            "partitionResult": [{"partitionId": number, **error} for number in topic["partitions"]],
        }
        for topic in body["topicPartitions"] or ()
    ]
    return {"errorCode": error["errorCode"], "replicaElectionResults": results}


def _reassignments(body: Body, error: Body) -> Body:
    responses = [
        {
            "name": topic["name"],
            "partitions": [
                {"partitionIndex": item["partitionIndex"], **error} for item in topic["partitions"]
            ],
        }
        for topic in body["topics"]
    ]
    return {**error, "responses": responses}


def _moving(body: Body, error: Body) -> Body:
    topics = [
        {
            "name": topic["name"],
            "partitions": [{"partitionIndex": number} for number in topic["partitionIndexes"]],
        }
        for topic in body["topics"] or ()
    ]
    return {**error, "topics": topics}


_BY_ITEM: Mapping[str, Callable[[Body, Body], Body]] = {
    "AlterPartitionReassignments": _reassignments,
    "ListPartitionReassignments": _moving,
    "CreateTopics": _topics,
    "CreatePartitions": _results,
    "DeleteTopics": _responses,
    "ElectLeaders": _elections,
    "IncrementalAlterConfigs": _resources,
    "AlterConfigs": _resources,
    "AlterClientQuotas": _entities,
    "CreateDelegationToken": _token,
    "CreateAcls": acls.refused_creations,
    "DeleteAcls": acls.refused_filters,
    "AlterUserScramCredentials": scram_credentials.refused_users,
    "DescribeUserScramCredentials": scram_credentials.refused_description,
}
"""Requests whose answers have the error once for each item, or more than the error."""
