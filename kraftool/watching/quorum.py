"""The quorum at a moment as one report: its replicas, its voters, how it moves, what stands out.

Owns how what nodes say and what directories hold come together. Times are compared by the leader's
clock, which all its timestamps are of. What follows from it is `judging.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftool.client.grades import Grade
from kraftool.client.health import Health
from kraftool.client.judgement import Judgement
from kraftool.client.model import NodeAnswer, QuorumView, leader_end
from kraftool.client.thresholds import leader_clock
from kraftool.decoders.json_marks import Hidden, in_json
from kraftool.raft.messages import DescribeQuorumResponse, ReplicaState
from kraftool.raft.names import ReplicaKey
from kraftool.reports.election.assessment import Assessment, assess
from kraftool.reports.election.read import read_case
from kraftool.reports.findings.finding import SEVERITY_RANK
from kraftool.reports.findings.status import Status
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.judging import Statement, statements
from kraftool.watching.outage import case_of_live
from kraftool.watching.picture import ObservedElection, Picture, QuorumSample, WatchEvent
from kraftool.watching.safety import (
    MetadataHealth,
    RestartSafety,
    Tolerance,
    judged,
    live_health,
    restarts,
    tolerance,
)
from kraftool.watching.staleness import currency
from kraftool.watching.trends import Trend, lag_trends, rate_trend
from kraftool.watching.voter_state import VoterState, voter_state

RATE_MS = 10_000
"""Rates are of as long a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStatus:
    """A node, by all that is known of it. What no source reports is null."""

    id: int | None
    """None if no node reports the owner of that endpoint."""
    directory_id: str | None = None
    endpoint: str | None = None
    """The address that is asked, else the one that the leader reports."""
    role: str
    """leader, voter or observer; unknown where no source reports who votes."""
    is_voter: bool = False
    is_joining: bool = False
    """True if it votes by a record that is not committed."""
    log_end_offset: int | None = None
    """As the leader knows it; without live nodes, as its directory has it."""
    last_known_end_offset: int | None = None
    """As the last leader knew it, if no node leads."""
    lag: int | None = None
    """Records behind the leader's log end."""
    lag_ms: int | None = None
    fetch_age_ms: int | None = None
    """Time since it fetched, by the leader's clock; None for the leader itself."""
    caught_up_age_ms: int | None = None
    """Time since it had all records, by the leader's clock."""
    trend: Hidden[Trend] = ()
    """Its lag in the last minute, the oldest first."""
    is_asked: bool = False
    """True if kraftool asks it itself."""
    is_reached: bool = False
    grade: Grade | None = None
    """What was seen of a voter or an observer of a live quorum. Only a ready voter counts."""
    waiting_ms: int | None = None
    """The time for which its next answer is overdue; all else is its last one."""
    down_ms: Hidden[int | None] = None
    """For how long it has not answered; None where it answers or is not asked."""
    took_ms: int | None = None
    leader_id: int | None = None
    """The leader that it knows."""
    epoch: int | None = None
    """The newest epoch that it knows."""
    reason: str = ""
    """Why it was not reached, or what it refused; empty where it answered everything."""
    path: str | None = None
    """A data directory of it that is looked at."""
    directory_end_offset: int | None = None
    """The end of the log in that directory."""
    stale_reason: str = ""
    """Why the log in that directory is older than the newest one; empty where it is not."""
    restart: RestartSafety | None = None
    runs_controller: Hidden[bool | None] = None
    """By its ApiVersions; None if it was not reached, or is not a controller."""

    @property
    def is_down(self) -> bool:
        """True if it was asked, did not answer, and is not known to run."""
        if self.grade is not None:
            return self.grade is Grade.DOWN
        return self.is_asked and not self.is_reached and self.waiting_ms is None

    @property
    @in_json
    def is_witness(self) -> bool | None:
        """True for a voter that runs no controller: its ApiVersions lacks CreateTopics. None where
        that is unknown."""
        if self.runs_controller is not False:
            return None if self.runs_controller is None else False
        return None if self.role == "unknown" else self.is_voter

    @property
    def key(self) -> str:
        """Names its row, the same at each poll."""
        if self.id is None:
            return f"?/{self.endpoint or self.path}"
        return f"{self.id}/{self.path or ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumReport:
    """All of the Quorum view."""

    at_ms: int
    cluster_ids: tuple[str, ...]
    is_live: bool
    """Whether live nodes are asked; if not, all of it is from directories."""
    leader_id: int | None
    epoch: int | None
    high_watermark: int | None
    rate: float | None
    """Records committed a second."""
    rate_trend: tuple[float | None, ...]
    """The rate in the last minute, the oldest first."""
    leader_end: int | None
    replicas: tuple[ReplicaStatus, ...]
    voters: VoterState
    tolerance: Tolerance
    judgement: Judgement | None
    """Of the live nodes; None without any."""
    live: Health | None
    """The same, with the findings that follow, as `quorum health` has them."""
    elections: tuple[ObservedElection, ...]
    elections_seen: int
    since_ms: int
    polls: int
    """How many polls of live nodes it is of; after one, nothing was seen to happen."""
    statements: tuple[Statement, ...]
    unreached: int = 0
    leader_runs_controller: bool | None = None
    """By the leader's ApiVersions; None without a live leader."""
    events: tuple[WatchEvent, ...] = ()
    """What happened while watching, and elections that logs record, the newest first."""
    assessment: Assessment | None = None
    """What a restart of all nodes can do to committed records; None if nothing was reported."""


