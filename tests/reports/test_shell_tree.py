"""The texts of the shell's tree for what no fixture holds, its masks, and where it leaves Kafka's.

That every text is Kafka's is compared over all fixtures in tests/interop/test_shell.py.
"""

from __future__ import annotations

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
from kraftool.image.configs import BROKER, TOPIC, ConfigResource, ConfigurationsImage
from kraftool.image.delegation_tokens import DelegationToken, DelegationTokenImage
from kraftool.image.features import FeaturesImage
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.scram import ScramCredential, ScramImage
from kraftool.image.topics import PartitionRegistration, TopicImage, TopicsImage
from kraftool.reports.state.shell.kafka_text import feature_range, instant
from kraftool.reports.state.shell.nodes import Directory, Leaf, in_order
from kraftool.reports.state.shell.paths import find
from kraftool.reports.state.shell.quota_entities import entity_name, read_entity
from kraftool.reports.state.shell.tree import shell_tree
from kraftool.reports.state.shell.walk import find_lines

UUID = "3FTLKdJCRwqNMkl3-Vr8mQ"
OTHER = "KWiRmMHrku1KXke3QcBn_Q"


def texts(image: MetadataImage, path: str, *, show_secrets: bool = False) -> list[str]:
    entries = find(shell_tree(image, show_secrets=show_secrets), (), path)
    return [entry.node.text() for entry in entries if isinstance(entry.node, Leaf)]


def names(image: MetadataImage, path: str) -> list[str]:
    return list(find_lines(next(iter(find(shell_tree(image), (), path))).node, ""))[1:]


# --- texts ----------------------------------------------------------------------------------------


def test_the_empty_image_has_every_directory() -> None:
    assert names(EMPTY, "/") == [
        "/image",
        "/image/acls",
        "/image/acls/byId",
        "/image/clientQuotas",
        "/image/cluster",
        "/image/cluster/brokers",
        "/image/cluster/controllers",
        "/image/configs",
        "/image/delegationToken",
        "/image/features",
        "/image/features/metadataVersion",
        "/image/producerIds",
        "/image/producerIds/nextProducerId",
        "/image/provenance",
        "/image/scram",
        "/image/scram/SCRAM-SHA-256",
        "/image/scram/SCRAM-SHA-512",
        "/image/topics",
        "/image/topics/byId",
        "/image/topics/byName",
        "/local",
        "/local/commitId",
        "/local/version",
    ]
    assert texts(EMPTY, "image/provenance") == [
        "offset -1, epoch -1, time 1969-12-31T23:59:59.999Z[UTC]"
    ]
    assert texts(EMPTY, "image/*/{metadataVersion,nextProducerId}") == ["Optional.empty", "-1"]


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z[UTC]"),
        (1, "1970-01-01T00:00:00.001Z[UTC]"),
        (1_795_234_320_040, "2026-11-21T04:12:00.04Z[UTC]"),
        (951_782_399_900, "2000-02-28T23:59:59.9Z[UTC]"),
        (951_868_800_000, "2000-03-01T00:00:00Z[UTC]"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z[UTC]"),
        (253_402_300_800_000, "+10000-01-01T00:00:00Z[UTC]"),
        (2**63 - 1, "+292278994-08-17T07:12:55.807Z[UTC]"),
        (-(2**63), "-292275055-05-16T16:47:04.192Z[UTC]"),
    ],
)
def test_a_time_is_written_as_java_writes_it(milliseconds: int, text: str) -> None:
    assert instant(milliseconds) == text


@pytest.mark.parametrize(
    ("low", "high", "text"), [(0, 1, "0-1"), (3, 3, "3"), (7, 32767, "7+"), (32767, 32767, "32767")]
)
def test_a_range_is_written_as_kafka_writes_it(low: int, high: int, text: str) -> None:
    assert feature_range(FeatureRange(low, high)) == text


