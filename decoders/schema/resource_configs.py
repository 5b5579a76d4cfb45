"""The configs of topics and groups: types, defaults, checks, and the broker's configs behind them;
and the types and defaults of the configs of brokers and controllers.

Written by tools/resource_configs.py from Kafka 4.4.0.
"""

from __future__ import annotations

from typing import NamedTuple


class ResourceConfig(NamedTuple):
    """One config of a topic or of a group, as Kafka's ConfigDef has it."""

    type: str
    default: str | None
    low: str = ""
    """The least number; empty: any."""
    high: str = ""
    words: tuple[str, ...] = ()
    """All that it may be, or that may stand in a list."""
    also: str = ""
    """A number outside the range that is right, too."""
    is_replica_list: bool = False
    """A list of PARTITION:BROKER, or *."""
    may_be_duration: bool = False
    """One of the words, or by_duration: and a duration."""
    synonyms: tuple[tuple[str, int], ...] = ()
    """Broker configs that it takes its default from, each with how many of its units one is."""
    least: tuple[str, str] | None = None
    """The broker config that says the least number, and its default."""
    most: tuple[str, str] | None = None
    is_internal: bool = False
    """Not shown unless it was set."""
    since: str = ""
    """The release that brought it, where the one before lacks it."""


class NodeConfig(NamedTuple):
    """One config of brokers and controllers."""

    type: str
    default: str | None
    is_dynamic: bool = False
    """It can be changed while the node runs."""
    is_internal: bool = False
    """Not shown unless it was set."""


