"""Groups of operations on a running cluster, one for each aspect of the metadata.

Each function does what the cluster's version can do; what a version may refuse is noted, not fatal.
The order in which scenarios call them is in scenarios.py.

Secrets that are planted all contain `CANARY`, so that a test can grep outputs for them.
"""

from __future__ import annotations

import contextlib
from typing import Any

from tests.interop import kafka
from tests.interop.clusters import Cluster, Node

ODD = 'Zoë [bold]数据[/bold] "quoted" \\ 🦀'
"""A name that tempts rich markup, quoting and the byte/character confusion."""
ODDER = f"{ODD} line\nbreak \x1b[31mred\x1b[0m tab\t\x7f\u202e<script>=1+1"
"""As above with control characters: newline, terminal escape, DEL, right-to-left override."""


def topics(cluster: Cluster, brokers: list[Node], tag: str) -> None:
    """Topics made, widened and deleted; one with records in it."""
    ids = [node.id for node in brokers]
    copies = len(ids)
    cluster.admin("create-topic", topic=f"orders-{tag}", partitions=3, replication=copies)
    cluster.admin(
        "create-topic",
        topic=f"payments-{tag}",
        partitions=1,
        replication=1,
        configs={"retention.ms": "3600000", "cleanup.policy": "compact,delete"},
    )
    cluster.admin("create-topic", topic=f"doomed-{tag}", assignment=[ids, ids])
    cluster.admin("create-partitions", topic=f"orders-{tag}", count=5)
    cluster.admin("delete-topic", topic=f"doomed-{tag}")
    cluster.admin("produce", topic=f"orders-{tag}", count=5)
    cluster.admin("delete-records", topic=f"orders-{tag}", before=2)


def configs(cluster: Cluster, broker: Node, tag: str) -> None:
    """Configs of topics, one broker, the cluster default and, where Kafka has them, other kinds."""
    topic = f"payments-{tag}"
    cluster.admin(
        "configs",
        type="TOPIC",
        name=topic,
        set={"max.message.bytes": "65536", "segment.ms": "600000"},
    )
    cluster.admin("configs", type="TOPIC", name=topic, delete=["segment.ms"])
    # Where eligible leader replicas are on, this also makes Kafka write a ClearElrRecord.
    cluster.admin("configs", type="TOPIC", name=topic, set={"min.insync.replicas": "1"})
    cluster.admin("configs", type="BROKER", name="", set={"log.cleaner.threads": "2"})
    cluster.admin("configs", type="BROKER", name="", delete=["log.cleaner.threads"])
    cluster.admin("configs", type="BROKER", name="", set={"message.max.bytes": "1048000"})
    secret = {
        "listener.name.sasl.ssl.keystore.password": f"CANARY-keystore-{tag}",
        "listener.name.sasl.ssl.key.password": f"CANARY-key-{tag}",
        "listener.name.sasl.scram-sha-256.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required "
            f'username="inner" password="CANARY-jaas-{tag}";'
        ),
        "log.cleaner.backoff.ms": "16000",
    }
    for key, value in secret.items():
        cluster.refused("configs", type="BROKER", name=str(broker.id), set={key: value})
    name = str(broker.id)
    cluster.refused(
        "configs", type="BROKER", name=name, delete=["listener.name.sasl.ssl.key.password"]
    )
    if kafka.at_least(cluster.version, "3.7"):
        cluster.refused(
            "configs",
            type="CLIENT_METRICS",
            name=f"metrics-{tag}",
            set={"metrics": "org.apache.kafka.", "interval.ms": "30000"},
        )
    if kafka.at_least(cluster.version, "4.0"):
        cluster.refused(
            "configs",
            type="GROUP",
            name=f"group-{tag}",
            set={"consumer.session.timeout.ms": "46000"},
        )


