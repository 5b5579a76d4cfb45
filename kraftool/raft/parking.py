"""Fetches that wait: for records, for the high watermark to rise, at most for their time.

Owns who waits and until when (Kafka's fetch purgatory). What they are answered is `fetch.py`'s.
"""

from __future__ import annotations

from collections.abc import Callable

from kraftool.decoders.error_codes import Error
from kraftool.raft import leadership
from kraftool.raft.events import Reply
from kraftool.raft.messages import FetchResponse
from kraftool.raft.raft import Raft
from kraftool.raft.roles import NEVER, ParkedFetch


def park(raft: Raft, parked: ParkedFetch) -> None:
    """Let a fetch wait."""
    raft.parked.append(parked)
    raft.next_parked_deadline_ms = min(raft.next_parked_deadline_ms, parked.deadline_ms)


def take(raft: Raft, *, up_to_offset: int | None = None) -> list[ParkedFetch]:
    """Those whose wait is over: all, or with `up_to_offset` those for whom there are records."""
    return _take(raft, lambda fetch: up_to_offset is None or fetch.fetch_offset < up_to_offset)


def _take(raft: Raft, is_over: Callable[[ParkedFetch], bool]) -> list[ParkedFetch]:
    """Remove fetches, in the order they came, and look at each of them once.

    A leader of a large cluster has one from every broker, and every append is for all of them.
    """
    taken: list[ParkedFetch] = []
    kept: list[ParkedFetch] = []
    for fetch in raft.parked:
        (taken if is_over(fetch) else kept).append(fetch)
    raft.parked = kept
    raft.next_parked_deadline_ms = min((fetch.deadline_ms for fetch in kept), default=NEVER)
    return taken


def refuse(raft: Raft) -> None:
    """Send everyone to the leader that there now is, if there is one."""
    leader_id, epoch = leadership.who_leads(raft)
    for fetch in take(raft):
        raft.emit(
            Reply(
                request_id=fetch.request_id,
                response=FetchResponse(
                    error=Error.NOT_LEADER_OR_FOLLOWER,
                    leader_id=leader_id,
                    leader_epoch=epoch,
                    endpoints=leadership.endpoints_for(raft, fetch.listener),
                    log_start_offset=raft.log.start_offset,
                ),
            )
        )


def expire(raft: Raft) -> None:
    """Answer those whose time is up with what was known when they came: nothing new.

    Every step ends here, so it looks at the fetches only when the time of one of them is up.
    """
    if raft.now_ms >= raft.next_parked_deadline_ms:
        for fetch in _take(raft, lambda fetch: raft.now_ms >= fetch.deadline_ms):
            raft.emit(Reply(request_id=fetch.request_id, response=fetch.answer))
    raft.wake_at(raft.next_parked_deadline_ms)
