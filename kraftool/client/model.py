"""The answers of nodes of a live quorum about themselves and each other.

Owns the values, and what follows from several answers together: who leads, who votes, who is not
known. It refuses to judge that; `judgement.py` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kraftool.decoders.quorum_state import QuorumState
from kraftool.image.metadata_version import KRAFT_VERSION
from kraftool.net.api_versions import Offered
from kraftool.net.errors import Failure
from kraftool.raft.messages import DescribeQuorumResponse, ReplicaState
from kraftool.raft.names import Endpoint, Endpoints

_NOTHING_OFFERED = Offered(apis={})
_OF_QUORUM_MEMBERS = "Vote"
"""Controllers offer it, and brokers do not: what a broker offers says nothing of a controller."""


def is_broker(offered: Offered) -> bool:
    """True for a broker's listener, also that of a node in combined mode. In all releases from 3.3
    on, only a controller's listener offers Vote, and only a broker's offers Metadata."""
    return "Metadata" in offered.apis and "Vote" not in offered.apis


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAnswer:
    """One node, asked itself."""

    endpoint: Endpoint
    """The address that was asked."""
    node_id: int | None = None
    """None where nobody tells whose endpoint that is."""
    asked_ms: int
    took_ms: int = 0
    problem: str = ""
    """Why it was not reached, or what it refused; empty where it answered everything."""
    advice: str = ""
    """What to do about the problem, where the cause is known."""
    is_reached: bool = True
    failure: Failure | None = None
    """The kind of the problem if it was not reached."""
    waiting_ms: int | None = None
    """For how long its next answer is overdue; None if it is not. All else is its last answer."""
    cluster_id: str | None = None
    offered: Offered = _NOTHING_OFFERED
    epoch: int | None = None
    leader_id: int | None = None
    """Whom it knows as the leader of that epoch."""
    leader_endpoint: Endpoint | None = None
    quorum: DescribeQuorumResponse | None = None
    """What it says as the leader; None from any other."""
    controllers: Mapping[int, Endpoint] = field(default_factory=dict)
    """By id, as it answers DescribeCluster: on the listener on which it was asked. A broker names
    the voters that the leader's DescribeQuorum has."""

    @property
    def is_current(self) -> bool:
        """True if it was reached, and no later answer is overdue."""
        return self.is_reached and self.waiting_ms is None

    @property
    def is_broker(self) -> bool:
        """True for a broker's listener. It passes DescribeQuorum on to the leader, so that nothing
        in such an answer is about the node that sent it."""
        return is_broker(self.offered)

    @property
    def name(self) -> str:
        """By its id, as far as that is known, and where it was asked."""
        where = str(self.endpoint)
        return where if self.node_id is None else f"node {self.node_id} ({where})"

    @property
    def runs_controller(self) -> bool | None:
        """True if the node can be the active controller, by its ApiVersions; None if unknown."""
        if _OF_QUORUM_MEMBERS not in self.offered.apis:
            return None
        return self.offered.runs_controller

    @property
    def election(self) -> QuorumState:
        """Return whom it takes for the leader of which epoch, as its file would say it."""
        leader = -1 if self.leader_id is None else self.leader_id
        return QuorumState(leader_id=leader, leader_epoch=self.epoch or 0)