def acls(cluster: Cluster, tag: str) -> None:
    alice = {
        "type": "TOPIC",
        "name": f"orders-{tag}",
        "principal": "User:alice",
        "operation": "READ",
    }
    bob = alice | {"pattern": "PREFIXED", "principal": "User:bob", "host": "10.1.2.3"}
    deny = {
        "type": "CLUSTER",
        "name": "kafka-cluster",
        "principal": "User:mallory",
        "operation": "ALTER",
        "permission": "DENY",
    }
    cluster.admin("create-acls", acls=[alice, bob, deny])
    cluster.admin("delete-acls", filters=[bob])


def quotas(cluster: Cluster, tag: str) -> None:
    user = {"user": f"alice-{tag}"}
    both = user | {"client-id": f"app-{tag}"}
    cluster.admin(
        "quotas", entity=both, set={"producer_byte_rate": 1048576, "request_percentage": 12.5}
    )
    cluster.admin("quotas", entity=user, set={"consumer_byte_rate": 1e15, "producer_byte_rate": 1})
    cluster.admin("quotas", entity=user, remove=["producer_byte_rate"])
    cluster.admin("quotas", entity={"user": None}, set={"controller_mutation_rate": 250.5})
    cluster.admin("quotas", entity={"ip": "127.0.0.2"}, set={"connection_creation_rate": 33})


def scram(cluster: Cluster, tag: str) -> None:
    """From 3.5 the metadata log keeps SCRAM credentials; salt and password are canaries."""
    if not kafka.at_least(cluster.version, "3.5"):
        return
    secret: dict[str, Any] = {"password": f"CANARY-scram-{tag}", "salt": f"CANARY-salt-{tag}"}
    cluster.admin("upsert-scram", user=f"alice-{tag}", **secret)
    cluster.admin("upsert-scram", user=f"alice-{tag}", mechanism="SCRAM-SHA-512", **secret)
    cluster.admin("upsert-scram", user=f"bob-{tag}", iterations=8192, **secret)
    cluster.admin("delete-scram", user=f"bob-{tag}")


def tokens(cluster: Cluster, tag: str) -> None:
    """From 3.6; asked for over SASL, since an anonymous user may have no token."""
    if not kafka.at_least(cluster.version, "3.6"):
        return
    renewers = ["User:alice", f"User:renewer-{tag}"]
    kept = cluster.admin("create-token", sasl=True, renewers=renewers, lifeMs=86_400_000)
    gone = cluster.admin("create-token", sasl=True, owner="User:guest", renewers=["User:admin"])
    # The controller finds tokens in a cache that follows the log, so that a new one comes late.
    for operation, token, period in (("renew", kept, 7_200_000), ("expire", gone, -1)):
        fields = {"hmac": token["hmac"], "periodMs": period}
        must(cluster, f"{operation}-token", unless="TokenNotFound", sasl=True, **fields)


def odd_names(cluster: Cluster) -> None:
    """Names from outside ASCII, markup and control characters, wherever Kafka lets them in."""
    for name in (ODD, ODDER):
        acl = {"type": "GROUP", "name": name, "principal": f"User:{name}", "operation": "READ"}
        cluster.refused("create-acls", acls=[acl])
        cluster.refused("quotas", entity={"user": name}, set={"producer_byte_rate": 4096})
        cluster.refused("quotas", entity={"client-id": name}, set={"consumer_byte_rate": 512})
        if kafka.at_least(cluster.version, "3.5"):
            cluster.refused(
                "upsert-scram", user=name, password="CANARY-odd", salt="CANARY-salt-odd"
            )
        if kafka.at_least(cluster.version, "3.6"):
            cluster.refused("create-token", sasl=True, renewers=[f"User:{name}"])
    cluster.refused(
        "create-topic",
        topic="odd.Names_1-2",
        configs={"follower.replication.throttled.replicas": "0:1,1:1"},
    )
    if kafka.at_least(cluster.version, "3.7"):
        cluster.refused(
            "configs", type="CLIENT_METRICS", name="odd", set={"match": f"client_id={ODD}"}
        )