TOPIC_CONFIGS: dict[str, ResourceConfig] = {
    "cleanup.policy": ResourceConfig(
        "LIST", "delete", words=("compact", "delete"), synonyms=(("log.cleanup.policy", 1),)
    ),
    "compression.gzip.level": ResourceConfig(
        "INT", "-1", low="1", high="9", also="-1", synonyms=(("compression.gzip.level", 1),)
    ),
    "compression.lz4.level": ResourceConfig(
        "INT", "9", low="1", high="17", synonyms=(("compression.lz4.level", 1),)
    ),
    "compression.type": ResourceConfig(
        "STRING",
        "producer",
        words=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        synonyms=(("compression.type", 1),),
    ),
    "compression.zstd.level": ResourceConfig(
        "INT", "3", low="-131072", high="22", synonyms=(("compression.zstd.level", 1),)
    ),
    "delete.retention.ms": ResourceConfig(
        "LONG", "86400000", low="0", synonyms=(("log.cleaner.delete.retention.ms", 1),)
    ),
    "errors.deadletterqueue.group.enable": ResourceConfig("BOOLEAN", "false", since="4.4"),
    "file.delete.delay.ms": ResourceConfig(
        "LONG", "60000", low="0", synonyms=(("log.segment.delete.delay.ms", 1),)
    ),
    "flush.messages": ResourceConfig(
        "LONG", "9223372036854775807", low="1", synonyms=(("log.flush.interval.messages", 1),)
    ),
    "flush.ms": ResourceConfig(
        "LONG",
        "9223372036854775807",
        low="0",
        synonyms=(("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    ),
    "follower.replication.throttled.replicas": ResourceConfig("LIST", "", is_replica_list=True),
    "index.interval.bytes": ResourceConfig(
        "INT", "4096", low="0", synonyms=(("log.index.interval.bytes", 1),)
    ),
    "internal.segment.bytes": ResourceConfig("INT", None, is_internal=True),
    "leader.replication.throttled.replicas": ResourceConfig("LIST", "", is_replica_list=True),
    "local.retention.bytes": ResourceConfig(
        "LONG", "-2", low="-2", synonyms=(("log.local.retention.bytes", 1),)
    ),
    "local.retention.ms": ResourceConfig(
        "LONG", "-2", low="-2", synonyms=(("log.local.retention.ms", 1),)
    ),
    "max.compaction.lag.ms": ResourceConfig(
        "LONG", "9223372036854775807", low="1", synonyms=(("log.cleaner.max.compaction.lag.ms", 1),)
    ),
    "max.decompressed.message.bytes": ResourceConfig(
        "INT",
        "2147483639",
        low="1",
        high="2147483639",
        synonyms=(("max.decompressed.message.bytes", 1),),
        since="4.4",
    ),
    "max.message.bytes": ResourceConfig(
        "INT", "1048588", low="0", synonyms=(("message.max.bytes", 1),)
    ),
    "message.timestamp.after.max.ms": ResourceConfig(
        "LONG", "3600000", low="0", synonyms=(("log.message.timestamp.after.max.ms", 1),)
    ),
    "message.timestamp.before.max.ms": ResourceConfig(
        "LONG",
        "9223372036854775807",
        low="0",
        synonyms=(("log.message.timestamp.before.max.ms", 1),),
    ),
    "message.timestamp.type": ResourceConfig(
        "STRING",
        "CreateTime",
        words=("CreateTime", "LogAppendTime"),
        synonyms=(("log.message.timestamp.type", 1),),
    ),
    "min.cleanable.dirty.ratio": ResourceConfig(
        "DOUBLE", "0.5", low="0", high="1", synonyms=(("log.cleaner.min.cleanable.ratio", 1),)
    ),
    "min.compaction.lag.ms": ResourceConfig(
        "LONG", "0", low="0", synonyms=(("log.cleaner.min.compaction.lag.ms", 1),)
    ),
    "min.insync.replicas": ResourceConfig(
        "INT", "1", low="1", synonyms=(("min.insync.replicas", 1),)
    ),
    "preallocate": ResourceConfig("BOOLEAN", "false", synonyms=(("log.preallocate", 1),)),
    "remote.copy.lag.bytes": ResourceConfig(
        "LONG", "-1", low="-1", synonyms=(("log.remote.copy.lag.bytes", 1),), since="4.4"
    ),
    "remote.copy.lag.ms": ResourceConfig(
        "LONG", "0", low="-1", synonyms=(("log.remote.copy.lag.ms", 1),), since="4.4"
    ),
    "remote.log.copy.disable": ResourceConfig("BOOLEAN", "false"),
    "remote.log.delete.on.disable": ResourceConfig("BOOLEAN", "false"),
    "remote.storage.enable": ResourceConfig("BOOLEAN", "false"),
    "retention.bytes": ResourceConfig("LONG", "-1", synonyms=(("log.retention.bytes", 1),)),
    "retention.ms": ResourceConfig(
        "LONG",
        "604800000",
        low="-1",
        synonyms=(
            ("log.retention.ms", 1),
            ("log.retention.minutes", 60000),
            ("log.retention.hours", 3600000),
        ),
    ),
    "segment.bytes": ResourceConfig(
        "INT", "1073741824", low="1048576", synonyms=(("log.segment.bytes", 1),)
    ),
    "segment.index.bytes": ResourceConfig(
        "INT", "10485760", low="4", synonyms=(("log.index.size.max.bytes", 1),)
    ),
    "segment.jitter.ms": ResourceConfig(
        "LONG",
        "0",
        low="0",
        synonyms=(("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", 3600000)),
    ),
    "segment.ms": ResourceConfig(
        "LONG", "604800000", low="1", synonyms=(("log.roll.ms", 1), ("log.roll.hours", 3600000))
    ),
    "unclean.leader.election.enable": ResourceConfig(
        "BOOLEAN", "false", synonyms=(("unclean.leader.election.enable", 1),)
    ),
}


GROUP_CONFIGS: dict[str, ResourceConfig] = {
    "consumer.assignment.interval.ms": ResourceConfig(
        "INT",
        "1000",
        low="0",
        synonyms=(("group.consumer.assignment.interval.ms", 1),),
        least=("group.consumer.min.assignment.interval.ms", "0"),
        most=("group.consumer.max.assignment.interval.ms", "15000"),
    ),
    "consumer.assignor.offload.enable": ResourceConfig(
        "BOOLEAN",
        "true",
        synonyms=(("group.consumer.assignor.offload.enable", 1),),
        is_internal=True,
        since="4.4",
    ),
    "consumer.heartbeat.interval.ms": ResourceConfig(
        "INT",
        "5000",
        low="1",
        synonyms=(("group.consumer.heartbeat.interval.ms", 1),),
        least=("group.consumer.min.heartbeat.interval.ms", "5000"),
        most=("group.consumer.max.heartbeat.interval.ms", "15000"),
    ),
    "consumer.session.timeout.ms": ResourceConfig(
        "INT",
        "45000",
        low="1",
        synonyms=(("group.consumer.session.timeout.ms", 1),),
        least=("group.consumer.min.session.timeout.ms", "45000"),
        most=("group.consumer.max.session.timeout.ms", "60000"),
    ),
    "errors.deadletterqueue.copy.record.enable": ResourceConfig("BOOLEAN", "false", since="4.4"),
    "errors.deadletterqueue.topic.name": ResourceConfig("STRING", "", since="4.4"),
    "share.assignment.interval.ms": ResourceConfig(
        "INT",
        "1000",
        low="0",
        synonyms=(("group.share.assignment.interval.ms", 1),),
        least=("group.share.min.assignment.interval.ms", "0"),
        most=("group.share.max.assignment.interval.ms", "15000"),
    ),
    "share.assignor.offload.enable": ResourceConfig(
        "BOOLEAN",
        "true",
        synonyms=(("group.share.assignor.offload.enable", 1),),
        is_internal=True,
        since="4.4",
    ),
    "share.auto.offset.reset": ResourceConfig(
        "STRING", "latest", words=("latest", "earliest"), may_be_duration=True
    ),
    "share.delivery.count.limit": ResourceConfig(
        "INT",
        "5",
        low="2",
        synonyms=(("group.share.delivery.count.limit", 1),),
        least=("group.share.min.delivery.count.limit", "2"),
        most=("group.share.max.delivery.count.limit", "10"),
    ),
    "share.heartbeat.interval.ms": ResourceConfig(
        "INT",
        "5000",
        low="1",
        synonyms=(("group.share.heartbeat.interval.ms", 1),),
        least=("group.share.min.heartbeat.interval.ms", "5000"),
        most=("group.share.max.heartbeat.interval.ms", "15000"),
    ),
    "share.isolation.level": ResourceConfig(
        "STRING", "read_uncommitted", words=("read_committed", "read_uncommitted")
    ),
    "share.partition.max.record.locks": ResourceConfig(
        "INT",
        "2000",
        low="100",
        synonyms=(("group.share.partition.max.record.locks", 1),),
        least=("group.share.min.partition.max.record.locks", "100"),
        most=("group.share.max.partition.max.record.locks", "4000"),
    ),
    "share.record.lock.duration.ms": ResourceConfig(
        "INT",
        "30000",
        low="1000",
        synonyms=(("group.share.record.lock.duration.ms", 1),),
        least=("group.share.min.record.lock.duration.ms", "15000"),
        most=("group.share.max.record.lock.duration.ms", "60000"),
    ),
    "share.renew.acknowledge.enable": ResourceConfig("BOOLEAN", "true"),
    "share.session.timeout.ms": ResourceConfig(
        "INT",
        "45000",
        low="1",
        synonyms=(("group.share.session.timeout.ms", 1),),
        least=("group.share.min.session.timeout.ms", "45000"),
        most=("group.share.max.session.timeout.ms", "60000"),
    ),
    "streams.acceptable.recovery.lag": ResourceConfig(
        "LONG",
        "10000",
        low="0",
        synonyms=(("group.streams.acceptable.recovery.lag", 1),),
        is_internal=True,
        since="4.4",
    ),
    "streams.assignment.interval.ms": ResourceConfig(
        "INT",
        "1000",
        low="0",
        synonyms=(("group.streams.assignment.interval.ms", 1),),
        least=("group.streams.min.assignment.interval.ms", "0"),
        most=("group.streams.max.assignment.interval.ms", "15000"),
    ),
    "streams.assignor.name": ResourceConfig(
        "STRING", None, synonyms=(("group.streams.assignors", 1),), since="4.4"
    ),
    "streams.assignor.offload.enable": ResourceConfig(
        "BOOLEAN",
        "true",
        synonyms=(("group.streams.assignor.offload.enable", 1),),
        is_internal=True,
        since="4.4",
    ),
    "streams.heartbeat.interval.ms": ResourceConfig(
        "INT",
        "5000",
        low="1",
        synonyms=(("group.streams.heartbeat.interval.ms", 1),),
        least=("group.streams.min.heartbeat.interval.ms", "5000"),
        most=("group.streams.max.heartbeat.interval.ms", "15000"),
    ),
    "streams.initial.rebalance.delay.ms": ResourceConfig(
        "INT", "3000", low="0", synonyms=(("group.streams.initial.rebalance.delay.ms", 1),)
    ),
    "streams.num.standby.replicas": ResourceConfig(
        "INT",
        "0",
        low="0",
        synonyms=(("group.streams.num.standby.replicas", 1),),
        most=("group.streams.max.standby.replicas", "2"),
    ),
    "streams.num.warmup.replicas": ResourceConfig(
        "INT",
        "2",
        low="0",
        synonyms=(("group.streams.num.warmup.replicas", 1),),
        most=("group.streams.max.warmup.replicas", "20"),
        is_internal=True,
        since="4.4",
    ),
    "streams.rack.aware.assignment.tags": ResourceConfig(
        "LIST", "", synonyms=(("group.streams.rack.aware.assignment.tags", 1),), since="4.4"
    ),
    "streams.session.timeout.ms": ResourceConfig(
        "INT",
        "45000",
        low="1",
        synonyms=(("group.streams.session.timeout.ms", 1),),
        least=("group.streams.min.session.timeout.ms", "45000"),
        most=("group.streams.max.session.timeout.ms", "60000"),
    ),
    "streams.task.offset.interval.ms": ResourceConfig(
        "INT",
        "60000",
        low="1",
        synonyms=(("group.streams.task.offset.interval.ms", 1),),
        least=("group.streams.min.task.offset.interval.ms", "15000"),
        is_internal=True,
        since="4.4",
    ),
}


NODE_CONFIGS: dict[str, NodeConfig] = {
    "add.partitions.to.txn.retry.backoff.max.ms": NodeConfig("INT", "100"),
    "add.partitions.to.txn.retry.backoff.ms": NodeConfig("INT", "20"),
    "advertised.listeners": NodeConfig("LIST", None),
    "alter.config.policy.class.name": NodeConfig("CLASS", None),
    "alter.log.dirs.replication.quota.window.num": NodeConfig("INT", "11"),
    "alter.log.dirs.replication.quota.window.size.seconds": NodeConfig("INT", "1"),
    "authorizer.class.name": NodeConfig("STRING", ""),
    "auto.create.topics.enable": NodeConfig("BOOLEAN", "true"),
    "auto.leader.rebalance.enable": NodeConfig("BOOLEAN", "true"),
    "background.threads": NodeConfig("INT", "10", is_dynamic=True),
    "broker.heartbeat.interval.ms": NodeConfig("INT", "2000"),
    "broker.id": NodeConfig("INT", "-1"),
    "broker.rack": NodeConfig("STRING", None),
    "broker.session.timeout.ms": NodeConfig("INT", "9000"),
    "client.quota.callback.class": NodeConfig("CLASS", None),
    "compression.gzip.level": NodeConfig("INT", "-1", is_dynamic=True),
    "compression.lz4.level": NodeConfig("INT", "9", is_dynamic=True),
    "compression.type": NodeConfig("STRING", "producer", is_dynamic=True),
    "compression.zstd.level": NodeConfig("INT", "3", is_dynamic=True),
    "config.providers": NodeConfig("LIST", "", is_dynamic=True),
    "connection.failed.authentication.delay.ms": NodeConfig("INT", "100"),
    "connections.max.idle.ms": NodeConfig("LONG", "600000"),
    "connections.max.reauth.ms": NodeConfig("LONG", "0"),
    "controlled.shutdown.enable": NodeConfig("BOOLEAN", "true"),
    "controller.listener.names": NodeConfig("LIST", None),
    "controller.performance.always.log.threshold.ms": NodeConfig("LONG", "2000", is_internal=True),
    "controller.performance.sample.period.ms": NodeConfig("LONG", "60000", is_internal=True),
    "controller.quorum.append.linger.ms": NodeConfig("INT", "25"),
    "controller.quorum.auto.join.enable": NodeConfig("BOOLEAN", "false"),
    "controller.quorum.bootstrap.servers": NodeConfig("LIST", ""),
    "controller.quorum.election.backoff.max.ms": NodeConfig("INT", "1000"),
    "controller.quorum.election.timeout.ms": NodeConfig("INT", "1000"),
    "controller.quorum.fetch.max.bytes": NodeConfig("INT", "1048576"),
    "controller.quorum.fetch.snapshot.max.bytes": NodeConfig("INT", "1048576"),
    "controller.quorum.fetch.timeout.ms": NodeConfig("INT", "2000"),
    "controller.quorum.request.timeout.ms": NodeConfig("INT", "2000"),
    "controller.quorum.retry.backoff.ms": NodeConfig("INT", "20"),
    "controller.quorum.voters": NodeConfig("LIST", ""),
    "controller.quota.window.num": NodeConfig("INT", "11"),
    "controller.quota.window.size.seconds": NodeConfig("INT", "1"),
    "controller.socket.timeout.ms": NodeConfig("INT", "30000"),
    "cordoned.log.dirs": NodeConfig("LIST", "", is_dynamic=True),
    "create.topic.policy.class.name": NodeConfig("CLASS", None),
    "default.replication.factor": NodeConfig("INT", "1"),
    "delegation.token.expiry.check.interval.ms": NodeConfig("LONG", "3600000"),
    "delegation.token.expiry.time.ms": NodeConfig("LONG", "86400000"),
    "delegation.token.max.lifetime.ms": NodeConfig("LONG", "604800000"),
    "delegation.token.secret.key": NodeConfig("PASSWORD", None),
    "delete.records.purgatory.purge.interval.requests": NodeConfig("INT", "1"),
    "delete.topic.enable": NodeConfig("BOOLEAN", "true"),
    "early.start.listeners": NodeConfig("LIST", None),
    "errors.deadletterqueue.auto.create.topics.enable": NodeConfig(
        "BOOLEAN", "false", is_dynamic=True
    ),
    "errors.deadletterqueue.topic.name.prefix": NodeConfig("STRING", "dlq.", is_dynamic=True),
    "fetch.max.bytes": NodeConfig("INT", "57671680"),
    "fetch.purgatory.purge.interval.requests": NodeConfig("INT", "1000"),
    "follower.fetch.last.tiered.offset.enable": NodeConfig("BOOLEAN", "false", is_dynamic=True),
    "group.consumer.assignment.interval.ms": NodeConfig("INT", "1000", is_dynamic=True),
    "group.consumer.assignor.offload.enable": NodeConfig(
        "BOOLEAN", "true", is_dynamic=True, is_internal=True
    ),
    "group.consumer.assignors": NodeConfig("LIST", "uniform,range"),
    "group.consumer.heartbeat.interval.ms": NodeConfig("INT", "5000"),
    "group.consumer.max.assignment.interval.ms": NodeConfig("INT", "15000"),
    "group.consumer.max.heartbeat.interval.ms": NodeConfig("INT", "15000"),
    "group.consumer.max.session.timeout.ms": NodeConfig("INT", "60000"),
    "group.consumer.max.size": NodeConfig("INT", "2147483647"),
    "group.consumer.migration.policy": NodeConfig("STRING", "bidirectional"),
    "group.consumer.min.assignment.interval.ms": NodeConfig("INT", "0"),
    "group.consumer.min.heartbeat.interval.ms": NodeConfig("INT", "5000"),
    "group.consumer.min.session.timeout.ms": NodeConfig("INT", "45000"),
    "group.consumer.regex.refresh.interval.ms": NodeConfig("INT", "600000", is_internal=True),
    "group.consumer.session.timeout.ms": NodeConfig("INT", "45000"),
    "group.coordinator.append.linger.ms": NodeConfig("INT", "-1"),
    "group.coordinator.background.threads": NodeConfig("INT", "2"),
    "group.coordinator.cached.buffer.max.bytes": NodeConfig("INT", "1048588", is_dynamic=True),
    "group.coordinator.rebalance.protocols": NodeConfig("LIST", "classic,consumer,streams"),
    "group.coordinator.threads": NodeConfig("INT", "4"),
    "group.initial.rebalance.delay.ms": NodeConfig("INT", "3000"),
    "group.max.session.timeout.ms": NodeConfig("INT", "1800000"),
    "group.max.size": NodeConfig("INT", "2147483647"),
    "group.min.session.timeout.ms": NodeConfig("INT", "6000"),
    "group.share.assignment.interval.ms": NodeConfig("INT", "1000", is_dynamic=True),
    "group.share.assignor.offload.enable": NodeConfig(
        "BOOLEAN", "true", is_dynamic=True, is_internal=True
    ),
    "group.share.assignors": NodeConfig("LIST", "simple"),
    "group.share.delivery.count.limit": NodeConfig("INT", "5"),
    "group.share.dlq.manager.class.name": NodeConfig(
        "STRING", "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager", is_internal=True
    ),
    "group.share.heartbeat.interval.ms": NodeConfig("INT", "5000"),
    "group.share.initialize.retry.interval.ms": NodeConfig("INT", "30000", is_internal=True),
    "group.share.max.assignment.interval.ms": NodeConfig("INT", "15000"),
    "group.share.max.delivery.count.limit": NodeConfig("INT", "10"),
    "group.share.max.heartbeat.interval.ms": NodeConfig("INT", "15000"),
    "group.share.max.partition.max.record.locks": NodeConfig("INT", "4000"),
    "group.share.max.record.lock.duration.ms": NodeConfig("INT", "60000"),
    "group.share.max.session.timeout.ms": NodeConfig("INT", "60000"),
    "group.share.max.share.sessions": NodeConfig("INT", "2000"),
    "group.share.max.size": NodeConfig("INT", "200"),
    "group.share.min.assignment.interval.ms": NodeConfig("INT", "0"),
    "group.share.min.delivery.count.limit": NodeConfig("INT", "2"),
    "group.share.min.heartbeat.interval.ms": NodeConfig("INT", "5000"),
    "group.share.min.partition.max.record.locks": NodeConfig("INT", "100"),
    "group.share.min.record.lock.duration.ms": NodeConfig("INT", "15000"),
    "group.share.min.session.timeout.ms": NodeConfig("INT", "45000"),
    "group.share.partition.max.record.locks": NodeConfig("INT", "2000"),
    "group.share.persister.class.name": NodeConfig(
        "STRING", "org.apache.kafka.server.share.persister.DefaultStatePersister", is_internal=True
    ),
    "group.share.record.lock.duration.ms": NodeConfig("INT", "30000"),
    "group.share.session.timeout.ms": NodeConfig("INT", "45000"),
    "group.streams.acceptable.recovery.lag": NodeConfig("LONG", "10000", is_internal=True),
    "group.streams.assignment.interval.ms": NodeConfig("INT", "1000", is_dynamic=True),
    "group.streams.assignor.offload.enable": NodeConfig(
        "BOOLEAN", "true", is_dynamic=True, is_internal=True
    ),
    "group.streams.assignors": NodeConfig("LIST", "sticky"),
    "group.streams.heartbeat.interval.ms": NodeConfig("INT", "5000"),
    "group.streams.initial.rebalance.delay.ms": NodeConfig("INT", "3000"),
    "group.streams.max.assignment.interval.ms": NodeConfig("INT", "15000"),
    "group.streams.max.heartbeat.interval.ms": NodeConfig("INT", "15000"),
    "group.streams.max.session.timeout.ms": NodeConfig("INT", "60000"),
    "group.streams.max.size": NodeConfig("INT", "2147483647"),
    "group.streams.max.standby.replicas": NodeConfig("INT", "2"),
    "group.streams.max.warmup.replicas": NodeConfig("INT", "20", is_internal=True),
    "group.streams.min.assignment.interval.ms": NodeConfig("INT", "0"),
    "group.streams.min.heartbeat.interval.ms": NodeConfig("INT", "5000"),
    "group.streams.min.session.timeout.ms": NodeConfig("INT", "45000"),
    "group.streams.min.task.offset.interval.ms": NodeConfig("INT", "15000", is_internal=True),
    "group.streams.num.standby.replicas": NodeConfig("INT", "0"),
    "group.streams.num.warmup.replicas": NodeConfig("INT", "2", is_internal=True),
    "group.streams.rack.aware.assignment.tags": NodeConfig("LIST", ""),
    "group.streams.session.timeout.ms": NodeConfig("INT", "45000"),
    "group.streams.task.offset.interval.ms": NodeConfig("INT", "60000", is_internal=True),
    "group.streams.topology.description.plugin.class": NodeConfig("CLASS", None),
    "initial.broker.registration.timeout.ms": NodeConfig("INT", "60000"),
    "inter.broker.listener.name": NodeConfig("STRING", None),
    "internal.metadata.delete.delay.millis": NodeConfig("LONG", "60000", is_internal=True),
    "internal.metadata.log.segment.bytes": NodeConfig("INT", None, is_internal=True),
    "internal.metadata.max.batch.size.in.bytes": NodeConfig("INT", "8388608", is_internal=True),
    "kafka.metrics.polling.interval.secs": NodeConfig("INT", "10"),
    "kafka.metrics.reporters": NodeConfig("LIST", ""),
    "leader.imbalance.check.interval.seconds": NodeConfig("LONG", "300"),
    "listener.security.protocol.map": NodeConfig(
        "STRING",
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        is_dynamic=True,
    ),
    "listeners": NodeConfig("LIST", "PLAINTEXT://:9092", is_dynamic=True),
    "log.cleaner.backoff.ms": NodeConfig("LONG", "15000", is_dynamic=True),
    "log.cleaner.dedupe.buffer.size": NodeConfig("LONG", "134217728", is_dynamic=True),
    "log.cleaner.delete.retention.ms": NodeConfig("LONG", "86400000", is_dynamic=True),
    "log.cleaner.enable": NodeConfig("BOOLEAN", "true"),
    "log.cleaner.io.buffer.load.factor": NodeConfig("DOUBLE", "0.9", is_dynamic=True),
    "log.cleaner.io.buffer.size": NodeConfig("INT", "524288", is_dynamic=True),
    "log.cleaner.io.max.bytes.per.second": NodeConfig(
        "DOUBLE", "1.7976931348623157E308", is_dynamic=True
    ),
    "log.cleaner.max.compaction.lag.ms": NodeConfig("LONG", "9223372036854775807", is_dynamic=True),
    "log.cleaner.min.cleanable.ratio": NodeConfig("DOUBLE", "0.5", is_dynamic=True),
    "log.cleaner.min.compaction.lag.ms": NodeConfig("LONG", "0", is_dynamic=True),
    "log.cleaner.threads": NodeConfig("INT", "1", is_dynamic=True),
    "log.cleanup.policy": NodeConfig("LIST", "delete", is_dynamic=True),
    "log.dir": NodeConfig("LIST", "/tmp/kafka-logs"),
    "log.dir.failure.timeout.ms": NodeConfig("LONG", "30000"),
    "log.dirs": NodeConfig("LIST", None),
    "log.flush.interval.messages": NodeConfig("LONG", "9223372036854775807", is_dynamic=True),
    "log.flush.interval.ms": NodeConfig("LONG", None, is_dynamic=True),
    "log.flush.offset.checkpoint.interval.ms": NodeConfig("INT", "60000"),
    "log.flush.scheduler.interval.ms": NodeConfig("LONG", "9223372036854775807"),
    "log.flush.start.offset.checkpoint.interval.ms": NodeConfig("INT", "60000"),
    "log.index.interval.bytes": NodeConfig("INT", "4096", is_dynamic=True),
    "log.index.size.max.bytes": NodeConfig("INT", "10485760", is_dynamic=True),
    "log.initial.task.delay.ms": NodeConfig("LONG", "30000", is_internal=True),
    "log.local.retention.bytes": NodeConfig("LONG", "-2", is_dynamic=True),
    "log.local.retention.ms": NodeConfig("LONG", "-2", is_dynamic=True),
    "log.message.timestamp.after.max.ms": NodeConfig("LONG", "3600000", is_dynamic=True),
    "log.message.timestamp.before.max.ms": NodeConfig(
        "LONG", "9223372036854775807", is_dynamic=True
    ),
    "log.message.timestamp.type": NodeConfig("STRING", "CreateTime", is_dynamic=True),
    "log.preallocate": NodeConfig("BOOLEAN", "false", is_dynamic=True),
    "log.remote.copy.lag.bytes": NodeConfig("LONG", "-1", is_dynamic=True),
    "log.remote.copy.lag.ms": NodeConfig("LONG", "0", is_dynamic=True),
    "log.retention.bytes": NodeConfig("LONG", "-1", is_dynamic=True),
    "log.retention.check.interval.ms": NodeConfig("LONG", "300000"),
    "log.retention.hours": NodeConfig("INT", "168"),
    "log.retention.minutes": NodeConfig("INT", None),
    "log.retention.ms": NodeConfig("LONG", None, is_dynamic=True),
    "log.roll.hours": NodeConfig("INT", "168"),
    "log.roll.jitter.hours": NodeConfig("INT", "0"),
    "log.roll.jitter.ms": NodeConfig("LONG", None, is_dynamic=True),
    "log.roll.ms": NodeConfig("LONG", None, is_dynamic=True),
    "log.segment.bytes": NodeConfig("INT", "1073741824", is_dynamic=True),
    "log.segment.delete.delay.ms": NodeConfig("LONG", "60000", is_dynamic=True),
    "max.connection.creation.rate": NodeConfig("INT", "2147483647", is_dynamic=True),
    "max.connections": NodeConfig("INT", "2147483647", is_dynamic=True),
    "max.connections.per.ip": NodeConfig("INT", "2147483647", is_dynamic=True),
    "max.connections.per.ip.overrides": NodeConfig("STRING", "", is_dynamic=True),
    "max.decompressed.message.bytes": NodeConfig("INT", "2147483639", is_dynamic=True),
    "max.incremental.fetch.session.cache.slots": NodeConfig("INT", "1000"),
    "max.request.partition.size.limit": NodeConfig("INT", "2000"),
    "message.max.bytes": NodeConfig("INT", "1048588", is_dynamic=True),
    "metadata.log.dir": NodeConfig("STRING", None),
    "metadata.log.max.record.bytes.between.snapshots": NodeConfig("LONG", "20971520"),
    "metadata.log.max.snapshot.interval.ms": NodeConfig("LONG", "3600000"),
    "metadata.log.segment.bytes": NodeConfig("INT", "1073741824"),
    "metadata.log.segment.ms": NodeConfig("LONG", "604800000"),
    "metadata.max.idle.interval.ms": NodeConfig("INT", "500"),
    "metadata.max.retention.bytes": NodeConfig("LONG", "104857600"),
    "metadata.max.retention.ms": NodeConfig("LONG", "604800000"),
    "metric.reporters": NodeConfig(
        "LIST", "org.apache.kafka.common.metrics.JmxReporter", is_dynamic=True
    ),
    "metrics.num.samples": NodeConfig("INT", "2"),
    "metrics.recording.level": NodeConfig("STRING", "INFO"),
    "metrics.sample.window.ms": NodeConfig("LONG", "30000"),
    "min.insync.replicas": NodeConfig("INT", "1", is_dynamic=True),
    "node.id": NodeConfig("INT", None),
    "num.io.threads": NodeConfig("INT", "8", is_dynamic=True),
    "num.network.threads": NodeConfig("INT", "3", is_dynamic=True),
    "num.partitions": NodeConfig("INT", "1"),
    "num.recovery.threads.per.data.dir": NodeConfig("INT", "2", is_dynamic=True),
    "num.replica.alter.log.dirs.threads": NodeConfig("INT", None),
    "num.replica.fetchers": NodeConfig("INT", "1", is_dynamic=True),
    "offset.metadata.max.bytes": NodeConfig("INT", "4096"),
    "offsets.commit.timeout.ms": NodeConfig("INT", "5000"),
    "offsets.load.buffer.size": NodeConfig("INT", "5242880"),
    "offsets.retention.check.interval.ms": NodeConfig("LONG", "600000"),
    "offsets.retention.minutes": NodeConfig("INT", "10080"),
    "offsets.topic.compression.codec": NodeConfig("INT", "0"),
    "offsets.topic.num.partitions": NodeConfig("INT", "50"),
    "offsets.topic.replication.factor": NodeConfig("SHORT", "3"),
    "offsets.topic.segment.bytes": NodeConfig("INT", "104857600"),
    "principal.builder.class": NodeConfig(
        "CLASS",
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        is_dynamic=True,
    ),
    "process.roles": NodeConfig("LIST", None),
    "producer.id.expiration.check.interval.ms": NodeConfig("INT", "600000", is_internal=True),
    "producer.id.expiration.ms": NodeConfig("INT", "86400000", is_dynamic=True),
    "producer.purgatory.purge.interval.requests": NodeConfig("INT", "1000"),
    "queued.max.request.bytes": NodeConfig("LONG", "-1"),
    "queued.max.requests": NodeConfig("INT", "500"),
    "quota.window.num": NodeConfig("INT", "11"),
    "quota.window.size.seconds": NodeConfig("INT", "1"),
    "remote.fetch.max.wait.ms": NodeConfig("INT", "500", is_dynamic=True),
    "remote.list.offsets.request.timeout.ms": NodeConfig("LONG", "30000", is_dynamic=True),
    "remote.log.index.file.cache.total.size.bytes": NodeConfig(
        "LONG", "1073741824", is_dynamic=True
    ),
    "remote.log.index.file.cache.ttl.ms": NodeConfig("LONG", "900000", is_internal=True),
    "remote.log.manager.copier.thread.pool.size": NodeConfig("INT", "10", is_dynamic=True),
    "remote.log.manager.copy.max.bytes.per.second": NodeConfig(
        "LONG", "9223372036854775807", is_dynamic=True
    ),
    "remote.log.manager.copy.quota.window.num": NodeConfig("INT", "11"),
    "remote.log.manager.copy.quota.window.size.seconds": NodeConfig("INT", "1"),
    "remote.log.manager.expiration.thread.pool.size": NodeConfig("INT", "10", is_dynamic=True),
    "remote.log.manager.fetch.max.bytes.per.second": NodeConfig(
        "LONG", "9223372036854775807", is_dynamic=True
    ),
    "remote.log.manager.fetch.quota.window.num": NodeConfig("INT", "11"),
    "remote.log.manager.fetch.quota.window.size.seconds": NodeConfig("INT", "1"),
    "remote.log.manager.follower.thread.pool.size": NodeConfig("INT", "2", is_dynamic=True),
    "remote.log.manager.task.interval.ms": NodeConfig("LONG", "30000"),
    "remote.log.manager.task.retry.backoff.max.ms": NodeConfig("LONG", "30000", is_internal=True),
    "remote.log.manager.task.retry.backoff.ms": NodeConfig("LONG", "500", is_internal=True),
    "remote.log.manager.task.retry.jitter": NodeConfig("DOUBLE", "0.2", is_internal=True),
    "remote.log.manager.thread.pool.size": NodeConfig("INT", "2"),
    "remote.log.metadata.custom.metadata.max.bytes": NodeConfig("INT", "128"),
    "remote.log.metadata.manager.class.name": NodeConfig(
        "STRING",
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
    ),
    "remote.log.metadata.manager.class.path": NodeConfig("STRING", None),
    "remote.log.metadata.manager.impl.prefix": NodeConfig("STRING", "rlmm.config."),
    "remote.log.metadata.manager.listener.name": NodeConfig("STRING", None),
    "remote.log.reader.max.pending.tasks": NodeConfig("INT", "100"),
    "remote.log.reader.threads": NodeConfig("INT", "10", is_dynamic=True),
    "remote.log.storage.manager.class.name": NodeConfig("STRING", None),
    "remote.log.storage.manager.class.path": NodeConfig("STRING", None),
    "remote.log.storage.manager.impl.prefix": NodeConfig("STRING", "rsm.config."),
    "remote.log.storage.system.enable": NodeConfig("BOOLEAN", "false"),
    "replica.fetch.backoff.ms": NodeConfig("INT", "1000"),
    "replica.fetch.max.bytes": NodeConfig("INT", "1048576"),
    "replica.fetch.min.bytes": NodeConfig("INT", "1"),
    "replica.fetch.response.max.bytes": NodeConfig("INT", "10485760"),
    "replica.fetch.wait.max.ms": NodeConfig("INT", "500"),
    "replica.high.watermark.checkpoint.interval.ms": NodeConfig("LONG", "5000"),
    "replica.lag.time.max.ms": NodeConfig("LONG", "30000"),
    "replica.selector.class": NodeConfig("STRING", None),
    "replica.socket.receive.buffer.bytes": NodeConfig("INT", "65536"),
    "replica.socket.timeout.ms": NodeConfig("INT", "30000"),
    "replication.quota.window.num": NodeConfig("INT", "11"),
    "replication.quota.window.size.seconds": NodeConfig("INT", "1"),
    "request.timeout.ms": NodeConfig("INT", "30000"),
    "sasl.client.callback.handler.class": NodeConfig("CLASS", None),
    "sasl.enabled.mechanisms": NodeConfig("LIST", "GSSAPI", is_dynamic=True),
    "sasl.jaas.config": NodeConfig("PASSWORD", None, is_dynamic=True),
    "sasl.kerberos.kinit.cmd": NodeConfig("STRING", "/usr/bin/kinit", is_dynamic=True),
    "sasl.kerberos.min.time.before.relogin": NodeConfig("LONG", "60000", is_dynamic=True),
    "sasl.kerberos.principal.to.local.rules": NodeConfig("LIST", "DEFAULT", is_dynamic=True),
    "sasl.kerberos.service.name": NodeConfig("STRING", None, is_dynamic=True),
    "sasl.kerberos.ticket.renew.jitter": NodeConfig("DOUBLE", "0.05", is_dynamic=True),
    "sasl.kerberos.ticket.renew.window.factor": NodeConfig("DOUBLE", "0.8", is_dynamic=True),
    "sasl.login.callback.handler.class": NodeConfig("CLASS", None),
    "sasl.login.class": NodeConfig("CLASS", None),
    "sasl.login.connect.timeout.ms": NodeConfig("INT", None),
    "sasl.login.read.timeout.ms": NodeConfig("INT", None),
    "sasl.login.refresh.buffer.seconds": NodeConfig("SHORT", "300", is_dynamic=True),
    "sasl.login.refresh.min.period.seconds": NodeConfig("SHORT", "60", is_dynamic=True),
    "sasl.login.refresh.window.factor": NodeConfig("DOUBLE", "0.8", is_dynamic=True),
    "sasl.login.refresh.window.jitter": NodeConfig("DOUBLE", "0.05", is_dynamic=True),
    "sasl.login.retry.backoff.max.ms": NodeConfig("LONG", "10000"),
    "sasl.login.retry.backoff.ms": NodeConfig("LONG", "100"),
    "sasl.mechanism.controller.protocol": NodeConfig("STRING", "GSSAPI"),
    "sasl.mechanism.inter.broker.protocol": NodeConfig("STRING", "GSSAPI", is_dynamic=True),
    "sasl.oauthbearer.allow.unverified.audience": NodeConfig("BOOLEAN", "false"),
    "sasl.oauthbearer.allow.unverified.issuer": NodeConfig("BOOLEAN", "false"),
    "sasl.oauthbearer.assertion.algorithm": NodeConfig("STRING", "RS256"),
    "sasl.oauthbearer.assertion.claim.aud": NodeConfig("STRING", None),
    "sasl.oauthbearer.assertion.claim.exp.seconds": NodeConfig("INT", "300"),
    "sasl.oauthbearer.assertion.claim.iss": NodeConfig("STRING", None),
    "sasl.oauthbearer.assertion.claim.jti.include": NodeConfig("BOOLEAN", "false"),
    "sasl.oauthbearer.assertion.claim.nbf.seconds": NodeConfig("INT", "60"),
    "sasl.oauthbearer.assertion.claim.sub": NodeConfig("STRING", None),
    "sasl.oauthbearer.assertion.file": NodeConfig("STRING", None),
    "sasl.oauthbearer.assertion.private.key.file": NodeConfig("STRING", None),
    "sasl.oauthbearer.assertion.private.key.passphrase": NodeConfig("PASSWORD", None),
    "sasl.oauthbearer.assertion.template.file": NodeConfig("STRING", None),
    "sasl.oauthbearer.client.credentials.client.id": NodeConfig("STRING", None),
    "sasl.oauthbearer.client.credentials.client.secret": NodeConfig("PASSWORD", None),
    "sasl.oauthbearer.clock.skew.seconds": NodeConfig("INT", "30"),
    "sasl.oauthbearer.expected.audience": NodeConfig("LIST", ""),
    "sasl.oauthbearer.expected.issuer": NodeConfig("STRING", None),
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": NodeConfig("LONG", "3600000"),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": NodeConfig("LONG", "10000"),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": NodeConfig("LONG", "100"),
    "sasl.oauthbearer.jwks.endpoint.url": NodeConfig("STRING", None),
    "sasl.oauthbearer.jwt.retriever.class": NodeConfig(
        "CLASS", "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever"
    ),
    "sasl.oauthbearer.jwt.validator.class": NodeConfig(
        "CLASS", "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator"
    ),
    "sasl.oauthbearer.scope": NodeConfig("STRING", None),
    "sasl.oauthbearer.scope.claim.name": NodeConfig("STRING", "scope"),
    "sasl.oauthbearer.sub.claim.name": NodeConfig("STRING", "sub"),
    "sasl.oauthbearer.token.endpoint.url": NodeConfig("STRING", None),
    "sasl.server.callback.handler.class": NodeConfig("CLASS", None),
    "sasl.server.max.receive.size": NodeConfig("INT", "524288"),
    "security.inter.broker.protocol": NodeConfig("STRING", "PLAINTEXT"),
    "security.providers": NodeConfig("STRING", None),
    "server.max.startup.time.ms": NodeConfig("LONG", "9223372036854775807", is_internal=True),
    "share.coordinator.append.linger.ms": NodeConfig("INT", "-1"),
    "share.coordinator.cached.buffer.max.bytes": NodeConfig("INT", "1048588", is_dynamic=True),
    "share.coordinator.cold.partition.snapshot.interval.ms": NodeConfig(
        "INT", "300000", is_internal=True
    ),
    "share.coordinator.load.buffer.size": NodeConfig("INT", "5242880"),
    "share.coordinator.snapshot.update.records.per.snapshot": NodeConfig("INT", "500"),
    "share.coordinator.state.topic.compression.codec": NodeConfig("INT", "0"),
    "share.coordinator.state.topic.min.isr": NodeConfig("SHORT", "2"),
    "share.coordinator.state.topic.num.partitions": NodeConfig("INT", "50"),
    "share.coordinator.state.topic.prune.interval.ms": NodeConfig(
        "INT", "300000", is_internal=True
    ),
    "share.coordinator.state.topic.replication.factor": NodeConfig("SHORT", "3"),
    "share.coordinator.state.topic.segment.bytes": NodeConfig("INT", "104857600"),
    "share.coordinator.threads": NodeConfig("INT", "1"),
    "share.coordinator.write.timeout.ms": NodeConfig("INT", "5000"),
    "share.fetch.purgatory.purge.interval.requests": NodeConfig("INT", "1000"),
    "socket.connection.setup.timeout.max.ms": NodeConfig("LONG", "30000"),
    "socket.connection.setup.timeout.ms": NodeConfig("LONG", "10000"),
    "socket.listen.backlog.size": NodeConfig("INT", "50"),
    "socket.receive.buffer.bytes": NodeConfig("INT", "102400"),
    "socket.request.max.bytes": NodeConfig("INT", "104857600"),
    "socket.send.buffer.bytes": NodeConfig("INT", "102400"),
    "ssl.allow.dn.changes": NodeConfig("BOOLEAN", "false"),
    "ssl.allow.san.changes": NodeConfig("BOOLEAN", "false"),
    "ssl.cipher.suites": NodeConfig("LIST", "", is_dynamic=True),
    "ssl.client.auth": NodeConfig("STRING", "none", is_dynamic=True),
    "ssl.enabled.protocols": NodeConfig("LIST", "TLSv1.2,TLSv1.3", is_dynamic=True),
    "ssl.endpoint.identification.algorithm": NodeConfig("STRING", "https", is_dynamic=True),
    "ssl.engine.factory.class": NodeConfig("CLASS", None, is_dynamic=True),
    "ssl.key.password": NodeConfig("PASSWORD", None, is_dynamic=True),
    "ssl.keymanager.algorithm": NodeConfig("STRING", "SunX509", is_dynamic=True),
    "ssl.keystore.certificate.chain": NodeConfig("PASSWORD", None, is_dynamic=True),
    "ssl.keystore.key": NodeConfig("PASSWORD", None, is_dynamic=True),
    "ssl.keystore.location": NodeConfig("STRING", None, is_dynamic=True),
    "ssl.keystore.password": NodeConfig("PASSWORD", None, is_dynamic=True),
    "ssl.keystore.type": NodeConfig("STRING", "JKS", is_dynamic=True),
    "ssl.principal.mapping.rules": NodeConfig("STRING", "DEFAULT"),
    "ssl.protocol": NodeConfig("STRING", "TLSv1.3", is_dynamic=True),
    "ssl.provider": NodeConfig("STRING", None, is_dynamic=True),
    "ssl.secure.random.implementation": NodeConfig("STRING", None, is_dynamic=True),
    "ssl.trustmanager.algorithm": NodeConfig("STRING", "PKIX", is_dynamic=True),
    "ssl.truststore.certificates": NodeConfig("PASSWORD", None, is_dynamic=True),
    "ssl.truststore.location": NodeConfig("STRING", None, is_dynamic=True),
    "ssl.truststore.password": NodeConfig("PASSWORD", None, is_dynamic=True),
    "ssl.truststore.type": NodeConfig("STRING", "JKS", is_dynamic=True),
    "telemetry.max.bytes": NodeConfig("INT", "1048576"),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": NodeConfig("INT", "10000"),
    "transaction.max.timeout.ms": NodeConfig("INT", "900000"),
    "transaction.partition.verification.enable": NodeConfig("BOOLEAN", "true", is_dynamic=True),
    "transaction.remove.expired.transaction.cleanup.interval.ms": NodeConfig("INT", "3600000"),
    "transaction.state.log.load.buffer.size": NodeConfig("INT", "5242880"),
    "transaction.state.log.min.isr": NodeConfig("INT", "2"),
    "transaction.state.log.num.partitions": NodeConfig("INT", "50"),
    "transaction.state.log.replication.factor": NodeConfig("SHORT", "3"),
    "transaction.state.log.segment.bytes": NodeConfig("INT", "104857600"),
    "transaction.two.phase.commit.enable": NodeConfig("BOOLEAN", "false"),
    "transactional.id.expiration.ms": NodeConfig("INT", "604800000"),
    "unclean.leader.election.enable": NodeConfig("BOOLEAN", "false", is_dynamic=True),
    "unclean.leader.election.interval.ms": NodeConfig("LONG", "300000", is_internal=True),
    "unstable.api.versions.enable": NodeConfig("BOOLEAN", "false", is_internal=True),
    "unstable.feature.versions.enable": NodeConfig("BOOLEAN", "false", is_internal=True),
}
