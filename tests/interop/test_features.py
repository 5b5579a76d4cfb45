"""Feature levels as Kafka itself has them: the tables, and what a real controller refuses.

The tables of `image/metadata_version.py` are compared with the classes of every release in the
harness, up to its latest production level: what lies above was unstable there, and two of those
levels changed their meaning later. Verdicts are compared with dry runs of kafka-features against a
running Kafka 4.3.0, in substance: Kafka tells the first reason only, and it has to be one of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kraftool.image import metadata_version as table
from kraftool.reports.features.model import ClusterFeatures
from kraftool.reports.features.read import read_features
from kraftool.reports.features.rules import RefusalRule, blockers
from kraftool.reports.features.target import Direction, FeaturesRun, request
from kraftool.reports.state.load import load_state
from kraftool.storage.kafka_home import installed_release
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.shared_jvms import storage_session

pytestmark = pytest.mark.interop
JAVA = Path(__file__).with_name("java")
RELEASES = [
    *(f"3.{minor}" for minor in range(10)), *(f"4.{minor}" for minor in range(5)),
    "3.3-IV0", "3.3-IV3", "3.3.2", "3.7-IV2", "3.9-IV0", "4.3.0", "4.3-IV0", "4.4-IV2", "nonsense",
    "3.10",
]  # fmt: skip


@cache
def told(version: str) -> dict[str, Any]:
    """What a release's classes say."""
    done = kafka.run_source(version, JAVA / "Levels.java", *RELEASES, check=True, heap="-Xmx200m")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def production(version: str) -> list[dict[str, Any]]:
    """The production levels of a release. 3.3.2 has no more levels than these."""
    levels = told(version)["levels"]
    return [level for level in levels if level["level"] <= told(version)["latest"]]


@pytest.mark.parametrize("version", kafka.VERSIONS)
def test_levels_have_the_names_and_the_changes_that_kafka_gives_them(version: str) -> None:
    levels = production(version)
    assert [table.level_name(level["level"]) for level in levels] == [e["name"] for e in levels]
    for before, entry in pairwise(levels):
        assert entry["level"] == before["level"] + 1
        changed = table.changed_between(before["level"], entry["level"]) != ()
        assert changed == entry["changed"], entry


def test_the_newest_release_has_no_level_that_the_table_lacks() -> None:
    assert told(kafka.NEWEST)["latest"] == table.LATEST_LEVEL


@pytest.mark.parametrize("version", kafka.VERSIONS)
def test_the_release_of_an_installed_kafka_is_its_newest_production_level(version: str) -> None:
    level = table.level_of(installed_release(str(kafka.home(version))).name)
    assert level == told(version)["latest"]


@pytest.mark.parametrize("version", kafka.VERSIONS)
def test_records_have_the_versions_that_kafka_writes_at_each_level(version: str) -> None:
    compared = 0
    for entry in production(version):
        level = entry["level"]
        expected = {
            "registerBrokerRecordVersion": table.register_broker_version(level),
            "partitionRecordVersion": table.partition_version(level),
            "partitionChangeRecordVersion": table.partition_version(level),
        }
        for name, value in expected.items():
            if name in entry:
                assert entry[name] == value, (name, level)
                compared += 1
    assert compared >= len(production(version))


FLAGS = {
    "isScramSupported": "UserScramCredentialRecord",
    "isMetadataTransactionSupported": "BeginTransactionRecord",
    "isDelegationTokenSupported": "DelegationTokenRecord",
    "isMigrationSupported": "ZkMigrationStateRecord",
    "isElrSupported": "ClearElrRecord",
    "isControllerRegistrationSupported": "RegisterControllerRecord",
    "isControllerUnregistrationSupported": "UnregisterControllerRecord",
    "isNoOpRecordSupported": "NoOpRecord",
    "isBrokerRegistrationChangeRecordSupported": "BrokerRegistrationChangeRecord",
}


