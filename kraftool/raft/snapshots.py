"""Snapshots: served to replicas that are too far behind, downloaded by one that is.

Owns FetchSnapshot on both sides, and what a new snapshot does to log and histories. The files are
whoever runs the core's.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.decoders.error_codes import Error
from kraftool.raft import check_quorum, fetching, leadership, rules
from kraftool.raft.events import (
    AppendToSnapshot,
    DropSnapshotDownload,
    InstallSnapshot,
    Reply,
    RequestReceived,
    SnapshotInstalled,
    StartSnapshotDownload,
)
from kraftool.raft.log_view import Validity
from kraftool.raft.messages import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    SnapshotRange,
)
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch, ProtocolError
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Download, Follower, Leader


def request(raft: Raft, event: RequestReceived, asked: FetchSnapshotRequest) -> None:
    """Answer with a slice of the file. Whoever reads it checks the position against its size."""
    if asked.cluster_id is not None and asked.cluster_id != raft.settings.cluster_id:
        top = FetchSnapshotResponse(top_error=Error.INCONSISTENT_CLUSTER_ID)
        raft.emit(Reply(request_id=event.request_id, response=top))
        return
    error = _error(raft, asked)
    leader_id, epoch = leadership.who_leads(raft)
    answer = FetchSnapshotResponse(
        error=error,
        leader_id=leader_id,
        leader_epoch=epoch,
        endpoints=leadership.endpoints_for(raft, event.listener),
    )
    if error is Error.NONE:
        assert isinstance(raft.role, Leader), "another role answers with an error"
        check_quorum.heard_from(raft, raft.role, asked.replica)
        answer = replace(
            answer,
            snapshot_id=asked.snapshot_id,
            position=asked.position,
            read=SnapshotRange(
                snapshot_id=asked.snapshot_id, position=asked.position, max_bytes=asked.max_bytes
            ),
        )
    raft.emit(Reply(request_id=event.request_id, response=answer))


def _error(raft: Raft, asked: FetchSnapshotRequest) -> Error:
    if not asked.is_for_metadata:
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    error = rules.leader_error(raft, asked.current_leader_epoch)
    if error is not Error.NONE:
        return error
    if asked.snapshot_id == BOOTSTRAP_SNAPSHOT or asked.snapshot_id not in raft.log.snapshots:
        return Error.SNAPSHOT_NOT_FOUND
    return Error.POSITION_OUT_OF_RANGE if asked.position < 0 else Error.NONE


def begin_download(raft: Raft, role: Follower, snapshot_id: OffsetAndEpoch) -> None:
    """Fetch this snapshot, and no records until it is here. One that is here already is not."""
    if snapshot_id in raft.log.snapshots:
        role.download = None
        return
    role.download = Download(snapshot_id=snapshot_id)
    raft.emit(StartSnapshotDownload(snapshot_id=snapshot_id))


def downloaded(raft: Raft, answer: FetchSnapshotResponse) -> bool:
    """Handle the answer with the next slice."""
    if rules.failed_on_top(answer.top_error):
        # Kafka 4.3 cannot encode an error of the partition, and says -1 instead: the snapshot may
        # be gone, or the leader another. A Fetch tells which.
        if answer.top_error is Error.UNKNOWN_SERVER_ERROR and isinstance(raft.role, Follower):
            _forget(raft, raft.role)
        return False
    handled = rules.common(raft, answer)
    if handled is not None:
        return handled
    role = raft.role
    if not isinstance(role, Follower) or role.download is None:
        return True
    negative = answer.snapshot_id.offset < 0 or answer.snapshot_id.epoch < 0
    if answer.error is Error.SNAPSHOT_NOT_FOUND or negative:
        _forget(raft, role)
        fetching.succeeded(raft, role)
        return True
    if answer.error is not Error.NONE:
        return False
    download = role.download
    if answer.snapshot_id != download.snapshot_id or answer.position != download.position:
        raise ProtocolError(
            f"asked for {download.snapshot_id} at {download.position},"
            f" given {answer.snapshot_id} at {answer.position}"
        )
    raft.emit(AppendToSnapshot(snapshot_id=download.snapshot_id, chunk=answer.chunk))
    download.position += len(answer.chunk)
    if download.position == answer.size:
        if not raft.log.is_behind(download.snapshot_id):
            raise ProtocolError(f"the log does not need snapshot {download.snapshot_id}")
        begin_after(raft, role, download.snapshot_id)
        role.download = None
        raft.emit(InstallSnapshot(snapshot_id=download.snapshot_id))
        raft.is_installing = True
    fetching.succeeded(raft, role)
    return True


def _forget(raft: Raft, role: Follower) -> None:
    if role.download is not None:
        raft.emit(DropSnapshotDownload(snapshot_id=role.download.snapshot_id))
        role.download = None


def begin_after(raft: Raft, role: Follower, snapshot_id: OffsetAndEpoch) -> None:
    """The log starts anew after a snapshot, all of which is committed."""
    raft.log.begin_after(snapshot_id)
    fetching.commit(raft, role, snapshot_id.offset)


def installed(raft: Raft, event: SnapshotInstalled) -> None:
    """Use the snapshot's control records from now on."""
    raft.is_installing = False
    raft.control.begin_after(event.snapshot_id.offset, event.kraft_version, event.voters)


def written(raft: Raft, snapshot_id: OffsetAndEpoch) -> None:
    """The node's own state machine has frozen one."""
    raft.log.add_snapshot(snapshot_id)
    raft.control.forget_before(snapshot_id.offset)


def refusal(raft: Raft, snapshot_id: OffsetAndEpoch, *, is_batch_border: bool) -> str | None:
    """Return why a snapshot must not be written; "" if it need not be, None if it may.

    The log's own high watermark counts: a role may not know one.
    """
    log, offset = raft.log, snapshot_id.offset
    if offset < log.start_offset:
        return ""
    committed = max(log.high_watermark, log.start_offset)
    if offset > committed:
        return f"{offset} is beyond the high watermark {committed}"
    validity, _ = log.validate(offset, snapshot_id.epoch)
    if validity is not Validity.VALID:
        return f"the log has no end of epoch {snapshot_id.epoch} at {offset}"
    if not is_batch_border:
        return f"no batch ends at {offset}"
    return "" if snapshot_id in log.snapshots else None
