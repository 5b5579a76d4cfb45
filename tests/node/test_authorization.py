"""Who gets what from a node with an authorizer: the codes of Kafka 4.3's request layer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kraftool.controller.authorizer import AuthorizerRules
from kraftool.controller.settings import ControllerSettings
from kraftool.decoders import codec
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import (
    RequestFrame,
    ResponseFrame,
    decode_response,
    encode_request,
    encode_response,
)
from kraftool.image.acls import ACL_OPERATIONS, ACL_RESOURCES
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.loader import ImageLoader
from kraftool.image.metadata_version import METADATA_VERSION
from kraftool.node.authorization import Authorization, FirstLoad
from kraftool.node.config import STANDARD_AUTHORIZER
from kraftool.node.controlling import Controlling
from kraftool.node.machine import ImageMachine
from kraftool.node.runner import Runner
from kraftool.node.serving import Serving
from kraftool.raft.raft import Raft
from tests.node.quorum import ANYBODY, quorum_of

ROOT = replace(ANYBODY, principal="User:root")
BROKER = replace(ANYBODY, principal="User:broker")
ALICE = replace(ANYBODY, principal="User:alice", host="::1")
ANY, ALLOW, LITERAL = 1, 3, 3
EVERY_ACL = {
    "resourceTypeFilter": ANY, "resourceNameFilter": None, "patternTypeFilter": ANY,
    "principalFilter": None, "hostFilter": None, "operation": ANY, "permissionType": ANY,
}  # fmt: skip
NEW_ACL = {
    "resourceType": 2, "resourceName": "words", "resourcePatternType": LITERAL,
    "principal": "User:alice", "host": "*", "operation": 3, "permissionType": ALLOW,
}  # fmt: skip


def acl(principal: str, operation: str, host: str = "*") -> dict[str, Any]:
    return {
        "resourceType": ACL_RESOURCES.index("CLUSTER"),
        "resourceName": "kafka-cluster",
        "patternType": LITERAL,
        "principal": principal,
        "host": host,
        "operation": ACL_OPERATIONS.index(operation),
        "permissionType": ALLOW,
    }


def image_of(*acls: dict[str, Any]) -> MetadataImage:
    loader = ImageLoader(EMPTY)
    for number, entry in enumerate(acls):
        loader.replay(number, "AccessControlEntryRecord", {"id": f"{number:022d}", **entry})
    loader.end_batch(max(len(acls) - 1, 0), 1, 0)
    return loader.image()


def node_of(
    runner: Runner,
    image: MetadataImage | None = EMPTY,
    *,
    authorizer: str = STANDARD_AUTHORIZER,
    is_loaded: bool = True,
) -> Serving:
    rules = AuthorizerRules(super_users=frozenset({"User:root"}))
    settings = ControllerSettings(node_id=1, cluster_id="c", bootstrap=())
    return Serving(
        runner,
        lambda: image,
        features={},
        authorization=Authorization(authorizer, rules, lambda: image, lambda: is_loaded),
        controlling=Controlling(runner, ImageMachine(runner), settings),
    )


def frame_of(name: str, version: int, body: dict[str, Any]) -> RequestFrame:
    return RequestFrame(name=name, version=version, correlation_id=1, client_id="t", body=body)


def through_bytes(name: str, version: int, body: Any) -> dict[str, Any]:
    back = ResponseFrame(name=name, version=version, correlation_id=1, body=body)
    return dict(decode_response(encode_response(back), name, version).body)


def with_a_runner(tmp_path: Path, run: Callable[[Runner], Awaitable[Any]]) -> Any:
    async def inside() -> Any:
        async with quorum_of(tmp_path, 1) as quorum:
            return await run(await quorum.leader())

    return asyncio.run(inside())


async def answered(node: Serving, peer: Any, name: str, version: int, body: Any) -> Any:
    answer = await node.answer(peer, frame_of(name, version, body))
    return None if answer is None else through_bytes(name, version, answer)


async def forwarded(
    node: Serving, peer: Any, principal: str, address: bytes, inner: RequestFrame
) -> Any:
    """The answer to an envelope, and the one in it."""
    claimed = {"type": "User", "name": principal, "tokenAuthenticated": False}
    envelope = {
        "requestData": encode_request(inner),
        "requestPrincipal": b"\0\0" + codec.encode("DefaultPrincipalData", 0, claimed),
        "clientHostAddress": address,
    }
    answer = await answered(node, peer, "Envelope", 0, envelope)
    if not answer["responseData"]:
        return answer["errorCode"]
    return decode_response(answer["responseData"], inner.name, inner.version).body


CREATE_ACLS = frame_of("CreateAcls", 3, {"creations": [NEW_ACL]})


def test_without_an_authorizer_there_are_no_acls(tmp_path: Path) -> None:
    async def run(runner: Runner) -> Any:
        node = node_of(runner, authorizer="")
        return [
            await answered(node, ALICE, "DescribeAcls", 3, EVERY_ACL),
            await answered(node, ALICE, "CreateAcls", 3, {"creations": [NEW_ACL]}),
            await answered(node, ALICE, "DeleteAcls", 3, {"filters": [EVERY_ACL]}),
        ]

    described, created, deleted = with_a_runner(tmp_path, run)
    assert described["errorCode"] == Error.SECURITY_DISABLED
    assert described["errorMessage"] == "No Authorizer is configured on the broker"
    for [result] in (created["results"], deleted["filterResults"]):
        assert result["errorCode"] == Error.SECURITY_DISABLED
        assert result["errorMessage"] == "No Authorizer is configured."


def test_an_authorizer_that_kraftool_cannot_run_lets_in_super_users_alone(tmp_path: Path) -> None:
    async def run(runner: Runner) -> Any:
        node = node_of(runner, image_of(acl("User:alice", "ALL")), authorizer="a.b.Custom")
        return [
            await answered(node, ALICE, "DescribeAcls", 3, EVERY_ACL),
            await answered(node, ROOT, "DescribeCluster", 1, {"endpointType": 2}),
            await answered(node, ROOT, "CreateAcls", 3, {"creations": [NEW_ACL]}),
        ]

    alice, root, created = with_a_runner(tmp_path, run)
    assert alice["errorCode"] == Error.CLUSTER_AUTHORIZATION_FAILED
    assert root["errorCode"] == Error.NONE
    assert created["results"] == [
        {
            "errorCode": Error.SECURITY_DISABLED,
            "errorMessage": "This node cannot run a.b.Custom.",
        }
    ]


def test_until_the_metadata_is_loaded_only_super_users_are_let_in(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Kafka's AuthorizerNotReadyException has no code of its own."""

    async def run(runner: Runner) -> Any:
        image = image_of(acl("User:alice", "ALL"))
        node = node_of(runner, image, is_loaded=False)
        topics = {"topics": [], "timeoutMs": 1, "validateOnly": False}
        return [
            await answered(node, ALICE, "DescribeAcls", 3, EVERY_ACL),
            await answered(node, ALICE, "Vote", 2, _VOTE),
            await answered(node, ALICE, "CreateTopics", 7, topics | {"topics": [_TOPIC]}),
            await answered(node, ROOT, "DescribeAcls", 3, EVERY_ACL),
            await answered(node_of(runner, image), ALICE, "DescribeAcls", 3, EVERY_ACL),
        ]

    acls, vote, topics, root, later = with_a_runner(tmp_path, run)
    assert acls["errorCode"] == vote["errorCode"] == Error.UNKNOWN_SERVER_ERROR
    assert [topic["errorCode"] for topic in topics["topics"]] == [Error.UNKNOWN_SERVER_ERROR]
    assert root["errorCode"] == later["errorCode"] == Error.NONE
    assert "no ACLs are loaded yet" in caplog.text


