"""What is done to real Kafka so that its directories hold every kind of metadata.

Each scenario is a function from a `Cluster` with no nodes to one that has stopped, told in the
order in which things happen; `SCENARIOS` names them with the versions that can do them. Owns no
process handling (clusters.py) and no copying (capture.py); what an operation is made of is in
operations.py.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kraftool.image.metadata_version import level_of
from tests.interop import kafka
from tests.interop.clusters import Cluster
from tests.interop.operations import (
    acls,
    configs,
    cordon,
    everything,
    kill_leader,
    must,
    odd_names,
    quotas,
    reassignments,
    retry,
    scram,
    shrink,
    tokens,
    topics,
)
from tests.interop.transactions import ABORTED_TOPIC, directory_id, with_open_transaction
from tests.support.ports import HOST


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A scenario, the versions that can do it, and settings that all its nodes share."""

    run: Callable[[Cluster], None]
    versions: tuple[str, ...]
    common: Mapping[str, str]
    about: str
    keeps: tuple[str, ...] = ("node-*",)
    """Which nodes' folders the fixture is made of."""


# --- scenarios --------------------------------------------------------------------------------


def live(cluster: Cluster) -> None:
    """A short one, for tests that want bytes which Kafka has just written: one combined node."""
    node = cluster.add_node(1, ("broker", "controller"))
    cluster.use_static_voters()
    cluster.format([node])
    cluster.start(node)
    everything(cluster, node, "live")
    odd_names(cluster)
    cluster.stop(node)


def static_single(cluster: Cluster) -> None:
    """One combined node that is restarted cleanly and by kill -9 between rounds of operations."""
    node = cluster.add_node(1, ("broker", "controller"))
    cluster.use_static_voters()
    options: list[str] = []
    if kafka.at_least(cluster.version, "3.5"):
        salt = base64.b64encode(b"CANARY-salt-boot").decode()
        secret = f"[name=boot,password=CANARY-scram-boot,salt={salt},iterations=4096]"
        options = ["--add-scram", f"SCRAM-SHA-256={secret}"]
    cluster.format([node], *options)
    cluster.start(node)
    everything(cluster, node, "a")
    cluster.stop(node)
    cluster.start(node)
    everything(cluster, node, "b")
    cluster.kill(node)
    cluster.start(node)
    odd_names(cluster)
    cluster.admin("produce", topic="orders-a", partition=1, count=3, transactionalId="tx-Zoë-1")
    cluster.admin(
        "produce", topic="orders-a", partition=1, count=2, transactionalId="tx-2", abort=True
    )
    cluster.stop(node)


def dynamic_quorum(cluster: Cluster) -> None:
    """Three dynamic voters and two brokers; leaders killed, a voter added, another removed."""
    voters = [cluster.add_node(i, ("controller",)) for i in (1, 2, 3)]
    jbod = cluster.add_node(11, ("broker",), {"log.dirs": "data-a,data-b"})
    plain = cluster.add_node(12, ("broker",))
    cluster.use_bootstrap_servers()
    cluster.format(voters, "--initial-controllers", cluster.initial_controllers())
    cluster.format([jbod, plain])
    cluster.start(*voters, jbod, plain)
    topics(cluster, [jbod, plain], "a")
    kill_leader(cluster)
    configs(cluster, jbod, "a")
    acls(cluster, "a")
    scram(cluster, "a")
    kill_leader(cluster)
    fourth = cluster.add_node(4, ("controller",))
    cluster.use_bootstrap_servers()
    cluster.format([fourth], "--no-initial-controllers")
    cluster.start(fourth)
    cluster.wait_caught_up(fourth)
    endpoint = {"name": "CONTROLLER", "host": HOST, "port": fourth.ports["CONTROLLER"]}
    stale = "NotLeaderOrFollower"
    joining = {"id": 4, "directory": fourth.directory_id, "endpoints": [endpoint]}
    must(cluster, "add-voter", unless=stale, at_leader=True, **joining)
    quotas(cluster, "a")
    leader = cluster.wait_leader()
    leaving = next(node for node in voters if node is not leader)
    gone = {"id": leaving.id, "directory": leaving.directory_id}
    must(cluster, "remove-voter", unless=stale, at_leader=True, **gone)
    cluster.wait_caught_up(leaving)
    cluster.stop(leaving)
    if kafka.at_least(cluster.version, "4.4"):
        cluster.refused("unregister-controller", id=leaving.id)
    reassignments(cluster, [jbod, plain], "a")
    shrink(cluster, [jbod, plain], "a")
    cordon(cluster, jbod)
    tokens(cluster, "a")
    odd_names(cluster)
    cluster.stop(plain)
    cluster.refused("unregister-broker", id=plain.id)
    topics(cluster, [jbod], "b")
    cluster.wait_caught_up(*(node for node in cluster.running()))
    leader = cluster.wait_leader()
    cluster.stop(jbod)
    cluster.kill(leader)
    cluster.stop(*cluster.running())


