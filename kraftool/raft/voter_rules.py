"""When the voters may be changed at all: the checks that the three requests share."""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import pending_change, voter_refusals
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader


def names_metadata_cluster(raft: Raft, cluster_id: str | None) -> bool:
    return cluster_id is None or cluster_id == raft.settings.cluster_id


def change_refused(raft: Raft, leader: Leader) -> tuple[Error, str]:
    """Why no voter can be added or removed just now: one change at a time, each on committed
    ground."""
    error, why = busy(raft, leader)
    if error is not Error.NONE:
        return error, why
    if raft.control.kraft_version < 1:
        return Error.UNSUPPORTED_VERSION, "kraft.version is 0, which has no dynamic voters"
    return uncommitted(raft, leader)


def busy(raft: Raft, leader: Leader) -> tuple[Error, str]:
    """Return an error if a change is in progress, or nothing is committed in this epoch yet."""
    if leader.change is not None and raft.now_ms >= leader.change.deadline_ms:
        why = voter_refusals.late(leader.change)
        pending_change.complete(raft, leader, Error.REQUEST_TIMED_OUT, why)
    if leader.change is not None:
        return Error.REQUEST_TIMED_OUT, "another change of the voters is under way"
    if leader.high_watermark is None:
        return Error.REQUEST_TIMED_OUT, "the leader has not committed anything yet"
    return Error.NONE, ""


def uncommitted(raft: Raft, leader: Leader) -> tuple[Error, str]:
    """Return an error if the newest voters are not committed yet."""
    offset = raft.control.voters_offset
    if offset is None or leader.high_watermark is None or offset >= leader.high_watermark:
        return Error.REQUEST_TIMED_OUT, "the newest voters are not committed yet"
    return Error.NONE, ""
