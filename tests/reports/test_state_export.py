"""The JSON export of a state has all of it: an image that is made of it again is the same."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest

from kraftool.image.acls import AclsImage, StandardAcl
from kraftool.image.client_quotas import ClientQuotasImage
from kraftool.image.cluster import (
    BrokerRegistration,
    ClusterImage,
    ControllerRegistration,
    FeatureRange,
    RegisteredEndpoint,
)
from kraftool.image.configs import ConfigResource, ConfigurationsImage
from kraftool.image.delegation_tokens import DelegationToken, DelegationTokenImage
from kraftool.image.features import FeaturesImage
from kraftool.image.image import MetadataImage, Provenance
from kraftool.image.producer_ids import ProducerIdsImage
from kraftool.image.scram import ScramCredential, ScramImage
from kraftool.image.state_hash import state_hash
from kraftool.image.topics import PartitionRegistration, TopicImage, TopicsImage
from kraftool.reports.state.export import lines, state_document
from kraftool.reports.state.load import LoadedState, load_state
from kraftool.reports.text.json_document import json_document
from tests.support.places import FIXTURES

NODES = [
    "kafka-3.3.2/static-quorum/node-1",
    "kafka-3.7.2/static-quorum/node-11",
    "kafka-3.9.1/upgrade/node-2",
    "kafka-4.1.1/dynamic-quorum/node-3",
    "kafka-4.3.0/dynamic-quorum/node-2",
    "kafka-4.3.0/many-partitions/node-1",
    "kafka-4.3.0/upgrade/node-1",
    "kafka-4.4.0/upgrade/node-1",
]


def document(state: LoadedState, *, show_secrets: bool) -> Iterator[bytes]:
    """The document in pieces, as the command writes it."""
    return json_document(state_document(state, show_secrets=show_secrets))


def read(state: LoadedState, *, show_secrets: bool) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(
        b"".join(json_document(state_document(state, show_secrets=show_secrets)))
    )
    return value


def listeners(node: dict[str, Any]) -> tuple[RegisteredEndpoint, ...]:
    return tuple(
        RegisteredEndpoint(
            listener["listener"], listener["host"], listener["port"], listener["securityProtocolId"]
        )
        for listener in node["listeners"]
    )


def features(node: dict[str, Any]) -> dict[str, FeatureRange]:
    return {
        feature["name"]: FeatureRange(feature["min"], feature["max"])
        for feature in node["features"]
    }


def broker(of: dict[str, Any]) -> BrokerRegistration:
    cordoned = of["cordonedDirectoryIds"]
    return BrokerRegistration(
        id=of["id"],
        epoch=of["epoch"],
        incarnation_id=of["incarnationId"],
        listeners=listeners(of),
        features=features(of),
        rack=of["rack"],
        fenced=of["isFenced"],
        in_controlled_shutdown=of["isInControlledShutdown"],
        is_migrating_zk_broker=of["isMigratingZkBroker"],
        directories=tuple(of["directoryIds"]),
        cordoned_directories=None if cordoned is None else tuple(cordoned),
    )


def topic(of: dict[str, Any]) -> TopicImage:
    partitions = {
        partition["partition"]: PartitionRegistration(
            replicas=tuple(partition["replicaIds"]),
            directories=tuple(partition["directoryIds"]),
            isr=tuple(partition["isr"]),
            removing_replicas=tuple(partition["removingReplicaIds"]),
            adding_replicas=tuple(partition["addingReplicaIds"]),
            elr=tuple(partition["elr"]),
            last_known_elr=tuple(partition["lastKnownElr"]),
            leader=partition["leaderId"],
            leader_recovery_state=int(partition["leaderRecoveryState"] == "RECOVERING"),
            leader_epoch=partition["leaderEpoch"],
            partition_epoch=partition["partitionEpoch"],
        )
        for partition in of["partitions"]
    }
    assert len(partitions) == of["partitionCount"]
    return TopicImage(name=of["name"], id=of["topicId"], partitions=partitions)


def rebuilt(exported: dict[str, Any]) -> MetadataImage:
    """The image that a document is of."""
    levels = {feature["name"]: feature["level"] for feature in exported["features"]}
    topics = [topic(entry) for entry in exported["topics"]]
    configs: dict[ConfigResource, dict[str, str]] = {}
    for config in exported["configs"]:
        resource = ConfigResource(config["resourceTypeId"], config["resourceName"])
        configs.setdefault(resource, {})[config["name"]] = config["value"]
    quotas: dict[Any, dict[str, float]] = {}
    for quota in exported["clientQuotas"]:
        entity = tuple((part["type"], part["name"]) for part in quota["entityParts"])
        quotas.setdefault(entity, {})[quota["key"]] = quota["quota"]
    scram: dict[int, dict[str, ScramCredential]] = {}
    for credential in exported["scramCredentials"]:
        scram.setdefault(credential["mechanismId"], {})[credential["user"]] = ScramCredential(
            salt=b64decode(credential["salt"]),
            stored_key=b64decode(credential["storedKey"]),
            server_key=b64decode(credential["serverKey"]),
            iterations=credential["iterationCount"],
        )
    at = exported["provenance"]
    return MetadataImage(
        provenance=Provenance(
            last_offset=at["lastOffset"],
            last_epoch=at["lastEpoch"],
            last_timestamp=at["lastTimestampMs"],
        ),
        features=FeaturesImage(
            metadata_version=levels.pop("metadata.version", None),
            finalized=levels,
            zk_migration_state=exported["zkMigrationState"],
        ),
        cluster=ClusterImage(
            brokers={
                registration["id"]: broker(registration) for registration in exported["brokers"]
            },
            controllers={
                controller["id"]: ControllerRegistration(
                    id=controller["id"],
                    incarnation_id=controller["incarnationId"],
                    zk_migration_ready=controller["isZkMigrationReady"],
                    listeners=listeners(controller),
                    features=features(controller),
                )
                for controller in exported["controllers"]
            },
        ),
        topics=TopicsImage(
            by_id={topic_image.id: topic_image for topic_image in topics},
            by_name={topic_image.name: topic_image for topic_image in topics},
        ),
        configs=ConfigurationsImage(resources=configs),
        client_quotas=ClientQuotasImage(entities=quotas),
        producer_ids=ProducerIdsImage(
            next_producer_id=-1
            if exported["nextProducerId"] is None
            else exported["nextProducerId"]
        ),
        acls=AclsImage(
            by_id={
                acl["aclId"]: StandardAcl(
                    acl["resourceTypeId"],
                    acl["resourceName"],
                    acl["patternTypeId"],
                    acl["principal"],
                    acl["host"],
                    acl["operationId"],
                    acl["permissionTypeId"],
                )
                for acl in exported["acls"]
            }
        ),
        scram=ScramImage(mechanisms=scram),
        delegation_tokens=DelegationTokenImage(
            tokens={
                token["tokenId"]: DelegationToken(
                    id=token["tokenId"],
                    owner=token["owner"],
                    requester=token["requester"],
                    renewers=tuple(token["renewers"]),
                    issue_timestamp=token["issueTimestampMs"],
                    max_timestamp=token["maxTimestampMs"],
                    expiration_timestamp=token["expirationTimestampMs"],
                )
                for token in exported["delegationTokens"]
            }
        ),
    )


@pytest.mark.parametrize("node", NODES)
def test_an_image_can_be_made_of_the_export(node: str) -> None:
    state = load_state(str(FIXTURES / node / "data"))
    exported = read(state, show_secrets=True)
    again = rebuilt(exported)
    assert again == state.image
    assert state_hash(again) == exported["stateHash"]


def test_the_fixtures_have_something_of_every_kind() -> None:
    """Otherwise the test above could not fail for a kind that the export forgets."""
    empty = set(read(load_state(str(FIXTURES / NODES[0] / "data")), show_secrets=False))
    for node in NODES:
        exported = read(load_state(str(FIXTURES / node / "data")), show_secrets=False)
        empty -= {name for name, value in exported.items() if value not in (None, [], 0)}
    assert empty == {"findings", "zkMigrationState"}


@pytest.mark.parametrize("node", ["kafka-4.3.0/upgrade/node-1", "kafka-3.9.1/upgrade/node-2"])
def test_lines_say_the_same_as_the_document(node: str) -> None:
    state = load_state(str(FIXTURES / node / "data"))
    exported = read(state, show_secrets=False)
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for line in lines(state, show_secrets=False):
        value = json.loads(line)
        by_kind.setdefault(value.pop("kind"), []).append(value)
    for kind, name in (
        ("feature", "features"), ("broker", "brokers"), ("controller", "controllers"),
        ("config", "configs"), ("clientQuota", "clientQuotas"), ("acl", "acls"),
        ("scramCredential", "scramCredentials"), ("delegationToken", "delegationTokens"),
    ):  # fmt: skip
        assert by_kind.get(kind, []) == exported[name], kind
    assert sum(len(entity["partitions"]) for entity in exported["topics"]) == len(
        by_kind["partition"]
    )
    assert {entity["topicId"] for entity in by_kind["partition"]} <= {
        entity["topicId"] for entity in exported["topics"]
    }
    (state_line,) = by_kind["state"]
    assert {name: exported[name] for name in state_line} == state_line


def test_two_exports_of_one_state_are_the_same_line_by_line() -> None:
    """From the log alone, records come in another order than from a snapshot."""
    node = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"
    log = node / "__cluster_metadata-0" / f"{0:020}.log"
    texts = []
    for path in (node, log):
        text = b"".join(document(load_state(str(path)), show_secrets=False))
        texts.append(re.sub(rb'"loadedFrom": .*', b"", text))
    assert texts[0] == texts[1]


def test_one_entity_stands_on_one_line() -> None:
    state = load_state(str(FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"))
    text = b"".join(document(state, show_secrets=False)).decode()
    exported = json.loads(text)
    for name in ("brokers", "acls", "configs", "scramCredentials"):
        for entity in exported[name]:
            line = json.dumps(entity, separators=(",", ":"), ensure_ascii=False)
            assert any(text_line.strip().rstrip(",") == line for text_line in text.splitlines()), (
                line
            )


def test_nothing_is_held_together_while_an_export_is_written() -> None:
    """A piece is an entity or a line, and not the whole."""
    state = load_state(str(FIXTURES / "kafka-4.3.0/many-partitions/node-1/data"), at=252)
    assert state.image.topics.partitions == 231
    for pieces in (
        list(document(state, show_secrets=False)),
        list(lines(state, show_secrets=False)),
    ):
        assert len(pieces) > 231
        assert max(map(len, pieces)) < 1500
        assert sum(map(len, pieces)) > 40_000