def static_quorum(cluster: Cluster) -> None:
    """Three static voters and two brokers; leaders killed."""
    voters = [cluster.add_node(i, ("controller",)) for i in (1, 2, 3)]
    brokers = [cluster.add_node(i, ("broker",)) for i in (11, 12)]
    cluster.use_static_voters()
    cluster.format([*voters, *brokers])
    cluster.start(*voters, *brokers)
    topics(cluster, brokers, "a")
    kill_leader(cluster)
    everything(cluster, brokers[0], "b")
    kill_leader(cluster)
    reassignments(cluster, brokers, "a")
    shrink(cluster, brokers, "a")
    odd_names(cluster)
    cluster.stop(brokers[1])
    cluster.refused("unregister-broker", id=brokers[1].id)
    cluster.wait_caught_up(*cluster.running())
    leader = cluster.wait_leader()
    cluster.stop(brokers[0])
    cluster.kill(leader)
    cluster.stop(*cluster.running())


def upgrade(cluster: Cluster) -> None:
    """Static voters at an old metadata.version, led step by step to the newest, then to dynamic."""
    voters = [cluster.add_node(i, ("controller",)) for i in (1, 2, 3)]
    broker = cluster.add_node(11, ("broker",))
    cluster.use_static_voters()
    cluster.format([*voters, broker], "--release-version", "3.3")
    cluster.start(*voters, broker)
    topics(cluster, [broker], "a")
    acls(cluster, "a")
    latest = level_of(cluster.version)
    assert latest is not None
    for level in (11, 14, 19, latest):
        # From 3.7-IV0 on each controller has to register before the next step up.
        features = {"metadata.version": level}
        retry(cluster, "update-features", unless="has not registered", features=features)
        if level == 11:
            scram(cluster, "a")
    tokens(cluster, "a")
    newer = {
        "transaction.version": 2,
        "group.version": 1,
        "eligible.leader.replicas.version": 1,
        "share.version": 1,
        "streams.version": 1,
    }
    for name, level in newer.items():
        cluster.refused("update-features", features={name: level})
    kill_leader(cluster)
    configs(cluster, broker, "a")
    cluster.refused("update-features", features={"group.version": 0}, type="SAFE_DOWNGRADE")
    cluster.refused("update-features", features={"metadata.version": 19}, type="SAFE_DOWNGRADE")
    cluster.wait_caught_up(*voters, broker)
    # The leader first wants to hear from each voter what it supports, which takes some seconds.
    unheard = "not all of the voters support it"
    kraft = {"kraft.version": 1}
    dynamic = retry(cluster, "update-features", unless=unheard, features=kraft) is None
    if not kafka.at_least(cluster.version, "4.1"):
        # Kafka 3.9 says yes and only writes a FeatureLevelRecord: nothing changes for the quorum.
        cluster.note("(kraft.version stays 0 all the same: the voters are still static)")
        dynamic = False
    topics(cluster, [broker], "b")
    if dynamic:
        cluster.stop(broker, *voters)
        cluster.use_bootstrap_servers()
        cluster.note("all nodes: controller.quorum.voters replaced by bootstrap.servers")
        cluster.start(*voters, broker)
        cluster.wait_leader()
    kill_leader(cluster)
    quotas(cluster, "a")
    odd_names(cluster)
    cluster.wait_caught_up(*voters, broker)
    leader = cluster.wait_leader()
    cluster.stop(broker)
    cluster.kill(leader)
    cluster.stop(*cluster.running())


def log_cleaning(cluster: Cluster) -> None:
    """Small segments, little retention, until Kafka's cleaner (once a minute) moved log start."""
    small = (
        {"internal.metadata.log.segment.bytes": "6000"}
        if kafka.at_least(cluster.version, "4.0")
        else {"metadata.log.segment.min.bytes": "1000", "metadata.log.segment.bytes": "6000"}
    )
    node = cluster.add_node(1, ("broker", "controller"), small)
    cluster.use_static_voters()
    cluster.format([node])
    cluster.start(node)
    for tag in "abcde":
        topics(cluster, [node], tag)
        acls(cluster, tag)
        scram(cluster, tag)
        quotas(cluster, tag)
    first = node.metadata_log_dir / "__cluster_metadata-0" / f"{0:020}.log"
    kafka.wait_for("the first segment to be cleaned", lambda: not first.exists(), timeout=150)
    cluster.note("node 1: waited until the first segment was gone")
    acls(cluster, "f")
    cluster.stop(node)


def aborted_transaction(cluster: Cluster) -> None:
    """A log that ends in an open transaction: the controller that leads next aborts it."""
    node = cluster.add_node(1, ("broker", "controller"))
    cluster.use_static_voters()
    cluster.format([node])
    cluster.start(node)
    everything(cluster, node, "a")
    cluster.stop(node)
    log = node.metadata_log_dir / "__cluster_metadata-0" / f"{0:020}.log"
    meta = node.metadata_log_dir / "meta.properties"
    appended = with_open_transaction(log.read_bytes(), directory_id(meta))
    log.write_bytes(appended.data)
    for line in appended.told:
        cluster.note(f"node 1, stopped: appended to its log with our encoder: {line}")
    cluster.start(node)
    cluster.note("(activating, the controller appends an AbortTransactionRecord by itself)")
    everything(cluster, node, "b")
    if ABORTED_TOPIC in cluster.admin("list-topics"):
        raise kafka.KafkaFailed("the topic of the aborted transaction is there")
    cluster.stop(node)


