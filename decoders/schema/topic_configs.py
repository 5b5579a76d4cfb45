"""The configs of topics: their types, defaults, checks, and the broker's configs behind them.

Written by tools/topic_configs.py from Kafka 4.4.0.
"""

from __future__ import annotations

from typing import NamedTuple


class TopicConfig(NamedTuple):
    """One config of a topic, as Kafka's ConfigDef has it."""

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
    synonyms: tuple[tuple[str, int], ...] = ()
    """Broker configs that it takes its default from, each with how many of its units one is."""
    is_internal: bool = False
    """Not shown unless it was set."""
    since: str = ""
    """The release that brought it, where the one before lacks it."""


TOPIC_CONFIGS: dict[str, TopicConfig] = {
    "cleanup.policy": TopicConfig(
        "LIST", "delete", words=("compact", "delete"), synonyms=(("log.cleanup.policy", 1),)
    ),
    "compression.gzip.level": TopicConfig(
        "INT", "-1", low="1", high="9", also="-1", synonyms=(("compression.gzip.level", 1),)
    ),
    "compression.lz4.level": TopicConfig(
        "INT", "9", low="1", high="17", synonyms=(("compression.lz4.level", 1),)
    ),
    "compression.type": TopicConfig(
        "STRING",
        "producer",
        words=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        synonyms=(("compression.type", 1),),
    ),
    "compression.zstd.level": TopicConfig(
        "INT", "3", low="-131072", high="22", synonyms=(("compression.zstd.level", 1),)
    ),
    "delete.retention.ms": TopicConfig(
        "LONG", "86400000", low="0", synonyms=(("log.cleaner.delete.retention.ms", 1),)
    ),
    "errors.deadletterqueue.group.enable": TopicConfig("BOOLEAN", "false", since="4.4"),
    "file.delete.delay.ms": TopicConfig(
        "LONG", "60000", low="0", synonyms=(("log.segment.delete.delay.ms", 1),)
    ),
    "flush.messages": TopicConfig(
        "LONG", "9223372036854775807", low="1", synonyms=(("log.flush.interval.messages", 1),)
    ),
    "flush.ms": TopicConfig(
        "LONG",
        "9223372036854775807",
        low="0",
        synonyms=(("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    ),
    "follower.replication.throttled.replicas": TopicConfig("LIST", "", is_replica_list=True),
    "index.interval.bytes": TopicConfig(
        "INT", "4096", low="0", synonyms=(("log.index.interval.bytes", 1),)
    ),
    "internal.segment.bytes": TopicConfig("INT", None, is_internal=True),
    "leader.replication.throttled.replicas": TopicConfig("LIST", "", is_replica_list=True),
    "local.retention.bytes": TopicConfig(
        "LONG", "-2", low="-2", synonyms=(("log.local.retention.bytes", 1),)
    ),
    "local.retention.ms": TopicConfig(
        "LONG", "-2", low="-2", synonyms=(("log.local.retention.ms", 1),)
    ),
    "max.compaction.lag.ms": TopicConfig(
        "LONG", "9223372036854775807", low="1", synonyms=(("log.cleaner.max.compaction.lag.ms", 1),)
    ),
    "max.decompressed.message.bytes": TopicConfig(
        "INT",
        "2147483639",
        low="1",
        high="2147483639",
        synonyms=(("max.decompressed.message.bytes", 1),),
        since="4.4",
    ),
    "max.message.bytes": TopicConfig(
        "INT", "1048588", low="0", synonyms=(("message.max.bytes", 1),)
    ),
    "message.timestamp.after.max.ms": TopicConfig(
        "LONG", "3600000", low="0", synonyms=(("log.message.timestamp.after.max.ms", 1),)
    ),
    "message.timestamp.before.max.ms": TopicConfig(
        "LONG",
        "9223372036854775807",
        low="0",
        synonyms=(("log.message.timestamp.before.max.ms", 1),),
    ),
    "message.timestamp.type": TopicConfig(
        "STRING",
        "CreateTime",
        words=("CreateTime", "LogAppendTime"),
        synonyms=(("log.message.timestamp.type", 1),),
    ),
    "min.cleanable.dirty.ratio": TopicConfig(
        "DOUBLE", "0.5", low="0", high="1", synonyms=(("log.cleaner.min.cleanable.ratio", 1),)
    ),
    "min.compaction.lag.ms": TopicConfig(
        "LONG", "0", low="0", synonyms=(("log.cleaner.min.compaction.lag.ms", 1),)
    ),
    "min.insync.replicas": TopicConfig("INT", "1", low="1", synonyms=(("min.insync.replicas", 1),)),
    "preallocate": TopicConfig("BOOLEAN", "false", synonyms=(("log.preallocate", 1),)),
    "remote.copy.lag.bytes": TopicConfig(
        "LONG", "-1", low="-1", synonyms=(("log.remote.copy.lag.bytes", 1),), since="4.4"
    ),
    "remote.copy.lag.ms": TopicConfig(
        "LONG", "0", low="-1", synonyms=(("log.remote.copy.lag.ms", 1),), since="4.4"
    ),
    "remote.log.copy.disable": TopicConfig("BOOLEAN", "false"),
    "remote.log.delete.on.disable": TopicConfig("BOOLEAN", "false"),
    "remote.storage.enable": TopicConfig("BOOLEAN", "false"),
    "retention.bytes": TopicConfig("LONG", "-1", synonyms=(("log.retention.bytes", 1),)),
    "retention.ms": TopicConfig(
        "LONG",
        "604800000",
        low="-1",
        synonyms=(
            ("log.retention.ms", 1),
            ("log.retention.minutes", 60000),
            ("log.retention.hours", 3600000),
        ),
    ),
    "segment.bytes": TopicConfig(
        "INT", "1073741824", low="1048576", synonyms=(("log.segment.bytes", 1),)
    ),
    "segment.index.bytes": TopicConfig(
        "INT", "10485760", low="4", synonyms=(("log.index.size.max.bytes", 1),)
    ),
    "segment.jitter.ms": TopicConfig(
        "LONG",
        "0",
        low="0",
        synonyms=(("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", 3600000)),
    ),
    "segment.ms": TopicConfig(
        "LONG", "604800000", low="1", synonyms=(("log.roll.ms", 1), ("log.roll.hours", 3600000))
    ),
    "unclean.leader.election.enable": TopicConfig(
        "BOOLEAN", "false", synonyms=(("unclean.leader.election.enable", 1),)
    ),
}
