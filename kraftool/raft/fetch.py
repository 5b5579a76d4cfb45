"""Fetch, as it is answered: records, another place to begin, a snapshot, or a wait.

Owns the order of checks, the leader's decision on a position, who has to wait, and the high
watermark: fetches raise it, and its rise answers those who wait. How a follower fetches is
`fetching.py`'s.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import check_quorum, leadership, parking, rules, voter_changes
from kraftool.raft.events import Reply, RequestReceived
from kraftool.raft.log_view import Validity
from kraftool.raft.messages import FetchRequest, FetchResponse, ReadRange
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT, NO_ID, UNKNOWN, OffsetAndEpoch
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader, ParkedFetch


def request(raft: Raft, event: RequestReceived, asked: FetchRequest) -> None:
    """Answer a fetch, or let it wait."""
    top = rules.top_error(raft, asked)
    if top is not Error.NONE:
        raft.emit(Reply(request_id=event.request_id, response=FetchResponse(top_error=top)))
        return
    answer = _answer(raft, asked, event.listener)
    if _answers_now(raft, asked, answer):
        raft.emit(Reply(request_id=event.request_id, response=answer))
        return
    parked = ParkedFetch(
        request_id=event.request_id,
        listener=event.listener,
        request=asked,
        answer=answer,
        deadline_ms=raft.now_ms + asked.max_wait_ms,
    )
    parking.park(raft, parked)


def _answers_now(raft: Raft, asked: FetchRequest, answer: FetchResponse) -> bool:
    role = raft.role
    committed = role.high_watermark if isinstance(role, Leader) else None
    return (
        answer.error is not Error.NONE
        or answer.read is not None
        or answer.diverging_epoch is not None
        or answer.snapshot_id is not None
        or asked.max_wait_ms == 0
        or (committed is not None and asked.high_watermark < committed)
    )


def _answer(raft: Raft, asked: FetchRequest, listener: str) -> FetchResponse:
    if (
        asked.max_wait_ms < 0
        or asked.fetch_offset < 0
        or asked.last_fetched_epoch < 0
        or asked.last_fetched_epoch > asked.current_leader_epoch
        or asked.current_leader_epoch < 0
    ):
        return _response(raft, listener, error=Error.INVALID_REQUEST)
    error = rules.leader_error(raft, asked.current_leader_epoch)
    if error is not Error.NONE:
        return _response(raft, listener, error=error)
    assert isinstance(raft.role, Leader), "the check above says so"
    return _serve(raft, raft.role, asked, listener)


def _serve(raft: Raft, leader: Leader, asked: FetchRequest, listener: str) -> FetchResponse:
    validity, where = position(raft, asked.fetch_offset, asked.last_fetched_epoch)
    if validity is Validity.SNAPSHOT:
        return _response(raft, listener, snapshot_id=where)
    if validity is Validity.DIVERGING:
        return _response(raft, listener, diverging_epoch=where)
    if asked.replica is not None and asked.replica.id != NO_ID:
        if asked.replica.id == leader.local.id:
            return _response(raft, listener, error=Error.UNKNOWN_SERVER_ERROR)
        heard_from(raft, leader, asked)
    has_more = asked.fetch_offset < raft.log.end_offset
    read = ReadRange(offset=asked.fetch_offset, max_bytes=asked.max_bytes) if has_more else None
    return _response(raft, listener, read=read)


def position(raft: Raft, offset: int, last_epoch: int) -> tuple[Validity, OffsetAndEpoch]:
    """Return where a replica at an offset stands. One that has nothing begins with a snapshot."""
    newest = raft.log.newest_snapshot
    if offset == 0 and newest is not None and newest != BOOTSTRAP_SNAPSHOT:
        return Validity.SNAPSHOT, newest
    return raft.log.validate(offset, last_epoch)


def heard_from(raft: Raft, leader: Leader, asked: FetchRequest) -> None:
    """Take note of how far a replica is; a voter's word may commit records.

    A replica holds whole batches, so an offset inside a batch counts as the start of the batch.
    """
    assert asked.replica is not None, "only replicas are taken note of"
    replica = leader.replicas.of(asked.replica)
    offset = raft.log.base_offset_of(asked.fetch_offset)
    replica.fetched(offset, raft.log.end_offset, raft.now_ms)
    check_quorum.heard_from(raft, leader, asked.replica)
    if leader.replicas.is_voter(asked.replica):
        advance_high_watermark(raft, leader)


def _response(
    raft: Raft,
    listener: str,
    *,
    error: Error = Error.NONE,
    diverging_epoch: OffsetAndEpoch | None = None,
    snapshot_id: OffsetAndEpoch | None = None,
    read: ReadRange | None = None,
) -> FetchResponse:
    leader_id, epoch = leadership.who_leads(raft)
    role = raft.role
    known = role.high_watermark if isinstance(role, Leader) else None
    committed = UNKNOWN if known is None or error is not Error.NONE else known
    return FetchResponse(
        error=error,
        leader_id=leader_id,
        leader_epoch=epoch,
        endpoints=leadership.endpoints_for(raft, listener),
        high_watermark=committed,
        log_start_offset=raft.log.start_offset,
        diverging_epoch=diverging_epoch,
        snapshot_id=snapshot_id,
        read=read,
    )


def update_own_offset(raft: Raft, leader: Leader) -> None:
    """Count what this node has on its disk, and sort the replicas by the voters there are now."""
    leader.replicas.split(raft.control.voters)
    own = leader.replicas.of(leader.local)
    own.end_offset = max(own.end_offset or 0, raft.log.flushed_offset)
    own.last_fetch_ms = own.last_caught_up_ms = raft.now_ms
    advance_high_watermark(raft, leader)


def advance_high_watermark(raft: Raft, leader: Leader) -> None:
    """Commit what a majority has; everyone who waits is told."""
    committed = leader.replicas.committed(leader.epoch_start_offset)
    if committed is None or (
        leader.high_watermark is not None and committed <= leader.high_watermark
    ):
        return
    leader.high_watermark = committed
    raft.log.commit(committed)
    voter_changes.committed(raft, leader)
    complete_parked(raft)


def complete_parked(raft: Raft, *, up_to_offset: int | None = None) -> None:
    """Answer those who waited for records below an offset, or all, as things are now."""
    for fetch in parking.take(raft, up_to_offset=up_to_offset):
        raft.emit(
            Reply(
                request_id=fetch.request_id,
                response=_answer(raft, fetch.request, fetch.listener),
            )
        )
