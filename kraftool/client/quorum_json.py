"""The documents of `quorum`, of its subcommands that only look and of those that change it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from kraftool.client.change import Check, QuorumChange
from kraftool.client.cluster_health import ClusterHealth
from kraftool.client.health import Health
from kraftool.client.model import NodeAnswer, QuorumView, leader_end
from kraftool.client.stopping import StopPermission
from kraftool.decoders.json_marks import Count, Ids, Moment
from kraftool.raft.names import VersionRange
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_forms import (
    EndpointObject,
    FindingCounts,
    endpoint_objects,
    finding_counts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaObject:
    """A voter or an observer, as the leader knows it."""

    id: int
    is_voter: bool
    directory_id: str | None
    endpoints: tuple[EndpointObject, ...]
    """From Kafka 3.9 on, of voters."""
    log_end_offset: int | None
    lag: int | None
    """Records behind the leader's log end."""
    last_fetch_timestamp: Moment | None
    """By the leader's clock."""
    last_caught_up_timestamp: Moment | None
    """By the leader's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumNodeObject:
    """A controller that was asked, and its answer."""

    id: int | None
    """None if no node reports the owner of that endpoint."""
    endpoint: str
    """The address that was asked."""
    is_reached: bool
    reason: str
    """Why it was not reached, or what it refused; empty where it answered everything."""
    advice: str
    """The action to take; empty if it is unknown."""
    took_ms: int
    cluster_id: str | None
    is_leader: bool
    is_witness: bool | None
    """True for a voter that runs no controller: its ApiVersions lacks CreateTopics. None where that
    is unknown."""
    leader_id: int | None
    """The leader that it knows."""
    epoch: int | None
    finalized_features_epoch: int | None
    """The offset of the metadata with which it last reported its levels."""
    finalized_features: Mapping[str, int]
    supported_features: Mapping[str, VersionRange]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerAddress:
    """A controller as a broker names it."""

    id: int
    endpoint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerAnswer:
    """An address that was asked and is a broker's. A broker names the controllers from Kafka 3.9
    on."""

    endpoint: str
    reason: str
    """Why it does not name the controllers; empty where it does."""
    advice: str
    cluster_id: str | None
    controllers: tuple[ControllerAddress, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumAnswers:
    """The reports of the controllers of a live quorum."""

    cluster_id: str | None
    """None where the nodes report none, or not the same."""
    leader_id: int | None
    """None if no node leads."""
    has_active_controller: bool | None
    """False if the leader cannot be the active controller: topics cannot be created then. None
    without a leader, or where that is unknown."""
    epoch: int | None
    """The newest that any node knows."""
    high_watermark: int | None
    replicas: tuple[ReplicaObject, ...] | None
    """Voters, then observers, as the leader knows them; None without a leader."""
    nodes: tuple[QuorumNodeObject, ...]
    """Every controller that was asked."""
    brokers: tuple[BrokerAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumDocument(QuorumAnswers):
    """The reports of the controllers of a live quorum."""

    @property
    def rows(self) -> tuple[ReplicaObject, ...]:
        """The replicas."""
        return self.replicas or ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterHealthObject:
    """The brokers and partitions in the committed metadata."""

    leader_id: int | None
    """The node with the log that was read."""
    end_offset: int
    """The metadata is that below this offset."""
    registered_brokers: Ids
    fenced_brokers: Ids
    shutting_down_brokers: Ids
    """Brokers in controlled shutdown."""
    not_fetching_brokers: Ids
    """Active brokers, and no observer that has fetched lately."""
    controllers: Ids
    """Those that have registered."""
    topics: Count
    partitions: Count
    offline_partitions: Count
    """Partitions without a leader."""
    under_replicated_partitions: Count
    """As kafka-topics counts: replicas that are being added do not lack."""
    under_min_isr_partitions: Count
    """By the dynamic configs of min.insync.replicas; those without a leader too."""
    not_preferred_leader_partitions: Count
    """Partitions with another leader than the first of their replicas."""
    reassigning_partitions: Count
    leader_changes: Count
    """Within the last hour, as far as the log behind the leader's snapshot goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthObject:
    """The problems of a quorum."""

    is_well: bool
    keeping_up: Ids
    """The voters that fetch: the leader can count them for a commit."""
    ready_voters: Ids
    """The voters that count: they also answer kraftool, know the leader, and have what was
    committed."""
    commits_per_second: float | None
    """The speed of the high watermark between two polls; None without a leader in both."""
    cluster_health: ClusterHealthObject | None
    """None where the committed metadata was not read."""
    unobserved_reason: str
    """The reason why the committed metadata could not be read. Empty if it was read or not wanted
    (--quorum-only), and if no node was reached."""
    findings: tuple[Finding, ...]
    finding_counts: FindingCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthDocument(QuorumAnswers):
    """The reports of the controllers of a live quorum, and the problems."""

    health: HealthObject

    @property
    def rows(self) -> tuple[Finding, ...]:
        """The findings."""
        return self.health.findings


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDocument:
    """A change to a live quorum with its checks and its outcome."""

    quorum_change: QuorumChange
    is_dry_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MayStopDocument:
    """The answer to whether a node may stop."""

    may_stop: StopPermission

    @property
    def rows(self) -> tuple[Check, ...]:
        """The checks."""
        return self.may_stop.checks


