"""The first role, from what was promised on disk and what the log says.

Owns that choice. It is written down durably before anything else, whichever it is.
"""

from __future__ import annotations

from kraftool.decoders.errors import KraftoolError
from kraftool.raft import candidacy, transitions
from kraftool.raft.names import ElectionState
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Candidate, Follower, Resigned, Role, Unattached
from kraftool.raft.tally import Tally


def begin(raft: Raft) -> None:
    stored = raft.stored
    if stored.voted is not None and raft.settings.node_id is None:
        raise KraftoolError("quorum-state has a vote, and this node has no id")
    if stored.epoch < raft.log.last_epoch:
        stored = ElectionState(epoch=raft.log.last_epoch)
    role = _first(raft, stored)
    transitions.persist(raft, role)
    raft.role = role
    if raft.key is not None and raft.stands and raft.control.voters.is_only(raft.key):
        if isinstance(role, Candidate):
            candidacy.forward(raft)
        else:
            _elect_self(raft)


def _elect_self(raft: Raft) -> None:
    """A sole voter asks nobody. From Resigned, the role is left without a word to anyone."""
    if isinstance(raft.role, Resigned):
        raft.role = Unattached(epoch=raft.role.epoch, leader_id=raft.role.local.id)
    candidacy.become_prospective(raft)


def _first(raft: Raft, stored: ElectionState) -> Role:
    key, timing = raft.key, raft.timing
    deadline = raft.now_ms + raft.election_timeout_ms()
    if key is not None and stored.leader_id == key.id:
        # Never leader again in the same epoch: records that were lost could be given out twice.
        return Resigned(
            epoch=stored.epoch,
            local=key,
            endpoints=raft.settings.listeners,
            unacknowledged=set(raft.control.voters.ids) - {key.id},
            successors=(),
            election_deadline_ms=deadline,
        )
    has_stood = key is not None and stored.voted is not None and key.is_known_as(stored.voted)
    # Records of the epoch are another's, who won it.
    is_open = raft.settings.stands_again or raft.log.last_epoch < stored.epoch
    if key is not None and has_stood and is_open:
        if raft.stands:
            return Candidate(
                epoch=stored.epoch,
                local=key,
                tally=Tally(raft.control.voters.ids, key.id),
                election_deadline_ms=deadline,
            )
        if not raft.settings.is_witness:
            raise KraftoolError(f"node {key.id} has voted for itself, and is no voter")
    if stored.leader_id is not None:
        endpoints = raft.control.voters.endpoints_of(stored.leader_id)
        if raft.settings.default_listener in endpoints:
            return Follower(
                epoch=stored.epoch,
                leader_id=stored.leader_id,
                leader_endpoints=endpoints,
                voted=stored.voted,
                fetch_deadline_ms=raft.now_ms + timing.fetch_timeout_ms,
                update_deadline_ms=raft.now_ms + timing.fetch_timeout_ms,
            )
    return Unattached(
        epoch=stored.epoch,
        leader_id=stored.leader_id,
        voted=stored.voted,
        election_deadline_ms=deadline,
    )
