"""A backup restored into a new cluster and into its own: the controllers have what it has.

The backup for a new cluster is of a quorum of real Kafka 4.3.0 with topics, configs, ACLs, quotas
and SCRAM users.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftool.image.image import MetadataImage
from kraftool.image.state_hash import state_hash
from kraftool.repair.plan import Action, Plan
from kraftool.repair.plan_yaml import plan_from_yaml
from kraftool.reports.state.load import load_state
from tests.interop import kafka, recovering
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import document, kraftool
from tests.interop.our_nodes import start_ours
from tests.support import proof
from tests.support.places import FIXTURES

pytestmark = pytest.mark.interop

BACKUPS = 60 if os.environ.get("KRAFTOOL_SOAK") == "1" else 6

SOURCE = FIXTURES / "kafka-4.3.0" / "dynamic-quorum" / "node-1" / "data"


def _by_kafka(cluster: Cluster, node: Node) -> None:
    cluster.start(node)


def _by_ours(cluster: Cluster, node: Node) -> None:
    start_ours(cluster, node)


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
        brokers = [cluster.add_node(node_id, ["broker"]) for node_id in (11, 12)]
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
        assert not done["notRestored"]
        assert "CANARY" not in json.dumps([planned, done]), "a secret of the configs of broker 11"

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
    assert {key: dict(configs) for key, configs in new.configs.resources.items()} == {
        key: dict(configs) for key, configs in old.configs.resources.items()
    }
    assert set(new.acls.by_id.values()) == set(old.acls.by_id.values())
    assert dict(new.client_quotas.entities) == dict(old.client_quotas.entities)
    assert new.scram == old.scram, "Kafka takes the records that format wrote"


def test_a_cluster_goes_back_to_its_backup_and_keeps_the_data_of_topics(tmp_path: Path) -> None:
    """What was created since is named by the plan. The broker renames the folders of its topics."""
    store, unpacked, plan_file = tmp_path / "store", tmp_path / "unpacked", tmp_path / "plan.yaml"
    with recovering.cluster_of("4.3.0", tmp_path) as cluster:
        controllers, broker = recovering.begin(cluster)
        leader = cluster.wait_leader()
        at = ("--bootstrap-controller", leader.at("CONTROLLER"), "--timeout", "60")
        made = document("backup", "create", store, *at)
        old = load_state(f"{store}/{made['name']}").image
        assert _topics(old) == {"kept": [1, 1]}
        cluster.admin("create-topic", topic="later", partitions=1, replication=1)
        cluster.admin("produce", topic="later", count=10)
        cluster.wait_caught_up(*controllers, broker)
        cluster.stop(broker)
        cluster.kill(*controllers)

        seed, *others = controllers
        said = recovering.kraftool("backup", "unpack", store, unpacked, "--node-id", "999")
        assert said == f"{unpacked}: the state of {made['name']} at offset {made['offset']}\n"
        every = [node.directory / "server.properties" for node in (*controllers, broker)]
        asked = ("--set", f"seed={seed.id}", "--set", "state=999", "--kafka-version", "4.3.0")
        planning = ("recover", "plan", unpacked, *every, *asked)
        recovering.kraftool(*planning, code=5)
        recovering.kraftool(*planning, "--accept", "ahead", "--out", plan_file)
        plan = plan_from_yaml(plan_file.read_bytes())
        topics = [one for lost in plan.loss.records for one in lost.objects if one.kind == "topics"]
        assert topics
        assert all("later" in one.names for one in topics)
        [restart] = [step for step in plan.steps if step.action is Action.RESTART]
        assert "-stray" in restart.text
        recovering.kraftool(
            "recover", "apply", plan_file, "--dir", seed.metadata_log_dir, "--source",
            f"node-999={unpacked}", "--accept", "ahead", "--yes", plan.id,
        )  # fmt: skip
        for node in others:
            del cluster.nodes[node.id]
        cluster.start(seed)
        assert cluster.wait_leader() is seed
        cluster.start(broker)
        kafka.wait_for("the topic", lambda: "kept" in cluster.admin("list-topics"))
        recovering.consumed(cluster, broker)
        assert cluster.admin("list-topics") == ["kept"]
        folders = [path.name for path in (broker.directory / "data").iterdir() if path.is_dir()]
        assert any(name.startswith("later-0") and name.endswith("-stray") for name in folders)
        cluster.stop(broker)
        cluster.stop(seed)
        new = load_state(str(seed.metadata_log_dir)).image
    assert _topics(new) == _topics(old)
    assert new.topics.by_name["kept"].id == old.topics.by_name["kept"].id


def test_a_cluster_without_any_controller_comes_back_from_its_backup(tmp_path: Path) -> None:
    store, plan_file = tmp_path / "store", tmp_path / "plan.yaml"
    with recovering.cluster_of("4.3.0", tmp_path) as cluster:
        controllers, broker = recovering.begin(cluster)
        at = ("--bootstrap-controller", cluster.wait_leader().at("CONTROLLER"), "--timeout", "60")
        document("backup", "create", store, *at)
        cluster.stop(broker)
        cluster.kill(*controllers)
        seed, *others = controllers
        for node in controllers:
            shutil.move(node.metadata_log_dir, node.directory / "lost")
        for node in others:
            del cluster.nodes[node.id]

        data = seed.metadata_log_dir
        recovering.kraftool("backup", "unpack", store, data, "--node-id", seed.id)
        ids = ",".join(str(node.id) for node in controllers)
        facts = ("--set", f"lost={ids}", "--set", f"seed={seed.id}", "--kafka-version", "4.3.0")
        files = [node.directory / "server.properties" for node in (seed, broker)]
        recovering.kraftool("recover", "plan", *files, *facts, "--out", plan_file)
        plan = plan_from_yaml(plan_file.read_bytes())
        recovering.kraftool("recover", "apply", plan_file, "--dir", data, *_sources(plan, broker),
                            "--yes", plan.id)  # fmt: skip
        cluster.start(seed)
        assert cluster.wait_leader() is seed
        cluster.start(broker)
        kafka.wait_for("the topic", lambda: "kept" in cluster.admin("list-topics"))
        recovering.consumed(cluster, broker)


def test_every_backup_under_load_is_the_state_at_its_offset(tmp_path: Path) -> None:
    """The leader's log has the same state at each of these offsets when all is over."""
    store = tmp_path / "store"
    with recovering.cluster_of("4.3.0", tmp_path) as cluster:
        controllers, broker = recovering.begin(cluster)
        leader = cluster.wait_leader()
        at = ("--bootstrap-controller", leader.at("CONTROLLER"), "--timeout", "60")
        with recovering.load(cluster, broker):
            made = []
            for _ in range(BACKUPS):
                recovering.wait_for_topics(cluster, 1)
                made.append(document("backup", "create", store, *at))
        cluster.kill(broker, *controllers)
        for manifest in made:
            in_log = load_state(str(leader.metadata_log_dir), at=manifest["offset"])
            assert manifest["stateHash"] == state_hash(in_log.image)
    assert len({manifest["stateHash"] for manifest in made}) == BACKUPS, "there was a load"
    verified = document("backup", "verify", store)
    assert [one["isVerified"] for one in verified["backups"]] == [True] * BACKUPS
    proof.count("backups under load", BACKUPS)


def _sources(plan: Plan, broker: Node) -> tuple[str, ...]:
    """The broker's log may go further than the backup, and is then what the state is made of."""
    names = recovering.sources_of(plan, plan.seed)
    return tuple(
        word for name in names for word in ("--source", f"{name}={broker.metadata_log_dir}")
    )


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
