"""Records in the value form, with what a test does not care about filled in."""

from __future__ import annotations

from typing import Any

from kraftool.image.delta import MetadataDelta
from kraftool.image.image import EMPTY, MetadataImage, Provenance

Told = tuple[str, dict[str, Any]]

FOO = "AAAAAAAAAAAAAAAAAAFooA"
BAR = "AAAAAAAAAAAAAAAAAABarA"
INCARNATION = "AAAAAAAAAAAAAAAAAAIncA"
DIRECTORY = "RlGsKpAMTTKnsaRtAXfYRg"


def topic(name: str = "foo", topic_id: str = FOO) -> Told:
    return "TopicRecord", {"name": name, "topicId": topic_id}


def partition(number: int = 0, topic_id: str = FOO, **fields: Any) -> Told:
    value = {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": [1, 2, 3],
        "isr": [1, 2, 3],
        "removingReplicas": [],
        "addingReplicas": [],
        "leader": 1,
        "leaderRecoveryState": 0,
        "leaderEpoch": 0,
        "partitionEpoch": 0,
    }
    return "PartitionRecord", {**value, **fields}


def change(number: int = 0, topic_id: str = FOO, **fields: Any) -> Told:
    value = {
        "partitionId": number,
        "topicId": topic_id,
        "isr": None,
        "leader": -2,
        "replicas": None,
        "removingReplicas": None,
        "addingReplicas": None,
        "leaderRecoveryState": -1,
    }
    return "PartitionChangeRecord", {**value, **fields}


def feature(name: str, level: int) -> Told:
    return "FeatureLevelRecord", {"name": name, "featureLevel": level}


def config(kind: int, resource: str, name: str, value: str | None) -> Told:
    return "ConfigRecord", {
        "resourceType": kind,
        "resourceName": resource,
        "name": name,
        "value": value,
    }


def broker(broker_id: int = 1, epoch: int = 10, **fields: Any) -> Told:
    value = {
        "brokerId": broker_id,
        "incarnationId": INCARNATION,
        "brokerEpoch": epoch,
        "endPoints": [{"name": "PLAIN", "host": "one", "port": 9092, "securityProtocol": 0}],
        "features": [
            {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 30}
        ],
        "rack": None,
        "fenced": True,
    }
    return "RegisterBrokerRecord", {**value, **fields}


def registration_change(broker_id: int = 1, epoch: int = 10, **fields: Any) -> Told:
    value = {"brokerId": broker_id, "brokerEpoch": epoch, "fenced": 0, "inControlledShutdown": 0}
    return "BrokerRegistrationChangeRecord", {**value, **fields}


def quota(entity: dict[str, str | None], key: str, value: float | None) -> Told:
    return "ClientQuotaRecord", {
        "entity": [{"entityType": kind, "entityName": name} for kind, name in entity.items()],
        "key": key,
        "value": value or 0.0,
        "remove": value is None,
    }


def credential(name: str, mechanism: int = 1, salt: bytes = b"salt") -> Told:
    return "UserScramCredentialRecord", {
        "name": name,
        "mechanism": mechanism,
        "salt": salt,
        "storedKey": b"stored",
        "serverKey": b"server",
        "iterations": 4096,
    }


def replayed(*records: Told, onto: MetadataImage = EMPTY) -> MetadataImage:
    """The image of the records given, on top of another one."""
    delta = MetadataDelta(onto)
    for name, value in records:
        delta.replay(name, value)
    return delta.apply(Provenance())