def is_of_cluster(node: NodeAnswer, cluster_id: str | None) -> bool:
    """False for a node that says that it belongs to another cluster."""
    return cluster_id is None or node.cluster_id in (None, cluster_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumView:
    """A quorum at a moment, by the answers of its nodes."""

    nodes: tuple[NodeAnswer, ...]
    """By id, the ones without last."""
    brokers: tuple[NodeAnswer, ...] = ()
    """What was asked and is a broker: it is no node of the quorum, and may name its controllers."""

    @property
    def asked(self) -> tuple[NodeAnswer, ...]:
        return (*self.brokers, *self.nodes)

    @property
    def reached(self) -> tuple[NodeAnswer, ...]:
        return tuple(node for node in self.nodes if node.is_reached)

    @property
    def current(self) -> tuple[NodeAnswer, ...]:
        """Return the nodes that were reached and whose answers are not overdue."""
        return tuple(node for node in self.nodes if node.is_current)

    @property
    def leaders(self) -> tuple[NodeAnswer, ...]:
        """Those that answer as leaders, the newest first; more than one is rare, not wrong: an old
        one learns of its successor only when it asks, or its time has run out. A leader whose
        answer is overdue is one until another node answers as leader."""
        answers = [node for node in self.nodes if node.quorum is not None]
        answers = [node for node in answers if node.is_current] or answers
        return tuple(sorted(answers, key=lambda answer: -(answer.epoch or 0)))

    @property
    def leader(self) -> NodeAnswer | None:
        """The newest leader, unless a node of its cluster already knows of a newer epoch."""
        leaders = self.leaders
        if not leaders:
            return None
        newest = leaders[0]
        known = (node.epoch for node in self.nodes if is_of_cluster(node, newest.cluster_id))
        has_newer = any((epoch or 0) > (newest.epoch or 0) for epoch in known)
        return None if has_newer else newest

    @property
    def quorum(self) -> DescribeQuorumResponse | None:
        return None if self.leader is None else self.leader.quorum

    @property
    def epoch(self) -> int | None:
        """The leader's; without one, the newest that any node knows."""
        if self.leader is not None:
            return self.leader.epoch
        return max((node.epoch for node in self.nodes if node.epoch is not None), default=None)

    @property
    def kraft_version(self) -> int:
        """Of the quorum itself: with static voters it is 0, also where a metadata record claims
        more, as Kafka 3.9 writes one for an upgrade that it does not carry out."""
        claimed = 0 if self.leader is None else self.leader.offered.finalized.get(KRAFT_VERSION, 0)
        if self.voters and all(voter.replica.directory_id is None for voter in self.voters):
            return 0
        return claimed

    @property
    def claims_too_much(self) -> bool:
        """True if metadata says more of kraft.version than is so."""
        leader = self.leader
        return leader is not None and (
            leader.offered.finalized.get(KRAFT_VERSION, 0) > self.kraft_version
        )

    @property
    def agrees(self) -> bool:
        """True if everyone who was reached names the same leader of the same epoch."""
        known = {
            (answer.epoch, answer.leader_id) for answer in self.current if answer.epoch is not None
        }
        return len(known) <= 1 and len(self.cluster_ids) <= 1

    @property
    def cluster_ids(self) -> tuple[str, ...]:
        return tuple(sorted({node.cluster_id for node in self.nodes if node.cluster_id}))

    @property
    def cluster_id(self) -> str | None:
        return None if len(self.cluster_ids) != 1 else self.cluster_ids[0]

    @property
    def voters(self) -> tuple[ReplicaState, ...]:
        return () if self.quorum is None else self.quorum.voters

    @property
    def observers(self) -> tuple[ReplicaState, ...]:
        return () if self.quorum is None else self.quorum.observers

    @property
    def voter_endpoints(self) -> Mapping[int, Endpoints]:
        """Of every listener, from 3.9 on."""
        return {} if self.quorum is None else self.quorum.nodes

    @property
    def lacks_controller(self) -> bool:
        """True if the leader is known to run no controller."""
        return self.leader is not None and self.leader.runs_controller is False

    @property
    def witnesses(self) -> frozenset[int]:
        """The voters that are known to run no controller, by id."""
        return frozenset(
            voter.replica.id for voter in self.voters if self.is_witness(voter.replica.id)
        )

    def is_witness(self, node_id: int | None) -> bool | None:
        """True for a voter that runs no controller; None if its APIs or the voters are unknown."""
        runs = None if node_id is None else self.runs_controller(node_id)
        if runs is not False:
            return None if runs is None else False
        if self.quorum is None:
            return None
        return any(voter.replica.id == node_id for voter in self.voters)

    def runs_controller(self, node_id: int) -> bool | None:
        """True if a node can be the active controller; None if it was not asked, or not reached."""
        node = self.node(node_id)
        return None if node is None else node.runs_controller

    def directory_id(self, node_id: int) -> str | None:
        """Of the directory that a node runs on, as the leader knows it.

        One that observes under a voter's id runs on another directory than the voter's.
        """
        for replica in (*self.observers, *self.voters):
            if replica.replica.id == node_id and replica.last_fetch_timestamp >= 0:
                return replica.replica.directory_id
        return None

    def server_name(self, node: NodeAnswer) -> str | None:
        """The name in a node's certificate, where it is reached through a port-forward."""
        if node.node_id is None:
            return None
        endpoints = [*self.voter_endpoints.get(node.node_id, {}).values()]
        named = (answer.controllers.get(node.node_id) for answer in self.nodes)
        endpoints += [endpoint for endpoint in named if endpoint is not None]
        return endpoints[0].host if endpoints and node.endpoint not in endpoints else None

    def node(self, node_id: int) -> NodeAnswer | None:
        return next((node for node in self.nodes if node.node_id == node_id), None)


def leader_end(view: QuorumView) -> int:
    """The leader's log end, or the longest where the leader is no voter."""
    assert view.quorum is not None, "only a leader reports lag"
    own = [voter for voter in view.voters if voter.replica.id == view.quorum.leader_id]
    return max((replica.log_end_offset for replica in own or view.voters), default=-1)
