"""The one judgement of a quorum at rest: what may be committed, who can lead, what would be lost.

Owns the rule by which no action is needed. Every set of voters may be up, and every node of it that
can win may lead; and then once more, with the logs that this leaves. A voter whose directory was
not given may come back with any log, or with an empty one. If no such leader cuts a record that may
be committed, the quorum is safe in any order of starts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.json_marks import Hidden, Ids, Inline, in_json
from kraftool.raft.names import Endpoint
from kraftool.reports.election.case import ElectionCase, Log, NodeCase
from kraftool.reports.election.losses import (
    CommitEvidence,
    CommitStatus,
    RecordLoss,
    UnseenRecords,
    commit_status,
    lacks_whole_voter,
    losses_by,
    may_have_unseen_by_doubt,
    unseen_records,
    was_given,
)

MOST_VOTERS = 7
"""The largest quorum of which every set of voters is tried."""


class QuorumSafety(StrEnum):
    """The state of the quorum."""

    SAFE = "safe"
    """Whoever starts first, and whoever leads then, no committed record is lost."""
    AT_RISK = "at risk"
    """A leader is possible, and there is one that would cut records that may be committed."""
    NO_LEADER = "no leader"
    """No node that was given can win an election."""
    UNKNOWN = "unknown"
    """Nothing that was given names the voters, or there are too many of them."""


class LossBound(StrEnum):
    """The bound of the loss of records that may be committed."""

    NONE = "none"
    POSSIBLE = "possible"
    """None, unless a directory is an old copy: a voter was not given or is lost, and nothing shows
    whether another lagged or has forgotten what it confirmed."""
    BOUNDED = "bounded"
    UNBOUNDED = "unbounded and undetectable"


class NextStep(StrEnum):
    """The next thing to do."""

    NOTHING = "nothing"
    ASK_LIVE = "ask the running controllers"
    """A majority of the voters runs: it knows more than files that were read moments apart."""
    START_ONE_MORE = "start what a majority lacks"
    """Some voters run, and too few for a leader."""
    START_FIRST = "start these first"
    GIVE_OTHERS = "give the other directories"
    RECOVER = "plan a recovery"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetfulVoter:
    """A voter whose directory may be older than its own past."""

    id: int
    first_offset: int
    """It may have had any record from this offset on."""
    reason: str
    """A clause without a subject, as in `has an empty log`."""
    is_gone: bool
    """True if the log is gone: nothing shows how far it went."""
    is_damage: bool
    """True if the log is damaged: what is behind the damage shows how far it went."""
    is_doubt: bool
    """True if the voter may as well have lagged: its log proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaggingVoter:
    """A given voter whose log ends before the best log that was given."""

    id: int
    log_end_offset: int
    ahead_id: int
    """The node that has the best log."""
    ahead_log_end_offset: int


