"""The orders in which a quorum starts after a repair, so that the start loses nothing.

Owns the order of starts, and the choice to give a voter the log of a node that is no voter. The
node with the best log has to win the first election. So it starts with as few shorter logs as can
be: they must not elect one another. What may be committed is judged by the directories as they
were, and who can lead by the directories as the plan leaves them. It refuses to judge by itself:
`reports/election/` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.repair.cases.model import Mend
from kraftool.repair.judging import surveyed_case
from kraftool.repair.plan import Action, PlanStep
from kraftool.repair.survey import Survey
from kraftool.repair.surveyed_quorum import SurveyedQuorum, bootstrap_option, with_surveys
from kraftool.reports.election.assessment import (
    MOST_VOTERS,
    LossBound,
    QuorumSafety,
    assess,
    led_by,
    possible_leaders,
)
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.reports.election.losses import (
    CommitEvidence,
    RecordLoss,
    losses_by,
    unseen_records,
)
from kraftool.reports.text.words import listed, numbered, offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOrder:
    """The voters that start first, and what their leader lacks at most."""

    first: tuple[int, ...] = ()
    """Empty if any order is as good."""
    loss: LossBound = LossBound.NONE
    lost_range: tuple[int, int | None] | None = None
    """What may be committed and the leader lacks; the end is None if it is not known."""
    leader_end: tuple[int, int] = (0, 0)
    """The epoch and the end offset of the log that wins."""
    holder: int | None = None
    """A node that has the first of these records; None if no node has."""
    other: tuple[int, int | None] | None = None
    """What another order of starts loses."""
    forgetful: tuple[tuple[int, str], ...] = ()
    """Voters that may have had more than their directory shows, and why."""


def start_order(quorum: SurveyedQuorum, mends: Sequence[Mend] = ()) -> StartOrder | None:
    """The order of starts that loses least. None if no order can be judged: too few voters were
    given, or too many there are."""
    before = _case_of(repaired(quorum, [mend for mend in mends if mend.case == _WHOLE_REST]))
    after = _case_of(repaired(quorum, mends))
    voters = after.voters
    given = [host for host in quorum.hosts if quorum.votes(host)]
    if not voters or len(voters) > MOST_VOTERS or len(given) < quorum.majority:
        return None
    known = _Known(evidence=CommitEvidence.of(before))
    weights: dict[int, StartOrder] = {
        possible_leader.id: known.lost_by(possible_leader)
        for possible_leader in possible_leaders(after, voters.ids)
    }
    if not weights:
        return None
    worst, least = max(weights.values(), key=_gravity), min(weights.values(), key=_gravity)
    if worst.loss is LossBound.NONE and assess(after).state is QuorumSafety.SAFE:
        return worst
    best: StartOrder | None = None
    for group in _groups(quorum, after):
        order = _led_first(known, after, group)
        if order is not None and (best is None or _gravity(order) < _gravity(best)):
            best = order
            if _gravity(best) <= _gravity(least):
                break
    reasons = tuple(
        (voter_id, known.evidence.forgotten[voter_id].reason)
        for voter_id in sorted(known.evidence.forgotten)
    )
    forgetful = tuple(reason for reason in reasons if reason[0] in voters.ids)
    if best is None or (best.loss is not LossBound.NONE and _gravity(best) == _gravity(worst)):
        return replace(worst, forgetful=forgetful)
    return replace(best, other=worst.lost_range, forgetful=forgetful)


def _case_of(quorum: SurveyedQuorum) -> ElectionCase:
    """The quorum, whose logs a repair cuts where their headers contradict each other. Whatever
    keeps a node from starting is repaired before it starts."""
    case = surveyed_case([host.survey for host in quorum.hosts]).sound
    return replace(case, nodes=tuple(replace(node, obstacle=None) for node in case.nodes))


def _gravity(order: StartOrder) -> tuple[bool, tuple[int, int]]:
    """Return how bad an order is. If every order may lose something, the best log loses least: a
    record that was committed in an earlier epoch is in the logs of all later leaders.
    """
    if order.lost_range is None:
        return False, (0, 0)
    epoch, offset = order.leader_end
    return True, (-epoch, -offset)


def is_better(one: StartOrder, other: StartOrder) -> bool:
    """True if one loses less than the other."""
    return _gravity(one) < _gravity(other)


def _groups(quorum: SurveyedQuorum, case: ElectionCase) -> Iterator[tuple[int, ...]]:
    """Sets of given voters that may start first, the largest first."""
    there = {host.node_id for host in quorum.hosts if quorum.votes(host)}
    given = sorted(
        voter_id for voter_id in case.voters.ids if voter_id in there and voter_id in case.by_id
    )
    for size in range(len(given), case.voters.majority - 1, -1):
        yield from combinations(given, size)


def _led_first(known: _Known, case: ElectionCase, group: tuple[int, ...]) -> StartOrder | None:
    """Return what a group loses that starts alone; None if it has no leader, or a later leader may
    lose more.
    """
    leaders = list(possible_leaders(case, group))
    if not leaders:
        return None
    worst = max((known.lost_by(leader) for leader in leaders), key=_gravity)
    for leader in leaders:
        later = led_by(case, leader, set(group) - {leader.id})
        for second in possible_leaders(later, later.voters.ids):
            if _gravity(known.lost_by(second)) > _gravity(worst):
                return None
    return replace(worst, first=group)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The evidence of the directories as they were."""

    evidence: CommitEvidence

    def lost_by(self, leader: NodeCase) -> StartOrder:
        """Return what a leader lacks of all that may be committed."""
        losses = [
            (loss.first_offset, loss.end, loss.node)
            for loss in self._losses(leader)
            if loss.commit_status.weighs
        ]
        leader_end = leader.end.epoch, leader.end.offset
        unseen = unseen_records(self.evidence, leader)
        if unseen is not None and unseen.end is None:
            return StartOrder(
                loss=LossBound.UNBOUNDED,
                lost_range=(min([unseen.first, *(first for first, _, _ in losses)]), None),
                leader_end=leader_end,
                holder=min(losses)[2] if losses else None,
            )
        if unseen is not None and unseen.end is not None and unseen.holder is not None:
            losses.append((unseen.first, unseen.end, unseen.holder))
        if not losses:
            return StartOrder()
        return StartOrder(
            loss=LossBound.BOUNDED,
            lost_range=(min(losses)[0], max(far for _, far, _ in losses)),
            leader_end=leader_end,
            holder=min(losses)[2],
        )

    def _losses(self, leader: NodeCase) -> Iterator[RecordLoss]:
        yield from losses_by(self.evidence, leader)
        before = self.evidence.case.by_id.get(leader.id)
        if before is not None:  # a repair may have cut the leader's own log
            twin = replace(leader, settings=replace(leader.settings, node_id=_NOBODY))
            own = replace(self.evidence, case=replace(self.evidence.case, nodes=(before,)))
            yield from losses_by(own, twin)


