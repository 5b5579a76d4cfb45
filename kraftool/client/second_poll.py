"""The second poll of a live quorum, which shows if the leader commits records.

Owns how long kraftool waits for a commit.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from kraftool.client.model import QuorumView
from kraftool.client.thresholds import COMMIT_S, SILENT_MS, leader_clock
from kraftool.raft.messages import DescribeQuorumResponse

_PAUSE_S = 0.5
"""A leader holds a follower's fetch no longer than this."""


class Surveyed(Protocol):
    """A quorum that can be surveyed."""

    async def survey(self) -> QuorumView: ...


async def second_poll(target: Surveyed, before: QuorumView) -> QuorumView:
    """Poll again. If the leader wrote records and committed none, or a voter that answers did not
    fetch, repeat the poll for `COMMIT_S`.

    On a busy machine a leader may write a record between two polls and commit it after them.
    A poll can last long after the leader's answer, because it waits for nodes that do not answer.
    So the time begins at the end of a poll, and at least one more poll follows.
    """
    deadline: float | None = None
    while True:
        now = await target.survey()
        if not awaits_commit(before, now) and not awaits_fetch(before, now):
            return now
        seen = time.monotonic()
        if deadline is None:
            deadline = seen + COMMIT_S
        elif seen >= deadline:
            return now
        await asyncio.sleep(_PAUSE_S)


def awaits_commit(before: QuorumView, now: QuorumView) -> bool:
    """True if the same leader wrote records between the polls and committed none, or has committed
    nothing in its epoch: it wrote a LeaderChange when that began."""
    then, this = before.quorum, now.quorum
    if then is None or this is None or not has_same_leader(then, this):
        return False
    if this.high_watermark < 0:
        return True
    return this.high_watermark <= then.high_watermark and leader_end(this) > leader_end(then)


def awaits_fetch(before: QuorumView, now: QuorumView) -> bool:
    """True if a voter answers and fetched a moment ago, but not between the polls."""
    then, this = before.quorum, now.quorum
    if then is None or this is None or not has_same_leader(then, this):
        return False
    running = {node.node_id for node in now.current} - {this.leader_id}
    clock = leader_clock(this)
    return any(
        voter.last_fetch_timestamp <= leader_clock(then)
        and 0 <= clock - voter.last_fetch_timestamp <= SILENT_MS
        for voter in this.voters
        if voter.replica.id in running
    )


def has_same_leader(then: DescribeQuorumResponse, this: DescribeQuorumResponse) -> bool:
    return (then.leader_id, then.leader_epoch) == (this.leader_id, this.leader_epoch)


def leader_end(quorum: DescribeQuorumResponse) -> int:
    """Return the end of the leader's log, or of the longest log if the answer lacks the leader."""
    own = [voter for voter in quorum.voters if voter.replica.id == quorum.leader_id]
    return max((replica.log_end_offset for replica in own or quorum.voters), default=-1)
