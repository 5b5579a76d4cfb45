"""Every metric of the exporter in one table: its name, its labels, its meaning, and its values.

Owns the names, which follow Prometheus' conventions: units last, and in base units; a time is a
timestamp. `/metrics`, docs/exporter.md, the alert rules and the Grafana dashboard are made of this
table. A value that is not known has no sample: an alert on it needs `absent`, never a wrong number.
Labels are bounded by the nodes, racks and finding codes of the clusters. None has data of a topic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from kraftool import __version__
from kraftool.client.endpoint_checks import RecordedEndpoint
from kraftool.client.expectations import has_unexpected_voters
from kraftool.exporter.cluster_watch import ClusterState
from kraftool.raft.names import NO_ID
from kraftool.watching.quorum import ReplicaStatus

CLUSTER = "cluster"
PREFIX = "kraftool_"

Labelled = Iterable[tuple[Sequence[str], float]]
"""Values, each with those of its labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMetric:
    """A metric of a cluster."""

    name: str
    help: str
    values: Callable[[ClusterState], Labelled]
    labels: tuple[str, ...] = ()
    """In addition to the cluster."""
    is_counter: bool = False

    @property
    def full_name(self) -> str:
        return PREFIX + self.name


def _one(
    value: Callable[[ClusterState], float | bool | None],
) -> Callable[[ClusterState], Labelled]:
    """A metric without labels of its own; no sample if the value is not known."""

    def values(state: ClusterState) -> Labelled:
        known = value(state)
        if known is not None:
            yield (), float(known)

    return values


def _of_nodes(
    value: Callable[[ClusterState, ReplicaStatus], float | bool | None],
) -> Callable[[ClusterState], Labelled]:
    """A value of each controller; of observers that are not asked, such as brokers, none."""

    def values(state: ClusterState) -> Labelled:
        for status in _nodes(state):
            known = value(state, status)
            if known is not None:
                yield (str(status.id),), float(known)

    return values


def _nodes(state: ClusterState) -> Iterator[ReplicaStatus]:
    seen: set[int] = set()
    for status in state.report.replicas:
        if status.id is not None and status.id not in seen and (status.is_voter or status.is_asked):
            seen.add(status.id)
            yield status


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _leader_id(state: ClusterState) -> float | None:
    """None if no node was reached: nothing is known of a leader then."""
    view = state.health.view
    if view.leader is not None:
        return view.leader.node_id
    return NO_ID if view.reached else None


def _brokers(state: ClusterState) -> Labelled:
    """By state and rack. A broker that is absent counts as active, and does not fetch."""
    image, cluster = state.image, state.health.cluster_health
    if image is None or cluster is None:
        return
    absent = {*cluster.not_fetching_brokers}
    counts: Counter[tuple[str, str]] = Counter()
    racks = {broker.rack or "" for broker in image.cluster.brokers.values()}
    for broker in image.cluster.brokers.values():
        word = "fenced" if broker.fenced else "absent" if broker.id in absent else "active"
        counts[word, broker.rack or ""] += 1
    for rack in sorted(racks):
        for word in ("active", "fenced", "absent"):
            yield (word, rack), counts[word, rack]


def _findings(state: ClusterState) -> Labelled:
    counts = Counter((one.code, one.severity.value) for one in state.findings)
    yield from sorted(counts.items())


def _muted(state: ClusterState) -> Labelled:
    for code, count in sorted(Counter(one.finding.code for one in state.muted).items()):
        yield (code,), count


def _certificates(state: ClusterState) -> Labelled:
    for check in state.endpoints:
        if check.expires_s is not None:
            yield _endpoint_labels(check.recorded), check.expires_s


def _endpoints(state: ClusterState) -> Labelled:
    for check in state.endpoints:
        yield _endpoint_labels(check.recorded), check.is_reached


def _endpoint_labels(recorded: RecordedEndpoint) -> tuple[str, ...]:
    return recorded.role, str(recorded.node_id), recorded.listener


def _cluster(name: str) -> Callable[[ClusterState], Labelled]:
    """A count of the committed metadata."""

    def value(state: ClusterState) -> float | None:
        cluster = state.health.cluster_health
        return None if cluster is None else float(getattr(cluster, name))

    return _one(value)


def _snapshot_s(state: ClusterState) -> float | None:
    cluster = state.health.cluster_health
    if cluster is None or cluster.observation.snapshot_timestamp <= 0:
        return None
    return cluster.observation.snapshot_timestamp / 1000