@pytest.mark.parametrize("version", kafka.VERSIONS)
def test_record_types_begin_where_kafka_begins_to_write_them(version: str) -> None:
    for entry in production(version):
        for flag, record in FLAGS.items():
            if flag in entry:
                assert entry[flag] == (entry["level"] >= table.record_level(record, 0)), (
                    flag,
                    entry,
                )
        for flag, lowest in {
            "isInControlledShutdownStateSupported": table.OLDEST_KRAFT_LEVEL,
            "isDirectoryAssignmentSupported": table.DIRECTORIES_LEVEL,
            "isCordonedLogDirsSupported": table.CORDONED_LEVEL,
            "isCidrAclSupported": table.CIDR_ACL_LEVEL,
        }.items():
            if flag in entry:
                assert entry[flag] == (entry["level"] >= lowest), (flag, entry)


@pytest.mark.parametrize("version", kafka.VERSIONS)
def test_a_release_stands_for_the_level_that_kafka_takes_it_for(version: str) -> None:
    latest = told(version)["latest"]
    for name, level in told(version)["named"].items():
        if level is not None and 1 <= level <= latest:
            assert table.level_of(name) == level, name
        elif table.level_of(name) is not None:
            # Another release may know what this one does not: newer ones, or those before 3.3.
            known = table.level_of(name) or 0
            assert known > latest or known < told(version)["levels"][0]["level"], name


@pytest.mark.parametrize("version", kafka.VERSIONS)
def test_nodes_register_the_ranges_in_the_table(version: str) -> None:
    release = ".".join(version.split(".")[:2])
    ranges = {name: tuple(bounds) for name, bounds in told(version)["ranges"].items()}
    assert ranges == table.RELEASE_RANGES[release]


@pytest.mark.parametrize("version", ["4.1.1", kafka.TOOLS_VERSION, kafka.NEWEST])
def test_features_have_the_defaults_and_needs_of_kafka(version: str) -> None:
    features, latest = told(version)["features"], told(version)["latest"]
    assert set(features) == set(table.FEATURES)
    for name, told_feature in features.items():
        rules = {feature.level: feature for feature in table.FEATURES[name]}
        for entry in told_feature["versions"]:
            if entry["level"] == 0:
                continue
            rule = rules[entry["level"]]
            assert (rule.default_from, dict(rule.needs)) == (
                entry["bootstrap"],
                entry["dependencies"],
            )
        for level, default in told_feature["defaults"].items():
            if int(level) <= latest:
                assert table.release_levels(int(level))[name] == default, (name, level)
    if version == kafka.NEWEST:
        levels = {n: [v["level"] for v in f["versions"]][1:] for n, f in features.items()}
        assert levels == {
            n: [level_rule.level for level_rule in r] for n, r in table.FEATURES.items()
        }


def test_kafka_3_9_needs_its_own_level_for_kraft_version_and_has_no_other_feature() -> None:
    """The one release whose Features differ: what it says of unstable ones is not in the table."""
    features = told("3.9.1")["features"]
    assert features["kraft.version"]["latestProduction"] == 1
    assert features["transaction.version"]["latestProduction"] == 0
    assert features["kraft.version"]["defaults"]["21"] == 1
    assert features["kraft.version"]["defaults"]["20"] == 0


@pytest.mark.parametrize("release", ["3.3", "3.9-IV0", "4.0", "4.1-IV0", "4.2", "4.3"])
def test_version_mapping_says_the_same(release: str) -> None:
    level = table.level_of(release)
    assert level is not None
    output = storage_session("4.3.0").call(("version-mapping", "--release-version", release))
    pairs = re.findall(r"^(\S+)=(\d+)", output, re.MULTILINE)
    assert {name: int(value) for name, value in pairs} == table.release_levels(level)


def test_feature_dependencies_says_the_same() -> None:
    wanted = [(name, rule) for name, rules in table.FEATURES.items() for rule in rules]
    wanted = [(name, rule) for name, rule in wanted if (name, rule.level) != ("share.version", 2)]
    args = [word for name, rule in wanted for word in ("--feature", f"{name}={rule.level}")]
    output = storage_session("4.3.0").call(("feature-dependencies", *args))
    for name, rule in wanted:
        block = re.search(
            rf"^{re.escape(name)}={rule.level} (.*(?:\n {{2,}}.*)*)", output, re.MULTILINE
        )
        assert block is not None, output
        pairs = re.findall(r"^ +(\S+)=(\d+)", block[1], re.MULTILINE)
        assert tuple((other, int(level)) for other, level in pairs) == rule.needs
        assert bool(rule.needs) != ("has no dependencies" in block[1])


