"""The judgement of a live quorum for a picture: health, tolerance, and restarts.

Owns what a picture adds to it: the voters that the last leader had, voter changes that are not
committed, and processes that hold the locks of watched directories. The judgement itself is
`client/judgement.py`'s, and who may stop is `client/stopping.py`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kraftool.client.cluster_health import ClusterHealth
from kraftool.client.grades import Grade, ReplicaStanding
from kraftool.client.health import Health, health
from kraftool.client.judgement import Judgement, judge
from kraftool.client.model import QuorumView
from kraftool.client.not_asked import unobserved_finding
from kraftool.client.stopping import may_stop
from kraftool.decoders.json_marks import Count
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.findings.kinds import live as kinds
from kraftool.reports.text.words import many
from kraftool.storage.lock import LockState
from kraftool.watching.backoff import is_due
from kraftool.watching.picture import Picture
from kraftool.watching.voter_state import VoterState

_BY_TIME = frozenset({kinds.IDLE.code, kinds.STUCK.code})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The number of voters that may fail now."""

    failures: Count | None
    """None where it is not known; 0 also where nothing commits any more."""
    reason: str
    is_lost: bool = False
    """True if there is already no majority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartSafety:
    """The judgement on a restart of a node now: safe if it costs the quorum at most an election."""

    is_safe: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataHealth:
    """Brokers and partitions by the leader's committed metadata, or why there is none."""

    cluster: ClusterHealth | None = None
    unobserved: str = ""
    at_ms: int = 0
    took_ms: int = 0

    def findings(self, view: QuorumView) -> tuple[Finding, ...]:
        """Return the problems of brokers and partitions, or why they are unknown."""
        if self.cluster is not None:
            return tuple(in_order(self.cluster.findings))
        return (unobserved_finding(view, "", self.unobserved),) if self.unobserved else ()

    def is_due(self, now_ms: int) -> bool:
        """True if it is time to read on; at once if nothing was read yet."""
        return self.cluster is None or is_due(self.at_ms, self.took_ms, now_ms)


def judged(picture: Picture, voters: VoterState) -> Judgement | None:
    """Return the judgement of a picture's live quorum; None if it is only of directories."""
    if picture.view is None:
        return None
    return judge(
        picture.view,
        picture.history.before,
        last_voters=[key.id for key in voters.now],
        holders=_holders(picture),
        is_change_open=voters.is_uncommitted,
    )


def live_health(
    picture: Picture, metadata: MetadataHealth | None = None, judgement: Judgement | None = None
) -> Health:
    """Judge the newest poll by an earlier one; the first by itself, without what only time
    shows."""
    assert picture.view is not None, "only live nodes have a health"
    metadata_health = metadata or MetadataHealth()
    before = picture.history.before
    judged = health(
        before or picture.view,
        picture.view,
        metadata_health.cluster,
        metadata_health.unobserved,
        judgement=judgement,
    )
    if before is not None:
        return judged
    settled = tuple(finding for finding in judged.findings if finding.code not in _BY_TIME)
    return replace(judged, findings=settled, commits_per_second=None)


def _holders(picture: Picture) -> Mapping[int, str]:
    """Return which process holds the lock of a node's directory, as far as that is watched."""
    cluster_id = None if picture.view is None else picture.view.cluster_id
    return {
        reading.node.node_id: "a process holds its lock"
        if reading.lock_pid is None
        else f"pid {reading.lock_pid} holds its lock"
        for reading in picture.directories
        if reading.lock is LockState.HELD
        and reading.node.node_id is not None
        and reading.node.cluster_id in (None, cluster_id)
    }


def tolerance(judgement: Judgement | None) -> Tolerance:
    """Return how many of the voters may fail while commits still go on."""
    if judgement is None:
        return Tolerance(failures=None, reason="directories do not show which nodes run")
    return Tolerance(
        failures=judgement.failures, reason=judgement.reason, is_lost=judgement.is_lost
    )


def restarts(judgement: Judgement | None) -> Mapping[int, RestartSafety]:
    """Return the safety of a restart of each replica that the leader reports, and of each voter;
    none of an observer that is down, which the quorum does not miss."""
    if judgement is None:
        return {}
    observers = (node for node in judgement.observers if node.grade is not Grade.DOWN)
    return {replica.id: _restart(judgement, replica) for replica in (*observers, *judgement.voters)}


def _restart(judgement: Judgement, replica: ReplicaStanding) -> RestartSafety:
    if replica.grade is Grade.DOWN:
        return RestartSafety(is_safe=True, reason="it is down")
    if judgement.view.quorum is None:
        if replica.grade in (Grade.ASTRAY, Grade.UNASKED):
            return RestartSafety(is_safe=False, reason="no node leads: every voter is needed")
        return RestartSafety(is_safe=False, reason=replica.reason)
    permission = may_stop(judgement, replica.id)
    others = len(set(judgement.ready) - {replica.id})
    if not permission.is_allowed:
        reason = permission.reason
    elif replica not in judgement.voters:
        reason = "it has no vote"
    elif replica.id == judgement.view.quorum.leader_id:
        reason = "it leads: another node will be elected; restart it last"
    else:
        reason = f"{many(others, 'other')} are ready, {judgement.majority} are needed"
    return RestartSafety(is_safe=permission.is_allowed, reason=reason)
