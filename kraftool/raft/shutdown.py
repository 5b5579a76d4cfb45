"""An orderly end: who may go at once, and who waits for a successor."""

from __future__ import annotations

from kraftool.raft.events import Stopped
from kraftool.raft.raft import Raft


def complete_if_possible(raft: Raft) -> None:
    """Nobody waits for an observer or a sole voter; other voters stay until another leads. How
    long that is waited for at the most is whoever runs the core's."""
    if not raft.is_shutting_down or raft.is_stopped:
        return
    alone = raft.key is not None and raft.control.voters.is_only(raft.key)
    if not raft.is_voter or alone or raft.has_remote_leader:
        raft.is_stopped = True
        raft.emit(Stopped())