# --- verdicts -----------------------------------------------------------------------------------

REASONS = {
    RefusalRule.RANGE: r"([cC]ontroller|Broker) \d+ (only supports versions|does not support)",
    RefusalRule.NOT_REGISTERED: r"controller \d+ has not registered",
    RefusalRule.DIRECTION: (
        r"Can't downgrade (the version of this feature without|to a newer version)"
        r"|The upgradeType flag should be set to SAFE_DOWNGRADE"
    ),
    RefusalRule.FLOOR: r"only supports versions \[?7",
    RefusalRule.CHANGED_RECORDS: (
        r"might delete metadata information|Unsafe metadata downgrade is not"
    ),
    RefusalRule.UNKNOWN_LEVEL: r"only supports versions",
    RefusalRule.UNKNOWN_FEATURE: r"does not support this feature|Feature \S+ not found",
    RefusalRule.DEPENDENCY: r"because it depends on",
    RefusalRule.KRAFT_DOWNGRADE: r"Can't downgrade the version of this feature\.",
    RefusalRule.KRAFT_VOTERS: r"not all of the voters support it",
}

ELR = ("--feature", "eligible.leader.replicas.version=1")
STATIC_3_9 = (
    ("upgrade", "--release-version", "4.3"),
    ("upgrade", "--release-version", "4.0-IV1"),
    ("upgrade", "--release-version", "4.4-IV0"),
    ("upgrade", "--release-version", "3.9"),
    ("downgrade", "--release-version", "3.8"),
    ("downgrade", "--release-version", "3.7"),
    ("downgrade", "--release-version", "3.6"),
    ("upgrade", "--feature", "metadata.version=30"),
    ("upgrade", "--feature", "metadata.version=31"),
    ("upgrade", "--feature", "metadata.version=99"),
    ("upgrade", "--feature", "metadata.version=20"),
    ("downgrade", "--feature", "metadata.version=22"),
    ("downgrade", "--feature", "metadata.version=20"),
    ("downgrade", "--feature", "metadata.version=17"),
    ("downgrade", "--feature", "metadata.version=16"),
    ("downgrade", "--unsafe", "--feature", "metadata.version=16"),
    ("downgrade", "--feature", "metadata.version=6"),
    ("upgrade", *ELR),
    ("upgrade", *ELR, "--feature", "metadata.version=23"),
    ("upgrade", *ELR, "--feature", "metadata.version=22"),
    ("upgrade", "--feature", "group.version=1"),
    ("upgrade", "--feature", "group.version=0"),
    ("downgrade", "--feature", "group.version=1"),
    ("upgrade", "--feature", "share.version=1"),
    ("upgrade", "--feature", "share.version=2"),
    ("upgrade", "--feature", "transaction.version=2"),
    ("upgrade", "--feature", "no.such.version=1"),
    ("upgrade", "--feature", "no.such.version=0"),
    ("downgrade", "--feature", "no.such.version=0"),
    ("upgrade", "--feature", "kraft.version=1"),
    ("upgrade", "--feature", "kraft.version=2"),
    ("downgrade", "--feature", "kraft.version=0"),
)  # fmt: skip

DYNAMIC_4_3 = (
    ("upgrade", "--release-version", "4.3"),
    ("downgrade", "--release-version", "4.2"),
    ("downgrade", "--release-version", "3.8"),
    ("downgrade", "--feature", "kraft.version=0"),
    ("downgrade", "--feature", "kraft.version=1"),
    ("upgrade", "--feature", "kraft.version=0"),
    ("downgrade", "--feature", "share.version=0"),
    ("downgrade", "--feature", "eligible.leader.replicas.version=0"),
    ("upgrade", "--feature", "transaction.version=1"),
    ("downgrade", "--feature", "transaction.version=1"),
    ("downgrade", "--feature", "metadata.version=29", "--feature", "share.version=0"),
)


