"""The document of `recover rehearse` with -o json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kraftool.commands.recover_plan_json import RefusalObject
from kraftool.decoders.json_marks import Count, Ids
from kraftool.raft.names import OffsetAndEpoch
from kraftool.repair.plan import Plan
from kraftool.repair.rehearsal import AppliedCopy, Rehearsal
from kraftool.repair.rehearsal_election import ElectionRehearsal, Trial, is_promised
from kraftool.repair.rehearsal_nodes import NodesRehearsal
from kraftool.repair.verify import DirectoryCheck
from kraftool.reports.election.assessment_json import AssessmentObject, assessment_json
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.sim.returning import Ending, Way


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedCopyObject:
    """A copy of a directory, and what apply made of it."""

    host: str
    """In the plan; of one that the plan only keeps off, old-node-ID."""
    path: str
    """The original's."""
    node_id: int | None
    is_quarantined: bool
    is_copied_while_running: bool
    """True if a process held its lock when it was copied."""
    edits: Count
    """Files that the plan changes there."""
    is_applied_already: bool
    """True if the plan was already applied to the original."""
    refusal: RefusalObject | None
    """Why apply refuses it; null where it does not."""
    checked: DirectoryCheck | None
    """As verify sees the copy; null where the plan has nothing for it, or apply refuses."""


@form
def applied_copy_object(copy: AppliedCopy) -> AppliedCopyObject:
    return AppliedCopyObject(
        host=copy.of.name,
        path=copy.of.path,
        node_id=copy.of.node_id,
        is_quarantined=copy.of.is_quarantined,
        is_copied_while_running=copy.of.is_running,
        edits=copy.edits,
        is_applied_already=copy.was_applied,
        refusal=RefusalObject(reason=copy.refused, advice=copy.hint) if copy.refused else None,
        checked=copy.check,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEpoch:
    """A leader and its epoch."""

    node_id: int
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEnd:
    """The end of a node's log."""

    node_id: int
    offset: int
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVoters:
    """The voters by a node's own log."""

    node_id: int
    voters: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFailure:
    """A node that stopped on a protocol violation."""

    node_id: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingObject:
    """The result of one run."""

    seed: int
    leader_id: int | None
    """The first node that led and could commit; null if none did."""
    epoch: int
    took_ms: int
    """Of simulated time."""
    committed_to: int
    """One beyond the last record that was committed before nodes of the quarantine were back."""
    lost_from: int | None
    """The first of those that is gone, or another, in the end."""
    leaders: tuple[NodeEpoch, ...]
    """The nodes that lead and can commit in the end."""
    led_apart: NodeEpoch | None
    """A node that led while the nodes were apart; null if none did."""
    voters_by_node: tuple[NodeVoters, ...]
    """In the end."""
    broken: tuple[NodeFailure, ...]


@form
def ending_object(ending: Ending) -> EndingObject:
    apart = ending.apart
    return EndingObject(
        seed=ending.seed,
        leader_id=ending.leader,
        epoch=ending.epoch,
        took_ms=ending.took_ms,
        committed_to=ending.committed,
        lost_from=ending.lost_from,
        leaders=tuple(NodeEpoch(node_id=node, epoch=epoch) for node, epoch in ending.leaders),
        led_apart=None if apart is None else NodeEpoch(node_id=apart[0], epoch=apart[1]),
        voters_by_node=tuple(
            NodeVoters(node_id=node, voters=voters) for node, voters in ending.voters
        ),
        broken=tuple(NodeFailure(node_id=node, reason=why) for node, why in ending.broken),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialObject:
    """One way in which nodes come back, tried in several runs."""

    way: Way
    is_ahead: bool
    """True if nodes whose directories were not given have more records than the given ones."""
    is_promised: bool
    """True if the method promises that the recovered quorum loses nothing in this way."""
    leaderless_runs: Count
    losing_runs: Count
    """Runs in which committed records were lost."""
    parted_runs: Count
    """Runs that ended with more than one leader."""
    breaking_runs: Count
    """Runs in which a node ended with an error."""
    endings: tuple[Ending, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionRehearsalObject:
    """The results of the simulator."""

    started: Ids
    """The nodes that start first."""
    back: Ids
    """Nodes of the quarantine that were given, and return."""
    assumed: Ids
    """Those that were not given, and return as if with the best log there is."""
    absent: Ids
    """Voters of the plan that were not given, and so down."""
    further: tuple[NodeEnd, ...]
    """Nodes that were given and that the plan counts as lost, with more of the log than it knew
    of."""
    trials: tuple[TrialObject, ...]


def _elections(rehearsal: Rehearsal, elections: ElectionRehearsal) -> ElectionRehearsalObject:
    return ElectionRehearsalObject(
        started=tuple(elections.started),
        back=tuple(elections.back),
        assumed=tuple(elections.assumed),
        absent=tuple(elections.absent),
        further=tuple(_end(node, end) for node, end in elections.ahead),
        trials=tuple(
            _trial(rehearsal.plan, trial, is_ahead=trial.is_ahead or bool(elections.ahead))
            for trial in elections.trials
        ),
    )


def _end(node: int, end: OffsetAndEpoch) -> NodeEnd:
    return NodeEnd(node_id=node, offset=end.offset, epoch=end.epoch)


def _trial(plan: Plan, trial: Trial, *, is_ahead: bool) -> TrialObject:
    return TrialObject(
        way=trial.way,
        is_ahead=trial.is_ahead,
        is_promised=is_promised(plan, trial.way, is_ahead=is_ahead),
        leaderless_runs=trial.without_leader,
        losing_runs=len(trial.losing),
        parted_runs=len(trial.parted),
        breaking_runs=len(trial.breaking),
        endings=trial.endings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearseDocument:
    """All that a rehearsal came to."""

    command: Literal["rehearse"] = "rehearse"
    plan_id: str
    is_well: bool
    """True if apply refuses nothing, and nothing is worse than info."""
    kept: str | None
    """The folder of --keep."""
    copies: tuple[AppliedCopy, ...]
    hosts_not_given: tuple[str, ...]
    """Hosts of the plan without a directory."""
    assessment: AssessmentObject
    """The quorum before the plan."""
    simulated: ElectionRehearsalObject | None
    """null where apply refuses a copy."""
    started_nodes: NodesRehearsal | None
    """null with --no-nodes, or where apply refuses a copy."""
    findings: tuple[Finding, ...]
    finding_counts: FindingCounts


def rehearse_document(rehearsal: Rehearsal, kept: str) -> RehearseDocument:
    return RehearseDocument(
        plan_id=rehearsal.plan.id,
        is_well=rehearsal.is_well,
        kept=kept or None,
        copies=rehearsal.copies,
        hosts_not_given=tuple(rehearsal.not_given),
        assessment=assessment_json(rehearsal.assessment),
        simulated=None
        if rehearsal.elections is None
        else _elections(rehearsal, rehearsal.elections),
        started_nodes=rehearsal.nodes,
        findings=rehearsal.findings,
        finding_counts=finding_counts(rehearsal.findings),
    )