def quorum_report(picture: Picture, metadata: MetadataHealth | None = None) -> QuorumReport:
    """Return the report on the quorum of a picture; `metadata`: as far as it was read."""
    view, samples = picture.view, picture.history.samples
    voters = voter_state(picture)
    replica_statuses = [*_replicas(picture, voters)]
    judgement = judged(picture, voters)
    live = None if judgement is None else live_health(picture, metadata, judgement)
    safe = restarts(judgement)
    replica_statuses = [_graded(status, judgement, safe) for status in replica_statuses]
    leader_id, epoch = _leader(picture)
    quorum = view.quorum if view is not None else None
    mark = None if quorum is None or quorum.high_watermark < 0 else quorum.high_watermark
    case = case_of_live(picture, committed=mark)
    cluster_ids = {
        directory.node.cluster_id for directory in picture.directories if directory.node.cluster_id
    }
    if view is not None:
        cluster_ids |= {*view.cluster_ids}
    return QuorumReport(
        at_ms=picture.at_ms,
        cluster_ids=tuple(sorted(cluster_ids)),
        is_live=view is not None,
        leader_id=leader_id,
        epoch=epoch,
        high_watermark=mark,
        rate=_rate(samples),
        rate_trend=rate_trend(samples, picture.at_ms),
        leader_end=leader_end(view) if view is not None and quorum is not None else _end(picture),
        replicas=tuple(sorted(replica_statuses, key=_order)),
        voters=voters,
        tolerance=tolerance(judgement),
        judgement=judgement,
        live=live,
        elections=picture.history.elections,
        elections_seen=picture.history.elections_seen,
        since_ms=picture.history.since_ms,
        polls=len(samples),
        statements=tuple(
            sorted(
                statements(picture, voters, live),
                key=lambda statement: SEVERITY_RANK[statement.severity],
            )
        ),
        unreached=sum(
            status.is_asked and not status.is_reached and status.waiting_ms is None
            for status in replica_statuses
        ),
        leader_runs_controller=None
        if view is None or view.leader is None
        else view.leader.runs_controller,
        events=_events(picture),
        assessment=None if case is None else assess(case),
    )


def _graded(
    status: ReplicaStatus, judgement: Judgement | None, safe: Mapping[int, RestartSafety]
) -> ReplicaStatus:
    standing = None if judgement is None else judgement.standing(status.id)
    if standing is None:
        return status
    return replace(status, grade=standing.grade, restart=safe.get(standing.id))


def _events(picture: Picture) -> tuple[WatchEvent, ...]:
    """Return the newest first; of elections in logs only those that were not seen happening."""
    history = picture.history
    recorded = (
        WatchEvent(
            timestamp=election.timestamp,
            status=Status.NOTE,
            reason=f"node {election.leader_id} elected, epoch {election.epoch} (by the log)",
        )
        for election in history.elections
        if election.is_recorded and (picture.view is None or election.timestamp < history.since_ms)
    )
    events = [*reversed(history.events), *recorded]
    return tuple(sorted(events, key=lambda event: -event.timestamp))


def of_directories(report: QuorumReport, paths: Sequence[str]) -> QuorumReport:
    """The report with the judgement by directories, if no leader reported log ends."""
    if report.assessment is not None or not paths:
        return report
    return replace(report, assessment=assess(read_case(paths)))


