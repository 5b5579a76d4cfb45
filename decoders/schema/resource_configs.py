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


class ServerConfig(NamedTuple):
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


NODE_CONFIGS: dict[str, ServerConfig] = {
    "add.partitions.to.txn.retry.backoff.max.ms": ServerConfig("INT", "100"),
    "add.partitions.to.txn.retry.backoff.ms": ServerConfig("INT", "20"),
    "advertised.listeners": ServerConfig("LIST", None),
    "alter.config.policy.class.name": ServerConfig("CLASS", None),
    "alter.log.dirs.replication.quota.window.num": ServerConfig("INT", "11"),
    "alter.log.dirs.replication.quota.window.size.seconds": ServerConfig("INT", "1"),
    "authorizer.class.name": ServerConfig("STRING", ""),
    "auto.create.topics.enable": ServerConfig("BOOLEAN", "true"),
    "auto.leader.rebalance.enable": ServerConfig("BOOLEAN", "true"),
    "background.threads": ServerConfig("INT", "10", is_dynamic=True),
    "broker.heartbeat.interval.ms": ServerConfig("INT", "2000"),
    "broker.id": ServerConfig("INT", "-1"),
    "broker.rack": ServerConfig("STRING", None),
    "broker.session.timeout.ms": ServerConfig("INT", "9000"),
    "client.quota.callback.class": ServerConfig("CLASS", None),
    "compression.gzip.level": ServerConfig("INT", "-1", is_dynamic=True),
    "compression.lz4.level": ServerConfig("INT", "9", is_dynamic=True),
    "compression.type": ServerConfig("STRING", "producer", is_dynamic=True),
    "compression.zstd.level": ServerConfig("INT", "3", is_dynamic=True),
    "config.providers": ServerConfig("LIST", "", is_dynamic=True),
    "connection.failed.authentication.delay.ms": ServerConfig("INT", "100"),
    "connections.max.idle.ms": ServerConfig("LONG", "600000"),
    "connections.max.reauth.ms": ServerConfig("LONG", "0"),
    "controlled.shutdown.enable": ServerConfig("BOOLEAN", "true"),
    "controller.listener.names": ServerConfig("LIST", None),
    "controller.performance.always.log.threshold.ms": ServerConfig(
        "LONG", "2000", is_internal=True
    ),
    "controller.performance.sample.period.ms": ServerConfig("LONG", "60000", is_internal=True),
    "controller.quorum.append.linger.ms": ServerConfig("INT", "25"),
    "controller.quorum.auto.join.enable": ServerConfig("BOOLEAN", "false"),
    "controller.quorum.bootstrap.servers": ServerConfig("LIST", ""),
    "controller.quorum.election.backoff.max.ms": ServerConfig("INT", "1000"),
    "controller.quorum.election.timeout.ms": ServerConfig("INT", "1000"),
    "controller.quorum.fetch.max.bytes": ServerConfig("INT", "1048576"),
    "controller.quorum.fetch.snapshot.max.bytes": ServerConfig("INT", "1048576"),
    "controller.quorum.fetch.timeout.ms": ServerConfig("INT", "2000"),
    "controller.quorum.request.timeout.ms": ServerConfig("INT", "2000"),
    "controller.quorum.retry.backoff.ms": ServerConfig("INT", "20"),
    "controller.quorum.voters": ServerConfig("LIST", ""),
    "controller.quota.window.num": ServerConfig("INT", "11"),
    "controller.quota.window.size.seconds": ServerConfig("INT", "1"),
    "controller.socket.timeout.ms": ServerConfig("INT", "30000"),
    "cordoned.log.dirs": ServerConfig("LIST", "", is_dynamic=True),
    "create.topic.policy.class.name": ServerConfig("CLASS", None),
    "default.replication.factor": ServerConfig("INT", "1"),
    "delegation.token.expiry.check.interval.ms": ServerConfig("LONG", "3600000"),
    "delegation.token.expiry.time.ms": ServerConfig("LONG", "86400000"),
    "delegation.token.max.lifetime.ms": ServerConfig("LONG", "604800000"),
    "delegation.token.secret.key": ServerConfig("PASSWORD", None),
    "delete.records.purgatory.purge.interval.requests": ServerConfig("INT", "1"),
    "delete.topic.enable": ServerConfig("BOOLEAN", "true"),
    "early.start.listeners": ServerConfig("LIST", None),
    "errors.deadletterqueue.auto.create.topics.enable": ServerConfig(
        "BOOLEAN", "false", is_dynamic=True
    ),
    "errors.deadletterqueue.topic.name.prefix": ServerConfig("STRING", "dlq.", is_dynamic=True),
    "fetch.max.bytes": ServerConfig("INT", "57671680"),
    "fetch.purgatory.purge.interval.requests": ServerConfig("INT", "1000"),
    "follower.fetch.last.tiered.offset.enable": ServerConfig("BOOLEAN", "false", is_dynamic=True),
    "group.consumer.assignment.interval.ms": ServerConfig("INT", "1000", is_dynamic=True),
    "group.consumer.assignor.offload.enable": ServerConfig(
        "BOOLEAN", "true", is_dynamic=True, is_internal=True
    ),
    "group.consumer.assignors": ServerConfig("LIST", "uniform,range"),
    "group.consumer.heartbeat.interval.ms": ServerConfig("INT", "5000"),
    "group.consumer.max.assignment.interval.ms": ServerConfig("INT", "15000"),
    "group.consumer.max.heartbeat.interval.ms": ServerConfig("INT", "15000"),
    "group.consumer.max.session.timeout.ms": ServerConfig("INT", "60000"),
    "group.consumer.max.size": ServerConfig("INT", "2147483647"),
    "group.consumer.migration.policy": ServerConfig("STRING", "bidirectional"),
    "group.consumer.min.assignment.interval.ms": ServerConfig("INT", "0"),
    "group.consumer.min.heartbeat.interval.ms": ServerConfig("INT", "5000"),
    "group.consumer.min.session.timeout.ms": ServerConfig("INT", "45000"),
    "group.consumer.regex.refresh.interval.ms": ServerConfig("INT", "600000", is_internal=True),
    "group.consumer.session.timeout.ms": ServerConfig("INT", "45000"),
    "group.coordinator.append.linger.ms": ServerConfig("INT", "-1"),
    "group.coordinator.background.threads": ServerConfig("INT", "2"),
    "group.coordinator.cached.buffer.max.bytes": ServerConfig("INT", "1048588", is_dynamic=True),
    "group.coordinator.rebalance.protocols": ServerConfig("LIST", "classic,consumer,streams"),
    "group.coordinator.threads": ServerConfig("INT", "4"),
    "group.initial.rebalance.delay.ms": ServerConfig("INT", "3000"),
    "group.max.session.timeout.ms": ServerConfig("INT", "1800000"),
    "group.max.size": ServerConfig("INT", "2147483647"),
    "group.min.session.timeout.ms": ServerConfig("INT", "6000"),
    "group.share.assignment.interval.ms": ServerConfig("INT", "1000", is_dynamic=True),
    "group.share.assignor.offload.enable": ServerConfig(
        "BOOLEAN", "true", is_dynamic=True, is_internal=True
    ),
    "group.share.assignors": ServerConfig("LIST", "simple"),
    "group.share.delivery.count.limit": ServerConfig("INT", "5"),
    "group.share.dlq.manager.class.name": ServerConfig(
        "STRING", "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager", is_internal=True
    ),
    "group.share.heartbeat.interval.ms": ServerConfig("INT", "5000"),
    "group.share.initialize.retry.interval.ms": ServerConfig("INT", "30000", is_internal=True),
    "group.share.max.assignment.interval.ms": ServerConfig("INT", "15000"),
    "group.share.max.delivery.count.limit": ServerConfig("INT", "10"),
    "group.share.max.heartbeat.interval.ms": ServerConfig("INT", "15000"),
    "group.share.max.partition.max.record.locks": ServerConfig("INT", "4000"),
    "group.share.max.record.lock.duration.ms": ServerConfig("INT", "60000"),
    "group.share.max.session.timeout.ms": ServerConfig("INT", "60000"),
    "group.share.max.share.sessions": ServerConfig("INT", "2000"),
    "group.share.max.size": ServerConfig("INT", "200"),
    "group.share.min.assignment.interval.ms": ServerConfig("INT", "0"),
    "group.share.min.delivery.count.limit": ServerConfig("INT", "2"),
    "group.share.min.heartbeat.interval.ms": ServerConfig("INT", "5000"),
    "group.share.min.partition.max.record.locks": ServerConfig("INT", "100"),
    "group.share.min.record.lock.duration.ms": ServerConfig("INT", "15000"),
    "group.share.min.session.timeout.ms": ServerConfig("INT", "45000"),
    "group.share.partition.max.record.locks": ServerConfig("INT", "2000"),
    "group.share.persister.class.name": ServerConfig(
        "STRING", "org.apache.kafka.server.share.persister.DefaultStatePersister", is_internal=True
    ),
    "group.share.record.lock.duration.ms": ServerConfig("INT", "30000"),
    "group.share.session.timeout.ms": ServerConfig("INT", "45000"),
    "group.streams.acceptable.recovery.lag": ServerConfig("LONG", "10000", is_internal=True),
    "group.streams.assignment.interval.ms": ServerConfig("INT", "1000", is_dynamic=True),
    "group.streams.assignor.offload.enable": ServerConfig(
        "BOOLEAN", "true", is_dynamic=True, is_internal=True
    ),
    "group.streams.assignors": ServerConfig("LIST", "sticky"),
    "group.streams.heartbeat.interval.ms": ServerConfig("INT", "5000"),
    "group.streams.initial.rebalance.delay.ms": ServerConfig("INT", "3000"),
    "group.streams.max.assignment.interval.ms": ServerConfig("INT", "15000"),
    "group.streams.max.heartbeat.interval.ms": ServerConfig("INT", "15000"),
    "group.streams.max.session.timeout.ms": ServerConfig("INT", "60000"),
    "group.streams.max.size": ServerConfig("INT", "2147483647"),
    "group.streams.max.standby.replicas": ServerConfig("INT", "2"),
    "group.streams.max.warmup.replicas": ServerConfig("INT", "20", is_internal=True),
    "group.streams.min.assignment.interval.ms": ServerConfig("INT", "0"),
    "group.streams.min.heartbeat.interval.ms": ServerConfig("INT", "5000"),
    "group.streams.min.session.timeout.ms": ServerConfig("INT", "45000"),
    "group.streams.min.task.offset.interval.ms": ServerConfig("INT", "15000", is_internal=True),
    "group.streams.num.standby.replicas": ServerConfig("INT", "0"),
    "group.streams.num.warmup.replicas": ServerConfig("INT", "2", is_internal=True),
    "group.streams.rack.aware.assignment.tags": ServerConfig("LIST", ""),
    "group.streams.session.timeout.ms": ServerConfig("INT", "45000"),
    "group.streams.task.offset.interval.ms": ServerConfig("INT", "60000", is_internal=True),
    "group.streams.topology.description.plugin.class": ServerConfig("CLASS", None),
    "initial.broker.registration.timeout.ms": ServerConfig("INT", "60000"),
    "inter.broker.listener.name": ServerConfig("STRING", None),
    "internal.metadata.delete.delay.millis": ServerConfig("LONG", "60000", is_internal=True),
    "internal.metadata.log.segment.bytes": ServerConfig("INT", None, is_internal=True),
    "internal.metadata.max.batch.size.in.bytes": ServerConfig("INT", "8388608", is_internal=True),
    "kafka.metrics.polling.interval.secs": ServerConfig("INT", "10"),
    "kafka.metrics.reporters": ServerConfig("LIST", ""),
    "leader.imbalance.check.interval.seconds": ServerConfig("LONG", "300"),
    "listener.security.protocol.map": ServerConfig(
        "STRING",
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        is_dynamic=True,
    ),
    "listeners": ServerConfig("LIST", "PLAINTEXT://:9092", is_dynamic=True),
    "log.cleaner.backoff.ms": ServerConfig("LONG", "15000", is_dynamic=True),
    "log.cleaner.dedupe.buffer.size": ServerConfig("LONG", "134217728", is_dynamic=True),
    "log.cleaner.delete.retention.ms": ServerConfig("LONG", "86400000", is_dynamic=True),
    "log.cleaner.enable": ServerConfig("BOOLEAN", "true"),
    "log.cleaner.io.buffer.load.factor": ServerConfig("DOUBLE", "0.9", is_dynamic=True),
    "log.cleaner.io.buffer.size": ServerConfig("INT", "524288", is_dynamic=True),
    "log.cleaner.io.max.bytes.per.second": ServerConfig(
        "DOUBLE", "1.7976931348623157E308", is_dynamic=True
    ),
    "log.cleaner.max.compaction.lag.ms": ServerConfig(
        "LONG", "9223372036854775807", is_dynamic=True
    ),
    "log.cleaner.min.cleanable.ratio": ServerConfig("DOUBLE", "0.5", is_dynamic=True),
    "log.cleaner.min.compaction.lag.ms": ServerConfig("LONG", "0", is_dynamic=True),
    "log.cleaner.threads": ServerConfig("INT", "1", is_dynamic=True),
    "log.cleanup.policy": ServerConfig("LIST", "delete", is_dynamic=True),
    "log.dir": ServerConfig("LIST", "/tmp/kafka-logs"),
    "log.dir.failure.timeout.ms": ServerConfig("LONG", "30000"),
    "log.dirs": ServerConfig("LIST", None),
    "log.flush.interval.messages": ServerConfig("LONG", "9223372036854775807", is_dynamic=True),
    "log.flush.interval.ms": ServerConfig("LONG", None, is_dynamic=True),
    "log.flush.offset.checkpoint.interval.ms": ServerConfig("INT", "60000"),
    "log.flush.scheduler.interval.ms": ServerConfig("LONG", "9223372036854775807"),
    "log.flush.start.offset.checkpoint.interval.ms": ServerConfig("INT", "60000"),
    "log.index.interval.bytes": ServerConfig("INT", "4096", is_dynamic=True),
    "log.index.size.max.bytes": ServerConfig("INT", "10485760", is_dynamic=True),
    "log.initial.task.delay.ms": ServerConfig("LONG", "30000", is_internal=True),
    "log.local.retention.bytes": ServerConfig("LONG", "-2", is_dynamic=True),
    "log.local.retention.ms": ServerConfig("LONG", "-2", is_dynamic=True),
    "log.message.timestamp.after.max.ms": ServerConfig("LONG", "3600000", is_dynamic=True),
    "log.message.timestamp.before.max.ms": ServerConfig(
        "LONG", "9223372036854775807", is_dynamic=True
    ),
    "log.message.timestamp.type": ServerConfig("STRING", "CreateTime", is_dynamic=True),
    "log.preallocate": ServerConfig("BOOLEAN", "false", is_dynamic=True),
    "log.remote.copy.lag.bytes": ServerConfig("LONG", "-1", is_dynamic=True),
    "log.remote.copy.lag.ms": ServerConfig("LONG", "0", is_dynamic=True),
    "log.retention.bytes": ServerConfig("LONG", "-1", is_dynamic=True),
    "log.retention.check.interval.ms": ServerConfig("LONG", "300000"),
    "log.retention.hours": ServerConfig("INT", "168"),
    "log.retention.minutes": ServerConfig("INT", None),
    "log.retention.ms": ServerConfig("LONG", None, is_dynamic=True),
    "log.roll.hours": ServerConfig("INT", "168"),
    "log.roll.jitter.hours": ServerConfig("INT", "0"),
    "log.roll.jitter.ms": ServerConfig("LONG", None, is_dynamic=True),
    "log.roll.ms": ServerConfig("LONG", None, is_dynamic=True),
    "log.segment.bytes": ServerConfig("INT", "1073741824", is_dynamic=True),
    "log.segment.delete.delay.ms": ServerConfig("LONG", "60000", is_dynamic=True),
    "max.connection.creation.rate": ServerConfig("INT", "2147483647", is_dynamic=True),
    "max.connections": ServerConfig("INT", "2147483647", is_dynamic=True),
    "max.connections.per.ip": ServerConfig("INT", "2147483647", is_dynamic=True),
    "max.connections.per.ip.overrides": ServerConfig("STRING", "", is_dynamic=True),
    "max.decompressed.message.bytes": ServerConfig("INT", "2147483639", is_dynamic=True),
    "max.incremental.fetch.session.cache.slots": ServerConfig("INT", "1000"),
    "max.request.partition.size.limit": ServerConfig("INT", "2000"),
    "message.max.bytes": ServerConfig("INT", "1048588", is_dynamic=True),
    "metadata.log.dir": ServerConfig("STRING", None),
    "metadata.log.max.record.bytes.between.snapshots": ServerConfig("LONG", "20971520"),
    "metadata.log.max.snapshot.interval.ms": ServerConfig("LONG", "3600000"),
    "metadata.log.segment.bytes": ServerConfig("INT", "1073741824"),
    "metadata.log.segment.ms": ServerConfig("LONG", "604800000"),
    "metadata.max.idle.interval.ms": ServerConfig("INT", "500"),
    "metadata.max.retention.bytes": ServerConfig("LONG", "104857600"),
    "metadata.max.retention.ms": ServerConfig("LONG", "604800000"),
    "metric.reporters": ServerConfig(
        "LIST", "org.apache.kafka.common.metrics.JmxReporter", is_dynamic=True
    ),
    "metrics.num.samples": ServerConfig("INT", "2"),
    "metrics.recording.level": ServerConfig("STRING", "INFO"),
    "metrics.sample.window.ms": ServerConfig("LONG", "30000"),
    "min.insync.replicas": ServerConfig("INT", "1", is_dynamic=True),
    "node.id": ServerConfig("INT", None),
    "num.io.threads": ServerConfig("INT", "8", is_dynamic=True),
    "num.network.threads": ServerConfig("INT", "3", is_dynamic=True),
    "num.partitions": ServerConfig("INT", "1"),
    "num.recovery.threads.per.data.dir": ServerConfig("INT", "2", is_dynamic=True),
    "num.replica.alter.log.dirs.threads": ServerConfig("INT", None),
    "num.replica.fetchers": ServerConfig("INT", "1", is_dynamic=True),
    "offset.metadata.max.bytes": ServerConfig("INT", "4096"),
    "offsets.commit.timeout.ms": ServerConfig("INT", "5000"),
    "offsets.load.buffer.size": ServerConfig("INT", "5242880"),
    "offsets.retention.check.interval.ms": ServerConfig("LONG", "600000"),
    "offsets.retention.minutes": ServerConfig("INT", "10080"),
    "offsets.topic.compression.codec": ServerConfig("INT", "0"),
    "offsets.topic.num.partitions": ServerConfig("INT", "50"),
    "offsets.topic.replication.factor": ServerConfig("SHORT", "3"),
    "offsets.topic.segment.bytes": ServerConfig("INT", "104857600"),
    "principal.builder.class": ServerConfig(
        "CLASS",
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        is_dynamic=True,
    ),
    "process.roles": ServerConfig("LIST", None),
    "producer.id.expiration.check.interval.ms": ServerConfig("INT", "600000", is_internal=True),
    "producer.id.expiration.ms": ServerConfig("INT", "86400000", is_dynamic=True),
    "producer.purgatory.purge.interval.requests": ServerConfig("INT", "1000"),
    "queued.max.request.bytes": ServerConfig("LONG", "-1"),
    "queued.max.requests": ServerConfig("INT", "500"),
    "quota.window.num": ServerConfig("INT", "11"),
    "quota.window.size.seconds": ServerConfig("INT", "1"),
    "remote.fetch.max.wait.ms": ServerConfig("INT", "500", is_dynamic=True),
    "remote.list.offsets.request.timeout.ms": ServerConfig("LONG", "30000", is_dynamic=True),
    "remote.log.index.file.cache.total.size.bytes": ServerConfig(
        "LONG", "1073741824", is_dynamic=True
    ),
    "remote.log.index.file.cache.ttl.ms": ServerConfig("LONG", "900000", is_internal=True),
    "remote.log.manager.copier.thread.pool.size": ServerConfig("INT", "10", is_dynamic=True),
    "remote.log.manager.copy.max.bytes.per.second": ServerConfig(
        "LONG", "9223372036854775807", is_dynamic=True
    ),
    "remote.log.manager.copy.quota.window.num": ServerConfig("INT", "11"),
    "remote.log.manager.copy.quota.window.size.seconds": ServerConfig("INT", "1"),
    "remote.log.manager.expiration.thread.pool.size": ServerConfig("INT", "10", is_dynamic=True),
    "remote.log.manager.fetch.max.bytes.per.second": ServerConfig(
        "LONG", "9223372036854775807", is_dynamic=True
    ),
    "remote.log.manager.fetch.quota.window.num": ServerConfig("INT", "11"),
    "remote.log.manager.fetch.quota.window.size.seconds": ServerConfig("INT", "1"),
    "remote.log.manager.follower.thread.pool.size": ServerConfig("INT", "2", is_dynamic=True),
    "remote.log.manager.task.interval.ms": ServerConfig("LONG", "30000"),
    "remote.log.manager.task.retry.backoff.max.ms": ServerConfig("LONG", "30000", is_internal=True),
    "remote.log.manager.task.retry.backoff.ms": ServerConfig("LONG", "500", is_internal=True),
    "remote.log.manager.task.retry.jitter": ServerConfig("DOUBLE", "0.2", is_internal=True),
    "remote.log.manager.thread.pool.size": ServerConfig("INT", "2"),
    "remote.log.metadata.custom.metadata.max.bytes": ServerConfig("INT", "128"),
    "remote.log.metadata.manager.class.name": ServerConfig(
        "STRING",
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
    ),
    "remote.log.metadata.manager.class.path": ServerConfig("STRING", None),
    "remote.log.metadata.manager.impl.prefix": ServerConfig("STRING", "rlmm.config."),
    "remote.log.metadata.manager.listener.name": ServerConfig("STRING", None),
    "remote.log.reader.max.pending.tasks": ServerConfig("INT", "100"),
    "remote.log.reader.threads": ServerConfig("INT", "10", is_dynamic=True),
    "remote.log.storage.manager.class.name": ServerConfig("STRING", None),
    "remote.log.storage.manager.class.path": ServerConfig("STRING", None),
    "remote.log.storage.manager.impl.prefix": ServerConfig("STRING", "rsm.config."),
    "remote.log.storage.system.enable": ServerConfig("BOOLEAN", "false"),
    "replica.fetch.backoff.ms": ServerConfig("INT", "1000"),
    "replica.fetch.max.bytes": ServerConfig("INT", "1048576"),
    "replica.fetch.min.bytes": ServerConfig("INT", "1"),
    "replica.fetch.response.max.bytes": ServerConfig("INT", "10485760"),
    "replica.fetch.wait.max.ms": ServerConfig("INT", "500"),
    "replica.high.watermark.checkpoint.interval.ms": ServerConfig("LONG", "5000"),
    "replica.lag.time.max.ms": ServerConfig("LONG", "30000"),
    "replica.selector.class": ServerConfig("STRING", None),
    "replica.socket.receive.buffer.bytes": ServerConfig("INT", "65536"),
    "replica.socket.timeout.ms": ServerConfig("INT", "30000"),
    "replication.quota.window.num": ServerConfig("INT", "11"),
    "replication.quota.window.size.seconds": ServerConfig("INT", "1"),
    "request.timeout.ms": ServerConfig("INT", "30000"),
    "sasl.client.callback.handler.class": ServerConfig("CLASS", None),
    "sasl.enabled.mechanisms": ServerConfig("LIST", "GSSAPI", is_dynamic=True),
    "sasl.jaas.config": ServerConfig("PASSWORD", None, is_dynamic=True),
    "sasl.kerberos.kinit.cmd": ServerConfig("STRING", "/usr/bin/kinit", is_dynamic=True),
    "sasl.kerberos.min.time.before.relogin": ServerConfig("LONG", "60000", is_dynamic=True),
    "sasl.kerberos.principal.to.local.rules": ServerConfig("LIST", "DEFAULT", is_dynamic=True),
    "sasl.kerberos.service.name": ServerConfig("STRING", None, is_dynamic=True),
    "sasl.kerberos.ticket.renew.jitter": ServerConfig("DOUBLE", "0.05", is_dynamic=True),
    "sasl.kerberos.ticket.renew.window.factor": ServerConfig("DOUBLE", "0.8", is_dynamic=True),
    "sasl.login.callback.handler.class": ServerConfig("CLASS", None),
    "sasl.login.class": ServerConfig("CLASS", None),
    "sasl.login.connect.timeout.ms": ServerConfig("INT", None),
    "sasl.login.read.timeout.ms": ServerConfig("INT", None),
    "sasl.login.refresh.buffer.seconds": ServerConfig("SHORT", "300", is_dynamic=True),
    "sasl.login.refresh.min.period.seconds": ServerConfig("SHORT", "60", is_dynamic=True),
    "sasl.login.refresh.window.factor": ServerConfig("DOUBLE", "0.8", is_dynamic=True),
    "sasl.login.refresh.window.jitter": ServerConfig("DOUBLE", "0.05", is_dynamic=True),
    "sasl.login.retry.backoff.max.ms": ServerConfig("LONG", "10000"),
    "sasl.login.retry.backoff.ms": ServerConfig("LONG", "100"),
    "sasl.mechanism.controller.protocol": ServerConfig("STRING", "GSSAPI"),
    "sasl.mechanism.inter.broker.protocol": ServerConfig("STRING", "GSSAPI", is_dynamic=True),
    "sasl.oauthbearer.allow.unverified.audience": ServerConfig("BOOLEAN", "false"),
    "sasl.oauthbearer.allow.unverified.issuer": ServerConfig("BOOLEAN", "false"),
    "sasl.oauthbearer.assertion.algorithm": ServerConfig("STRING", "RS256"),
    "sasl.oauthbearer.assertion.claim.aud": ServerConfig("STRING", None),
    "sasl.oauthbearer.assertion.claim.exp.seconds": ServerConfig("INT", "300"),
    "sasl.oauthbearer.assertion.claim.iss": ServerConfig("STRING", None),
    "sasl.oauthbearer.assertion.claim.jti.include": ServerConfig("BOOLEAN", "false"),
    "sasl.oauthbearer.assertion.claim.nbf.seconds": ServerConfig("INT", "60"),
    "sasl.oauthbearer.assertion.claim.sub": ServerConfig("STRING", None),
    "sasl.oauthbearer.assertion.file": ServerConfig("STRING", None),
    "sasl.oauthbearer.assertion.private.key.file": ServerConfig("STRING", None),
    "sasl.oauthbearer.assertion.private.key.passphrase": ServerConfig("PASSWORD", None),
    "sasl.oauthbearer.assertion.template.file": ServerConfig("STRING", None),
    "sasl.oauthbearer.client.credentials.client.id": ServerConfig("STRING", None),
    "sasl.oauthbearer.client.credentials.client.secret": ServerConfig("PASSWORD", None),
    "sasl.oauthbearer.clock.skew.seconds": ServerConfig("INT", "30"),
    "sasl.oauthbearer.expected.audience": ServerConfig("LIST", ""),
    "sasl.oauthbearer.expected.issuer": ServerConfig("STRING", None),
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": ServerConfig("LONG", "3600000"),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": ServerConfig("LONG", "10000"),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": ServerConfig("LONG", "100"),
    "sasl.oauthbearer.jwks.endpoint.url": ServerConfig("STRING", None),
    "sasl.oauthbearer.jwt.retriever.class": ServerConfig(
        "CLASS", "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever"
    ),
    "sasl.oauthbearer.jwt.validator.class": ServerConfig(
        "CLASS", "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator"
    ),
    "sasl.oauthbearer.scope": ServerConfig("STRING", None),
    "sasl.oauthbearer.scope.claim.name": ServerConfig("STRING", "scope"),
    "sasl.oauthbearer.sub.claim.name": ServerConfig("STRING", "sub"),
    "sasl.oauthbearer.token.endpoint.url": ServerConfig("STRING", None),
    "sasl.server.callback.handler.class": ServerConfig("CLASS", None),
    "sasl.server.max.receive.size": ServerConfig("INT", "524288"),
    "security.inter.broker.protocol": ServerConfig("STRING", "PLAINTEXT"),
    "security.providers": ServerConfig("STRING", None),
    "server.max.startup.time.ms": ServerConfig("LONG", "9223372036854775807", is_internal=True),
    "share.coordinator.append.linger.ms": ServerConfig("INT", "-1"),
    "share.coordinator.cached.buffer.max.bytes": ServerConfig("INT", "1048588", is_dynamic=True),
    "share.coordinator.cold.partition.snapshot.interval.ms": ServerConfig(
        "INT", "300000", is_internal=True
    ),
    "share.coordinator.load.buffer.size": ServerConfig("INT", "5242880"),
    "share.coordinator.snapshot.update.records.per.snapshot": ServerConfig("INT", "500"),
    "share.coordinator.state.topic.compression.codec": ServerConfig("INT", "0"),
    "share.coordinator.state.topic.min.isr": ServerConfig("SHORT", "2"),
    "share.coordinator.state.topic.num.partitions": ServerConfig("INT", "50"),
    "share.coordinator.state.topic.prune.interval.ms": ServerConfig(
        "INT", "300000", is_internal=True
    ),
    "share.coordinator.state.topic.replication.factor": ServerConfig("SHORT", "3"),
    "share.coordinator.state.topic.segment.bytes": ServerConfig("INT", "104857600"),
    "share.coordinator.threads": ServerConfig("INT", "1"),
    "share.coordinator.write.timeout.ms": ServerConfig("INT", "5000"),
    "share.fetch.purgatory.purge.interval.requests": ServerConfig("INT", "1000"),
    "socket.connection.setup.timeout.max.ms": ServerConfig("LONG", "30000"),
    "socket.connection.setup.timeout.ms": ServerConfig("LONG", "10000"),
    "socket.listen.backlog.size": ServerConfig("INT", "50"),
    "socket.receive.buffer.bytes": ServerConfig("INT", "102400"),
    "socket.request.max.bytes": ServerConfig("INT", "104857600"),
    "socket.send.buffer.bytes": ServerConfig("INT", "102400"),
    "ssl.allow.dn.changes": ServerConfig("BOOLEAN", "false"),
    "ssl.allow.san.changes": ServerConfig("BOOLEAN", "false"),
    "ssl.cipher.suites": ServerConfig("LIST", "", is_dynamic=True),
    "ssl.client.auth": ServerConfig("STRING", "none", is_dynamic=True),
    "ssl.enabled.protocols": ServerConfig("LIST", "TLSv1.2,TLSv1.3", is_dynamic=True),
    "ssl.endpoint.identification.algorithm": ServerConfig("STRING", "https", is_dynamic=True),
    "ssl.engine.factory.class": ServerConfig("CLASS", None, is_dynamic=True),
    "ssl.key.password": ServerConfig("PASSWORD", None, is_dynamic=True),
    "ssl.keymanager.algorithm": ServerConfig("STRING", "SunX509", is_dynamic=True),
    "ssl.keystore.certificate.chain": ServerConfig("PASSWORD", None, is_dynamic=True),
    "ssl.keystore.key": ServerConfig("PASSWORD", None, is_dynamic=True),
    "ssl.keystore.location": ServerConfig("STRING", None, is_dynamic=True),
    "ssl.keystore.password": ServerConfig("PASSWORD", None, is_dynamic=True),
    "ssl.keystore.type": ServerConfig("STRING", "JKS", is_dynamic=True),
    "ssl.principal.mapping.rules": ServerConfig("STRING", "DEFAULT"),
    "ssl.protocol": ServerConfig("STRING", "TLSv1.3", is_dynamic=True),
    "ssl.provider": ServerConfig("STRING", None, is_dynamic=True),
    "ssl.secure.random.implementation": ServerConfig("STRING", None, is_dynamic=True),
    "ssl.trustmanager.algorithm": ServerConfig("STRING", "PKIX", is_dynamic=True),
    "ssl.truststore.certificates": ServerConfig("PASSWORD", None, is_dynamic=True),
    "ssl.truststore.location": ServerConfig("STRING", None, is_dynamic=True),
    "ssl.truststore.password": ServerConfig("PASSWORD", None, is_dynamic=True),
    "ssl.truststore.type": ServerConfig("STRING", "JKS", is_dynamic=True),
    "telemetry.max.bytes": ServerConfig("INT", "1048576"),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": ServerConfig("INT", "10000"),
    "transaction.max.timeout.ms": ServerConfig("INT", "900000"),
    "transaction.partition.verification.enable": ServerConfig("BOOLEAN", "true", is_dynamic=True),
    "transaction.remove.expired.transaction.cleanup.interval.ms": ServerConfig("INT", "3600000"),
    "transaction.state.log.load.buffer.size": ServerConfig("INT", "5242880"),
    "transaction.state.log.min.isr": ServerConfig("INT", "2"),
    "transaction.state.log.num.partitions": ServerConfig("INT", "50"),
    "transaction.state.log.replication.factor": ServerConfig("SHORT", "3"),
    "transaction.state.log.segment.bytes": ServerConfig("INT", "104857600"),
    "transaction.two.phase.commit.enable": ServerConfig("BOOLEAN", "false"),
    "transactional.id.expiration.ms": ServerConfig("INT", "604800000"),
    "unclean.leader.election.enable": ServerConfig("BOOLEAN", "false", is_dynamic=True),
    "unclean.leader.election.interval.ms": ServerConfig("LONG", "300000", is_internal=True),
    "unstable.api.versions.enable": ServerConfig("BOOLEAN", "false", is_internal=True),
    "unstable.feature.versions.enable": ServerConfig("BOOLEAN", "false", is_internal=True),
}
