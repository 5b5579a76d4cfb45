"""No second leader of one epoch by what a plan leaves.

Owns the check of every plan, whoever made it: from the directories as the plan leaves them, no
majority of the voters that start can elect another leader of an epoch that was led. A voter can
vote in it if its epoch is below, or if it is the same and neither a vote nor a leader of it is
known. A candidate comes from an epoch below. The replacement of a lost voter starts when there is a
leader, whose epoch is higher; a voter that was not given keeps its promises.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kraftool.decoders import quorum_state
from kraftool.repair.plan import Action, HostPlan, Plan
from kraftool.repair.plan_file import PlanFileKind
from kraftool.repair.ranking import Host
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.survey import Survey
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from kraftool.reports.text.words import listed, numbered

_OF_THE_LOG = frozenset({PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT})


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochMemory:
    """The epoch that a node starts in, and if it can give a vote in it."""

    epoch: int
    has_voted: bool
    """True if it knows a vote of its own or a leader: it gives no other vote in the epoch."""

    def can_vote_in(self, epoch: int) -> bool:
        return self.epoch < epoch or (self.epoch == epoch and not self.has_voted)


def refuse_second_leader(plan: Plan, quorum: SurveyedQuorum) -> None:
    """Raise PlanRefused if an epoch that was led could get another leader."""
    epoch = led_epoch(quorum)
    voters = plan.voters_after
    if epoch < 0 or not voters:
        return
    first = _first_to_start(plan)
    able: dict[int, EpochMemory] = {}
    for voter in voters:
        host = quorum.host_of(voter.id)
        if host is None or voter.id in quorum.lost.ids or (first and host.name not in first):
            continue
        memory = memory_after(plan, quorum, host)
        if memory.can_vote_in(epoch):
            able[voter.id] = memory
    if len(able) < voters.majority or all(
        epoch_memory.epoch == epoch for epoch_memory in able.values()
    ):
        return
    lowest = min(able, key=lambda voter_id: able[voter_id].epoch)
    raise PlanRefused(
        f"epoch {epoch} had a leader, or may have had one, and {_nodes(able)} could elect"
        f" another leader in it: this plan leaves node {lowest} in epoch {able[lowest].epoch}",
        hint=_others(quorum)
        + f"rebuild node {lowest} from another one, which raises its epoch: --set rebuild={lowest}",
    )


def _others(quorum: SurveyedQuorum) -> str:
    ids = [voter.id for voter in quorum.missing]
    if not ids:
        return ""
    several = "directories" if len(ids) > 1 else "directory"
    return f"give the {several} of {numbered('voter', ids)} too. Or "


def _nodes(ids: Collection[int]) -> str:
    return f"node{'s' if len(ids) > 1 else ''} {listed(ids)}"


def led_epoch(quorum: SurveyedQuorum) -> int:
    """The highest epoch that was led, or may have been, by what any directory shows; -1 if none.

    If the voters whose votes are not known are a majority, they may have elected a leader of the
    epoch after it, too.
    """
    epochs = {-1}
    unknown = len(quorum.lost) + len(quorum.missing)
    votes: dict[tuple[int, int], int] = {}
    for host in quorum.hosts:
        survey, state = host.survey, host.survey.quorum_state
        epochs |= set(_epochs_of_log(survey))
        if state.leader_id >= 0:
            epochs.add(state.leader_epoch)
        if quorum.votes(host):
            if state.missing or state.complaint:
                unknown += 1
            elif state.voted_id >= 0:
                key = (state.leader_epoch, state.voted_id)
                votes[key] = votes.get(key, 0) + 1
    majority = quorum.majority
    epochs |= {epoch for (epoch, _), count in votes.items() if count + unknown >= majority}
    epoch = max(epochs)
    return epoch + 1 if epoch >= 0 and unknown >= majority > 0 else epoch


def _epochs_of_log(survey: Survey) -> Iterator[int]:
    log = survey.log
    if log is not None:
        yield log.last_epoch
        state = survey.quorum_state
        has_state = not (state.missing or state.complaint)
        # A node writes the epoch to quorum-state before it takes records of it.
        if log.broken is not None and not (
            has_state and state.leader_epoch < log.broken.highest_epoch
        ):
            yield log.broken.highest_epoch
    yield from (whole_snapshot.epoch for whole_snapshot in survey.whole_snapshots)


def _first_to_start(plan: Plan) -> tuple[str, ...]:
    """The controllers that start first, if others start later; else nothing."""
    starts = [step for step in plan.steps if step.action is Action.START]
    return starts[0].hosts if len(starts) > 1 else ()


def memory_after(plan: Plan, quorum: SurveyedQuorum, host: Host) -> EpochMemory:
    """Return what a node knows of epochs when it starts on what the plan leaves."""
    planned = plan.host(host.name)
    epoch, has_voted = _quorum_state_after(planned, host.survey)
    of_log = _log_epoch_after(planned, quorum, host)
    if of_log > epoch:  # Kafka starts without a vote in the epoch of its log
        return EpochMemory(epoch=of_log, has_voted=False)
    return EpochMemory(epoch=epoch, has_voted=has_voted)


def _quorum_state_after(planned: HostPlan | None, survey: Survey) -> tuple[int, bool]:
    for edit in planned.edits if planned is not None else ():
        if edit.target.kind is not PlanFileKind.QUORUM_STATE:
            continue
        data = b"".join(piece.data for piece in edit.pieces)
        state = quorum_state.decode(data)[0].quorum_state if data else None
        if state is None:
            return -1, False
        return state.leader_epoch, state.voted_id >= 0 or state.leader_id >= 0
    kept = survey.quorum_state
    if kept.missing or kept.complaint:
        return -1, False
    return kept.leader_epoch, kept.voted_id >= 0 or kept.leader_id >= 0


def _log_epoch_after(planned: HostPlan | None, quorum: SurveyedQuorum, host: Host) -> int:
    """The epoch of the last record or snapshot, or less."""
    changed = {edit.target for edit in planned.edits} if planned is not None else set()
    kept = [file for file in host.survey.files if file.target.kind in _OF_THE_LOG]
    epochs = [-1]
    if any(surveyed_file.target not in changed for surveyed_file in kept):
        epochs.append(host.survey.end.epoch)
    ends = {host.name: host.survey.end.epoch for host in quorum.hosts}
    for edit in planned.edits if planned is not None else ():
        if edit.target.kind not in _OF_THE_LOG or edit.is_removal:
            continue
        if edit.snapshot is not None:
            epochs.append(edit.snapshot.epoch)
        epochs += [ends.get(piece.source or host.name, -1) for piece in edit.pieces if piece.file]
    return max(epochs)