def test_registrations() -> None:
    endpoints = (RegisteredEndpoint("A", "h", 1, 3), RegisteredEndpoint("B", "::1", 9092, 9))
    broker = BrokerRegistration(
        id=4,
        epoch=70,
        incarnation_id=UUID,
        listeners=endpoints,
        features={"x": FeatureRange(1, 2)},
        rack="r1",
        fenced=False,
        in_controlled_shutdown=True,
        directories=(UUID, OTHER),
        cordoned_directories=(OTHER,),
    )
    controller = ControllerRegistration(
        id=5, incarnation_id=UUID, zk_migration_ready=True, listeners=endpoints[:1]
    )
    image = MetadataImage(cluster=ClusterImage(brokers={4: broker}, controllers={5: controller}))
    one = "Endpoint(listenerName='A', securityProtocol=SASL_SSL, host='h', port=1)"
    two = "Endpoint(listenerName='B', securityProtocol=null, host='::1', port=9092)"
    assert texts(image, "image/cluster/brokers/4") == [
        (
            f"BrokerRegistration(id=4, epoch=70, incarnationId={UUID}, listeners=[{one}, {two}],"
            " supportedFeatures={x: 1-2}, rack=Optional[r1], fenced=false,"
            " inControlledShutdown=true, isMigratingZkBroker=false,"
            f" directories=[{UUID}, {OTHER}], cordonedDirectories=[{OTHER}])"
        )
    ]
    assert texts(image, "image/cluster/controllers/*") == [
        (
            f"ControllerRegistration(id=5, incarnationId={UUID}, zkMigrationReady=true,"
            f" listeners=[{one}], supportedFeatures={{}})"
        )
    ]
    # As for Java, these spell the same number.
    assert texts(image, "image/cluster/brokers/+4") == texts(image, "image/cluster/brokers/04")


def topic_image() -> MetadataImage:
    partition = PartitionRegistration(
        (1, 2), (UUID, OTHER), (2,), (1,), (), (1,), (-1,), 2, 1, 7, 9
    )
    topic = TopicImage(name="t", id=UUID, partitions={0: partition, 10: partition, 9: partition})
    return MetadataImage(topics=TopicsImage(by_id={UUID: topic}, by_name={"t": topic}))


def test_a_topic_is_found_by_name_and_by_id() -> None:
    image = topic_image()
    assert names(image, "image/topics/byName/t") == ["/0", "/10", "/9", "/id", "/name"]
    for path in ("byName/t", f"byId/{UUID}"):
        assert texts(image, f"image/topics/{path}/{{id,name}}") == [UUID, "t"]
        assert texts(image, f"image/topics/{path}/10") == [
            (
                f"PartitionRegistration(replicas=[1, 2], directories=[{UUID}, {OTHER}], isr=[2],"
                " removingReplicas=[1], addingReplicas=[], elr=[1], lastKnownElr=[-1], leader=2,"
                " leaderRecoveryState=RECOVERING, leaderEpoch=7, partitionEpoch=9)"
            )
        ]
    assert texts(image, "image/topics/byName/t/11") == []


def test_acls_and_tokens() -> None:
    acl = StandardAcl(5, "tx", 4, "User:*", "*", 15, 2)
    strange = StandardAcl(99, "", 7, "User:x", "h", -1, 9)
    token = DelegationToken(
        id="tok",
        owner="User:o",
        requester="User:r",
        renewers=("User:a", "User:b"),
        issue_timestamp=1,
        max_timestamp=2,
        expiration_timestamp=3,
    )
    image = MetadataImage(
        acls=AclsImage(by_id={UUID: acl, OTHER: strange}),
        delegation_tokens=DelegationTokenImage(tokens={"tok": token}),
    )
    assert texts(image, f"image/acls/byId/{UUID}") == [
        (
            "StandardAcl[resourceType=TRANSACTIONAL_ID, resourceName=tx, patternType=PREFIXED,"
            " principal=User:*, host=*, operation=TWO_PHASE_COMMIT, permissionType=DENY]"
        )
    ]
    assert texts(image, f"image/acls/byId/{OTHER}") == [
        (
            "StandardAcl[resourceType=UNKNOWN, resourceName=, patternType=UNKNOWN,"
            " principal=User:x, host=h, operation=UNKNOWN, permissionType=UNKNOWN]"
        )
    ]
    assert texts(image, "image/delegationToken/tok") == [
        (
            "DelegationTokenDatatokenId=tok(owner=User:o(tokenRequester=User:r"
            "(renewers=User:a User:b, issueTimestamp=1, maxTimestamp=2), expiryTimestamp=3"
        )
    ]


def test_features() -> None:
    image = MetadataImage(features=FeaturesImage(metadata_version=30, finalized={"x": 3}))
    assert names(image, "image/features") == ["/finalized_x", "/metadataVersion"]
    assert texts(image, "image/features/*") == ["3", "Optional[4.3-IV0]"]
    # Kafka answers 0 for any name; here only for features that exist.
    assert texts(image, "image/features/finalized_share.version") == ["0"]
    assert texts(image, "image/features/finalized_typo") == []
    newer = MetadataImage(features=FeaturesImage(metadata_version=99))
    assert texts(newer, "image/features/metadataVersion") == ["Optional[level 99]"]


