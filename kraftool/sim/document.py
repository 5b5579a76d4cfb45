"""The document of `simulate-election -o json`."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.json_marks import Count, Ids
from kraftool.raft.names import ElectionState, OffsetAndEpoch, VoterSet
from kraftool.reports.election.assessment_json import AssessmentObject, assessment_json
from kraftool.reports.election.case import NodeCase
from kraftool.reports.election.losses import RecordLoss
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.sim.advice import AdviceStep
from kraftool.sim.candidacy import Chance, Refusal
from kraftool.sim.chances import Failures
from kraftool.sim.conditions import Conditions
from kraftool.sim.outlook import Likelihood, Outlook, SimulatedShare
from kraftool.sim.report import Changed, Report, Restart
from kraftool.sim.timeline import TimelineEntry, lines
from kraftool.sim.verdict import verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionNode:
    """A node with its disk, and its chance to lead."""

    id: int
    directory_id: str | None
    path: str
    """Empty for a node without a directory."""
    assumption: str
    """The assumptions about it; empty for one that was read."""
    is_up: bool
    is_voter: bool
    log_start_offset: int
    log_end_offset: int
    last_epoch: int
    epochs: tuple[EpochEntry, ...]
    snapshots: tuple[OffsetAndEpoch, ...]
    election_state: ElectionState | None
    """Of its quorum-state; None without the file."""
    known_voters: Ids
    """The voters that this node uses."""
    is_electable: bool
    """True if it can be elected by itself, while all other nodes are late."""
    is_possible_leader: bool
    """True if it can then commit."""
    handed_over_by_id: int | None
    """The witness that leads first, as a last resort, and hands over to it."""
    is_witness: bool
    """True if kraftool node runs on it, without a controller."""
    reason: str
    """Why it cannot lead; empty if it can."""
    granting_voters: Ids
    refusals: tuple[Refusal, ...]
    wins: Count
    """Runs in which it was the first leader that could commit. The shares say how much that
    proves."""
    likelihood: Likelihood
    """Its chance to be the first leader. only: no other node can lead. likely: in more than half of
    the runs by more than chance, however the nodes start. no: it cannot lead."""
    shares: tuple[SimulatedShare, ...]
    """By how the nodes start; empty for a node that cannot lead."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeToLeader:
    """The time until there was a leader, in the runs that had one. Only runs with nodes that start
    together count. null if no run had a leader."""

    min_ms: int | None
    median_ms: int | None
    p95_ms: int | None
    max_ms: int | None
    all_ms: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochsBegun:
    """The number of runs that began this many epochs before there was a leader."""

    epochs: Count
    runs: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedNode:
    """A node that stopped, as a real one would, because the protocol was broken."""

    node_id: int
    reason: str
    runs: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Revival:
    """Nodes that are down and would bring a leader."""

    nodes: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateElectionDocument:
    """The result of an election, simulated from what nodes have on their disks. Offsets are places
    in the log, times are milliseconds of virtual time. The same seed gives the same document."""

    has_possible_leader: bool
    """True if there is a way to a leader, however unlikely. False: the exit code is 1."""
    is_elected: bool
    """True if a run had a leader, too. False: the exit code is 1."""
    has_data_loss: bool
    """True if a possible leader may lack committed records: records that another node has, or any
    records beyond its log if the directories of a majority of the voters were not given. True: the
    exit code is 1."""
    assessment: AssessmentObject
    verdict: str
    """One sentence for people; not for programs."""
    details: tuple[str, ...]
    next_steps: tuple[AdviceStep, ...]
    """In order, for people."""
    leaders: Ids
    """Nodes that can lead and commit: found by a trial of each and by the runs."""
    seed: int
    """Of the first run; each following run has the next."""
    runs: Count
    """Runs made. Few where no leader is possible."""
    leaderless_runs: Count
    after_witness_runs: Count
    """Of those with a leader: a witness led before it, as a last resort."""
    given_up_runs: Count
    """Of those without a leader: ended before their time, after too many events."""
    run_ms: int
    """The longest wait for a leader."""
    conditions: Conditions
    assumptions: tuple[str, ...]
    kraft_version: int
    voters: VoterSet
    """By the most complete log that has any."""
    not_given: Ids
    """Voters without a directory. They count as down."""
    nodes: tuple[ElectionNode, ...]
    time_to_leader: TimeToLeader
    epochs_begun: tuple[EpochsBegun, ...]
    stopped_nodes: tuple[StoppedNode, ...]
    losses: tuple[RecordLoss, ...]
    """The records that others would lose, for each node if it led."""
    tolerated_failures: Failures | None
    """The number of voters that may also fail, whichever they are; None if there is no leader."""
    restarts: tuple[Restart, ...]
    revivals: tuple[Revival, ...]
    """Without a leader: the smallest groups of nodes that would bring one."""
    start_alone: Ids
    """With data loss: nodes that elect a leader without a loss while all others are stopped; empty
    if no such group is known."""
    changes: tuple[Changed, ...]
    later_voters: Ids
    """After the changes of the first run."""
    later_tolerated_failures: Failures | None
    """The same once the voters were changed."""
    timeline: tuple[TimelineEntry, ...]
    """The first run."""
    findings: tuple[Finding, ...]
    finding_counts: FindingCounts

    @property
    def rows(self) -> tuple[ElectionNode, ...]:
        """The nodes."""
        return self.nodes


