"""Fetches that wait: for records, for the high watermark to rise, at most for their time.

Owns who waits and until when (Kafka's fetch purgatory). What they are answered is `fetch.py`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.raft import leadership
from kraftool.raft.events import Reply
from kraftool.raft.messages import FetchResponse
from kraftool.raft.names import Error
from kraftool.raft.roles import ParkedFetch

if TYPE_CHECKING:
    from kraftool.raft.raft import Raft


def take(raft: Raft, *, up_to_offset: int | None = None) -> list[ParkedFetch]:
    """Those whose wait is over: all, or with `up_to_offset` those for whom there are records."""
    taken = [
        each for each in raft.parked if up_to_offset is None or each.fetch_offset < up_to_offset
    ]
    raft.parked = [each for each in raft.parked if each not in taken]
    return taken


def refuse(raft: Raft) -> None:
    """Send everyone to the leader that there now is, if there is one."""
    leader_id, epoch = leadership.who_leads(raft)
    for each in take(raft):
        raft.emit(
            Reply(
                request_id=each.request_id,
                response=FetchResponse(
                    error=Error.NOT_LEADER_OR_FOLLOWER,
                    leader_id=leader_id,
                    leader_epoch=epoch,
                    endpoints=leadership.endpoints_for(raft, each.listener),
                    log_start_offset=raft.log.start_offset,
                ),
            )
        )


def expire(raft: Raft) -> None:
    """Answer those whose time is up with what was known when they came: nothing new."""
    over = [each for each in raft.parked if raft.now_ms >= each.deadline_ms]
    raft.parked = [each for each in raft.parked if raft.now_ms < each.deadline_ms]
    for each in over:
        raft.emit(Reply(request_id=each.request_id, response=each.answer))
    for each in raft.parked:
        raft.wake_at(each.deadline_ms)
