"""The surveys of a quorum as a case for the one judgement (`reports/election/assessment.py`).

Owns the mapping, and the words for what the judgement means to a plan: an order of starts, or
records that a start may lose. It refuses to judge by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.raft.names import (
    ElectionState,
    Endpoint,
    OffsetAndEpoch,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterSet,
)
from kraftool.raft.settings import NodeSettings
from kraftool.repair.plan import Action, PlannedVoter, PlanStep
from kraftool.repair.ranking import Host
from kraftool.repair.standing import QuorumAssessment, bootstrap_option
from kraftool.repair.survey import Survey
from kraftool.reports.election.assessment import Assessment, assess
from kraftool.reports.election.case import ElectionCase, Log, NodeCase
from kraftool.reports.words import listed

_LISTENER = "CONTROLLER"


def judge(standing: QuorumAssessment) -> Assessment:
    """Judge a quorum by its surveys. Voters that are said to be lost count as not given."""
    hosts: dict[int, Host] = {}
    for each in standing.hosts:
        if each.node_id is not None and (each.has_metadata or each.node_id not in hosts):
            hosts[each.node_id] = each
    nodes = tuple(
        _node(node_id, hosts[node_id].survey, standing.voters) for node_id in sorted(hosts)
    )
    return assess(ElectionCase(nodes=nodes))


def _node(node_id: int, survey: Survey, known: tuple[PlannedVoter, ...]) -> NodeCase:
    is_dynamic = survey.voters_offset is not None
    voters = _voter_set(survey.voters or known)
    state = survey.quorum_state
    election = None
    if not state.missing and not state.complaint:
        election = ElectionState(
            epoch=max(state.leader_epoch, 0),
            leader_id=state.leader_id if state.leader_id >= 0 else None,
        )
    return NodeCase(
        settings=NodeSettings(
            node_id=node_id,
            directory_id=survey.identity.directory_id or f"of-node-{node_id}",
            cluster_id=survey.identity.cluster_id or "unknown",
            listeners={_LISTENER: Endpoint(f"node-{node_id}", 0)},
            static_voters=VoterSet() if is_dynamic else voters,
        ),
        log=_log(survey, voters if is_dynamic else None),
        election=election,
        source=survey.path,
        is_running=survey.running,
    )


def _voter_set(voters: tuple[PlannedVoter, ...]) -> VoterSet:
    return VoterSet.of(
        *(
            Voter(
                key=ReplicaKey(each.id, each.directory_id or None),
                endpoints={_LISTENER: Endpoint(f"node-{each.id}", 0)},
                kraft_version=VersionRange(each.min_kraft_version, each.max_kraft_version),
            )
            for each in voters
        )
    )


def _log(survey: Survey, voters: VoterSet | None) -> Log:
    log = survey.log
    snapshots = tuple(
        sorted(OffsetAndEpoch(each.offset, each.epoch) for each in survey.whole_snapshots)
    )
    sets: tuple[tuple[int, VoterSet], ...] = ()
    if voters is not None and survey.voters_offset is not None:
        sets = ((survey.voters_offset, voters),)
    if log is None:
        return Log(snapshots=snapshots, voter_sets=sets)
    broken = log.broken
    return Log(
        start=log.start_offset,
        end=log.intact_end,
        epochs=tuple(
            (each.epoch, each.start_offset)
            for each in log.epochs
            if each.start_offset < log.intact_end
        ),
        snapshots=snapshots,
        voter_sets=sets,
        is_cut=broken is not None and not broken.torn and broken.end_offset > log.intact_end,
        last_timestamp_ms=log.last_timestamp_ms,
    )


# --- words ------------------------------------------------------------------------------------


def danger(found: Assessment) -> str:
    """What a start in the wrong order loses, as a sentence."""
    assert found.lost_range is not None, "only where something may be lost"
    first, end = found.lost_range
    what = f"offsets {first} to {end - 1}" if end is not None else f"everything from offset {first}"
    who = listed(sorted(found.harmful), "or")
    return (
        f"If node {who} is elected, it cuts {what}, which may be committed"
        f"{''.join(f'; node {each} {why}' for each, why in found.forgetful)}"
    )


def start_steps(standing: QuorumAssessment, found: Assessment) -> Iterator[PlanStep]:
    """An order of starts after which no voter can cut what may be committed."""
    names = {each.node_id: each.name for each in standing.hosts}
    first = tuple(names[each] for each in found.start_first)
    rest = tuple(
        each.name for each in standing.hosts if standing.votes(each) and each.name not in first
    )
    yield PlanStep(
        action=Action.STOP,
        hosts=tuple(each.name for each in standing.hosts if standing.votes(each)),
        text="stop every controller, and whatever would start it again",
    )
    yield PlanStep(action=Action.START, hosts=first, text="start these controllers, and no other")
    yield PlanStep(
        action=Action.CHECK,
        hosts=first,
        text="they have a leader, and all of them have caught up with its log: only then can no"
        " other controller be elected over a shorter log",
        commands=(f"kraftool quorum health{bootstrap_option(standing)}",),
    )
    text = "start the other controllers, and then the brokers"
    if standing.lost:
        ids = listed(each.id for each in standing.lost)
        text = f"now start the other controllers, also the one that replaces voter {ids}"
    yield PlanStep(action=Action.START, hosts=rest, text=text)