class LostRange(NamedTuple):
    """Offsets of records that may be lost."""

    first_offset: int
    end_offset: Hidden[int | None]

    @property
    @in_json
    def last_offset(self) -> int | None:
        """None if no end is known."""
        return None if self.end_offset is None else self.end_offset - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningVoters:
    """The voters whose processes ran when their directories were read."""

    running: Ids = ()
    """Voters whose processes ran when their directories were read. Their logs were read moments
    apart."""
    read_apart: Ids = ()
    """Those of them whose log counts as long as that of another one, which was read later."""
    to_start: Ids = ()
    """If some voters run: those that do not run and can be started, the best log first."""
    # If one more is needed, each of those to start alone makes a majority that loses nothing.
    addresses: Hidden[tuple[str, ...]] = ()
    """Where these listen, as far as it is known."""
    is_majority: Hidden[bool] = False
    lacking: Hidden[int] = 0
    """How many more voters a majority needs."""
    has_best: Hidden[bool] = False
    """True if the first of those to start has a better log than the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The judgement of the quorum at rest, from the directories. It is the same in every command
    that judges the quorum."""

    is_live: bool = False
    """True if a leader reported the log ends, and no directory was read."""
    state: QuorumSafety
    """safe: no possible leader lacks a record that may be committed. at risk: a possible leader
    lacks one. no leader: no given node can win. unknown: the voters are not known, or there are
    more than 7."""
    may_be_committed_to: int | None
    """No record from this offset on can be committed. None if the directories do not show such an
    offset."""
    loss: LossBound
    """The worst loss of records that may be committed, over all orders of starts. possible:
    nothing, unless a directory is an old copy or lost its end."""
    lost_range: LostRange | None
    """None if no record may be lost."""
    voters: Ids
    """The voters by the most complete log."""
    not_given: Ids
    """Voters without a directory among those that were given."""
    can_lead: Ids
    """Nodes that can be elected with some set of voters. Nodes of `to_repair` cannot."""
    harmful: Ids
    """Those of them that may lack committed records."""
    forgetful: tuple[ForgetfulVoter, ...]
    """Voters that may have had more than their directory shows."""
    lagging: tuple[LaggingVoter, ...]
    """Given voters with a log that ends before the best log that was given."""
    next_step: NextStep
    start_first: Ids = ()
    """If these voters start first and elect a leader, the others are safe to start."""
    to_repair: Ids = ()
    """Voters that do not run, and on which Kafka exits when it starts."""
    is_on_minority: bool = False
    """True if what may be lost is on a minority of the voters, all of which were given. It is then
    uncommitted, unless a directory is an old copy or lost its end."""
    running_voters: Inline[RunningVoters] = RunningVoters()
    cutting: Hidden[tuple[int, ...]] = ()
    """Of those that can lead: those that lack records that a directory shows."""
    is_doubted: Hidden[bool] = False
    """True if records may be committed that no directory shows, should one be an old copy."""
    lacks_whole_voter: Hidden[bool] = False
    """True if a voter certainly forgot records, and no voter reaches as far as any node did."""
    unseen_from: Hidden[int | None] = None
    """Records from this offset on may be committed though no readable log has them: the end of the
    best log. None if there are no such records."""
    doubtful_voters: Hidden[tuple[int, ...]] = ()
    """Without known voters: those that only a damaged file names."""
    addresses: Hidden[tuple[str, ...]] = ()
    """Where the voters listen, as far as it is known."""
    not_given_hosts: Hidden[tuple[tuple[int, str], ...]] = ()
    """The voters that were not given, each with its host, as far as it is known."""

    @property
    def given(self) -> tuple[int, ...]:
        """The voters whose directories were looked at."""
        return tuple(voter for voter in self.voters if voter not in self.not_given)


def assess(case: ElectionCase) -> Assessment:
    """Judge a quorum at rest."""
    known = CommitEvidence.of(case)
    voters = case.voters
    if not voters or len(voters) > MOST_VOTERS:
        return _unknown(known)
    leaders = {
        possible_leader.id: possible_leader
        for possible_leader in possible_leaders(case, case.voters.ids)
    }
    to_repair = tuple(sorted(case.cannot_start & voters.ids))
    can_lead = {node.id for node in possible_leaders(case, voters.ids - set(to_repair))}
    losses = {leader_id: _weighing(known, node) for leader_id, node in leaders.items()}
    running = _running(case, known)
    unseen = {
        leader_id: records
        for leader_id, node in leaders.items()
        if (records := unseen_records(known, node)) is not None
    }
    harmful = {leader for leader in leaders if losses[leader] or leader in unseen}
    later = [] if harmful else _later_losses(case)
    lost_range = _range(
        [one for loss in losses.values() for one in loss] + later,
        list(unseen.values()),
    )
    if not can_lead:
        state = QuorumSafety.NO_LEADER
    else:
        state = QuorumSafety.AT_RISK if harmful or later else QuorumSafety.SAFE
    first = _start_first(case, known) if state is QuorumSafety.AT_RISK and not unseen else ()
    weighing = [*(loss for leader_losses in losses.values() for loss in leader_losses), *later]
    return Assessment(
        state=state,
        may_be_committed_to=_may_be_committed_to(known),
        loss=LossBound.UNBOUNDED if not leaders and _not_given(case) else _level(known, lost_range),
        lost_range=lost_range,
        voters=tuple(sorted(voters.ids)),
        can_lead=tuple(sorted(can_lead)),
        harmful=tuple(sorted(harmful | {loss.leader_id for loss in later})),
        cutting=tuple(sorted({loss.leader_id for loss in weighing})),
        forgetful=_forgetful(known),
        not_given=_not_given(case),
        lagging=_lagging(case),
        next_step=_next_step(case, state, first, running),
        to_repair=to_repair,
        is_live=case.is_live,
        start_first=first,
        is_doubted=may_have_unseen_by_doubt(known),
        lacks_whole_voter=lacks_whole_voter(known, voters),
        is_on_minority=bool(weighing)
        and not unseen
        and all(not loss.commit_status.is_grave for loss in weighing),
        unseen_from=_end_of_best(known.case) if unseen else None,
        running_voters=running,
        addresses=_addresses(case, sorted(case.voters.ids)),
        not_given_hosts=tuple(_hosts(case, _not_given(case))),
    )