def test_text_that_was_no_utf8_is_as_java_has_it() -> None:
    name = b"u\xff\xed\xa0\x80".decode("utf-8", "surrogateescape")
    credential = ScramCredential(salt=b"", stored_key=b"", server_key=b"", iterations=1)
    image = MetadataImage(scram=ScramImage(mechanisms={1: {name: credential}}))
    assert names(image, "image/scram/SCRAM-SHA-256") == ["/u\ufffd\ufffd"]
    assert len(texts(image, "image/scram/SCRAM-SHA-256/u\ufffd\ufffd")) == 1


# --- secrets --------------------------------------------------------------------------------------


def test_secrets_are_masked_unless_they_are_asked_for() -> None:
    credential = ScramCredential(
        salt=b"\x01\xff", stored_key=b"\x02", server_key=b"\x03", iterations=4096
    )
    image = MetadataImage(
        scram=ScramImage(mechanisms={2: {"alice": credential}}),
        configs=ConfigurationsImage(
            resources={
                ConfigResource(BROKER, ""): {"ssl.key.password": "pw", "min.insync.replicas": "1"},
                ConfigResource(TOPIC, "t"): {"unheard.of": "x", "retention.ms": ""},
                ConfigResource(64, "n"): {"new": "v"},
            }
        ),
    )
    scram, configs = "image/scram/SCRAM-SHA-512/alice", "image/configs"
    assert texts(image, scram) == [
        (
            "ScramCredentialData(salt=[redacted], storedKey=[redacted], serverKey=[redacted],"
            " iterations=4096)"
        )
    ]
    assert texts(image, scram, show_secrets=True) == [
        "ScramCredentialData(salt=01ff, storedKey=02, serverKey=03, iterations=4096)"
    ]
    assert texts(image, f"{configs}/BROKER/*") == ["1", "[redacted]"]
    assert texts(image, f"{configs}/BROKER/*", show_secrets=True) == ["1", "pw"]
    assert texts(image, f"{configs}/TOPIC:t/*") == ["", "[redacted]"]
    assert texts(image, f"{configs}/UNKNOWN_64:n/new", show_secrets=True) == ["v"]


# --- quota entities -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entity", "name"),
    [
        ((("user", "a"),), "user(a)"),
        ((("client-id", "c"), ("user", "u")), "clientId(c)_user(u)"),
        ((("ip", "::1"),), "ip(::1)"),
        ((("user", r"a(b)\c"),), r"user(a\(b\)\\c)"),
        ((("user", ")_ip("),), r"user(\)_ip\()"),
        ((("user", ""),), "user()"),
        ((("user", None),), "user"),
        ((("client-id", None), ("user", None)), "clientId_user"),
        ((("client-id", "c"), ("user", None)), "clientId(c)_user"),
        ((("client-id", None), ("user", "u_v")), "clientId_user(u_v)"),
    ],
)
def test_the_name_of_a_quota_entity_reads_back(
    entity: tuple[tuple[str, str | None], ...], name: str
) -> None:
    assert entity_name(entity) == name
    assert read_entity(name) == entity


@pytest.mark.parametrize("name", ["", "user(a", "user(a)_", "(a)", "user(a)ip(b)", "_user", "a\\"])
def test_what_is_no_entity_name_is_none(name: str) -> None:
    assert read_entity(name) is None


def test_the_parts_of_an_entity_may_come_in_any_order() -> None:
    assert read_entity("user(u)_clientId(c)") == (("client-id", "c"), ("user", "u"))


def test_entities_with_default_parts_can_be_reached_and_have_names_of_their_own() -> None:
    entities = {
        (("user", None),): {"producer_byte_rate": 1024.0},
        (("client-id", "a"),): {"consumer_byte_rate": 1e15},
        (("client-id", "a"), ("user", None)): {"request_percentage": 12.5},
        (("tenant", "t"),): {"x": 1.0},
    }
    image = MetadataImage(client_quotas=ClientQuotasImage(entities=entities))
    quotas = "image/clientQuotas"
    node = next(find(shell_tree(image), (), quotas)).node
    assert isinstance(node, Directory)
    assert in_order(node.names()) == [
        "clientId(a)",
        "clientId(a)_user",
        "tenant(t)",
        "user",
    ]
    assert texts(image, f"{quotas}/user/*") == ["1024.0"]
    assert texts(image, f"{quotas}/clientId(a)/*") == ["1.0E15"]
    assert texts(image, f"{quotas}/clientId(a)_user/*") == ["12.5"]
    assert texts(image, f"{quotas}/*/x") == ["1.0"]
