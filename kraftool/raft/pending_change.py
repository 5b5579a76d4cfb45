"""The one change of the voter set that a leader may have under way: its end.

Owns the answer to whoever asked for it. How it begins and goes on is `voter_changes.py`'s.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import voter_refusals
from kraftool.raft.events import Reply
from kraftool.raft.messages import VoterChangeResponse
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader


def complete(raft: Raft, leader: Leader, error: Error, message: str = "") -> None:
    """End the change that is under way, if one is. What was appended for it stays in the log."""
    change, leader.change = leader.change, None
    if change is not None and change.request_id is not None:
        answer(raft, change.request_id, error, message)


def answer(raft: Raft, request_id: int, error: Error, message: str = "") -> None:
    raft.emit(
        Reply(request_id=request_id, response=VoterChangeResponse(error=error, message=message))
    )


def expire(raft: Raft, leader: Leader) -> None:
    """Give up on a change whose time is over."""
    if leader.change is None:
        return
    if raft.now_ms >= leader.change.deadline_ms:
        why = voter_refusals.late(leader.change)
        complete(raft, leader, Error.REQUEST_TIMED_OUT, why)
    else:
        raft.wake_at(leader.change.deadline_ms)