def _hash(state: ClusterState) -> float | None:
    """The first 52 bits: a float has them exactly."""
    return None if state.hash is None else int(state.hash.value[:13], 16)


METRICS: tuple[ExportedMetric, ...] = (
    ExportedMetric(
        name="quorum_nodes_reached",
        help="Controllers that answered this exporter; 0 says nothing about the quorum itself",
        values=_one(lambda of: len(of.health.view.reached)),
    ),
    ExportedMetric(
        name="quorum_leader_id",
        help="Id of the leader, -1 if every node that was reached says that no node leads",
        values=_one(_leader_id),
    ),
    ExportedMetric(
        name="quorum_leaders_claimed",
        help="Nodes that answer as leaders; two of different epochs for a moment are normal",
        values=_one(lambda of: len(of.health.view.leaders)),
    ),
    ExportedMetric(
        name="quorum_epoch",
        help="The leader's epoch; without a leader, the newest that any node knows",
        values=_one(lambda of: of.report.epoch),
    ),
    ExportedMetric(
        name="quorum_high_watermark",
        help="Offset up to which the metadata log is committed",
        values=_one(lambda of: of.report.high_watermark),
    ),
    ExportedMetric(
        name="quorum_voters",
        help="Voters that the leader reports; without a leader, those of the last one",
        values=_one(
            lambda of: len(of.health.judgement.voters) if of.health.judgement.voters else None
        ),
    ),
    ExportedMetric(
        name="quorum_voters_ready",
        help="Voters that count: they answer, know the leader, fetch, and have what was committed",
        values=_one(
            lambda of: len(of.health.judgement.ready) if of.health.judgement.voters else None
        ),
    ),
    ExportedMetric(
        name="quorum_voters_fetching",
        help="Voters that the leader can count for a commit",
        values=_one(
            lambda of: len(of.health.judgement.fetching) if of.health.judgement.voters else None
        ),
    ),
    ExportedMetric(
        name="quorum_failures_tolerated",
        help="Voters that may fail while commits continue; no sample while that is not known",
        values=_one(lambda of: of.health.judgement.failures if of.health.view.reached else None),
    ),
    ExportedMetric(
        name="quorum_voters_unexpected",
        help="1 if the voters differ from --expect-voters; no sample without it",
        values=_one(lambda of: has_unexpected_voters(of.health.view, of.cluster.expected_voters)),
    ),
    ExportedMetric(
        name="quorum_cluster_ids",
        help="Cluster ids that the nodes report; more than one is two clusters behind one name",
        values=_one(lambda of: len(of.report.cluster_ids)),
    ),
    ExportedMetric(
        name="quorum_leader_changed_timestamp_seconds",
        help="When this leader was elected, by a log or by the first poll that saw it",
        values=_one(lambda of: of.leader_changed_s),
    ),
    ExportedMetric(
        name="quorum_leaderless_timestamp_seconds",
        help="Since when no node leads, 0 while one does",
        values=_one(lambda of: of.leaderless_since_s or 0 if of.health.view.reached else None),
    ),
    ExportedMetric(
        name="quorum_elections_total",
        help="Elections that this exporter saw",
        values=_one(lambda of: of.report.elections_seen),
        is_counter=True,
    ),
    ExportedMetric(
        name="node_reachable",
        help="1 if the controller answered this exporter",
        labels=("node_id",),
        values=_of_nodes(lambda _, node: node.is_reached and node.waiting_ms is None),
    ),
    ExportedMetric(
        name="node_up",
        help="0 if the controller is down: it neither answers nor fetches from the leader",
        labels=("node_id",),
        values=_of_nodes(lambda _, node: not node.is_down),
    ),
    ExportedMetric(
        name="node_ready",
        help="1 if the voter counts for the failures that the quorum tolerates",
        labels=("node_id",),
        values=_of_nodes(
            lambda of, node: node.id in of.health.judgement.ready if node.is_voter else None
        ),
    ),
    ExportedMetric(
        name="node_voter",
        help="1 for a voter, 0 for a controller that observes",
        labels=("node_id",),
        values=_of_nodes(lambda _, node: node.is_voter),
    ),
    ExportedMetric(
        name="node_epoch",
        help="The newest epoch that the controller itself reports",
        labels=("node_id",),
        values=_of_nodes(lambda _, node: node.epoch),
    ),
    ExportedMetric(
        name="node_leader_id",
        help="The leader that the controller itself reports, -1 for none",
        labels=("node_id",),
        values=_of_nodes(
            lambda _, node: (
                None if node.epoch is None else NO_ID if node.leader_id is None else node.leader_id
            )
        ),
    ),
    ExportedMetric(
        name="node_lag_records",
        help="Records that the controller is behind the leader's log end",
        labels=("node_id",),
        values=_of_nodes(lambda _, node: node.lag),
    ),
    ExportedMetric(
        name="node_lag_seconds",
        help="Time since the controller had all records, by the leader's clock",
        labels=("node_id",),
        values=_of_nodes(lambda _, node: _seconds(node.lag_ms)),
    ),
    ExportedMetric(
        name="node_last_fetch_age_seconds",
        help="Time since the controller fetched from the leader, by the leader's clock",
        labels=("node_id",),
        values=_of_nodes(lambda _, node: _seconds(node.fetch_age_ms)),
    ),
    ExportedMetric(
        name="brokers",
        help="Registered brokers: active, fenced, or absent (active, but they do not fetch)",
        labels=("state", "rack"),
        values=_brokers,
    ),
    ExportedMetric(
        name="topics", help="Topics in the committed metadata", values=_cluster("topics")
    ),
    ExportedMetric(
        name="partitions",
        help="Partitions in the committed metadata",
        values=_cluster("partitions"),
    ),
    ExportedMetric(
        name="partitions_offline",
        help="Partitions without a leader",
        values=_cluster("offline_partitions"),
    ),
    ExportedMetric(
        name="partitions_under_min_isr",
        help="Partitions with fewer replicas in sync than min.insync.replicas",
        values=_cluster("under_min_isr_partitions"),
    ),
    ExportedMetric(
        name="partitions_under_replicated",
        help="Partitions with replicas that are not in sync",
        values=_cluster("under_replicated_partitions"),
    ),
    ExportedMetric(
        name="metadata_snapshot_timestamp_seconds",
        help="Time of the last record in the leader's newest snapshot",
        values=_one(_snapshot_s),
    ),
    ExportedMetric(
        name="metadata_state_hash",
        help="First 52 bits of the hash of the committed metadata: equal states have equal hashes",
        values=_one(_hash),
    ),
    ExportedMetric(
        name="metadata_state_offset",
        help="Offset that kraftool_metadata_state_hash belongs to",
        values=_one(lambda of: None if of.hash is None else of.hash.offset),
    ),
    ExportedMetric(
        name="endpoint_reachable",
        help="1 if a process answers at the address that the metadata records for a listener",
        labels=("role", "node_id", "listener"),
        values=_endpoints,
    ),
    ExportedMetric(
        name="endpoint_certificate_expiry_timestamp_seconds",
        help="When the certificate of a listener expires",
        labels=("role", "node_id", "listener"),
        values=_certificates,
    ),
    ExportedMetric(
        name="finding",
        help="Findings of quorum health and of the endpoint checks that are not muted",
        labels=("code", "severity"),
        values=_findings,
    ),
    ExportedMetric(
        name="finding_muted",
        help="Findings that --mute leaves out",
        labels=("code",),
        values=_muted,
    ),
    ExportedMetric(
        name="poll_timestamp_seconds",
        help="When the cluster was polled for the last time",
        values=_one(lambda of: of.at_s),
    ),
    ExportedMetric(
        name="poll_duration_seconds",
        help="Duration of the last poll",
        values=_one(lambda of: of.counts.took_s),
    ),
    ExportedMetric(
        name="polls_total",
        help="Polls of the cluster",
        values=_one(lambda of: of.counts.polls),
        is_counter=True,
    ),
    ExportedMetric(
        name="poll_failures_total",
        help="Polls in which no node was reached",
        values=_one(lambda of: of.counts.failures),
        is_counter=True,
    ),
)
"""By subject: the quorum, its controllers, the metadata, endpoints, findings, the exporter."""

BUILD = "kraftool_exporter_build_info"


class QuorumCollector(Collector):
    """Gives the newest state of each cluster as samples."""

    def __init__(self, states: Callable[[], Iterable[ClusterState]]) -> None:
        self._states = states

    def collect(self) -> Iterator[Family]:
        states = tuple(self._states())
        build = GaugeMetricFamily(BUILD, "The version of kraftool", labels=("version",))
        build.add_metric((__version__,), 1)
        yield build
        for metric in METRICS:
            labels = (CLUSTER, *metric.labels)
            make = CounterMetricFamily if metric.is_counter else GaugeMetricFamily
            family = make(metric.full_name, metric.help, labels=labels)
            for state in states:
                for values, number in metric.values(state):
                    family.add_metric((state.cluster.name, *values), number)
            if family.samples:
                yield family