def _unknown(known: CommitEvidence) -> Assessment:
    return Assessment(
        state=QuorumSafety.UNKNOWN,
        may_be_committed_to=None,
        loss=LossBound.UNBOUNDED,
        lost_range=None,
        voters=tuple(sorted(known.case.voters.ids)),
        can_lead=(),
        harmful=(),
        forgetful=_forgetful(known),
        not_given=_not_given(known.case),
        lagging=_lagging(known.case),
        next_step=NextStep.GIVE_OTHERS,
        doubtful_voters=next(
            (node.doubtful_voters for node in known.case.nodes if node.doubtful_voters), ()
        ),
    )


def _forgetful(known: CommitEvidence) -> tuple[ForgetfulVoter, ...]:
    voters = known.case.voters.ids
    return tuple(
        ForgetfulVoter(
            id=voter_id,
            first_offset=forgotten.first,
            reason=forgotten.reason,
            is_gone=forgotten.is_gone,
            is_damage=forgotten.is_damage,
            is_doubt=forgotten.is_doubt,
        )
        for voter_id, forgotten in sorted(known.forgotten.items())
        if voter_id in voters
    )


def _not_given(case: ElectionCase) -> tuple[int, ...]:
    return tuple(sorted(voter.key.id for voter in case.voters if not _is_given(case, voter.key.id)))


def _lagging(case: ElectionCase) -> tuple[LaggingVoter, ...]:
    best = case.most_complete
    if best is None or best.assumed:
        return ()
    end = best.end.offset
    return tuple(
        LaggingVoter(
            id=node.id, log_end_offset=node.end.offset, ahead_id=best.id, ahead_log_end_offset=end
        )
        for node in case.nodes
        if _is_given(case, node.id) and node.id in case.voters.ids and node.end.offset < end
    )


def _end_of_best(case: ElectionCase) -> int | None:
    best = case.most_complete
    return best.end.offset if best is not None else None


def _is_given(case: ElectionCase, voter: int) -> bool:
    return was_given(case, case.voters, voter)


def _next_step(
    case: ElectionCase, state: QuorumSafety, first: tuple[int, ...], running: RunningVoters
) -> NextStep:
    if running.is_majority:
        return NextStep.ASK_LIVE
    if running.running and running.to_start and len(running.to_start) >= running.lacking:
        return NextStep.START_ONE_MORE
    if state is QuorumSafety.SAFE:
        return NextStep.NOTHING
    if first:
        return NextStep.START_FIRST
    if state is QuorumSafety.NO_LEADER and case.cannot_start:
        return NextStep.RECOVER
    return NextStep.GIVE_OTHERS if _not_given(case) else NextStep.RECOVER


# --- voters that run ---------------------------------------------------------------------------


