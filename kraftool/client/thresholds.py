"""The thresholds of a healthy quorum, and the leader's clock that times are compared by.

All timestamps of a quorum are the leader's, so that the clock of this machine does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraftool.raft.messages import DescribeQuorumResponse, ReplicaState

FETCH_TIMEOUT_MS = 2_000
"""The default of controller.quorum.fetch.timeout.ms: a voter without a fetch for so long calls an
election."""
SILENT_MS = 3 * FETCH_TIMEOUT_MS
LAG_RECORDS = 1_000
LAG_MS = 5_000
POLLS_APART_S = 1.5
"""Three times the default of metadata.max.idle.interval.ms."""
COMMIT_S = 5.0
"""Seconds of more polls, if a leader wrote records between two polls and committed none."""


def leader_clock(quorum: DescribeQuorumResponse) -> int:
    """Return the leader's time: the timestamp of its own entry, which is that of its answer."""
    every = (*quorum.voters, *quorum.observers)
    own = [replica for replica in every if replica.replica.id == quorum.leader_id]
    return max((replica.last_fetch_timestamp for replica in own or every), default=-1)


def fetching(quorum: DescribeQuorumResponse, replicas: Iterable[ReplicaState]) -> tuple[int, ...]:
    """Return the ids of the replicas that have fetched recently, including the leader."""
    clock = leader_clock(quorum)
    return tuple(
        replica.replica.id
        for replica in replicas
        if replica.replica.id == quorum.leader_id
        or 0 <= clock - replica.last_fetch_timestamp <= SILENT_MS
    )