def describe_document(view: QuorumView) -> QuorumDocument:
    return QuorumDocument(**_members(_answers(view)))


def health_document(health: Health) -> HealthDocument:
    speed = health.commits_per_s
    health_object = HealthObject(
        is_well=health.is_well,
        keeping_up=health.judgement.fetching,
        ready_voters=health.judgement.ready,
        commits_per_second=None if speed is None else round(speed, 2),
        cluster_health=None if health.cluster is None else _cluster(health.cluster),
        unobserved_reason=health.unobserved,
        findings=health.findings,
        finding_counts=finding_counts(health.findings),
    )
    return HealthDocument(**_members(_answers(health.view)), health=health_object)


def _members(answers: QuorumAnswers) -> dict[str, Any]:
    return {field.name: getattr(answers, field.name) for field in fields(answers)}


def _answers(view: QuorumView) -> QuorumAnswers:
    leader, quorum = view.leader, view.quorum
    return QuorumAnswers(
        cluster_id=view.cluster_id,
        leader_id=None if leader is None else leader.node_id,
        has_active_controller=None if leader is None else leader.runs_controller,
        epoch=view.epoch,
        high_watermark=None if quorum is None else _known(quorum.high_watermark),
        replicas=None if quorum is None else tuple(_replicas(view)),
        nodes=tuple(_node(view, node) for node in view.nodes),
        brokers=tuple(_broker(broker) for broker in view.brokers),
    )


def _replicas(view: QuorumView) -> Iterator[ReplicaObject]:
    end = leader_end(view)
    for replica in (*view.voters, *view.observers):
        log_end, is_voter = replica.log_end_offset, replica in view.voters
        yield ReplicaObject(
            id=replica.replica.id,
            is_voter=is_voter,
            directory_id=replica.replica.directory_id,
            endpoints=endpoint_objects(view.voter_endpoints.get(replica.replica.id, {})),
            log_end_offset=_known(log_end),
            lag=None if log_end < 0 else max(end - log_end, 0),
            last_fetch_timestamp=_known(replica.last_fetch_timestamp),
            last_caught_up_timestamp=_known(replica.last_caught_up_timestamp),
        )


def _known(number: int) -> int | None:
    return None if number < 0 else number


def _node(view: QuorumView, node: NodeAnswer) -> QuorumNodeObject:
    offered = node.offered
    return QuorumNodeObject(
        id=node.node_id,
        endpoint=str(node.endpoint),
        is_reached=node.is_reached,
        reason=node.problem,
        advice=node.advice,
        took_ms=node.took_ms,
        cluster_id=node.cluster_id,
        is_leader=node.quorum is not None,
        is_witness=view.is_witness(node.node_id),
        leader_id=node.leader_id,
        epoch=node.epoch,
        finalized_features_epoch=_known(offered.finalized_epoch),
        finalized_features=dict(sorted(offered.finalized.items())),
        supported_features={
            name: VersionRange(*levels) for name, levels in sorted(offered.supported.items())
        },
    )


def _broker(broker: NodeAnswer) -> BrokerAnswer:
    return BrokerAnswer(
        endpoint=str(broker.endpoint),
        reason=broker.problem,
        advice=broker.advice,
        cluster_id=broker.cluster_id,
        controllers=tuple(
            ControllerAddress(id=node_id, endpoint=str(endpoint))
            for node_id, endpoint in sorted(broker.controllers.items())
        ),
    )


def _cluster(health: ClusterHealth) -> ClusterHealthObject:
    return ClusterHealthObject(
        leader_id=health.observation.leader_id,
        end_offset=health.observation.end_offset,
        registered_brokers=health.brokers,
        fenced_brokers=health.fenced,
        shutting_down_brokers=health.shutting_down,
        not_fetching_brokers=health.absent,
        controllers=health.controllers,
        topics=health.topics,
        partitions=health.partitions,
        offline_partitions=health.offline,
        under_replicated_partitions=health.under_replicated,
        under_min_isr_partitions=health.under_min_isr,
        not_preferred_leader_partitions=health.not_preferred,
        reassigning_partitions=health.reassigning,
        leader_changes=health.elections,
    )