_NOBODY = -1
_WHOLE_REST = "rest-kept"
"""The case of a repair by which a damaged log loses nothing that a leader lacks."""


# --- the directories as a plan leaves them --------------------------------------------------------


def repaired(quorum: SurveyedQuorum, mends: Sequence[Mend]) -> SurveyedQuorum:
    """The quorum with the logs that the mends make."""
    made: dict[str, Survey] = {}
    for mend in mends:
        if mend.replaces_log and mend.source is not None:
            made[mend.host.name] = _with_log_of(mend.host.survey, mend.source.survey)
        elif mend.case == _WHOLE_REST:
            made[mend.host.name] = _after_its_snapshot(mend.host.survey)
        elif mend.replaces_log and mend.case == "emptied":
            made[mend.host.name] = _emptied(mend.host.survey)
    return with_surveys(quorum, made)


def _with_log_of(survey: Survey, source: Survey) -> Survey:
    """A directory with the log and the snapshots of another."""
    files = [file for file in survey.files if file.target.name not in _names(source)]
    node = survey.node
    if node is not None and source.node is not None:
        node = replace(
            source.node,
            settings=replace(
                source.node.settings,
                node_id=node.settings.node_id,
                directory_id=node.settings.directory_id,
                cluster_id=node.settings.cluster_id,
            ),
            election=node.election,
        )
    return replace(
        survey,
        node=node,
        log=source.log,
        snapshots=source.snapshots,
        state=source.state,
        voters=source.voters,
        voters_offset=source.voters_offset,
        kraft_version=source.kraft_version,
        files=(*files, *source.files),
    )


