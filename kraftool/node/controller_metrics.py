"""The controller's metrics, by the names of Kafka's mbeans as the JMX exporter spells them.

Owns the counts of brokers, topics and partitions, which every controller has from the metadata that
is committed, and what only the active one knows: how long requests waited and took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftool.image.image import MetadataImage
from kraftool.image.topics import NO_LEADER, TopicImage
from kraftool.node.controlling import Controlling
from kraftool.node.metrics import MetricSample
from kraftool.raft.raft import Raft

_CONTROLLER = "kafka_controller_kafkacontroller_"
_QUEUE = "kafka_controller_controllereventmanager_"


class ControllerMetrics:
    """Gives the samples of a scrape. Partitions are counted again only where topics changed."""

    def __init__(self, controlling: Controlling, image: Callable[[], MetadataImage | None]) -> None:
        self._controlling, self._image = controlling, image
        self._counted: dict[str, tuple[TopicImage, int, int]] = {}
        """Of each topic: partitions without a leader, and with another than the preferred one."""

    def samples(self, raft: Raft) -> Iterator[MetricSample]:
        controlling, image = self._controlling, self._image()
        brokers = list(image.cluster.brokers.values()) if image is not None else []
        fenced = sum(broker.fenced for broker in brokers)
        offline, imbalanced = self._partitions(image)
        applied = image.provenance if image is not None else None
        gauges = (
            ("activecontrollercount", "1 on the active controller", controlling.is_active),
            ("activebrokercount", "Registered brokers that are not fenced", len(brokers) - fenced),
            ("fencedbrokercount", "Registered brokers that are fenced", fenced),
            ("globaltopiccount", "Topics", len(image.topics.by_id) if image else 0),
            ("globalpartitioncount", "Partitions", image.topics.partitions if image else 0),
            ("offlinepartitionscount", "Partitions without a leader", offline),
            (
                "preferredreplicaimbalancecount",
                "Partitions that are not led by their first replica",
                imbalanced,
            ),
            (
                "lastcommittedrecordoffset",
                "The last committed offset",
                -1 if raft.role.high_watermark is None else raft.role.high_watermark - 1,
            ),
            (
                "lastappliedrecordoffset",
                "The last offset in the metadata that this node shows",
                -1 if applied is None else applied.last_offset,
            ),
        )
        for name, text, value in gauges:
            yield MetricSample(_CONTROLLER + name, "gauge", text, float(value))
        counters = (
            ("newactivecontrollerscount", "Leaders that were elected", controlling.leaders),
            ("metadataerrorcount", "Failures of the controller", controlling.failures),
            (
                "timedoutbrokerheartbeatcount",
                "Heartbeats that waited too long",
                controlling.timed_out_heartbeats,
            ),
        )
        for name, text, count in counters:
            yield MetricSample(_CONTROLLER + name, "counter", text, count)
        for name, text, spent in (
            ("eventqueuetimems", "Milliseconds that requests waited", controlling.waited),
            ("eventqueueprocessingtimems", "Milliseconds that turns took", controlling.worked),
        ):
            name = _QUEUE + name
            for quantile, ms in spent.quantiles():
                yield MetricSample(name, "gauge", text, ms, (("quantile", str(quantile)),))
            yield MetricSample(f"{name}_count", "counter", f"{text}: how many", spent.count)
            yield MetricSample(f"{name}_max", "gauge", f"{text}: the most", spent.most_ms)

    def _partitions(self, image: MetadataImage | None) -> tuple[int, int]:
        """Partitions without a leader, and partitions led by another than the first replica."""
        topics = image.topics.by_id if image is not None else {}
        counted = {}
        for topic_id, topic in topics.items():
            known = self._counted.get(topic_id)
            if known is None or known[0] is not topic:
                leaders = [
                    (partition.leader, partition.replicas[0])
                    for partition in topic.partitions.values()
                ]
                offline = sum(leader == NO_LEADER for leader, _ in leaders)
                imbalanced = sum(leader != preferred for leader, preferred in leaders)
                known = topic, offline, imbalanced
            counted[topic_id] = known
        self._counted = counted
        return (
            sum(offline for _, offline, _ in counted.values()),
            sum(imbalanced for _, _, imbalanced in counted.values()),
        )
