"""One line for people about a record: what it is about first, then what else it says.

Owns the wording. It works on the JSON form and leaves out what says nothing: empty lists, nulls,
and the values Kafka reserves for "no change" and "none".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kraftool.decoders.log_record import LogRecord

Names = Callable[[str], str]

_RESOURCES = {2: "topic", 4: "broker", 8: "broker-logger", 16: "client-metrics", 32: "group"}
_ACL_RESOURCES = {
    1: "any", 2: "topic", 3: "group", 4: "cluster", 5: "transactional-id",
    6: "delegation-token", 7: "user",
}  # fmt: skip
_ACL_OPERATIONS = {
    1: "any", 2: "all", 3: "read", 4: "write", 5: "create", 6: "delete", 7: "alter",
    8: "describe", 9: "cluster-action", 10: "describe-configs", 11: "alter-configs",
    12: "idempotent-write", 13: "create-tokens", 14: "describe-tokens", 15: "two-phase-commit",
}  # fmt: skip
_PATTERNS = {3: "", 4: "prefix "}
_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_SHORT = {
    "partitionEpoch": "partition epoch",
    "leaderEpoch": "leader epoch",
    "brokerEpoch": "epoch",
    "incarnationId": "incarnation",
}


def summary(item: LogRecord, topic_name: Names = str) -> str:
    """Describe one decoded record; names come out as in the data."""
    data = item.data
    if data is None:
        return item.error.describe() if item.error is not None else "not decoded"
    teller = _TELLERS.get(item.name)
    return teller(data, topic_name) if teller is not None else _rest(data)


def _rest(data: dict[str, Any], *without: str, empty: bool = False) -> str:
    """The fields that say something, as name=value; `empty` lists too where they do."""
    return " ".join(
        f"{_SHORT.get(name, name).replace(' ', '-')}={_value(value)}"
        for name, value in data.items()
        if name not in without
        and name != "version"
        and value not in (None, "")
        and (empty or value != [])
    )


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ",".join(_value(member) for member in value) + "]"
    if isinstance(value, dict):
        return "{" + _rest(value) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _partition(data: dict[str, Any], topic_name: Names) -> str:
    return f"{topic_name(data['topicId'])}-{data['partitionId']} " + _rest(
        data, "topicId", "partitionId"
    )


def _partition_change(data: dict[str, Any], topic_name: Names) -> str:
    # An empty list in a change is a change: to an empty ISR, say.
    rest = _rest(data, "topicId", "partitionId", empty=True)
    return f"{topic_name(data['topicId'])}-{data['partitionId']} {rest}"


def _topic(data: dict[str, Any], _: Names) -> str:
    return f"{data['name']} id={data['topicId']}"


def _remove_topic(data: dict[str, Any], topic_name: Names) -> str:
    name = topic_name(data["topicId"])
    return name if name == data["topicId"] else f"{name} id={data['topicId']}"


def _config(data: dict[str, Any], _: Names) -> str:
    if data["value"] is None:
        return f"{config_owner(data)}: {data['name']} deleted"
    return f"{config_owner(data)}: {data['name']}={data['value']}"


def config_owner(data: dict[str, Any]) -> str:
    """Return the resource of a ConfigRecord."""
    kind = _RESOURCES.get(data["resourceType"], f"resource type {data['resourceType']}")
    return f"{kind} {data['resourceName'] or '(default)'}"


def _feature(data: dict[str, Any], _: Names) -> str:
    return f"{data['name']}={data['featureLevel']}"


def _acl(data: dict[str, Any], _: Names) -> str:
    return f"{acl_text(data)} id={data['id']}"


def acl_text(data: dict[str, Any]) -> str:
    """Return who may do what, and where, of the record that adds an ACL."""
    resource = _ACL_RESOURCES.get(data["resourceType"], str(data["resourceType"]))
    operation = _ACL_OPERATIONS.get(data["operation"], str(data["operation"]))
    permission = {2: "deny", 3: "allow"}.get(data["permissionType"], str(data["permissionType"]))
    pattern = _PATTERNS.get(data["patternType"], f"pattern {data['patternType']} ")
    return (
        f"{permission} {data['principal']} {operation} on {resource} {pattern}"
        f"{data['resourceName']} from {data['host']}"
    )


def _quota(data: dict[str, Any], _: Names) -> str:
    change = "removed" if data["remove"] else f"= {data['value']}"
    return f"{quota_owner(data)}: {data['key']} {change}"


def quota_owner(data: dict[str, Any]) -> str:
    """Return the entity that a ClientQuotaRecord limits."""
    return ", ".join(
        f"{part['entityType']} {'(default)' if part['entityName'] is None else part['entityName']}"
        for part in data["entity"]
    )


def _scram(data: dict[str, Any], _: Names) -> str:
    return f"{data['name']} {mechanism(data)} " + _rest(data, "name", "mechanism")


def mechanism(data: dict[str, Any]) -> str:
    """Return the SCRAM mechanism of a record that sets or removes a credential."""
    return _MECHANISMS.get(data["mechanism"], str(data["mechanism"]))


def _endpoints(endpoints: list[dict[str, Any]]) -> str:
    return ",".join(
        f"{endpoint['name']}://{endpoint['host']}:{endpoint['port']}" for endpoint in endpoints
    )


def _register(data: dict[str, Any], _: Names) -> str:
    who = data.get("brokerId", data.get("controllerId"))
    features = ",".join(
        f"{feature['name']}={feature['minSupportedVersion']}-{feature['maxSupportedVersion']}"
        for feature in data["features"]
    )
    rest = _rest(data, "brokerId", "controllerId", "endPoints", "features")
    return f"{who} at {_endpoints(data['endPoints'])} {rest} features=[{features}]"


def _change(data: dict[str, Any], _: Names) -> str:
    says = {1: " fenced", -1: " unfenced"}.get(data.get("fenced", 0), "")
    if data.get("inControlledShutdown") == 1:
        says += " in controlled shutdown"
    rest = _rest(data, "brokerId", "fenced", "inControlledShutdown", empty=True)
    return f"broker {data['brokerId']}{says} {rest}"


def _voters(data: dict[str, Any], _: Names) -> str:
    return "; ".join(
        f"{voter['voterId']}:{voter['voterDirectoryId']} at {_endpoints(voter['endpoints'])}"
        for voter in data["voters"]
    )


def _leader_change(data: dict[str, Any], _: Names) -> str:
    voters = ",".join(str(voter["voterId"]) for voter in data["voters"])
    granting = ",".join(str(granting_voter["voterId"]) for granting_voter in data["grantingVoters"])
    return f"leader {data['leaderId']} voters {voters} granted by {granting}"


_TELLERS: dict[str, Callable[[dict[str, Any], Names], str]] = {
    "PartitionRecord": _partition,
    "PartitionChangeRecord": _partition_change,
    "TopicRecord": _topic,
    "RemoveTopicRecord": _remove_topic,
    "ConfigRecord": _config,
    "FeatureLevelRecord": _feature,
    "AccessControlEntryRecord": _acl,
    "ClientQuotaRecord": _quota,
    "UserScramCredentialRecord": _scram,
    "RemoveUserScramCredentialRecord": _scram,
    "RegisterBrokerRecord": _register,
    "RegisterControllerRecord": _register,
    "BrokerRegistrationChangeRecord": _change,
    "VotersRecord": _voters,
    "LeaderChangeMessage": _leader_change,
}