def many_partitions(cluster: Cluster) -> None:
    """A controller and three brokers with a wide topic: hundreds of PartitionRecords in a batch."""
    controller = cluster.add_node(1, ("controller",))
    brokers = [cluster.add_node(i, ("broker",)) for i in (11, 12, 13)]
    cluster.use_static_voters()
    cluster.format([controller, *brokers])
    cluster.start(controller, *brokers)
    for tag in "ab":
        cluster.admin("create-topic", topic=f"wide-{tag}", partitions=240, replication=3)
        cluster.admin("delete-topic", topic=f"wide-{tag}")
    kafka.wait_for("two snapshots", lambda: len(cluster.snapshots(controller)) >= 2)
    cluster.wait_caught_up(*brokers)
    cluster.kill(*brokers)
    cluster.stop(controller)


def _wait_grown(log: Path, size: int) -> None:
    end = log.stat().st_size + size
    kafka.wait_for(f"{size} bytes more in {log.name}", lambda: log.stat().st_size > end)


def slow_follower(cluster: Cluster) -> None:
    """Two voters; the follower stops answering four times, for up to a second, while the leader
    appends. The leader's snapshots then have the time of a later batch in their headers."""
    leader = cluster.add_node(1, ("controller",))
    patience = {"controller.quorum.election.timeout.ms": "60000"}
    follower = cluster.add_node(2, ("controller",), patience)
    cluster.use_static_voters()
    cluster.format([leader, follower])
    cluster.start(leader, follower)
    if cluster.wait_leader() is not leader:
        raise kafka.KafkaFailed("node 2 leads, which should have waited a minute for it")
    log = leader.metadata_log_dir / "__cluster_metadata-0" / f"{0:020}.log"
    for _ in range(4):
        with cluster.paused(follower):
            _wait_grown(log, 1000)
        cluster.note("node 2: SIGSTOP, SIGCONT once node 1's log was a kilobyte longer")
        cluster.wait_caught_up(follower)
        _wait_grown(log, 1000)
    cluster.stop(leader)
    cluster.kill(follower)


ALL = kafka.VERSIONS
SMALL_SNAPSHOTS = {
    "metadata.log.max.record.bytes.between.snapshots": "5000",
    "metadata.max.idle.interval.ms": "5000",
    "broker.heartbeat.interval.ms": "1000",
    "broker.session.timeout.ms": "4000",
}

SCENARIOS: dict[str, Scenario] = {
    "static-single": Scenario(
        run=static_single,
        versions=ALL,
        common=SMALL_SNAPSHOTS,
        about="one combined node with static voters; every kind of metadata, restarts, snapshots",
    ),
    "dynamic-quorum": Scenario(
        run=dynamic_quorum,
        versions=tuple(version for version in ALL if kafka.at_least(version, "3.9")),
        common=SMALL_SNAPSHOTS,
        about="three dynamic voters and two brokers (one with two log dirs); leaders killed, a "
        "voter added, one removed, a broker unregistered, reassignments",
    ),
    "static-quorum": Scenario(
        run=static_quorum,
        versions=("3.3.2", "3.7.2"),
        common=SMALL_SNAPSHOTS,
        about="three static voters and two brokers; leaders killed, reassignments",
    ),
    "upgrade": Scenario(
        run=upgrade,
        versions=tuple(version for version in ALL if kafka.at_least(version, "3.9")),
        common=SMALL_SNAPSHOTS,
        about="three static voters and a broker from metadata.version 3.3 to the newest, then "
        "kraft.version 0 to 1 where Kafka does it",
    ),
    "log-cleaning": Scenario(
        run=log_cleaning,
        versions=("3.7.2", "4.3.0"),
        common=SMALL_SNAPSHOTS | {"metadata.max.retention.bytes": "12000"},
        about="one combined node with small segments whose oldest were deleted: log start > 0",
    ),
    "aborted-transaction": Scenario(
        run=aborted_transaction,
        versions=(kafka.TOOLS_VERSION,),
        common=SMALL_SNAPSHOTS,
        about="one combined node; an open transaction was appended to its log while it was "
        "stopped, which Kafka aborted when it led again",
    ),
    "many-partitions": Scenario(
        run=many_partitions,
        versions=(kafka.TOOLS_VERSION,),
        common=SMALL_SNAPSHOTS,
        about="one controller, whose folder is kept, and three brokers; topics of 240 partitions "
        "with three replicas each, made and deleted",
        keeps=("node-1",),
    ),
    "slow-follower": Scenario(
        run=slow_follower,
        versions=("3.9.1", "4.3.0"),
        common=SMALL_SNAPSHOTS
        | {
            "metadata.log.max.record.bytes.between.snapshots": "500",
            "metadata.max.idle.interval.ms": "40",
        },
        about="two voters, of which the leader's folder is kept; the follower was paused again and "
        "again, so that headers of the leader's snapshots have the time of a later batch",
        keeps=("node-1",),
    ),
}
