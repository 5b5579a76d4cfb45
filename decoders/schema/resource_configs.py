"""The configs of topics and groups: types, defaults, checks, and the broker's configs behind them;
and those configs of brokers that are lists.

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


BROKER_LISTS: dict[str, str | None] = {
    "advertised.listeners": None,
    "config.providers": "",
    "controller.listener.names": None,
    "controller.quorum.bootstrap.servers": "",
    "controller.quorum.voters": "",
    "cordoned.log.dirs": "",
    "early.start.listeners": None,
    "group.consumer.assignors": "uniform,range",
    "group.coordinator.rebalance.protocols": "classic,consumer,streams",
    "group.share.assignors": "simple",
    "group.streams.assignors": "sticky",
    "group.streams.rack.aware.assignment.tags": "",
    "kafka.metrics.reporters": "",
    "listeners": "PLAINTEXT://:9092",
    "log.cleanup.policy": "delete",
    "log.dir": "/tmp/kafka-logs",
    "log.dirs": None,
    "metric.reporters": "org.apache.kafka.common.metrics.JmxReporter",
    "process.roles": None,
    "sasl.enabled.mechanisms": "GSSAPI",
    "sasl.kerberos.principal.to.local.rules": "DEFAULT",
    "sasl.oauthbearer.expected.audience": "",
    "ssl.cipher.suites": "",
    "ssl.enabled.protocols": "TLSv1.2,TLSv1.3",
}
"""Configs of brokers that are lists, with their defaults."""
