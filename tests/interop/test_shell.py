"""`kraftool shell` beside the real kafka-metadata-shell 4.3.0: the same trees and the same words.

Every checkpoint of every fixture and every metadata log from offset 0 is compared, by recorded
hashes of each part of its tree. The real shell itself
waits for ever on a 0-0 checkpoint and on a file without data, so that its classes are driven here
(ShellTrees.java); that they show what the shell shows is one of the tests. Of fixtures of Kafka
4.4.0, Kafka 4.3.0 cannot say the metadata.version; and it stops at a batch that holds nothing but a
record 29 (UnregisterController), where the states before that batch are compared.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import groupby
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
from tests.interop.recorded import Recording, words
from tests.interop.shared_jvms import TREES_SOURCE
from tests.support.places import FIXTURES

pytestmark = pytest.mark.slow

CHECKPOINT = (
    FIXTURES
    / "kafka-4.3.0/dynamic-quorum/node-2/data/__cluster_metadata-0"
    / "00000000000000000203-0000000003.checkpoint"
)
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


def tree_files() -> list[str]:
    """Every file of the fixtures that the shell can load."""
    return [
        f"{source.parent.relative_to(FIXTURES)}/{name}"
        for source in sorted(FIXTURES.glob("*/*/SOURCE"))
        if source.parent.parent.name != "damaged"
        for name in shelltrees.loadable(source.parent)
    ]


def _trees() -> dict[str, Any]:
    trees = shelltrees.kafka_trees(tree_files(), FIXTURES)
    return {name: shelltrees.kept(tree) for name, tree in trees.items()}


TREES = Recording(
    name="shell-trees",
    release=kafka.TOOLS_VERSION,
    command="java/ShellTrees.java: tree FILE...",
    sources=(TREES_SOURCE,),
    about=lambda: {name: (FIXTURES / name).read_bytes() for name in tree_files()},
    ask=_trees,
)
BY_FIXTURE = groupby(tree_files(), lambda name: "/".join(name.split("/")[:2]))


@pytest.mark.parametrize(
    "files", [pytest.param(list(files), id=fixture) for fixture, files in BY_FIXTURE]
)
def test_each_tree_is_kafkas(files: list[str]) -> None:
    for name in files:
        facts = TREES.answers()[name]
        state = state_of(FIXTURES / name, facts.get("below"))
        nodes = nodes_of(tree_of(state))
        assert_same_provenance(state, nodes, facts["provenance"])
        nodes = shelltrees.comparable(nodes, knows_version="faults" not in facts)
        assert shelltrees.digests(nodes) == facts["parts"], name


def test_the_fixtures_hold_each_part_of_a_tree() -> None:
    """But for delegation tokens, which no broker made in them."""
    seen = {part for facts in TREES.answers().values() for part in facts["filled"]}
    assert seen >= {shelltrees.DEFAULT_ENTITY, *(f"/image/{part}" for part in PARTS)}


def test_only_what_a_newer_kafka_wrote_is_unknown_to_kafka() -> None:
    faulty = {
        (name, tuple(facts["faults"]), facts.get("below"))
        for name, facts in TREES.answers().items()
        if "faults" in facts
    }
    assert {name.split("/")[0] for name, _, _ in faulty} == {
        f"kafka-{without_shell}" for without_shell in kafka.WITHOUT_SHELL
    }
    # A version that it does not know; and, in logs alone, the batch that it stops at.
    assert all(any("Error loading metadata" in fault for fault in entry[1]) for entry in faulty)
    stopped = [name for name, _, below in faulty if below is not None]
    assert stopped
    assert all(name.endswith(".log") for name in stopped)


@pytest.mark.interop
@pytest.mark.soak
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


QUOTA_LINES = ("tree image/clientQuotas", "find image", "ls image/clientQuotas/*")
SHELL_LINE = "tree image/provenance image/cluster"


def _sessions() -> dict[str, Any]:
    folder = CHECKPOINT.parent
    return {
        "session": shelltrees.kafka_answers(CHECKPOINT.name, LINES, folder),
        "quotas": shelltrees.kafka_answers(CHECKPOINT.name, QUOTA_LINES, folder),
        "shell": _real_shell(),
    }


def _real_shell() -> str:
    target = "org.apache.kafka.shell.MetadataShell"
    arguments = ("--snapshot", CHECKPOINT.name, *SHELL_LINE.split())

    def answer() -> str | None:
        folder = CHECKPOINT.parent
        done = kafka.run(kafka.TOOLS_VERSION, target, *arguments, cwd=folder, check=True)
        text = done.stdout.decode()
        # It may print before it has loaded.
        return None if text.startswith("offset -1,") else text

    return kafka.wait_for("a run that printed after it had loaded", answer)


SESSIONS = Recording(
    name="shell-sessions",
    release=kafka.TOOLS_VERSION,
    command="java/ShellTrees.java: run FILE LINE..., and kafka-metadata-shell",
    sources=(TREES_SOURCE,),
    about=lambda: {
        "checkpoint": CHECKPOINT.read_bytes(),
        **words([LINES, QUOTA_LINES, SHELL_LINE]),
    },
    ask=_sessions,
)


def test_each_command_answers_as_kafkas() -> None:
    theirs = SESSIONS.answers()["session"]
    ours = our_answers(tree_of(state_of(CHECKPOINT)), LINES)
    for line, our, their in zip(LINES, ours, theirs, strict=True):
        assert our == their, line


def test_quota_entities_with_default_parts_are_where_kafka_fails() -> None:
    theirs = SESSIONS.answers()["quotas"]
    assert theirs[0].startswith(":\n")  # a name that is empty, and nothing below it
    assert all("EXCEPTION Expected  to be a valid child of" in answer for answer in theirs[1:])
    ours = our_answers(tree_of(state_of(CHECKPOINT)), QUOTA_LINES)
    assert "\nuser:\n  controller_mutation_rate:\n    250.5\n" in ours[0]
    assert "\nimage/clientQuotas/user/controller_mutation_rate\n" in ours[1]
    assert "\nuser:\ncontroller_mutation_rate\n" in ours[2]


def test_the_real_shell_shows_what_its_classes_showed() -> None:
    (expected,) = our_answers(tree_of(state_of(CHECKPOINT)), [SHELL_LINE])
    assert SESSIONS.answers()["shell"] == expected


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


TIMESTAMPS = (0, 1_700_000_000_120, 253_402_300_800_000, 2**62)


def odd_logs() -> dict[str, bytes]:
    framed = [(None, encode_record(*record)) for record in odd_records()]
    return {
        str(timestamp): encode_batch(framed, base_offset=0, epoch=1, timestamp=timestamp)
        for timestamp in TIMESTAMPS
    }


def _write(folder: Path) -> list[str]:
    """Write each log; their names."""
    for name, data in odd_logs().items():
        (folder / name).mkdir()
        (folder / name / f"{0:020}.log").write_bytes(data)
    return [f"{name}/{0:020}.log" for name in odd_logs()]


def _odd_trees() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        trees = shelltrees.kafka_trees(_write(Path(folder)), Path(folder))
    assert not any(tree.faults for tree in trees.values())
    return {name.split("/")[0]: tree.nodes for name, tree in trees.items()}


ODD_TREES = Recording(
    name="shell-odd-values",
    release=kafka.TOOLS_VERSION,
    command="java/ShellTrees.java: tree FILE...",
    sources=(TREES_SOURCE,),
    about=odd_logs,
    ask=_odd_trees,
)
RECORDINGS = (TREES, SESSIONS, ODD_TREES)


@pytest.mark.parametrize("timestamp", TIMESTAMPS)
def test_odd_values_are_written_as_by_kafka(timestamp: int, tmp_path: Path) -> None:
    theirs = ODD_TREES.answers()[str(timestamp)]
    [log] = [name for name in _write(tmp_path) if name.startswith(f"{timestamp}/")]
    ours = nodes_of(tree_of(state_of(tmp_path / log)))
    assert ours[shelltrees.PROVENANCE] == theirs[shelltrees.PROVENANCE]
    differing = differences(shelltrees.comparable(ours), shelltrees.comparable(theirs))
    assert not differing, "\n".join(differing)
