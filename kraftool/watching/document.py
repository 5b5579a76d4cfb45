"""The document of `watch --once -o json`, which the dashboard exports too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraftool.client.cluster_health import ClusterHealth
from kraftool.decoders.json_marks import Count, Ids, Moment
from kraftool.reports.election.assessment_json import AssessmentObject, assessment_json
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.mutes import MutedFinding
from kraftool.watching.judging import Statement
from kraftool.watching.picture import ObservedElection, WatchEvent
from kraftool.watching.quorum import QuorumReport, ReplicaStatus
from kraftool.watching.safety import MetadataHealth, Tolerance
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
class WatchEventObject:
    """Something that happened while watching, or an election that a log records."""

    timestamp: Moment
    status: str
    """good, note, warn or bad."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchDocument:
    """One poll of a quorum."""

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
    """None after one poll."""
    leader_log_end_offset: int | None
    """Without live nodes, the end of the longest log of the directories."""
    voter_state: VoterStateObject
    tolerance: Tolerance
    assessment: AssessmentObject | None
    """None if no leader reported log ends and no directory was given."""
    replicas: tuple[ReplicaStatus, ...]
    elections: tuple[ObservedElection, ...]
    seen_elections: Count
    """Elections that happened between polls."""
    events: tuple[WatchEventObject, ...]
    """The newest first."""
    statements: tuple[Statement, ...]
    cluster_health: ClusterHealth | None
    """Brokers and partitions; None without a leader, and where the committed metadata was not
    read."""
    cluster_findings: tuple[Finding, ...]
    """The problems of the brokers and partitions, or why they could not be read."""
    muted: tuple[MutedFinding, ...] = ()
    """The findings that --mute left out."""

    @property
    def rows(self) -> tuple[ReplicaStatus, ...]:
        """The replicas."""
        return self.replicas


def watch_document(
    report: QuorumReport,
    metadata: MetadataHealth | None = None,
    findings: Sequence[Finding] = (),
    muted: Sequence[MutedFinding] = (),
) -> WatchDocument:
    """The whole report. `metadata` and its findings are given if the leader's log was read."""
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
        replicas=report.replicas,
        elections=report.elections,
        seen_elections=report.elections_seen,
        events=tuple(map(_event, report.events)),
        statements=report.statements,
        cluster_health=None if metadata is None else metadata.cluster,
        cluster_findings=tuple(findings),
        muted=tuple(muted),
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