_TOPIC = {
    "name": "words", "numPartitions": 1, "replicationFactor": 1, "assignments": [], "configs": [],
}  # fmt: skip
_VOTE: dict[str, Any] = {"clusterId": None, "voterId": 1, "topics": []}


def test_a_node_that_reads_no_metadata_lets_in_super_users_alone(tmp_path: Path) -> None:
    async def run(runner: Runner) -> Any:
        node = node_of(runner, None)
        return [await answered(node, peer, "Vote", 2, _VOTE) for peer in (ALICE, ROOT)]

    alice, root = with_a_runner(tmp_path, run)
    assert alice["errorCode"] == Error.CLUSTER_AUTHORIZATION_FAILED
    assert root["errorCode"] != Error.CLUSTER_AUTHORIZATION_FAILED


def test_an_acl_lets_in_its_principal_from_its_host_for_its_operation(tmp_path: Path) -> None:
    async def run(runner: Runner) -> Any:
        node = node_of(runner, image_of(acl("User:alice", "ALTER", host="0:0:0:0:0:0:0:1")))
        elsewhere = replace(ALICE, host="::2")
        return [
            (await answered(node, peer, name, version, body))["errorCode"]
            for peer, name, version, body in (
                (ALICE, "DescribeAcls", 3, EVERY_ACL),  # ALTER implies DESCRIBE
                (ALICE, "DescribeCluster", 1, {"endpointType": 2}),
                (ALICE, "Vote", 2, _VOTE),
                (elsewhere, "DescribeAcls", 3, EVERY_ACL),
                (BROKER, "DescribeAcls", 3, EVERY_ACL),
            )
        ]

    refused = Error.CLUSTER_AUTHORIZATION_FAILED
    assert with_a_runner(tmp_path, run) == [Error.NONE, Error.NONE, refused, refused, refused]


