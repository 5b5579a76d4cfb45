"""The alert rules over kraftool's metrics and over those of JMX, each with series that try it.

Owns the expressions and their words. `monitoring.py` writes them for Prometheus, with unit tests
for promtool: each rule has series that fire it and series that do not.
"""

from __future__ import annotations

from dataclasses import dataclass

CRITICAL, WARNING = "critical", "warning"
INTERVAL_S = 15

Series = tuple[tuple[str, str], ...]
"""Series and their values in promtool's notation: one sample every 15 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """An alert."""

    name: str
    expr: str
    wait: str
    """How long it must hold."""
    severity: str
    summary: str
    action: str
    """The first step, in the imperative."""
    fires: Series
    at: str
    """When it has fired with those series."""
    labels: tuple[tuple[str, str], ...]
    """Of the alert that fires, besides severity."""
    quiet: Series
    value: str = ""
    """The value that its summary shows with those series."""


def _k(name: str, **labels: str) -> str:
    every = {"cluster": "c", **labels}
    matchers = ", ".join(f'{key}="{value}"' for key, value in every.items())
    return f"kraftool_{name}{{{matchers}}}"


def _j(name: str, instance: str = "a") -> str:
    return f'{name}{{job="kafka-controller", instance="{instance}"}}'


_DAY = 86_400
C = (("cluster", "c"),)

RULES: tuple[Rule, ...] = (
    Rule(
        name="KraftNoLeader",
        expr="kraftool_quorum_leader_id == -1",
        wait="30s",
        severity=CRITICAL,
        summary="Every node of {{ $labels.cluster }} that was reached says that no node leads",
        action="Run kraftool quorum describe. Start the voters that are down; if a majority is"
        " lost, follow docs/recover.md",
        fires=((_k("quorum_leader_id"), "3 -1x20"),),
        at="2m",
        labels=C,
        quiet=((_k("quorum_leader_id"), "3 -1 3x20"),),
    ),
    Rule(
        name="KraftNotReached",
        expr="kraftool_quorum_nodes_reached == 0",
        wait="1m",
        severity=CRITICAL,
        summary="No controller of {{ $labels.cluster }} answers the exporter",
        action="Check the network from the exporter to the controllers, and their processes:"
        " nothing is known of the quorum",
        fires=((_k("quorum_nodes_reached"), "3 0x20"),),
        at="2m",
        labels=C,
        quiet=((_k("quorum_nodes_reached"), "3 1x20"),),
    ),
    Rule(
        name="KraftMajorityLost",
        expr='kraftool_finding{code="KT-LIVE-NO-MAJORITY", severity="error"} > 0',
        wait="30s",
        severity=CRITICAL,
        summary="{{ $labels.cluster }} has no majority of voters: nothing can be committed",
        action="Start the voters that are down. If their disks are lost, follow docs/recover.md",
        fires=((_k("finding", code="KT-LIVE-NO-MAJORITY", severity="error"), "1x20"),),
        at="2m",
        labels=(*C, ("code", "KT-LIVE-NO-MAJORITY")),
        quiet=((_k("finding", code="KT-LIVE-NO-SPARE", severity="warning"), "1x20"),),
    ),
    Rule(
        name="KraftNoFailureTolerated",
        expr="kraftool_quorum_failures_tolerated == 0 and on (cluster) kraftool_quorum_voters > 1",
        wait="10m",
        severity=WARNING,
        summary="{{ $labels.cluster }} cannot lose another voter",
        action="Run kraftool quorum health: it names the voters that do not count, and why",
        fires=(
            (_k("quorum_failures_tolerated"), "1 0x50"),
            (_k("quorum_voters"), "3x50"),
        ),
        at="11m",
        labels=C,
        quiet=(
            (_k("quorum_failures_tolerated"), "0x50"),
            (_k("quorum_voters"), "1x50"),
        ),
    ),
    Rule(
        name="KraftTwoLeaders",
        expr="kraftool_quorum_leaders_claimed > 1",
        wait="30s",
        severity=CRITICAL,
        summary="Two nodes of {{ $labels.cluster }} answer as leaders",
        action="Run kraftool diff-voters on both. Two leaders in one epoch are two quorums: stop"
        " the one with fewer voters",
        fires=((_k("quorum_leaders_claimed"), "1 2x20"),),
        at="2m",
        labels=C,
        quiet=((_k("quorum_leaders_claimed"), "1 2 1x20"),),
    ),
    Rule(
        name="KraftTwoClusterIds",
        expr="kraftool_quorum_cluster_ids > 1",
        wait="1m",
        severity=CRITICAL,
        summary="Controllers of two clusters answer at the addresses of {{ $labels.cluster }}",
        action="Run kraftool quorum describe: it shows the cluster id of each node",
        fires=((_k("quorum_cluster_ids"), "2x20"),),
        at="2m",
        labels=C,
        quiet=((_k("quorum_cluster_ids"), "1x20"),),
    ),
    Rule(
        name="KraftVoterDown",
        expr="kraftool_node_up == 0 and on (cluster, node_id) kraftool_node_voter == 1",
        wait="1m",
        severity=WARNING,
        summary="Voter {{ $labels.node_id }} of {{ $labels.cluster }} is down",
        action="Start the process. kraftool doctor on its directory says why Kafka would exit",
        fires=(
            (_k("node_up", node_id="2"), "1 0x20"),
            (_k("node_voter", node_id="2"), "1x20"),
        ),
        at="2m",
        labels=(*C, ("node_id", "2")),
        quiet=(
            (_k("node_up", node_id="2"), "1x20"),
            (_k("node_voter", node_id="2"), "1x20"),
        ),
    ),
    Rule(
        name="KraftVoterBehind",
        expr="(kraftool_node_lag_records > 1000 or kraftool_node_lag_seconds > 5)"
        " and on (cluster, node_id) kraftool_node_voter == 1",
        wait="2m",
        severity=WARNING,
        summary="Voter {{ $labels.node_id }} of {{ $labels.cluster }} is behind the leader",
        action="Check the disk and the network of this node. Do not stop another voter meanwhile:"
        " kraftool quorum may-stop says which may stop",
        fires=(
            (_k("node_lag_records", node_id="2"), "0 5000x20"),
            (_k("node_voter", node_id="2"), "1x20"),
        ),
        at="4m",
        labels=(*C, ("node_id", "2")),
        quiet=(
            (_k("node_lag_records", node_id="2"), "5000x20"),
            (_k("node_voter", node_id="2"), "0x20"),
        ),
    ),
    Rule(
        name="KraftElections",
        expr="increase(kraftool_quorum_elections_total[10m]) > 3",
        wait="0s",
        severity=WARNING,
        summary="{{ $labels.cluster }} elects a new leader again and again",
        action="Run kraftool timeline with --bootstrap-controller: it shows who was elected when."
        " Slow disks, long pauses and full CPUs make voters call elections",
        fires=((_k("quorum_elections_total"), "0x10 1+1x30"),),
        at="10m",
        labels=C,
        quiet=((_k("quorum_elections_total"), "0x10 1x30"),),
    ),
    Rule(
        name="KraftHighWatermarkStuck",
        expr="changes(kraftool_quorum_high_watermark[3m]) == 0"
        " and on (cluster) count_over_time(kraftool_quorum_high_watermark[3m]) > 4"
        " and on (cluster) kraftool_quorum_leader_id >= 0",
        wait="1m",
        severity=CRITICAL,
        summary="The high watermark of {{ $labels.cluster }} does not move, though a node leads",
        action="Run kraftool quorum health. The leader writes a record every half second unless"
        " metadata.max.idle.interval.ms is 0",
        fires=(
            (_k("quorum_high_watermark"), "0+10x10 100x30"),
            (_k("quorum_leader_id"), "1x50"),
        ),
        at="9m",
        labels=C,
        quiet=(
            (_k("quorum_high_watermark"), "0+10x50"),
            (_k("quorum_leader_id"), "1x50"),
        ),
    ),
    Rule(
        name="KraftVotersUnexpected",
        expr="kraftool_quorum_voters_unexpected == 1",
        wait="5m",
        severity=WARNING,
        summary="The voters of {{ $labels.cluster }} differ from the expected ones",
        action="Run kraftool quorum describe. Add or remove voters, or change the expected ids",
        fires=((_k("quorum_voters_unexpected"), "1x40"),),
        at="6m",
        labels=C,
        quiet=((_k("quorum_voters_unexpected"), "0x40"),),
    ),
    Rule(
        name="KraftCertificateExpires",
        expr="kraftool_endpoint_certificate_expiry_timestamp_seconds - time() < 14 * 86400",
        wait="0s",
        severity=WARNING,
        summary="The certificate of {{ $labels.role }} {{ $labels.node_id }}"
        " ({{ $labels.listener }}) of {{ $labels.cluster }} expires within two weeks",
        action="Renew the certificate, and restart the node or reload its keystore",
        fires=(
            (
                _k(
                    "endpoint_certificate_expiry_timestamp_seconds",
                    role="broker",
                    node_id="4",
                    listener="SSL",
                ),
                f"{13 * _DAY}x20",
            ),
        ),
        at="2m",
        labels=(*C, ("role", "broker"), ("node_id", "4"), ("listener", "SSL")),
        quiet=(
            (
                _k(
                    "endpoint_certificate_expiry_timestamp_seconds",
                    role="broker",
                    node_id="4",
                    listener="SSL",
                ),
                f"{15 * _DAY}x20",
            ),
        ),
    ),
    Rule(
        name="KraftEndpointOfAnother",
        expr='kraftool_finding{code="KT-LIVE-ENDPOINT-OTHER"} > 0',
        wait="5m",
        severity=CRITICAL,
        summary="Another node answers at a recorded address of {{ $labels.cluster }}",
        action="Run kraftool quorum health: it names the address. Correct advertised.listeners or"
        " DNS",
        fires=((_k("finding", code="KT-LIVE-ENDPOINT-OTHER", severity="error"), "1x40"),),
        at="6m",
        labels=(*C, ("code", "KT-LIVE-ENDPOINT-OTHER")),
        quiet=((_k("finding", code="KT-LIVE-ENDPOINT-NOBODY", severity="warning"), "1x40"),),
    ),
    Rule(
        name="KraftUpgradeBlocked",
        expr='kraftool_finding{code="KT-LIVE-STALE-REGISTRATION", severity="error"} > 0',
        wait="10m",
        severity=WARNING,
        summary="A controller that is gone blocks an upgrade of {{ $labels.cluster }}",
        action="Run kraftool quorum unregister-controller, or renew-registration below Kafka 4.4",
        fires=((_k("finding", code="KT-LIVE-STALE-REGISTRATION", severity="error"), "1x60"),),
        at="12m",
        labels=(*C, ("code", "KT-LIVE-STALE-REGISTRATION")),
        quiet=((_k("finding", code="KT-LIVE-STALE-REGISTRATION", severity="warning"), "1x60"),),
    ),
    Rule(
        name="KraftRackGone",
        expr='sum by (cluster, rack) (kraftool_brokers{state="active", rack!=""}) == 0'
        ' and on (cluster, rack) sum by (cluster, rack) (kraftool_brokers{rack!=""}) > 0',
        wait="2m",
        severity=CRITICAL,
        summary="All brokers of rack {{ $labels.rack }} of {{ $labels.cluster }} are gone",
        action="Check the rack's power and network. Partitions with min.insync.replicas in it may"
        " refuse writes",
        fires=(
            (_k("brokers", state="active", rack="a"), "2 0x20"),
            (_k("brokers", state="fenced", rack="a"), "0 2x20"),
        ),
        at="4m",
        labels=(*C, ("rack", "a")),
        quiet=(
            (_k("brokers", state="active", rack="a"), "1x20"),
            (_k("brokers", state="fenced", rack="a"), "1x20"),
        ),
    ),
    Rule(
        name="KraftPartitionsOffline",
        expr="kraftool_partitions_offline > 0",
        wait="2m",
        severity=CRITICAL,
        summary="{{ $value }} partitions of {{ $labels.cluster }} have no leader",
        action="Start the brokers that hold them: kraftool quorum health names them",
        fires=((_k("partitions_offline"), "3x20"),),
        at="4m",
        labels=C,
        quiet=((_k("partitions_offline"), "0x20"),),
        value="3",
    ),
    Rule(
        name="KraftExporterStuck",
        expr="time() - kraftool_poll_timestamp_seconds > 180",
        wait="1m",
        severity=WARNING,
        summary="The exporter has not polled {{ $labels.cluster }} for three minutes",
        action="Look at its log, and restart it: all other alerts on this cluster are blind",
        fires=((_k("poll_timestamp_seconds"), "0x40"),),
        at="6m",
        labels=C,
        quiet=((_k("poll_timestamp_seconds"), "0+15x40"),),
    ),
)
"""Over the metrics of kraftool exporter."""

_ALL_UP = 'count(up{job="kafka-controller"} == 1) == count(up{job="kafka-controller"})'
JMX_RULES: tuple[Rule, ...] = (
    Rule(
        name="KafkaNoActiveController",
        expr="sum(kafka_controller_kafkacontroller_activecontrollercount) == 0"
        f" and on () ({_ALL_UP})",
        wait="1m",
        severity=CRITICAL,
        summary="No controller is active, and all of them are scraped",
        action="Run kraftool quorum describe",
        fires=(
            (_j("kafka_controller_kafkacontroller_activecontrollercount"), "0x20"),
            (_j("up"), "1x20"),
        ),
        at="2m",
        labels=(),
        quiet=(
            (_j("kafka_controller_kafkacontroller_activecontrollercount"), "0x20"),
            (_j("up"), "1x20"),
            (_j("up", "b"), "0x20"),
        ),
    ),
    Rule(
        name="KafkaControllersNotScraped",
        expr='2 * count(up{job="kafka-controller"} == 0) >= count(up{job="kafka-controller"})',
        wait="2m",
        severity=CRITICAL,
        summary="Half of the controllers are not scraped: their metrics say nothing of the quorum",
        action="Check the processes. A JVM that is down reports nothing, so ask from outside:"
        " kraftool quorum health",
        fires=((_j("up"), "1x20"), (_j("up", "b"), "0x20")),
        at="4m",
        labels=(),
        quiet=((_j("up"), "1x20"), (_j("up", "b"), "1x20"), (_j("up", "c"), "0x20")),
    ),
    Rule(
        name="KafkaTwoActiveControllers",
        expr="sum(kafka_controller_kafkacontroller_activecontrollercount) > 1",
        wait="1m",
        severity=CRITICAL,
        summary="More than one controller is active",
        action="Run kraftool diff-voters on the controllers",
        fires=(
            (_j("kafka_controller_kafkacontroller_activecontrollercount"), "1x20"),
            (_j("kafka_controller_kafkacontroller_activecontrollercount", "b"), "1x20"),
        ),
        at="2m",
        labels=(),
        quiet=(
            (_j("kafka_controller_kafkacontroller_activecontrollercount"), "1x20"),
            (_j("kafka_controller_kafkacontroller_activecontrollercount", "b"), "0x20"),
        ),
    ),
    Rule(
        name="KafkaVoterWithoutLeader",
        expr="kafka_server_raft_metrics_current_leader == -1",
        wait="30s",
        severity=WARNING,
        summary="{{ $labels.instance }} knows no leader",
        action="Compare with the other controllers: kraftool quorum describe",
        fires=((_j("kafka_server_raft_metrics_current_leader"), "1 -1x20"),),
        at="2m",
        labels=(("job", "kafka-controller"), ("instance", "a")),
        quiet=((_j("kafka_server_raft_metrics_current_leader"), "1 -1 1x20"),),
    ),
    Rule(
        name="KafkaElections",
        expr="max(max_over_time(kafka_server_raft_metrics_current_epoch[10m]))"
        " - min(min_over_time(kafka_server_raft_metrics_current_epoch[10m])) > 3",
        wait="0s",
        severity=WARNING,
        summary="The leader's epoch rises quickly: leaders are elected again and again",
        action="Run kraftool timeline with --bootstrap-controller",
        fires=((_j("kafka_server_raft_metrics_current_epoch"), "5x10 6+1x20"),),
        at="7m",
        labels=(),
        quiet=((_j("kafka_server_raft_metrics_current_epoch"), "5x10 6x20"),),
    ),
    Rule(
        name="KafkaHighWatermarkStuck",
        expr="delta(kafka_server_raft_metrics_high_watermark[3m]) == 0",
        wait="2m",
        severity=WARNING,
        summary="The high watermark of {{ $labels.instance }} does not move",
        action="Run kraftool quorum health",
        fires=((_j("kafka_server_raft_metrics_high_watermark"), "100x40"),),
        at="8m",
        labels=(("job", "kafka-controller"), ("instance", "a")),
        quiet=((_j("kafka_server_raft_metrics_high_watermark"), "0+10x40"),),
    ),
    Rule(
        name="KafkaVoterBehind",
        expr="scalar(max(kafka_server_raft_metrics_log_end_offset))"
        " - kafka_server_raft_metrics_log_end_offset > 1000",
        wait="2m",
        severity=WARNING,
        summary="{{ $labels.instance }} is more than 1000 records behind",
        action="Check its disk and network. Do not stop another voter meanwhile",
        fires=(
            (_j("kafka_server_raft_metrics_log_end_offset"), "9000x20"),
            (_j("kafka_server_raft_metrics_log_end_offset", "b"), "100x20"),
        ),
        at="4m",
        labels=(("job", "kafka-controller"), ("instance", "b")),
        quiet=(
            (_j("kafka_server_raft_metrics_log_end_offset"), "9000x20"),
            (_j("kafka_server_raft_metrics_log_end_offset", "b"), "8900x20"),
        ),
    ),
    Rule(
        name="KafkaFencedBrokers",
        expr="max(kafka_controller_kafkacontroller_fencedbrokercount) > 0",
        wait="10m",
        severity=WARNING,
        summary="{{ $value }} brokers are fenced",
        action="Run kraftool quorum health: it says which, and why",
        fires=((_j("kafka_controller_kafkacontroller_fencedbrokercount"), "1x60"),),
        at="12m",
        labels=(),
        quiet=((_j("kafka_controller_kafkacontroller_fencedbrokercount"), "0x60"),),
        value="1",
    ),
    Rule(
        name="KafkaOfflinePartitions",
        expr="max(kafka_controller_kafkacontroller_offlinepartitionscount) > 0",
        wait="2m",
        severity=CRITICAL,
        summary="{{ $value }} partitions have no leader",
        action="Start the brokers that hold them",
        fires=((_j("kafka_controller_kafkacontroller_offlinepartitionscount"), "1x20"),),
        at="4m",
        labels=(),
        quiet=((_j("kafka_controller_kafkacontroller_offlinepartitionscount"), "0x20"),),
        value="1",
    ),
    Rule(
        name="KafkaMetadataErrors",
        expr="increase(kafka_controller_kafkacontroller_metadataerrorcount[10m]) > 0",
        wait="0s",
        severity=CRITICAL,
        summary="{{ $labels.instance }} could not replay metadata, or its controller failed",
        action="Run kraftool verify-log and kraftool doctor on a copy of its directory",
        fires=((_j("kafka_controller_kafkacontroller_metadataerrorcount"), "0x5 1x20"),),
        at="3m",
        labels=(("job", "kafka-controller"), ("instance", "a")),
        quiet=((_j("kafka_controller_kafkacontroller_metadataerrorcount"), "1x25"),),
    ),
    Rule(
        name="KafkaMetadataLag",
        expr="kafka_controller_kafkacontroller_lastappliedrecordlagms > 5000",
        wait="2m",
        severity=WARNING,
        summary="{{ $labels.instance }} applies metadata more than 5 s late",
        action="Check the CPU and the garbage collection of this node",
        fires=((_j("kafka_controller_kafkacontroller_lastappliedrecordlagms"), "9000x20"),),
        at="4m",
        labels=(("job", "kafka-controller"), ("instance", "a")),
        quiet=((_j("kafka_controller_kafkacontroller_lastappliedrecordlagms"), "100x20"),),
    ),
)
"""Over Kafka's own metrics, for those who do not run the exporter."""
