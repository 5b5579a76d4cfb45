"""The document of `watch --once -o json`, which the dashboard exports too."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.client.grades import Grade
from kraftool.decoders.json_marks import Count, Ids, Moment
from kraftool.reports.election.assessment_json import AssessmentObject, assessment_json
from kraftool.watching.judging import Statement
from kraftool.watching.picture import ObservedElection, WatchEvent
from kraftool.watching.quorum import QuorumReport, ReplicaStatus
from kraftool.watching.safety import RestartSafety, Tolerance
from kraftool.watching.voter_state import Commit, VoterState


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterStateObject:
    """The newest voter set, by which the leader counts, and the committed one."""

    voters: Ids
    commitment: Commit
    committed_voters: Ids | None
    """None where it is not known."""
    offset: int | None
    """Of the KRaftVoters record, where a directory shows it."""
    source: str | None
    """leader, history (the last leader) or directory; None if no node reports voters."""
    majority: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStatusObject:
    """A node, by all that is known of it. What no source reports is null."""

    id: int | None
    """None if no node reports the owner of that endpoint."""
    directory_id: str | None
    endpoint: str | None
    """The address that is asked, else the one that the leader reports."""
    role: str
    """leader, voter or observer; unknown where no source reports who votes."""
    is_voter: bool
    is_joining: bool
    """True if it votes by a record that is not committed."""
    is_witness: bool | None
    """True for a voter that runs no controller: its ApiVersions lacks CreateTopics. None where that
    is unknown."""
    log_end_offset: int | None
    """As the leader knows it; without live nodes, as its directory has it."""
    last_known_end_offset: int | None
    """As the last leader knew it, if no node leads."""
    lag: int | None
    """Records behind the leader's log end."""
    lag_ms: int | None
    fetch_age_ms: int | None
    """Time since it fetched, by the leader's clock; None for the leader itself."""
    caught_up_age_ms: int | None
    """Time since it had all records, by the leader's clock."""
    is_asked: bool
    """True if kraftool asks it itself."""
    is_reached: bool
    grade: Grade | None
    """What was seen of a voter or an observer of a live quorum. Only a ready voter counts."""
    waiting_ms: int | None
    """The time for which its next answer is overdue; all else is its last one."""
    took_ms: int | None
    leader_id: int | None
    """The leader that it knows."""
    epoch: int | None
    """The newest epoch that it knows."""
    reason: str
    """Why it was not reached, or what it refused; empty where it answered everything."""
    path: str | None
    """A data directory of it that is looked at."""
    directory_end_offset: int | None
    """The end of the log in that directory."""
    stale_reason: str
    """Why the log in that directory is older than the newest one; empty where it is not."""
    restart: RestartSafety | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEventObject:
    """Something that happened while watching, or an election that a log records."""

    timestamp: Moment
    status: str
    """good, note, warn or bad."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchDocument:
    """One look at a quorum."""

    timestamp: Moment
    """When it was looked at."""
    cluster_ids: tuple[str, ...]
    is_live: bool
    """True if live nodes were asked."""
    leader_id: int | None
    has_active_controller: bool | None
    """False if the leader cannot be the active controller: topics cannot be created then. None
    without a leader, or where that is unknown."""
    epoch: int | None
    high_watermark: int | None
    commits_per_second: float | None
    """None after one look."""
    leader_log_end_offset: int | None
    """Without live nodes, the end of the longest log of the directories."""
    voter_state: VoterStateObject
    tolerance: Tolerance
    assessment: AssessmentObject | None
    """None if no leader reported log ends and no directory was given."""
    replicas: tuple[ReplicaStatusObject, ...]
    elections: tuple[ObservedElection, ...]
    seen_elections: Count
    """Elections that happened between looks."""
    events: tuple[WatchEventObject, ...]
    """The newest first."""
    statements: tuple[Statement, ...]

    @property
    def rows(self) -> tuple[ReplicaStatusObject, ...]:
        """The replicas."""
        return self.replicas


def watch_document(report: QuorumReport) -> WatchDocument:
    """The whole report."""
    assessment = report.assessment
    return WatchDocument(
        timestamp=report.at_ms,
        cluster_ids=report.cluster_ids,
        is_live=report.is_live,
        leader_id=report.leader_id,
        has_active_controller=report.leader_runs_controller,
        epoch=report.epoch,
        high_watermark=report.high_watermark,
        commits_per_second=None if report.rate is None else round(report.rate, 2),
        leader_log_end_offset=report.leader_end,
        voter_state=_voter_state(report.voters),
        tolerance=report.tolerance,
        assessment=None if assessment is None else assessment_json(assessment),
        replicas=tuple(map(_replica, report.replicas)),
        elections=report.elections,
        seen_elections=report.elections_seen,
        events=tuple(map(_event, report.events)),
        statements=report.statements,
    )


def _event(event: WatchEvent) -> WatchEventObject:
    status = event.status.name.lower()
    return WatchEventObject(timestamp=event.timestamp, status=status, reason=event.reason)


def _voter_state(voters: VoterState) -> VoterStateObject:
    is_known = voters.commit is not Commit.UNKNOWN
    committed = tuple(sorted(key.id for key in voters.before or voters.now))
    return VoterStateObject(
        voters=tuple(sorted(key.id for key in voters.now)),
        commitment=voters.commit,
        committed_voters=committed if is_known else None,
        offset=voters.offset,
        source=voters.source or None,
        majority=voters.majority if voters.now else None,
    )


def _replica(replica: ReplicaStatus) -> ReplicaStatusObject:
    return ReplicaStatusObject(
        id=replica.node_id,
        directory_id=replica.directory_id,
        endpoint=replica.endpoint,
        role=replica.role,
        is_voter=replica.is_voter,
        is_joining=replica.is_joining,
        is_witness=replica.is_witness,
        log_end_offset=replica.log_end_offset,
        last_known_end_offset=replica.last_end,
        lag=replica.lag,
        lag_ms=replica.lag_ms,
        fetch_age_ms=replica.fetched_ms,
        caught_up_age_ms=replica.caught_up_ms,
        is_asked=replica.is_asked,
        is_reached=replica.is_reached,
        grade=replica.grade,
        waiting_ms=replica.waiting_ms,
        took_ms=replica.took_ms,
        leader_id=replica.says_leader,
        epoch=replica.says_epoch,
        reason=replica.problem,
        path=replica.path,
        directory_end_offset=replica.disk_end_offset,
        stale_reason=replica.stale,
        restart=replica.restart,
    )