def _running(case: ElectionCase, known: CommitEvidence) -> RunningVoters:
    ids = case.running
    if not ids:
        return RunningVoters()
    lacking = max(case.voters.majority - len(ids), 0)
    stopped = [
        case.by_id[voter] for voter in sorted(case.voters.ids - set(ids)) if _is_given(case, voter)
    ]
    able = [node for node in stopped if not node.cannot_start]
    if lacking == 1:
        able = [node for node in able if _adds_safely(case, known, {*ids, node.id})]
    able.sort(key=lambda node: node.end.rank, reverse=True)
    return RunningVoters(
        running=ids,
        addresses=_addresses(case, ids),
        read_apart=tuple(node.id for node in case.nodes if node.read_end is not None),
        is_majority=not lacking,
        lacking=lacking,
        to_start=tuple(node.id for node in able),
        has_best=len(able) > 1 and able[0].end.rank > able[1].end.rank,
    )


def _addresses(case: ElectionCase, ids: Iterable[int]) -> tuple[str, ...]:
    """The first endpoint of each of these voters that has a real one."""
    return tuple(str(endpoint) for _, endpoint in _endpoints(case, ids))


def _hosts(case: ElectionCase, ids: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield the host of each of these voters that has a real endpoint."""
    for voter_id, endpoint in _endpoints(case, ids):
        yield voter_id, endpoint.host


def _endpoints(case: ElectionCase, ids: Iterable[int]) -> Iterator[tuple[int, Endpoint]]:
    voters = case.voters.voters
    for voter_id in ids:
        endpoint = next(iter(voters[voter_id].endpoints.values()), None)
        if endpoint is not None and endpoint.port:
            yield voter_id, endpoint


def _adds_safely(case: ElectionCase, known: CommitEvidence, up: Collection[int]) -> bool:
    """True if these voters elect a leader, and none that loses what may be committed."""
    leaders = list(possible_leaders(case, up))
    return bool(leaders) and not any(
        _weighing(known, leader) or unseen_records(known, leader) for leader in leaders
    )


# --- who can lead -----------------------------------------------------------------------------


def possible_leaders(case: ElectionCase, up: Collection[int]) -> Iterator[NodeCase]:
    """The nodes that can win an election if these voters are up.

    What a node remembers of votes is no bar: every further election is in a higher epoch.
    """
    for node in case.nodes:
        voters = node.voters
        if node.id not in up or node.assumed or not voters.has(node.key):
            continue
        votes = sum(
            voter_id in up and _may_vote_for(case, voter_id, node) for voter_id in voters.ids
        )
        if votes >= voters.majority:
            yield node


def _may_vote_for(case: ElectionCase, voter: int, candidate: NodeCase) -> bool:
    """True if a voter's log, as far as it is known, lets it vote for a candidate."""
    node = case.by_id.get(voter)
    if node is None or node.assumed or not candidate.voters.has(node.key):
        return True  # it may come back with an empty log
    return (node.end.epoch, node.end.offset) <= (candidate.end.epoch, candidate.end.offset)


# --- what would be lost -----------------------------------------------------------------------


def _weighing(known: CommitEvidence, leader: NodeCase) -> tuple[RecordLoss, ...]:
    return tuple(loss for loss in losses_by(known, leader) if loss.commit_status.weighs)


def _may_be_committed_to(known: CommitEvidence) -> int | None:
    """The end of what may be committed, of all that the directories show."""
    case = known.case
    best = case.most_complete
    if best is None:
        return None
    unseen = unseen_records(known, best)
    if unseen is not None and unseen.end is None:
        return None
    highest = unseen.end or 0 if unseen is not None else 0
    for node in case.nodes:
        start, end = node.log.start, node.log.end
        highest = max(highest, *(snapshot.offset for snapshot in node.log.snapshots), 0)
        for border in sorted({end, *case.borders}, reverse=True):
            if not max(start, highest) < border <= end:
                continue
            epoch = node.log.epoch_at(border - 1) or 0
            holders = tuple(
                node_case.id for node_case in case.nodes if node_case.log.has(border - 1, epoch)
            )
            if commit_status(known, border - 1, holders) is not CommitStatus.NOT:
                highest = border
    return highest


def _range(lost: Collection[RecordLoss], unseen: Collection[UnseenRecords]) -> LostRange | None:
    """Return what is lost at most: known records, and those that may have come behind a leader's
    end."""
    if not lost and not unseen:
        return None
    firsts = [*(loss.first_offset for loss in lost), *(records.first for records in unseen)]
    ends = [records.end for records in unseen]
    known = [*(loss.end for loss in lost), *(end for end in ends if end is not None)]
    return LostRange(min(firsts), None if None in ends else max(known))


def _level(known: CommitEvidence, lost: LostRange | None) -> LossBound:
    if lost is None:
        return LossBound.POSSIBLE if may_have_unseen_by_doubt(known) else LossBound.NONE
    return LossBound.UNBOUNDED if lost.end_offset is None else LossBound.BOUNDED


# --- the second leader ------------------------------------------------------------------------


def _later_losses(case: ElectionCase) -> list[RecordLoss]:
    """Return what a second leader would cut, after a first one with as few followers as can be."""
    losses: list[RecordLoss] = []
    for leader in possible_leaders(case, case.voters.ids):
        voters = leader.voters
        others = [
            peer for peer in sorted(voters.ids - {leader.id}) if _may_vote_for(case, peer, leader)
        ]
        for group in combinations(others, voters.majority - 1):
            after = led_by(case, leader, group)
            known = CommitEvidence.of(after)
            for second in possible_leaders(after, after.voters.ids):
                losses += _weighing(known, second)
    return losses


def led_by(case: ElectionCase, leader: NodeCase, followers: Collection[int]) -> ElectionCase:
    """The quorum after a node led and these voters have taken all of its log.

    Their epoch is above all that they know of, and not above one that only another node's files
    have: a damaged header or leader-epoch-checkpoint may name any.
    """
    took_part = {leader.id, *followers}
    epoch = 1 + max(
        max(node.end.epoch, node.election.epoch if node.election is not None else 0)
        for node in (leader, *case.nodes)
        if node.id in took_part
    )
    log = _grown(leader.log, epoch)
    nodes = [
        replace(node, log=log) if node.id in took_part else node
        for node in case.nodes
        if not node.assumed
    ]
    there = {node.id for node in nodes}
    for voter in leader.voters:
        if voter.key.id in followers and voter.key.id not in there:
            settings = replace(
                leader.settings,
                node_id=voter.key.id,
                directory_id=voter.key.directory_id or f"of-node-{voter.key.id}",
            )
            nodes.append(replace(leader, settings=settings, log=log))
    return ElectionCase(nodes=tuple(sorted(nodes, key=lambda node: node.id)))


def _grown(log: Log, epoch: int) -> Log:
    """A log with the LeaderChange record of a new leader at its end."""
    view = log.view()
    return replace(
        log,
        start=view.start_offset,
        end=view.end_offset + 1,
        epochs=(*view.epochs, EpochEntry(epoch, view.end_offset)),
        believed_epochs=None,
        behind=None,
        is_torn=False,
    )


# --- an order of starts -----------------------------------------------------------------------


def _start_first(case: ElectionCase, known: CommitEvidence) -> tuple[int, ...]:
    """The largest set of given voters which, started alone, elects only leaders that lose nothing,
    and after which nobody else can do harm; empty if there is none."""
    given = [voter_id for voter_id in sorted(case.voters.ids) if _is_given(case, voter_id)]
    able = [voter_id for voter_id in given if voter_id not in case.cannot_start]
    for size in range(len(able), case.voters.majority - 1, -1):
        for group in combinations(able, size):
            leaders = list(possible_leaders(case, group))
            if leaders and not any(_weighing(known, leader) for leader in leaders):
                later = (led_by(case, leader, set(group) - {leader.id}) for leader in leaders)
                if all(_is_harmless(election_case) for election_case in later):
                    return group
    return ()


def _is_harmless(case: ElectionCase) -> bool:
    known = CommitEvidence.of(case)
    return not any(
        _weighing(known, possible_leader) or unseen_records(known, possible_leader)
        for possible_leader in possible_leaders(case, case.voters.ids)
    )