def test_a_request_in_an_envelope_has_the_permissions_of_its_client_at_its_address(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run(runner: Runner) -> Any:
        node = node_of(
            runner,
            image_of(
                acl("User:broker", "CLUSTER_ACTION"),
                acl("User:alice", "ALTER", host="203.0.113.7"),
            ),
        )
        here, there = bytes([203, 0, 113, 7]), bytes([203, 0, 113, 8])
        return [
            # The node leads nothing: whoever is let in is sent on.
            await forwarded(node, BROKER, "alice", here, CREATE_ACLS),
            await forwarded(node, BROKER, "alice", there, CREATE_ACLS),
            await forwarded(node, BROKER, "broker", here, CREATE_ACLS),
            await forwarded(node, ALICE, "root", here, CREATE_ACLS),
        ]

    sent_on, elsewhere, broker, no_broker = with_a_runner(tmp_path, run)
    assert sent_on == Error.NOT_CONTROLLER
    refused = Error.CLUSTER_AUTHORIZATION_FAILED
    assert [result["errorCode"] for result in elsewhere["results"]] == [refused]
    assert [result["errorCode"] for result in broker["results"]] == [refused]
    assert no_broker == refused
    said = [
        vars(record)["fields"] for record in caplog.records if record.message == "not authorized"
    ]
    assert [(fields["principal"], fields["address"]) for fields in said] == [
        ("User:alice", "203.0.113.8"),
        ("User:broker", "203.0.113.7"),
        ("User:alice", "[::1]:50000"),
    ]


def test_whoever_sends_an_acl_with_the_number_for_unknown_is_disconnected(tmp_path: Path) -> None:
    """A broker closes its client's connection at UNSUPPORTED_VERSION."""

    async def run(runner: Runner) -> Any:
        node = node_of(runner)
        body = {"creations": [NEW_ACL | {"operation": 0}]}
        return [
            await answered(node, ROOT, "CreateAcls", 3, body),
            await forwarded(node, ROOT, "root", b"\x7f\0\0\1", frame_of("CreateAcls", 3, body)),
        ]

    assert with_a_runner(tmp_path, run) == [None, Error.UNSUPPORTED_VERSION]


def test_acls_are_described_by_a_node_that_does_not_lead(tmp_path: Path) -> None:
    async def run(runner: Runner) -> Any:
        node = node_of(runner, image_of(acl("User:alice", "ALTER"), acl("User:bob", "CREATE")))
        body = EVERY_ACL | {"principalFilter": "User:bob"}
        return await answered(node, ROOT, "DescribeAcls", 3, body)

    answer = with_a_runner(tmp_path, run)
    [resource] = answer["resources"]
    assert resource["resourceName"] == "kafka-cluster"
    assert [entry["principal"] for entry in resource["acls"]] == ["User:bob"]


def test_a_controller_offers_to_describe_scram_users_and_fails_at_it_as_kafkas(
    tmp_path: Path,
) -> None:
    async def run(runner: Runner) -> Any:
        body = {"users": [{"name": "alice"}]}
        return await answered(node_of(runner), ALICE, "DescribeUserScramCredentials", 0, body)

    answer = with_a_runner(tmp_path, run)
    assert answer["errorCode"] == Error.UNKNOWN_SERVER_ERROR
    assert [result["errorCode"] for result in answer["results"]] == [Error.UNKNOWN_SERVER_ERROR]


def test_the_cluster_is_described_with_the_operations_that_the_client_may_do(
    tmp_path: Path,
) -> None:
    async def run(runner: Runner) -> Any:
        node = node_of(runner, image_of(acl("User:alice", "ALTER"), acl("User:alice", "CREATE")))
        body = {"endpointType": 2, "includeClusterAuthorizedOperations": True}
        return [
            (await answered(node, peer, "DescribeCluster", 1, wanted))[
                "clusterAuthorizedOperations"
            ]
            for peer, wanted in (
                (ALICE, body),
                (ROOT, body),
                (ALICE, body | {"includeClusterAuthorizedOperations": False}),
            )
        ]

    def bits(*operations: str) -> int:
        return sum(1 << ACL_OPERATIONS.index(operation) for operation in operations)

    every = ("CREATE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE")
    assert with_a_runner(tmp_path, run) == [
        bits("ALTER", "DESCRIBE", "CREATE"),
        bits(*every, "ALTER", "DESCRIBE"),
        -(1 << 31),
    ]


def test_the_metadata_is_loaded_once_it_has_what_was_committed_at_first() -> None:
    committed: list[int | None] = [None]
    end = [5]

    def raft() -> Raft:
        return cast(Raft, SimpleNamespace(role=SimpleNamespace(high_watermark=committed[0])))

    images = [EMPTY]
    load = FirstLoad(raft, lambda: images[0], lambda: end[0])
    assert not load.is_over()
    committed[0] = 9
    assert not load.is_over()
    committed[0], end[0] = 20, 9
    assert not load.is_over(), "there is no metadata.version yet"
    loader = ImageLoader(EMPTY)
    loader.replay(0, "FeatureLevelRecord", {"name": METADATA_VERSION, "featureLevel": 30})
    images[0] = loader.image()
    assert load.is_over()
    end[0] = 0
    assert load.is_over()


def test_new_acls_decide_from_their_image_on(tmp_path: Path) -> None:
    images = [EMPTY, image_of(acl("User:alice", "DESCRIBE"))]

    async def run(runner: Runner) -> Any:
        rules = AuthorizerRules()
        shown = [images[0]]
        authorization = Authorization(STANDARD_AUTHORIZER, rules, lambda: shown[0], lambda: True)
        node = Serving(
            runner,
            lambda: shown[0],
            features={},
            authorization=authorization,
            controlling=None,
        )
        codes = []
        for shown[0] in (*images, images[0]):
            answer = await answered(node, ALICE, "DescribeQuorum", 2, _QUORUM)
            codes.append(answer["errorCode"])
        return codes

    refused = Error.CLUSTER_AUTHORIZATION_FAILED
    assert with_a_runner(tmp_path, run) == [refused, Error.NONE, refused]


_QUORUM = {"topics": [{"topicName": "__cluster_metadata", "partitions": [{"partitionIndex": 0}]}]}