def reassignments(cluster: Cluster, brokers: list[Node], tag: str) -> None:
    """A reassignment that ends, and one to a stopped broker, cancelled while under way."""
    first, second = (node.id for node in brokers)
    topic = f"moving-{tag}"
    cluster.admin("create-topic", topic=topic, assignment=[[first], [first], [second]])
    cluster.admin("reassign", topic=topic, partition=0, replicas=[second])
    wait_no_reassignment(cluster)
    cluster.stop(brokers[1])
    cluster.admin("reassign", topic=topic, partition=1, replicas=[second, first])
    cluster.admin("reassign", topic=topic, partition=1, replicas=None)
    cluster.admin("reassign", topic=topic, partition=1, replicas=[second, first])
    cluster.start(brokers[1])
    wait_no_reassignment(cluster)
    cluster.refused("elect-leaders", topic=topic, partition=1)


def wait_no_reassignment(cluster: Cluster) -> None:
    broker = next(node for node in cluster.running() if node.broker)
    kafka.wait_for(
        "reassignments to end", lambda: cluster.peek("list-reassignments", broker) == 0, every=0.1
    )


def everything(cluster: Cluster, broker: Node, tag: str) -> None:
    topics(cluster, [broker], tag)
    configs(cluster, broker, tag)
    acls(cluster, tag)
    quotas(cluster, tag)
    scram(cluster, tag)
    tokens(cluster, tag)


def retry(cluster: Cluster, operation: str, *, unless: str, **fields: Any) -> str | None:
    """Carry an operation out, again and again while it is refused with `unless`.

    None when it is done; the refusal, noted, when it has another reason or half a minute passed.
    """
    refusals: list[str] = []

    def probe() -> bool:
        refusal = cluster.refused(operation, quiet=True, **fields)
        refusals.append(refusal or "")
        return refusal is None or unless not in refusal

    with contextlib.suppress(kafka.KafkaFailed):
        kafka.wait_for(f"{operation} to be accepted", probe, timeout=30, every=0.2)
    if refusals[-1]:
        cluster.note(f"admin {operation} refused: {refusals[-1]}")
    return refusals[-1] or None


def must(cluster: Cluster, operation: str, *, unless: str, **fields: Any) -> None:
    """As `retry`, where a refusal ends the scenario."""
    refusal = retry(cluster, operation, unless=unless, **fields)
    if refusal is not None:
        raise kafka.KafkaFailed(f"{operation} {fields}: {refusal}")


def kill_leader(cluster: Cluster) -> None:
    """kill -9 of the leader, wait for the next one, bring the killed node back."""
    leader = cluster.wait_leader()
    epoch = cluster.leader_epoch()
    cluster.kill(leader)
    cluster.wait_leader(above_epoch=epoch)
    cluster.start(leader)
    cluster.wait_caught_up(leader)


def shrink(cluster: Cluster, brokers: list[Node], tag: str) -> None:
    """An in-sync set that falls below min.insync.replicas and recovers (from 4.1: ELR)."""
    topic = f"safe-{tag}"
    ids = [node.id for node in brokers]
    minimum = {"min.insync.replicas": str(len(ids))}
    cluster.admin("create-topic", topic=topic, assignment=[ids, ids[::-1]], configs=minimum)
    cluster.kill(brokers[1])
    wait_in_sync(cluster, topic, 1)
    cluster.admin("configs", type="TOPIC", name=topic, set={"min.insync.replicas": "1"})
    cluster.start(brokers[1])
    wait_in_sync(cluster, topic, len(ids))


def wait_in_sync(cluster: Cluster, topic: str, count: int) -> None:
    broker = next(node for node in cluster.running() if node.broker)

    def probe() -> bool:
        shown = cluster.peek("describe-topic", broker, topic=topic)
        return shown is not None and all(len(p["isr"]) == count for p in shown["partitions"])

    kafka.wait_for(f"{count} in-sync replicas of {topic}", probe, every=0.1)


def cordon(cluster: Cluster, broker: Node) -> None:
    """From 4.3 a log directory can be closed to new replicas."""
    if kafka.at_least(cluster.version, "4.3"):
        name = str(broker.id)
        cluster.refused("configs", type="BROKER", name=name, set={"cordoned.log.dirs": "*"})
        cluster.refused("configs", type="BROKER", name=name, delete=["cordoned.log.dirs"])
