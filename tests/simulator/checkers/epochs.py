"""Epochs rise, never fall, and by no more than the protocol says; and the disk knows them."""

from __future__ import annotations

from kraftool.raft.events import Event, RequestReceived, ResponseReceived
from kraftool.raft.messages import (
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    VoteRequest,
)
from kraftool.raft.names import ElectionState
from kraftool.raft.roles import Candidate, Leader, Resigned, Role
from tests.simulator.checkers.base import Checker
from tests.simulator.node import Node


def announced_epoch(event: Event | None) -> int:
    """The epoch that a message makes its receiver know."""
    match event:
        case RequestReceived(request=VoteRequest(replica_epoch=epoch)):
            return epoch
        case RequestReceived(
            request=BeginQuorumEpochRequest(leader_epoch=epoch)
            | EndQuorumEpochRequest(leader_epoch=epoch)
        ):
            return epoch
        case ResponseReceived(response=response):
            return response.leader_epoch
        case _:
            return -1


class Epochs(Checker):
    """An epoch begins with an election or with the end of a resignation, one at a time; all others
    are heard of. No node goes back."""

    name = "epochs"

    def role_changed(
        self, node: Node, before: Role | None, after: Role, event: Event | None
    ) -> None:
        if before is None:
            stored = node.disk.election
            if stored is not None and after.epoch < stored.epoch:
                self.violated(f"{node.name} starts in {after.epoch}, having been in {stored.epoch}")
            return
        if after.epoch < before.epoch:
            self.violated(f"{node.name} goes back from epoch {before.epoch} to {after.epoch}")
        if after.epoch == before.epoch:
            return
        known = max(before.epoch, announced_epoch(event))
        own = 1 if isinstance(before, Resigned) and known == before.epoch else 0
        own += isinstance(after, Candidate | Leader)
        if after.epoch != known + own:
            self.violated(f"{node.name} goes from epoch {before.epoch} to {after.epoch}")

    def persisted(self, node: Node, before: ElectionState | None, after: ElectionState) -> None:
        if before is not None and after.epoch < before.epoch:
            self.violated(f"{node.name} writes epoch {after.epoch} after {before.epoch}")


class QuorumStateChecker(Checker):
    """Checks that the disk has what the node uses, and that within an epoch nothing of it is taken
    back: neither a vote, unless it was for itself and won, nor a leader. (A node that voted for
    itself and then followed is a candidate again after a restart, as in Kafka; that epoch has no
    votes left.)"""

    name = "quorum-state"

    def rested(self, node: Node) -> None:
        stored, election = node.disk.election, node.raft.role.election
        if stored is None or stored.epoch != election.epoch:
            self.violated(f"{node.name} is in epoch {election.epoch}, and has written {stored}")
        voted, kept = election.voted, stored.voted
        same = voted == kept or (
            voted is not None
            and kept is not None
            and kept.directory_id is None
            and kept.id == voted.id
        )
        if stored.leader_id != election.leader_id or not same:
            self.violated(f"{node.name} goes by {election}, and has written {stored}")

    def persisted(self, node: Node, before: ElectionState | None, after: ElectionState) -> None:
        if before is None or before.epoch != after.epoch:
            return
        voted = before.voted is not None and before.voted.id == node.id
        # The write may end when the node has gone on already, and is no candidate any more.
        is_earlier = node.raft.role.election.leader_id != after.leader_id
        is_candidate = is_earlier or isinstance(node.raft.role, Candidate)
        stands_again = voted and after.leader_id is None and is_candidate
        if before.leader_id not in (None, after.leader_id) and not stands_again:
            self.violated(f"{node.name} forgets leader {before.leader_id} of epoch {after.epoch}")
        if before.voted is None or (after.voted and after.voted.id == before.voted.id):
            return
        if after.leader_id != node.id or before.voted.id != node.id:
            self.violated(f"{node.name} forgets its vote of epoch {after.epoch}")
