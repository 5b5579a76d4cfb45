"""`kraftool shell` beside the real kafka-metadata-shell 4.3.0: the same trees and the same words.

Every checkpoint of every fixture and every metadata log from offset 0 is compared node by node;
machines without Java compare with the hashes that lie beside the fixtures. The real shell itself
waits for ever on a 0-0 checkpoint and on a file without data, so that its classes are driven here
(ShellTrees.java); that they show what the shell shows is one of the tests. Of fixtures of Kafka
4.4.0, Kafka 4.3.0 cannot say the metadata.version; and it stops at a batch that holds nothing but a
record 29 (UnregisterController), where the states before that batch are compared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kraftool.commands.shell_session import ShellSession
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.reports.state.load import LoadedState
from kraftool.reports.state.shell.nodes import Directory
from tests.interop import kafka, shelltrees
from tests.interop.our_trees import differences, nodes_of, state_of, tree_of
from tests.support.places import FIXTURES

GOLDENS = sorted(FIXTURES.glob(f"*/*/{shelltrees.GOLDEN}"))
CHECKPOINT = (
    FIXTURES
    / "kafka-4.3.0/dynamic-quorum/node-2/data/__cluster_metadata-0"
    / "00000000000000000203-0000000003.checkpoint"
)
DEFAULT_ENTITY = "/image/clientQuotas/user/"
PARTS = (
    "acls", "clientQuotas", "cluster", "configs", "features", "producerIds", "provenance", "scram",
    "topics",
)  # fmt: skip


def assert_same_provenance(state: LoadedState, ours: dict[str, str], theirs: str) -> None:
    """The same, but for logs that end with a control record, which Kafka's shell passes over.

    A broker's image counts it, and snapshots are named by that.
    """
    last = state.image.provenance.last_offset
    if ours[shelltrees.PROVENANCE] == theirs:
        return
    assert max(control.offset for control in state.controls.values()) == last, (state.path, theirs)
    assert theirs.startswith(f"offset {last - 1}, "), (state.path, theirs)


# --- trees ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda p: f"{p.parent.parent.name}/{p.parent.name}")
def test_each_tree_has_the_hash_of_kafkas(golden: Path) -> None:
    kept = json.loads(golden.read_text())
    assert list(kept) == shelltrees.loadable(golden.parent)
    for name, facts in kept.items():
        state = state_of(golden.parent / name, facts.get("below"))
        nodes = nodes_of(tree_of(state))
        assert_same_provenance(state, nodes, facts["provenance"])
        nodes = shelltrees.comparable(nodes, knows_version="faults" not in facts)
        assert shelltrees.digest(nodes) == facts["sha256"], name


def test_every_fixture_with_snapshots_has_the_hashes_of_kafkas_trees() -> None:
    scenarios = {path.parent for path in FIXTURES.glob("*/*/SOURCE")}
    loadable = {scenario for scenario in scenarios if shelltrees.loadable(scenario)}
    assert {path.parent for path in GOLDENS} == {
        path for path in loadable if path.parent.name != "damaged"
    }


def test_only_what_a_newer_kafka_wrote_is_unknown_to_kafka() -> None:
    faulty = {
        (golden.parent.parent.name, name, tuple(facts["faults"]), facts.get("below"))
        for golden in GOLDENS
        for name, facts in json.loads(golden.read_text()).items()
        if "faults" in facts
    }
    assert {entry[0] for entry in faulty} == {
        f"kafka-{without_tool}" for without_tool in kafka.WITHOUT_TOOLS
    }
    # A version that it does not know; and, in logs alone, the batch that it stops at.
    assert all(any("Error loading metadata" in fault for fault in entry[2]) for entry in faulty)
    stopped = [entry for entry in faulty if entry[3] is not None]
    assert stopped
    assert all(entry[1].endswith(".log") for entry in stopped)


@pytest.mark.interop
def test_each_node_of_each_tree_is_kafkas() -> None:
    files = [
        f"{golden.parent.relative_to(FIXTURES)}/{name}"
        for golden in GOLDENS
        for name in shelltrees.loadable(golden.parent)
    ]
    assert len(files) > 200
    seen: set[str] = set()
    for name, theirs in shelltrees.kafka_trees(files, FIXTURES).items():
        state = state_of(FIXTURES / name, theirs.stopped_below)
        ours = nodes_of(tree_of(state))
        assert_same_provenance(state, ours, theirs.nodes[shelltrees.PROVENANCE])
        knows = not theirs.faults
        differing = differences(
            shelltrees.comparable(ours, knows_version=knows),
            shelltrees.comparable(theirs.nodes, knows_version=knows),
        )
        assert not differing, f"{name}: {len(differing)} differences, the first: {differing[:3]}"
        seen |= {"/".join(path.split("/")[:3]) for path, text in theirs.nodes.items() if text}
        seen |= {DEFAULT_ENTITY} & theirs.nodes.keys()
    # What the fixtures hold; no broker made a delegation token in them.
    assert seen >= {DEFAULT_ENTITY, *(f"/image/{part}" for part in PARTS)}


@pytest.mark.interop
def test_what_kafka_has_just_written_has_kafkas_tree(live_metadata_dir: Path) -> None:
    files = shelltrees.loadable(live_metadata_dir)
    for name, theirs in shelltrees.kafka_trees(files, live_metadata_dir).items():
        ours = shelltrees.comparable(nodes_of(tree_of(state_of(live_metadata_dir / name))))
        differing = differences(ours, shelltrees.comparable(theirs.nodes))
        assert not differing, f"{name}: {differing[:3]}"


# --- commands -------------------------------------------------------------------------------------

# Each line of one session; the working directory is kept from line to line.
LINES = (
    "ls",
    "pwd",
    "ls image",
    "ls image/ local",
    "ls image/provenance image/cluster image/topics",
    "ls image/cluster/*",
    "ls image/nosuch image",
    "ls */{acls,cluster,features,pro*}",
    "ls ''",
    "ls -- -x",
    "ls -3",
    "ls 'image'/scram",
    r"ls im\age/scram",
    r"ls \{a",
    'ls "ima\\"ge"',
    "ls {image,nosuch}/{acls,scram}",
    "ls image/{acls,scram",
    "ls image/s?ram",
    "ls image/[s]cram",
    "ls image/../../..",
    "cat image/provenance",
    "cat image/provenance image/features/metadataVersion image/nosuch",
    "cat image",
    "cat image/features/*",
    "cat image/features/{finalized_group.version,metadataVersion}",
    "cat image/provenance/x",
    "cat",
    "tree",
    "tree image/features",
    "tree image/scram image/nosuch",
    "tree image/provenance",
    "tree image/cluster",
    "tree image/topics/byName",
    "tree image/acls/",
    "find image/features",
    "find image/features/",
    "find /image/f*",
    "find image/topics",
    "find nosuch",
    "cd image/cluster",
    "pwd",
    "ls",
    "ls ../..",
    "find",
    "cd brokers/11",
    "cd nosuch",
    "cd ../../..",
    "pwd",
    "cd image/c*",
    "pwd",
    "cd .",
    "cd",
    "pwd",
    "",
    "   ",
    "cd a b",
    "pwd x y",
    "pwd x",
    "exit now please",
    "ls -l",
    "ls --image",
    "ls '-a b'",
    "cat -x -h",
    "find x -y",
    "foo",
    "lsx",
    "l",
    "e",
    "exi",
    "h",
    "hi",
    "c",
    "ca",
    "ca image",
    "man",
    "man a b",
    "man nosuch",
    "history x",
    "history 1 2 3",
    "history 99999999999",
    "man 'l",
    "cat 'image/provenance",
    "cat image/features/finalized_share.version",
    "find image/producerIds image/features/m*",
)


def our_answers(root: Directory, lines: Sequence[str]) -> list[str]:
    shown: list[str] = []
    session = ShellSession(
        root=root,
        show=shown.extend,
        complain=shown.append,
    )
    answers = []
    for line in lines:
        shown.clear()
        session.run(line)
        answers.append("".join(f"{text}\n" for text in shown))
    return answers


@pytest.mark.interop
def test_each_command_answers_as_kafkas() -> None:
    theirs = shelltrees.kafka_answers(CHECKPOINT.name, LINES, CHECKPOINT.parent)
    ours = our_answers(tree_of(state_of(CHECKPOINT)), LINES)
    for line, our, their in zip(LINES, ours, theirs, strict=True):
        assert our == their, line


@pytest.mark.interop
def test_quota_entities_with_default_parts_are_where_kafka_fails() -> None:
    lines = ("tree image/clientQuotas", "find image", "ls image/clientQuotas/*")
    theirs = shelltrees.kafka_answers(CHECKPOINT.name, lines, CHECKPOINT.parent)
    assert theirs[0].startswith(":\n")  # a name that is empty, and nothing below it
    assert all("EXCEPTION Expected  to be a valid child of" in answer for answer in theirs[1:])
    ours = our_answers(tree_of(state_of(CHECKPOINT)), lines)
    assert "\nuser:\n  controller_mutation_rate:\n    250.5\n" in ours[0]
    assert "\nimage/clientQuotas/user/controller_mutation_rate\n" in ours[1]
    assert "\nuser:\ncontroller_mutation_rate\n" in ours[2]


@pytest.mark.interop
def test_the_real_shell_shows_what_its_classes_showed() -> None:
    target = "org.apache.kafka.shell.MetadataShell"
    arguments = ("--snapshot", CHECKPOINT.name, "tree", "image/provenance", "image/cluster")

    def answer() -> str | None:
        folder = CHECKPOINT.parent
        done = kafka.run(kafka.TOOLS_VERSION, target, *arguments, cwd=folder, check=True)
        text = done.stdout.decode()
        # It may print before it has loaded.
        return None if text.startswith("offset -1,") else text

    shown = kafka.wait_for("a run that printed after it had loaded", answer)
    (expected,) = our_answers(
        tree_of(state_of(CHECKPOINT)), ["tree image/provenance image/cluster"]
    )
    assert shown == expected


# --- what no fixture holds ------------------------------------------------------------------------

UUIDS = ("_____________________w", "AAAAAAAAAAAAAAAAAAAAZQ", "3FTLKdJCRwqNMkl3-Vr8mQ")


def odd_records() -> list[tuple[str, int, dict[str, Any]]]:
    """Records with values that real clusters seldom write."""

    def quota(value: float, **entity: str | None) -> tuple[str, int, dict[str, Any]]:
        parts = [
            {"entityType": kind.replace("_", "-"), "entityName": name}
            for kind, name in entity.items()
        ]
        record = {"entity": parts, "key": "producer_byte_rate", "value": value, "remove": False}
        return "ClientQuotaRecord", 0, record

    def broker(number: int, cordoned: list[str] | None) -> tuple[str, int, dict[str, Any]]:
        endpoint = {"name": "b", "host": "::1", "port": 65535, "securityProtocol": 3}
        return (
            "RegisterBrokerRecord",
            4,
            {
                "brokerId": number,
                "brokerEpoch": 2**40,
                "incarnationId": UUIDS[0],
                "endPoints": [endpoint, endpoint | {"name": "A", "securityProtocol": 77}],
                "features": [
                    {"name": "z", "minSupportedVersion": 0, "maxSupportedVersion": 32767},
                    {"name": "a", "minSupportedVersion": 5, "maxSupportedVersion": 5},
                ],
                "rack": "",
                "fenced": True,
                "logDirs": list(UUIDS),
                "cordonedLogDirs": cordoned,
            },
        )

    def acl(number: int, **fields: Any) -> tuple[str, int, dict[str, Any]]:
        plain = {"resourceName": "r", "principal": "User:p", "host": "*"}
        numbers = {"resourceType": 2, "patternType": 3, "operation": 3, "permissionType": 3}
        return "AccessControlEntryRecord", 0, {"id": UUIDS[number], **plain, **numbers, **fields}

    def token(name: str, renewers: list[str]) -> tuple[str, int, dict[str, Any]]:
        record = {
            "owner": "User:o",
            "requester": "User:r",
            "renewers": renewers,
            "issueTimestamp": 1,
            "maxTimestamp": 2**60,
            "expirationTimestamp": -1,
            "tokenId": name,
        }
        return "DelegationTokenRecord", 0, record

    topic = {"name": "t", "topicId": UUIDS[2]}
    partition = {
        "topicId": UUIDS[2],
        "partitionId": 2**31 - 1,
        "replicas": [3, 1],
        "isr": [3],
        "leader": -1,
        "leaderRecoveryState": 1,
        "leaderEpoch": 5,
        "partitionEpoch": 6,
        "directories": [UUIDS[1], UUIDS[0]],
        "eligibleLeaderReplicas": [1],
        "lastKnownElr": [-1],
    }
    retention = {"resourceType": 2, "name": "retention.ms", "value": "1\n2"}
    return [
        ("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 30}),
        broker(1, [UUIDS[0], UUIDS[2]]),
        broker(2, []),
        broker(3, None),
        ("TopicRecord", 0, topic),
        ("PartitionRecord", 2, partition),
        ("ConfigRecord", 0, {**retention, "resourceName": "a/b"}),
        ("ConfigRecord", 0, {**retention, "resourceName": "", "value": ""}),
        *(quota(value, user=f"u{at}") for at, value in enumerate((1e-5, 2**53, 1e7, 0.1))),
        *(quota(value, ip=f"i{at}") for at, value in enumerate((float("inf"), -0.0, 5e-324))),
        quota(1, user=r"a(b)\c", client_id="_user(x)"),
        quota(2, user=None, client_id="c"),
        quota(3, client_id=None, user="u"),
        quota(4, ip=None),
        quota(5, user=None, client_id=None),
        quota(6, user=""),
        acl(0, resourceType=99, patternType=9, operation=77, permissionType=8),
        acl(1, resourceType=7, patternType=4, operation=15, permissionType=2, resourceName=""),
        acl(2, resourceType=6, operation=14, principal="User:\U0001f980"),
        token("t1", ["User:a", "User:b"]),
        token("t/2", []),
        ("ProducerIdsRecord", 0, {"brokerId": 1, "brokerEpoch": 1, "nextProducerId": 2**62}),
    ]


@pytest.mark.interop
@pytest.mark.parametrize("timestamp", [0, 1_700_000_000_120, 253_402_300_800_000, 2**62])
def test_odd_values_are_written_as_by_kafka(timestamp: int, tmp_path: Path) -> None:
    framed = [(None, encode_record(*record)) for record in odd_records()]
    log = tmp_path / f"{0:020}.log"
    log.write_bytes(encode_batch(framed, base_offset=0, epoch=1, timestamp=timestamp))
    theirs = shelltrees.kafka_trees([log.name], tmp_path)[log.name]
    assert not theirs.faults
    ours = nodes_of(tree_of(state_of(log)))
    assert ours[shelltrees.PROVENANCE] == theirs.nodes[shelltrees.PROVENANCE]
    differing = differences(shelltrees.comparable(ours), shelltrees.comparable(theirs.nodes))
    assert not differing, "\n".join(differing)
