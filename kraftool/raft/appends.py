"""Records on their way into the leader's log.

Owns what is refused, when what was given is written, and what follows once it is on the disk. The
leader's own copy counts towards a majority only then (Kafka counts it before its fsync returns).
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import fetch
from kraftool.raft.events import (
    Append,
    AppendBatches,
    Appended,
    Event,
    Flush,
    Refused,
    RequestReceived,
    ResponseReceived,
    UpgradeKRaftVersion,
)
from kraftool.raft.messages import (
    AddVoterRequest,
    ApiVersionsResponse,
    RemoveVoterRequest,
)
from kraftool.raft.names import ProtocolError
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader


def may_append(event: Event) -> bool:
    """True for an event that can append to a leader's log, and is to wait while that is held.
    AddRaftVoter only prepares that, and keeps its order. UpdateRaftVoter is refused meanwhile."""
    match event:
        case RequestReceived(request=request):
            return isinstance(request, AddVoterRequest | RemoveVoterRequest)
        case ResponseReceived(response=response):
            return isinstance(response, ApiVersionsResponse)
    return isinstance(event, Append | UpgradeKRaftVersion)


def append(raft: Raft, event: Append) -> None:
    """Take records into the buffer, or say why not."""
    role = raft.role
    if not isinstance(role, Leader) or event.epoch < role.epoch:
        reason = f"not the leader of epoch {event.epoch}"
        raft.emit(Refused(error=Error.NOT_LEADER_OR_FOLLOWER, reason=reason))
    elif event.epoch > role.epoch:
        reason = f"epoch {event.epoch} has not begun: it is {role.epoch}"
        raft.emit(Refused(error=None, reason=reason))
    elif not event.records:
        raft.emit(Refused(error=None, reason="no records to append"))
    elif not role.accumulator.fits(event.size):
        reason = f"{event.size} bytes do not fit into a batch"
        raft.emit(Refused(error=Error.RECORD_LIST_TOO_LARGE, reason=reason))
    elif event.base_offset not in (None, role.accumulator.next_offset):
        next_offset = role.accumulator.next_offset
        reason = f"offset {event.base_offset} is not the next one, which is {next_offset}"
        raft.emit(Refused(error=None, reason=reason))
    elif role.accumulator.is_full:
        reason = "too many batches wait to be written"
        raft.emit(Refused(error=None, reason=reason))
    else:
        last = role.accumulator.append(event.records, event.size, raft.now_ms)
        raft.emit(Appended(last_offset=last))


def write(raft: Raft, leader: Leader) -> None:
    """Write what is due. Who waits for it is answered before the flush, which they need not."""
    accumulator = leader.accumulator
    if accumulator.is_due(raft.now_ms):
        batches = tuple(accumulator.drain())
        raft.emit(AppendBatches(batches=batches))
        for batch in batches:
            raft.log.append(batch)
            raft.control.append(batch)
        fetch.update_own_offset(raft, leader)
        fetch.complete_parked(raft, up_to_offset=raft.log.end_offset)
        raft.emit(Flush(end_offset=raft.log.end_offset))
    if accumulator.drain_at_ms is not None:
        raft.wake_at(accumulator.drain_at_ms)


def flushed(raft: Raft, end_offset: int) -> None:
    """Everything below an offset is safe here. What a leader counts is never taken back."""
    if isinstance(raft.role, Leader) and end_offset < raft.log.flushed_offset:
        raise ProtocolError(f"flushed to {end_offset} after {raft.log.flushed_offset}")
    raft.log.flushed(end_offset)
    if isinstance(raft.role, Leader):
        fetch.update_own_offset(raft, raft.role)
