"""Fetch, as a node asks: from the leader or a bootstrap server, for records or a snapshot.

Owns the choice of the node to ask, the requests, and what each good answer does to a follower. What
else an answer does is `following.py`'s and `snapshots.py`'s.
"""

from __future__ import annotations

from kraftool.raft.messages import FetchRequest, FetchSnapshotRequest, Request
from kraftool.raft.names import UNKNOWN, Endpoint, ProtocolError
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Follower


def _leader_endpoint(raft: Raft, role: Follower) -> Endpoint:
    endpoint = role.leader_endpoints.get(raft.settings.default_listener)
    if endpoint is None:
        raise ProtocolError(
            f"leader {role.leader_id} has no endpoint of listener {raft.settings.default_listener}"
        )
    return endpoint


def ask_leader(raft: Raft, role: Follower, request: Request) -> bool:
    return raft.send(role.leader_id, _leader_endpoint(raft, role), request)


def fetch_from_best(raft: Raft, role: Follower) -> None:
    """Fetch from the leader; from anyone else, if there is anyone, while the leader does not
    answer."""
    connections, now = raft.connections, raft.now_ms
    has_timed_out = connections.has_timed_out(role.leader_id, now)
    if has_timed_out:
        connections.reset(role.leader_id)
    if raft.bootstrap and (has_timed_out or connections.is_backing_off(role.leader_id, now)):
        fetch_from_any(raft)
    elif not connections.has_request_in_flight(now):
        ask_leader(raft, role, _next_request(raft, role))
    else:
        raft.wake_at(connections.bootstrap_ready_ms(tuple(raft.bootstrap), now))


def fetch_from_any(raft: Raft) -> None:
    """Ask a bootstrap server, to learn who leads."""
    servers = tuple(raft.bootstrap)
    server = raft.connections.ready_bootstrap(servers, raft.now_ms, raft.random)
    if server is not None:
        raft.send(server, raft.bootstrap[server], _fetch(raft))
    elif servers or raft.connections.has_request_in_flight(raft.now_ms):
        raft.wake_at(raft.connections.bootstrap_ready_ms(servers, raft.now_ms))


def _next_request(raft: Raft, role: Follower) -> Request:
    if role.download is None:
        return _fetch(raft)
    return FetchSnapshotRequest(
        cluster_id=raft.settings.cluster_id,
        replica=raft.settings.fetch_key,
        current_leader_epoch=role.epoch,
        snapshot_id=role.download.snapshot_id,
        position=role.download.position,
        max_bytes=raft.settings.fetch_snapshot_max_bytes,
    )


def _fetch(raft: Raft) -> FetchRequest:
    known = raft.role.high_watermark
    return FetchRequest(
        cluster_id=raft.settings.cluster_id,
        replica=raft.settings.fetch_key,
        current_leader_epoch=raft.epoch,
        fetch_offset=raft.log.end_offset,
        last_fetched_epoch=raft.log.last_epoch,
        max_wait_ms=raft.timing.fetch_max_wait_ms,
        max_bytes=raft.settings.fetch_max_bytes,
        high_watermark=UNKNOWN if known is None else known,
    )


def succeeded(raft: Raft, role: Follower) -> None:
    """The leader answered well: it is not waited for, nor campaigned against, for a while."""
    role.fetch_deadline_ms = raft.now_ms + raft.timing.fetch_timeout_ms
    role.has_fetched = True
    raft.refusals.clear()


def commit(raft: Raft, role: Follower, offset: int) -> None:
    """Take over how much is committed, which is never less than before."""
    known = role.high_watermark
    if known is not None and offset < known:
        raise ProtocolError(f"the high watermark goes back from {known} to {offset}")
    role.high_watermark = offset
    raft.log.commit(offset)