def simulate_election_document(report: Report) -> SimulateElectionDocument:
    words = verdict(report)
    chances = {chance.node: chance for chance in report.chances}
    outlooks = {outlook.node: outlook for outlook in report.outlooks}
    case = report.case
    return SimulateElectionDocument(
        has_possible_leader=bool(report.leaders),
        is_elected=words.elected,
        has_data_loss=bool(report.grave or report.unseen),
        assessment=assessment_json(report.assessment),
        verdict=words.headline,
        details=words.details,
        next_steps=words.next_steps,
        leaders=report.leaders,
        seed=report.seed,
        runs=report.runs,
        leaderless_runs=report.without_leader,
        after_witness_runs=report.after_witness,
        given_up_runs=report.given_up,
        run_ms=report.horizon_ms,
        conditions=report.conditions,
        assumptions=case.notes,
        kraft_version=case.kraft_version,
        voters=case.voters,
        not_given=case.unknown,
        nodes=tuple(
            _node(node_case, chances[node_case.id], outlooks[node_case.id], report)
            for node_case in case.nodes
        ),
        time_to_leader=TimeToLeader(
            min_ms=report.quantile_ms(0),
            median_ms=report.quantile_ms(0.5),
            p95_ms=report.quantile_ms(0.95),
            max_ms=report.quantile_ms(1),
            all_ms=report.times_ms,
        ),
        epochs_begun=tuple(
            EpochsBegun(epochs=begun, runs=runs) for begun, runs in report.elections
        ),
        stopped_nodes=tuple(
            StoppedNode(node_id=node, reason=why, runs=runs) for node, why, runs in report.broken
        ),
        losses=report.losses,
        tolerated_failures=report.failures,
        restarts=report.restarts,
        revivals=tuple(Revival(nodes=revival) for revival in report.revivals),
        start_alone=report.rescue,
        changes=report.changes,
        later_voters=report.voters_after,
        later_tolerated_failures=report.failures_after,
        timeline=tuple(lines(report.timeline)),
        findings=case.findings,
        finding_counts=finding_counts(case.findings),
    )


def _node(node: NodeCase, chance: Chance, outlook: Outlook, report: Report) -> ElectionNode:
    view = node.log.view()
    return ElectionNode(
        id=node.id,
        directory_id=node.settings.directory_id,
        path=node.source,
        assumption=node.assumed,
        is_up=node.id in report.up,
        is_voter=report.case.voters.has(node.key),
        log_start_offset=view.start_offset,
        log_end_offset=view.end_offset,
        last_epoch=view.last_epoch,
        epochs=tuple(view.epochs),
        snapshots=tuple(view.snapshots),
        election_state=node.election,
        known_voters=tuple(sorted(node.voters.ids)),
        is_electable=chance.wins,
        is_possible_leader=chance.commits,
        handed_over_by_id=chance.via,
        is_witness=node.is_witness,
        reason=chance.why_not,
        granting_voters=chance.granted,
        refusals=chance.refusals,
        wins=report.wins.get(node.id, 0),
        likelihood=outlook.likelihood,
        shares=outlook.shares,
        notes=node.notes,
    )
