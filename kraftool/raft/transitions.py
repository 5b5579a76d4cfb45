"""From one role to the next: what it keeps, and what must be durable before it counts.

Owns every change of the role (Kafka's QuorumState). Where the election state changes, quorum-state
is written first; every change but the adding of a vote frees all connections.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import parking, pending_change
from kraftool.raft.accumulator import Accumulator
from kraftool.raft.events import DropSnapshotDownload, PersistElection
from kraftool.raft.names import Endpoints, ProtocolError, ReplicaKey
from kraftool.raft.raft import Raft
from kraftool.raft.replicas import Replicas
from kraftool.raft.roles import (
    NEVER,
    TRANSITIONS,
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Role,
    Unattached,
)
from kraftool.raft.tally import Tally

LAST_EPOCH = (1 << 31) - 1
_ROOM = 1 << 20
"""So many epochs before the last are come to by elections only."""
_MOST_AT_ONCE = 1_000


def to_unattached(raft: Raft, epoch: int, leader_id: int | None = None) -> None:
    """Know of no leader to fetch from: in a higher epoch, or after a pre-vote that failed."""
    role = raft.role
    if epoch < role.epoch or (epoch == role.epoch and not isinstance(role, Prospective)):
        raise ProtocolError(f"from {_name(role)} of epoch {role.epoch} to Unattached of {epoch}")
    _to(
        raft,
        Unattached(
            epoch=epoch,
            leader_id=leader_id,
            voted=role.voted if epoch == role.epoch else None,
            high_watermark=role.high_watermark,
            election_deadline_ms=_unattached_deadline(raft, role),
        ),
        durable=True,
    )


def _unattached_deadline(raft: Raft, role: Role) -> int:
    """Return the deadline of an election: the one that runs already, or else a new one."""
    if not raft.is_voter:
        return NEVER
    if isinstance(role, Candidate | Unattached | Resigned):
        return role.election_deadline_ms
    if isinstance(role, Prospective) and not role.tally.is_lost:
        return role.election_deadline_ms
    return raft.now_ms + raft.election_timeout_ms()


def add_vote(raft: Raft, voted: ReplicaKey) -> None:
    """Promise the vote of this epoch to another node, durably, before it is told."""
    role = raft.role
    if voted.id == raft.settings.node_id or raft.settings.node_id is None:
        raise ProtocolError(f"node {raft.settings.node_id} cannot vote for {voted}")
    if not isinstance(role, Unattached | Prospective) or role.voted is not None:
        raise ProtocolError(f"{_name(role)} of epoch {role.epoch} cannot add a vote for {voted}")
    deadline = raft.now_ms + raft.election_timeout_ms()
    after: Unattached | Prospective
    if isinstance(role, Unattached):
        after = Unattached(
            epoch=role.epoch,
            leader_id=role.leader_id,
            voted=voted,
            high_watermark=role.high_watermark,
            election_deadline_ms=deadline,
        )
    else:
        after = Prospective(
            epoch=role.epoch,
            tally=_tally(raft),
            leader_id=role.leader_id,
            leader_endpoints=role.leader_endpoints,
            voted=voted,
            high_watermark=role.high_watermark,
            election_deadline_ms=deadline,
        )
    _to(raft, after, durable=True, resets=False)


def to_follower(raft: Raft, epoch: int, leader_id: int, endpoints: Endpoints) -> None:
    """Fetch from a leader, who is known by an endpoint of the listener that nodes fetch by."""
    role, listener = raft.role, raft.settings.default_listener
    if listener not in endpoints:
        raise ProtocolError(f"leader {leader_id} of epoch {epoch} has no endpoint of {listener}")
    if leader_id == raft.settings.node_id:
        raise ProtocolError(f"node {leader_id} is told to follow itself in epoch {epoch}")
    same = epoch == role.epoch
    if (
        epoch < role.epoch
        or (same and isinstance(role, Leader))
        or (same and isinstance(role, Follower) and len(role.leader_endpoints) >= len(endpoints))
    ):
        raise ProtocolError(
            f"from {_name(role)} of epoch {role.epoch} to Follower of {leader_id} in {epoch}"
        )
    timing = raft.timing
    _to(
        raft,
        Follower(
            epoch=epoch,
            leader_id=leader_id,
            leader_endpoints=endpoints,
            voted=role.voted if same else None,
            high_watermark=role.high_watermark,
            fetch_deadline_ms=raft.now_ms + timing.fetch_timeout_ms,
            update_deadline_ms=raft.now_ms + timing.fetch_timeout_ms,
        ),
        durable=True,
    )
    parking.refuse(raft)


def to_prospective(raft: Raft) -> None:
    """Ask whether an election could be won. Nothing about it has to be remembered."""
    role = raft.role
    if not raft.is_voter:
        raise ProtocolError(f"node {raft.settings.node_id} is no voter and cannot be elected")
    _to(
        raft,
        Prospective(
            epoch=role.epoch,
            tally=_tally(raft),
            leader_id=role.leader_id,
            leader_endpoints=role.leader_endpoints,
            voted=role.voted,
            high_watermark=role.high_watermark,
            election_deadline_ms=raft.now_ms + raft.election_timeout_ms(),
        ),
        durable=False,
    )


def to_candidate(raft: Raft) -> None:
    """Begin an epoch with the own vote, which is durable before anyone is asked for theirs."""
    role = raft.role
    if not raft.is_voter or raft.key is None:
        raise ProtocolError(f"node {raft.settings.node_id} is no voter and cannot be elected")
    _to(
        raft,
        Candidate(
            epoch=role.epoch + 1,
            local=raft.key,
            tally=_tally(raft),
            high_watermark=role.high_watermark,
            election_deadline_ms=raft.now_ms + raft.election_timeout_ms(),
        ),
        durable=True,
    )


def to_leader(raft: Raft) -> Leader:
    """Lead the epoch that was won. What is committed has to be established anew."""
    role = raft.role
    if not raft.is_voter or raft.key is None:
        raise ProtocolError(f"node {raft.settings.node_id} is no voter and cannot lead")
    if not isinstance(role, Candidate) or not role.tally.is_won:
        raise ProtocolError(f"{_name(role)} of epoch {role.epoch} has not won its election")
    replicas = Replicas(local=raft.key)
    replicas.split(raft.control.voters)
    leader = Leader(
        epoch=role.epoch,
        local=raft.key,
        endpoints=raft.settings.listeners,
        epoch_start_offset=raft.log.end_offset,
        granting=role.tally.granting,
        replicas=replicas,
        accumulator=Accumulator(
            epoch=role.epoch,
            next_offset=raft.log.end_offset,
            linger_ms=raft.timing.append_linger_ms,
        ),
        check_quorum_deadline_ms=raft.now_ms + raft.timing.check_quorum_ms,
        begin_quorum_deadline_ms=raft.now_ms,
        volatile_voters=raft.control.voters.updated_ignoring_directories(raft.settings.as_voter)
        if raft.control.kraft_version == 0
        else None,
        hands_over=not raft.settings.runs_controller,
    )
    _to(raft, leader, durable=True)
    raft.log.start_epoch(leader.epoch)
    return leader


def to_resigned(raft: Raft, successors: tuple[ReplicaKey, ...]) -> None:
    """Lead no more. The file says already that this node led the epoch."""
    role = raft.role
    if not isinstance(role, Leader):
        raise ProtocolError(f"{_name(role)} of epoch {role.epoch} cannot resign")
    _to(
        raft,
        Resigned(
            epoch=role.epoch,
            local=role.local,
            endpoints=role.endpoints,
            unacknowledged=set(raft.control.voters.ids) - {role.local.id},
            successors=successors,
            election_deadline_ms=raft.now_ms + raft.election_timeout_ms(),
        ),
        durable=False,
    )
    parking.refuse(raft)


def _tally(raft: Raft) -> Tally:
    assert raft.settings.node_id is not None, "only voters count votes"
    return Tally(raft.control.voters.ids, raft.settings.node_id)


def _to(raft: Raft, after: Role, *, durable: bool, resets: bool = True) -> None:
    before = raft.role
    if type(after) not in TRANSITIONS[type(before)]:
        raise ProtocolError(f"no transition from {_name(before)} to {_name(after)}")
    _refuse_epoch(before.epoch, after.epoch)
    if durable:
        persist(raft, after)
    if isinstance(before, Follower) and before.download is not None:
        raft.emit(DropSnapshotDownload(snapshot_id=before.download.snapshot_id))
    if isinstance(before, Leader):
        pending_change.complete(raft, before, Error.NOT_LEADER_OR_FOLLOWER, "no longer the leader")
    raft.role = after
    if resets:
        raft.connections.reset_all()


def _refuse_epoch(before: int, after: int) -> None:
    """An epoch has 32 bits: no single message may bring a quorum to the end of them, after which
    Kafka could not read the directories."""
    if after > LAST_EPOCH or (after > LAST_EPOCH - _ROOM and after - before > _MOST_AT_ONCE):
        raise ProtocolError(f"a quorum cannot reach epoch {after} after {before}")


def persist(raft: Raft, role: Role) -> None:
    """Have the election state written, in the form that the newest kraft.version has."""
    raft.stored = role.election
    raft.emit(PersistElection(state=role.election, kraft_version=raft.control.kraft_version))


def _name(role: Role) -> str:
    return type(role).__name__
