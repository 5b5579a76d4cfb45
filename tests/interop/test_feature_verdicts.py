"""What a real controller refuses of a change of features, and what kraftool says of that change.

Verdicts are compared with dry runs of kafka-features against a running Kafka 4.3.0, in substance:
Kafka tells the first reason only, and it has to be one of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kraftool.reports.features.model import ClusterFeatures
from kraftool.reports.features.read import read_features
from kraftool.reports.features.rules import RefusalRule, blockers
from kraftool.reports.features.target import Direction, FeaturesRun, request
from kraftool.reports.state.load import load_state
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node

pytestmark = pytest.mark.interop
JAVA = Path(__file__).with_name("java")

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
