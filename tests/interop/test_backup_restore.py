"""A backup restored into a new cluster: what its controllers then have is what the backup has.

The backup is of a quorum of real Kafka 4.3.0 with topics, configs, ACLs, quotas and SCRAM users.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kraftool.image.configs import BROKER
from kraftool.image.image import MetadataImage
from kraftool.reports.state.load import load_state
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import document, kraftool
from tests.interop.our_nodes import start_ours
from tests.support.places import FIXTURES

pytestmark = pytest.mark.interop

SOURCE = FIXTURES / "kafka-4.3.0" / "dynamic-quorum" / "node-1" / "data"


def _by_kafka(cluster: Cluster, node: Node) -> None:
    cluster.start(node)


def _by_ours(cluster: Cluster, node: Node) -> None:
    start_ours(cluster, node)


def _without_brokers(image: MetadataImage) -> dict[object, object]:
    """Configs of brokers that the new cluster has not are not restored."""
    return {
        resource: dict(configs)
        for resource, configs in image.configs.resources.items()
        if resource.type != BROKER or not resource.name
    }


@pytest.mark.parametrize(
    ("version", "start"),
    [
        pytest.param("4.3.0", _by_kafka, id="kafka-4.3.0"),
        pytest.param("4.4.0", _by_kafka, id="kafka-4.4.0", marks=pytest.mark.soak),
        pytest.param("4.3.0", _by_ours, id="ours"),
    ],
)
def test_a_new_cluster_gets_all_that_requests_can_make(
    version: str, start: Callable[[Cluster, Node], None], tmp_path: Path
) -> None:
    if problem := kafka.available(version):
        pytest.skip(problem)
    store = tmp_path / "store"
    made = document("backup", "create", store, SOURCE)
    with Cluster(version, tmp_path / "new") as cluster:
        controller = cluster.add_node(1, ["controller"])
        brokers = [cluster.add_node(node_id, ["broker"]) for node_id in (21, 22)]
        cluster.use_bootstrap_servers()
        formatted = kraftool(
            "format", "--config", controller.directory / "server.properties", "--cluster-id",
            cluster.id, "--standalone", "--release-version", "4.3", "--scram-from",
            f"{store}/{made['name']}", cwd=controller.directory,
        )  # fmt: skip
        assert formatted.returncode == 0, formatted.stderr
        cluster.format(brokers)
        start(cluster, controller)
        cluster.start(*brokers)
        at = ("--bootstrap-controller", controller.at("CONTROLLER"), "--timeout", "60")

        planned = document("backup", "restore", store, *at)
        assert planned["isDryRun"]
        assert {step["outcome"] for step in planned["steps"]} == {"possible", "unchecked"}
        unchecked = {step["part"] for step in planned["steps"] if step["outcome"] == "unchecked"}
        assert unchecked == {"acls"}

        done = document("backup", "restore", store, *at, "--apply")
        assert [step["subject"] for step in done["steps"]] == [
            step["subject"] for step in planned["steps"]
        ]
        assert {step["outcome"] for step in done["steps"]} == {"done"}, done["steps"]
        reasons = {one["subject"]: one["reason"] for one in done["notRestored"]}
        assert reasons == {"configs of broker 11": "broker 11 is not registered"}

        again = document("backup", "restore", store, *at)
        assert not again["steps"]
        assert again["alreadyThereCount"] == done["alreadyThereCount"] + sum(
            map(_weight, done["steps"])
        )

        copy = document("backup", "create", tmp_path / "other", *at)
        assert copy["isCommitted"]
        new = load_state(str(tmp_path / "other" / copy["name"])).image
    old = load_state(f"{store}/{made['name']}").image
    assert _topics(new) == _topics(old)
    assert _without_brokers(new) == _without_brokers(old)
    assert set(new.acls.by_id.values()) == set(old.acls.by_id.values())
    assert dict(new.client_quotas.entities) == dict(old.client_quotas.entities)
    assert new.scram == old.scram, "Kafka takes the records that format wrote"


def _weight(step: dict[str, str]) -> int:
    """How many things of the backup a step brings back."""
    _, _, names = step["subject"].rpartition(": ")
    return len(names.split(", ")) if step["part"] in ("configs", "quotas") else _topic_weight(step)


def _topic_weight(step: dict[str, str]) -> int:
    """A topic counts once, and each of its configs."""
    _, mark, configs = step["subject"].rpartition(", ")
    is_config = mark and configs.endswith(("config", "configs"))
    return 1 + (int(configs.split()[0]) if step["part"] == "topics" and is_config else 0)


def _topics(image: MetadataImage) -> dict[str, list[int]]:
    """The number of replicas of each partition."""
    return {
        name: [len(topic.partitions[number].replicas) for number in sorted(topic.partitions)]
        for name, topic in image.topics.by_name.items()
    }
