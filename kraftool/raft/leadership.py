"""The leader that answers name, in the same way in every family."""

from __future__ import annotations

from kraftool.raft.names import NO_ID, Endpoints
from kraftool.raft.raft import Raft


def who_leads(raft: Raft) -> tuple[int, int]:
    """Leader (-1 for none) and epoch."""
    leader = raft.leader_id
    return (NO_ID if leader is None else leader), raft.epoch


def endpoints_for(raft: Raft, listener: str) -> Endpoints:
    """Return where the leader is, for one who asked through this listener."""
    endpoint = raft.role.leader_endpoints.get(listener)
    return {} if endpoint is None or raft.leader_id is None else {listener: endpoint}