def asked(cluster: ClusterFeatures, words: Sequence[str]) -> FeaturesRun:
    """What kafka-features sends for these words."""
    direction = Direction(words[0])
    if "--release-version" in words:
        (made,) = request(cluster, words[-1], [])
        assert made.direction is direction
        return made
    pairs = [words[at + 1].split("=") for at, word in enumerate(words) if word == "--feature"]
    return FeaturesRun(direction=direction, levels={name: int(level) for name, level in pairs})


def dry_runs(server: str, commands: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """What kafka-features answers to each."""
    lines = "".join(
        json.dumps(["--bootstrap-server", server, *words, "--dry-run"]) + "\n" for words in commands
    )
    done = kafka.run_source(
        "4.3.0", JAVA / "DryRuns.java", stdin=lines.encode(), check=True, heap="-Xmx200m"
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(
    cluster: ClusterFeatures, words: Sequence[str], answer: Mapping[str, Any]
) -> str | None:
    """How the verdicts differ; None where they do not."""
    ours = blockers(cluster, asked(cluster, words))
    if answer["code"] == 0:
        return f"Kafka accepts {words}, we: {ours}" if ours else None
    if not ours:
        return f"Kafka refuses {words}: {answer['said']}"
    if any(re.search(REASONS[blocker.rule], answer["said"]) for blocker in ours):
        return None
    return f"Kafka refuses {words} for another reason: {answer['said']}, we: {ours}"


def wait_registered(node: Node, *controllers: int) -> None:
    """Each registers a moment after it has found its leader; until then all is refused."""

    def probe() -> bool:
        cluster = load_state(str(node.metadata_log_dir)).image.cluster
        return cluster.controllers.keys() == set(controllers)

    kafka.wait_for(f"controllers {controllers} to be registered", probe, every=0.2)


@pytest.mark.parametrize(
    ("static", "options", "commands", "refused"),
    [
        (True, ("--release-version", "3.9"), STATIC_3_9, 18),
        (False, ("--standalone",), DYNAMIC_4_3, 6),
    ],
    ids=("static-3.9", "dynamic-4.3"),
)
def test_kafka_4_3_accepts_and_refuses_what_we_say(
    static: bool,
    options: Sequence[str],
    commands: Sequence[Sequence[str]],
    refused: int,
    tmp_path: Path,
) -> None:
    with Cluster("4.3.0", tmp_path / "nodes") as running:
        node = running.add_node(1, ("broker", "controller"))
        if static:
            running.use_static_voters()
        else:
            running.use_bootstrap_servers()
        running.format([node], *options)
        running.start(node)
        wait_registered(node, 1)
        answers = dry_runs(node.at("BROKER"), commands)
        running.stop(node)
    cluster = read_features([str(node.directory / "server.properties"), str(node.metadata_log_dir)])
    assert len(answers) == len(commands)
    differences = [compare(cluster, *pair) for pair in zip(commands, answers, strict=True)]
    assert [difference for difference in differences if difference] == []
    assert sum(answer["code"] != 0 for answer in answers) == refused


def test_kafka_4_3_refuses_everything_while_a_static_voter_has_not_registered(
    tmp_path: Path,
) -> None:
    commands = (
        ("upgrade", "--release-version", "4.3"),
        ("downgrade", "--feature", "share.version=0"),
        ("upgrade", "--feature", "kraft.version=1"),
        ("upgrade", "--feature", "group.version=1"),
    )
    with Cluster("4.3.0", tmp_path / "nodes") as running:
        node = running.add_node(1, ("broker", "controller"))
        nodes = [node, running.add_node(2, ("controller",))]
        running.add_node(3, ("controller",))
        running.use_static_voters()
        running.format(nodes, "--release-version", "4.2")
        running.start(*nodes)
        wait_registered(node, 1, 2)
        answers = dry_runs(node.at("BROKER"), commands)
        running.stop(node)  # while the other one is there to answer it
        running.kill(nodes[1])
    cluster = read_features([str(node.directory / "server.properties")])
    differences = [compare(cluster, *pair) for pair in zip(commands, answers, strict=True)]
    assert [difference for difference in differences if difference] == []
    assert [answer["code"] for answer in answers] == [1] * len(commands)
    refusing = blockers(cluster, asked(cluster, commands[3]))
    blocking = {blocker.blocking_nodes for blocker in refusing}
    assert blocking == {("controller 3",)}