def _emptied(survey: Survey) -> Survey:
    node = survey.node
    if node is not None:
        empty = replace(node.log, start=0, end=0, epochs=(), snapshots=(), leaders=(), behind=None)
        node = replace(node, log=empty)
    return replace(survey, log=None, snapshots=(), state=None, node=node)


def _after_its_snapshot(survey: Survey) -> Survey:
    """A directory whose log is whole from its newest snapshot on, and begins there now."""
    log, newest = survey.log, survey.whole_snapshots[-1]
    assert log is not None, "or nothing follows the snapshot"
    assert log.broken is not None, "or the log is whole as it is"
    end, epoch = log.broken.end_offset, max(newest.epoch, log.broken.highest_epoch)
    epochs = [EpochEntry(epoch=newest.epoch, start_offset=newest.offset)]
    if epoch > newest.epoch:
        epochs.append(EpochEntry(epoch=epoch, start_offset=end - 1))
    whole = replace(
        log,
        start_offset=newest.offset,
        end_offset=end,
        intact_end=end,
        last_epoch=epoch,
        epochs=tuple(epochs),
        broken=None,
    )
    node = survey.node
    if node is not None:
        rest = replace(node.log, start=newest.offset, end=end, epochs=tuple(epochs), behind=None)
        node = replace(node, log=rest)
    return replace(survey, log=whole, node=node)


def _names(survey: Survey) -> frozenset[str]:
    return frozenset(file.target.name for file in survey.files)


# --- words --------------------------------------------------------------------------------------


def danger(order: StartOrder) -> str:
    """Why the order matters, or what may be lost in any order, as a clause."""
    lost_range = order.other if order.loss is LossBound.NONE else order.lost_range
    reasons = "".join(f"; node {node_id} {why}" for node_id, why in order.forgetful)
    if order.loss is LossBound.NONE and lost_range is None:
        return f"in another order, the first leader may truncate committed records{reasons}"
    assert lost_range is not None, "or nothing is lost"
    first, end = lost_range
    what = offsets(first, end) if end is not None else f"everything from offset {first}"
    if order.loss is LossBound.NONE:
        return (
            f"in another order, the first leader may truncate {what}, which may be"
            f" committed{reasons}"
        )
    return f"the first leader may lack {what}, which may be committed{reasons}"


def start_steps(
    quorum: SurveyedQuorum, first: Sequence[int], *, is_stopped: bool = False
) -> Iterator[PlanStep]:
    """An order of starts after which no voter can cut what may be committed."""
    names = {host.node_id: host.name for host in quorum.hosts if quorum.votes(host)}
    begin = tuple(names[node_id] for node_id in first)
    rest = tuple(name for name in names.values() if name not in begin)
    if not is_stopped:
        yield PlanStep(
            action=Action.STOP,
            hosts=tuple(names.values()),
            text="stop every controller, and whatever could start it again",
        )
    yield PlanStep(action=Action.START, hosts=begin, text="start these controllers, and no others")
    yield PlanStep(
        action=Action.CHECK,
        hosts=begin,
        text="they have a leader, and all of them have caught up with its log. Only then can no"
        " other controller be elected over a shorter log",
        commands=(f"kraftool quorum health{bootstrap_option(quorum)}",),
    )
    others = ["the other controllers"] if rest else []
    if quorum.lost:
        ids = [voter.id for voter in quorum.lost]
        replace_ = "replaces" if len(ids) == 1 else "replace"
        others.append(f"what {replace_} {numbered('voter', ids)}")
    if quorum.missing:
        others.append(f"{numbered('voter', [voter.id for voter in quorum.missing])}")
    text = f"start {listed(others)}, and then the brokers" if others else "start the brokers"
    yield PlanStep(action=Action.START, hosts=rest, text=text)