def _leader(picture: Picture) -> tuple[int | None, int | None]:
    """By live nodes; without any, the one that the newest quorum-state names."""
    if picture.view is not None:
        leader = picture.view.leader
        return (None if leader is None else leader.node_id), picture.view.epoch
    states = [
        directory.quorum_state
        for directory in picture.directories
        if directory.quorum_state is not None
    ]
    if not states:
        return None, None
    newest = max(
        states, key=lambda quorum_state: (quorum_state.leader_epoch, quorum_state.leader_id)
    )
    return (newest.leader_id if newest.leader_id >= 0 else None), newest.leader_epoch


def _end(picture: Picture) -> int | None:
    ends = [directory.log_end_offset for directory in picture.directories]
    return max((end for end in ends if end is not None), default=None)


def _order(status: ReplicaStatus) -> tuple[bool, bool, int]:
    return not status.is_voter, status.id is None, status.id or 0


# --- replicas ---------------------------------------------------------------------------------


def _replicas(picture: Picture, voters: VoterState) -> Iterator[ReplicaStatus]:
    """The leader's list, the nodes that it does not have, then directories of nobody listed."""
    view = picture.view
    left = [*picture.directories]
    listed_ids: set[int] = set()
    if view is not None:
        for row in _live(view, picture.history.samples, voters, picture.at_ms):
            if row.id is not None:
                listed_ids.add(row.id)
            row = replace(row, down_ms=_down_ms(picture, row.id))
            mine = next(
                (reading for reading in left if _is_of(reading, row)),
                None,
            )
            if mine is not None:
                left.remove(mine)
                row = _with_directory(row, mine, _stale(picture, mine))
            yield row
    end = _end(picture) if view is None else None
    for reading in left:
        row = _from_directory(reading, voters, end)
        yield replace(row, stale_reason=_stale(picture, reading))


def _down_ms(picture: Picture, node_id: int | None) -> int | None:
    since = None if node_id is None else picture.history.down_since_ms.get(node_id)
    return None if since is None else max(picture.at_ms - since, 0)


def _stale(picture: Picture, directory: DirectoryReading) -> str:
    """Return why a directory's log is old, and that nobody writes it, if so."""
    freshness = currency(picture, directory)
    return freshness.words if freshness.stale else ""


def _is_of(directory: DirectoryReading, row: ReplicaStatus) -> bool:
    node = directory.node
    if node.node_id is None or node.node_id != row.id:
        return False
    return None in (node.directory_id, row.directory_id) or node.directory_id == row.directory_id


def _with_directory(row: ReplicaStatus, directory: DirectoryReading, stale: str) -> ReplicaStatus:
    return replace(
        row,
        directory_id=row.directory_id or directory.node.directory_id,
        path=directory.path,
        directory_end_offset=directory.log_end_offset,
        stale_reason=stale,
        reason=row.reason or directory.problem,
    )


def _from_directory(
    directory: DirectoryReading, voters: VoterState, end: int | None
) -> ReplicaStatus:
    """A row of what a directory says; `end`: the longest of them, where no live node tells more."""
    node = directory.node
    votes = voters.has(node.node_id, node.directory_id)
    state = directory.quorum_state
    role = "unknown" if voters.source == "" or node.node_id is None else "observer"
    lag = None
    if end is not None and directory.log_end_offset is not None:
        lag = end - directory.log_end_offset
    return ReplicaStatus(
        id=node.node_id,
        directory_id=node.directory_id,
        role="voter" if votes else role,
        is_voter=votes,
        log_end_offset=directory.log_end_offset if end is not None else None,
        lag=lag,
        leader_id=state.leader_id if state is not None and state.leader_id >= 0 else None,
        epoch=state.leader_epoch if state is not None else None,
        reason=directory.problem,
        path=directory.path,
        directory_end_offset=directory.log_end_offset,
    )


