"""A leader's turn: what it writes, whom it tells, when to go.

Owns becoming leader, resigning, and the leader's poll. Each request it answers is its family's.
"""

from __future__ import annotations

from kraftool.raft import (
    appends,
    begin_quorum,
    hand_over,
    pending_change,
    transitions,
)
from kraftool.raft.events import Refused, Resign
from kraftool.raft.raft import Raft
from kraftool.raft.records import ControlRecord, KRaftVersion, LeaderChange, Voters
from kraftool.raft.roles import Leader, Resigned


def become_leader(raft: Raft) -> None:
    """Lead, and have it written to the log: nothing older is committed before that is."""
    leader = transitions.to_leader(raft)
    raft.refusals.clear()
    hand_over.begin(raft, leader)
    control = raft.control
    voters = control.voters
    records: list[ControlRecord] = [
        LeaderChange(
            leader_id=leader.local.id,
            voters=tuple(sorted(voters.ids)),
            granting_voters=leader.granting,
        )
    ]
    if control.kraft_version >= 1:
        own = raft.settings.as_voter
        refreshed = voters.updated(own)
        differs = refreshed is not None and voters.voters.get(own.key.id) != own
        if control.voters_offset == -1 or differs:
            records += [KRaftVersion(control.kraft_version), Voters(refreshed or voters)]
    leader.accumulator.append_control(records, raft.now_ms)


def poll(raft: Raft, leader: Leader) -> None:
    if _resigns(raft, leader):
        return
    pending_change.expire(raft, leader)
    appends.write(raft, leader)
    begin_quorum.poll(raft, leader)
    hand_over.ask_voters(raft, leader)
    # A second voter that was just added counts from now on.
    if not _resigns(raft, leader) and len(raft.control.voters) > 1:
        raft.wake_at(leader.check_quorum_deadline_ms)


def _resigns(raft: Raft, leader: Leader) -> bool:
    """Resign if the node shuts down, was asked to, lost its majority, or hands over. Return True if
    it did."""
    is_lost = len(raft.control.voters) > 1 and raft.now_ms >= leader.check_quorum_deadline_ms
    ends = raft.is_shutting_down or leader.resign_requested or is_lost
    if not ends and not hand_over.is_due(raft, leader):
        return False
    transitions.to_resigned(raft, hand_over.successors(raft, leader))
    return True


def resign(raft: Raft, event: Resign) -> None:
    """The state machine wants another leader."""
    epoch = event.epoch
    if epoch < 0 or epoch > raft.epoch:
        raft.emit(Refused(error=None, reason=f"epoch {epoch} is not led: it is {raft.epoch}"))
    elif epoch == raft.epoch:
        if isinstance(raft.role, Leader):
            raft.role.resign_requested = True
            raft.role.controllers |= event.preferred
        elif not isinstance(raft.role, Resigned):
            raft.emit(Refused(error=None, reason=f"not the leader of epoch {epoch}"))
