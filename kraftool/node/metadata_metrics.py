"""Metrics of a node that replays metadata, whoever leads, and of its process.

Owns the names of Kafka's MetadataLoader and SnapshotEmitter, as the JMX exporter spells them, and
those that every Prometheus client has for a process.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator

from kraftool.node.metrics import MetricSample
from kraftool.node.runner import Runner
from kraftool.node.standby import Standby

_LOADER = "kafka_server_metadataloader_"
_EMITTER = "kafka_server_snapshotemitter_"


def metadata_samples(runner: Runner, standby: Standby) -> Iterator[MetricSample]:
    """The samples of a scrape; those of its process alone, where it does not look at metadata."""
    machine, snapshotting = standby.machine, standby.snapshotting
    if machine is not None:
        features, leader = machine.image.features, runner.raft.leader_id
        level = features.metadata_version
        yield MetricSample(
            f"{_LOADER}currentmetadataversion", "gauge", "metadata.version; -1 before it is known",
            -1 if level is None else level,
        )  # fmt: skip
        yield MetricSample(
            f"{_LOADER}currentcontrollerid", "gauge", "The leader, or -1",
            -1 if leader is None else leader,
        )  # fmt: skip
        yield MetricSample(
            f"{_LOADER}handleloadsnapshotcount", "counter", "Snapshots that were loaded",
            machine.snapshots_loaded,
        )  # fmt: skip
        for name, finalized in sorted(features.finalized.items()):
            yield MetricSample(
                f"{_LOADER}finalizedlevel", "gauge", "The finalized level of a feature",
                finalized, (("featurename", name),),
            )  # fmt: skip
    if snapshotting is not None:
        yield MetricSample(
            f"{_EMITTER}latestsnapshotgeneratedbytes", "gauge",
            "The size of the newest snapshot of this run; 0 before there is one",
            snapshotting.newest_bytes,
        )  # fmt: skip
        yield MetricSample(
            f"{_EMITTER}latestsnapshotgeneratedagems", "gauge",
            "Milliseconds since the newest snapshot of this run, or since it began",
            runner.clock.now_ms() - snapshotting.newest_ms,
        )  # fmt: skip
    used = resource.getrusage(resource.RUSAGE_SELF)
    yield MetricSample(
        "process_cpu_seconds_total", "counter", "CPU time", used.ru_utime + used.ru_stime
    )
    yield MetricSample(
        "process_resident_memory_max_bytes", "gauge", "The most memory so far",
        used.ru_maxrss * 1024,
    )  # fmt: skip