def _live(
    view: QuorumView, samples: tuple[QuorumSample, ...], voters: VoterState, at_ms: int
) -> Iterator[ReplicaStatus]:
    listed_ids: set[int] = set()
    ends = {key.id: end for key, end in _last_ends(samples).items()}
    quorum = view.quorum
    if quorum is not None:
        every = (*quorum.voters, *quorum.observers)
        clock, end = leader_clock(quorum), leader_end(view)
        answers = {node.node_id: node for node in view.nodes}
        followers = [state.replica for state in every if state.replica.id != quorum.leader_id]
        trends = lag_trends(samples, at_ms, followers)
        for replica in every:
            listed_ids.add(replica.replica.id)
            answer = answers.get(replica.replica.id)
            lags = trends.get(replica.replica, ())
            yield _with_answer(_told(quorum, replica, clock, end, voters, lags), answer)
    for answer in view.nodes:
        if answer.node_id is None or answer.node_id not in listed_ids:
            key = voters.key_of(answer.node_id)
            role = "unknown" if voters.source == "" or answer.node_id is None else "observer"
            row = ReplicaStatus(
                id=answer.node_id,
                directory_id=None if key is None else key.directory_id,
                endpoint=str(answer.endpoint),
                role="voter" if key is not None else role,
                is_voter=key is not None,
                last_known_end_offset=_last_end(
                    answer.node_id, {} if view.quorum is not None else ends
                ),
            )
            yield _with_answer(row, answer)
            if answer.node_id is not None:
                listed_ids.add(answer.node_id)
    if view.quorum is None:
        yield from _last_known(samples, voters, listed_ids)


def _last_known(
    samples: tuple[QuorumSample, ...], voters: VoterState, listed_ids: set[int]
) -> Iterator[ReplicaStatus]:
    """Without a leader: whom the last one knew of, and nobody asks."""
    ends = _last_ends(samples)
    for key in (*voters.now, *(end for end in ends if end not in voters.now)):
        if key.id not in listed_ids:
            listed_ids.add(key.id)
            is_voter = key in voters.now
            yield ReplicaStatus(
                id=key.id,
                directory_id=key.directory_id,
                role="voter" if is_voter else "observer",
                is_voter=is_voter,
                last_known_end_offset=ends.get(key),
            )


def _last_ends(samples: tuple[QuorumSample, ...]) -> Mapping[ReplicaKey, int]:
    return next((sample.ends for sample in reversed(samples) if sample.ends), {})


def _last_end(node_id: int | None, ends: Mapping[int, int]) -> int | None:
    return None if node_id is None else ends.get(node_id)


def _told(
    quorum: DescribeQuorumResponse,
    state: ReplicaState,
    clock: int,
    end: int,
    voters: VoterState,
    lags: Trend,
) -> ReplicaStatus:
    """Return what the leader says of a replica."""
    is_leader = state.replica.id == quorum.leader_id
    is_voter = state in quorum.voters
    known = state.log_end_offset >= 0
    lag = max(end - state.log_end_offset, 0) if known else None
    caught_up = _ago(clock, state.last_caught_up_timestamp)
    endpoints = [*quorum.nodes.get(state.replica.id, {}).values()]
    return ReplicaStatus(
        id=state.replica.id,
        directory_id=state.replica.directory_id,
        endpoint=str(endpoints[0]) if endpoints else None,
        role="leader" if is_leader else "voter" if is_voter else "observer",
        is_voter=is_voter,
        is_joining=voters.is_uncommitted and state.replica in voters.joining,
        log_end_offset=state.log_end_offset if known else None,
        lag=lag,
        lag_ms=0 if is_leader or lag == 0 else caught_up,
        fetch_age_ms=None if is_leader else _ago(clock, state.last_fetch_timestamp),
        caught_up_age_ms=None if is_leader else caught_up,
        trend=lags,
    )


def _with_answer(row: ReplicaStatus, answer: NodeAnswer | None) -> ReplicaStatus:
    if answer is None:
        return row
    return replace(
        row,
        endpoint=str(answer.endpoint),
        is_asked=True,
        is_reached=answer.is_reached,
        waiting_ms=answer.waiting_ms,
        took_ms=answer.took_ms if answer.is_reached else None,
        leader_id=answer.leader_id,
        epoch=answer.epoch,
        reason=answer.problem,
        runs_controller=answer.runs_controller,
    )


def _ago(clock: int, timestamp: int) -> int | None:
    return None if timestamp < 0 else max(clock - timestamp, 0)


# --- how it moves -----------------------------------------------------------------------------


def _rate(samples: tuple[QuorumSample, ...]) -> float | None:
    """Records committed a second, over the last seconds."""
    if not samples or samples[-1].high_watermark is None:
        return None
    last = samples[-1]
    for first in samples:
        if first.high_watermark is not None and last.at_ms - first.at_ms <= RATE_MS:
            passed = (last.at_ms - first.at_ms) / 1000
            if passed <= 0:
                return None
            return max((last.high_watermark or 0) - first.high_watermark, 0) / passed
    return None
