"""A quorum in the words of kafka-metadata-quorum, for those who read or parse them.

Owns that form, as Kafka 4.3 prints it. Where there is no leader, which that tool waits for in vain,
the lines are there with what can be known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.client.model import QuorumView, leader_end
from kraftool.decoders.wire import ZERO_UUID
from kraftool.raft.endpoints import shown_endpoint
from kraftool.raft.messages import ReplicaState

_HEADERS = (
    "NodeId",
    "DirectoryId",
    "LogEndOffset",
    "Lag",
    "LastFetchTimestamp",
    "LastCaughtUpTimestamp",
    "Status",
)


def status_text(view: QuorumView) -> str:
    """`describe --status`."""
    quorum = view.quorum
    lag, lag_ms = _largest_lag(view)
    values = {
        "ClusterId": view.cluster_id or "",
        "LeaderId": -1 if quorum is None else quorum.leader_id,
        "LeaderEpoch": -1 if view.epoch is None else view.epoch,
        "HighWatermark": -1 if quorum is None else quorum.high_watermark,
        "MaxFollowerLag": lag,
        "MaxFollowerLagTimeMs": lag_ms,
        "CurrentVoters": _listed(view, view.voters),
        "CurrentObservers": _listed(view, view.observers),
    }
    return "".join(f"{key + ':':<24}{value}\n" for key, value in values.items())


def _largest_lag(view: QuorumView) -> tuple[int, int]:
    """Records and milliseconds that the voter with the shortest log is behind the leader."""
    if view.quorum is None or not view.voters:
        return -1, -1
    leader = next((one for one in view.voters if one.replica.id == view.quorum.leader_id), None)
    last = min(view.voters, key=lambda one: one.log_end_offset)
    lag = leader_end(view) - last.log_end_offset
    if last is leader:
        return lag, 0
    if leader is None or min(leader.last_caught_up_timestamp, last.last_caught_up_timestamp) < 0:
        return lag, -1
    return lag, leader.last_caught_up_timestamp - last.last_caught_up_timestamp


def _listed(view: QuorumView, replicas: Sequence[ReplicaState]) -> str:
    return f"[{', '.join(_replica(view, replica) for replica in replicas)}]"


def _replica(view: QuorumView, state: ReplicaState) -> str:
    parts = [f'"id": {state.replica.id}']
    if state.replica.directory_id is not None:
        parts.append(f'"directoryId": "{state.replica.directory_id}"')
    endpoints = view.voter_endpoints.get(state.replica.id, {})
    if endpoints:
        listed = (f'"{shown_endpoint(name, where)}"' for name, where in endpoints.items())
        parts.append(f'"endpoints": [{", ".join(listed)}]')
    return f"{{{', '.join(parts)}}}"


def replication_text(view: QuorumView, now_ms: int | None) -> str:
    """`describe --replication`; with `now_ms` as --human-readable prints it."""
    rows = [_HEADERS, *_rows(view, now_ms)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADERS))]
    return "".join(
        "".join(f"{value:<{width}}\t" for value, width in zip(row, widths, strict=True)) + "\n"
        for row in rows
    )


def _rows(view: QuorumView, now_ms: int | None) -> Iterator[tuple[str, ...]]:
    quorum = view.quorum
    if quorum is None:
        return
    end = leader_end(view)
    groups = (
        ("Leader", [voter for voter in view.voters if voter.replica.id == quorum.leader_id]),
        ("Follower", [voter for voter in view.voters if voter.replica.id != quorum.leader_id]),
        ("Observer", view.observers),
    )
    for status, replicas in groups:
        for replica in replicas:
            yield (
                str(replica.replica.id),
                replica.replica.directory_id or ZERO_UUID,
                str(replica.log_end_offset),
                str(end - replica.log_end_offset),
                _when(replica.last_fetch_timestamp, now_ms),
                _when(replica.last_caught_up_timestamp, now_ms),
                status,
            )


def _when(timestamp_ms: int, now_ms: int | None) -> str:
    if timestamp_ms < 0 or now_ms is None:
        return str(timestamp_ms)
    return f"{max(now_ms - timestamp_ms, 0)} ms ago"
