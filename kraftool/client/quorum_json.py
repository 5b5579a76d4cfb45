"""The documents of `quorum`, of its subcommands that only look and of those that change it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kraftool.client.change import Check, QuorumChange
from kraftool.client.health import Health
from kraftool.client.model import NodeAnswer, QuorumView, leader_end
from kraftool.client.readiness import Readiness
from kraftool.client.stopping import StopPermission
from kraftool.decoders.json_marks import Inline, Moment
from kraftool.raft.names import Endpoints, VersionRange
from kraftool.reports.findings.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaObject:
    """A voter or an observer, as the leader knows it."""

    id: int
    is_voter: bool
    directory_id: str | None
    endpoints: Endpoints
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
class QuorumDocument:
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

    @property
    def rows(self) -> tuple[ReplicaObject, ...]:
        """The replicas."""
        return self.replicas or ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthDocument:
    """The reports of the controllers of a live quorum, and the problems."""

    answers: Inline[QuorumDocument]
    health: Health

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyDocument:
    """The answer to whether a node is ready."""

    ready: Readiness

    @property
    def rows(self) -> tuple[Check, ...]:
        """The checks."""
        return self.ready.checks


def health_document(health: Health) -> HealthDocument:
    return HealthDocument(answers=describe_document(health.view), health=health)


def describe_document(view: QuorumView) -> QuorumDocument:
    leader, quorum = view.leader, view.quorum
    return QuorumDocument(
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
            endpoints=view.voter_endpoints.get(replica.replica.id, {}),
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
