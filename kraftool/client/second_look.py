"""The second look at a live quorum, which shows what one look cannot: whether it commits records.

Owns the time in which a leader has to commit what it wrote. It refuses to judge the looks.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from kraftool.client.model import QuorumView
from kraftool.client.thresholds import COMMIT_S
from kraftool.raft.messages import DescribeQuorumResponse

_PAUSE_S = 0.5
"""A follower's fetch waits no longer at the leader."""


class Surveyed(Protocol):
    """A quorum that can be surveyed."""

    async def survey(self) -> QuorumView: ...


async def second_look(target: Surveyed, before: QuorumView) -> QuorumView:
    """Look again, and until a record is committed if the first looks show none, for `COMMIT_S`.

    On a busy machine a leader may write a record between the looks that is committed after them.
    A look waits for nodes that do not answer, after the leader has answered. So the time begins at
    the end of a look, and a look follows it however long each takes.
    """
    deadline: float | None = None
    while True:
        now = await target.survey()
        if not awaits_commit(before, now):
            return now
        seen = time.monotonic()
        if deadline is None:
            deadline = seen + COMMIT_S
        elif seen >= deadline:
            return now
        await asyncio.sleep(_PAUSE_S)


def awaits_commit(before: QuorumView, now: QuorumView) -> bool:
    """True if the same leader wrote records between the looks, and none was committed."""
    then, this = before.quorum, now.quorum
    if then is None or this is None or not has_same_leader(then, this):
        return False
    return this.high_watermark <= then.high_watermark and leader_end(this) > leader_end(then)


def has_same_leader(then: DescribeQuorumResponse, this: DescribeQuorumResponse) -> bool:
    return (then.leader_id, then.leader_epoch) == (this.leader_id, this.leader_epoch)


def leader_end(quorum: DescribeQuorumResponse) -> int:
    """Return the end of the leader's log, or of the longest if the answer lacks the leader."""
    own = [voter for voter in quorum.voters if voter.replica.id == quorum.leader_id]
    return max((replica.log_end_offset for replica in own or quorum.voters), default=-1)
