"""A follower's turn, and what the leader's answers do to its log.

Owns the handling of a Fetch answer (records, a place to truncate to, a snapshot), and the requests
by which a node joins the voters on its own. How it fetches is `fetching.py`'s.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import candidacy, fetching, rules, snapshots, voter_updates
from kraftool.raft.events import AppendBatches, Flush, Truncate
from kraftool.raft.messages import (
    AddVoterRequest,
    FetchResponse,
    RemoveVoterRequest,
    Request,
    VoterChangeResponse,
)
from kraftool.raft.names import CommittedTruncation, OffsetAndEpoch, ProtocolError
from kraftool.raft.raft import Raft
from kraftool.raft.records import Batch
from kraftool.raft.roles import Follower


def poll(raft: Raft, role: Follower) -> None:
    if raft.is_voter:
        _poll_voter(raft, role)
    else:
        _poll_observer(raft, role)


def _poll_voter(raft: Raft, role: Follower) -> None:
    if raft.now_ms >= role.fetch_deadline_ms:
        candidacy.become_prospective(raft)
        return
    raft.wake_at(role.fetch_deadline_ms)
    if raft.now_ms < role.update_deadline_ms:
        raft.wake_at(role.update_deadline_ms)
        fetching.fetch_from_best(raft, role)
    elif voter_updates.is_needed(raft, role):
        if fetching.ask_leader(raft, role, voter_updates.about_self(raft)):
            _wait_to_update(raft, role)
    else:
        _wait_to_update(raft, role)
        fetching.fetch_from_best(raft, role)


def _poll_observer(raft: Raft, role: Follower) -> None:
    if not _joins_now(raft, role):
        fetching.fetch_from_best(raft, role)
        return
    assert raft.key is not None, "a controller has an id"
    old = raft.control.voters.voters.get(raft.key.id)
    if old is None:
        not_needed = Error.DUPLICATE_VOTER
        request: Request = AddVoterRequest(
            cluster_id=raft.settings.cluster_id,
            timeout_ms=raft.timing.request_timeout_ms,
            voter=raft.key,
            listeners=raft.settings.listeners,
            ack_when_committed=False,
        )
    else:  # this node as it was before its disk was formatted again
        not_needed = Error.VOTER_NOT_FOUND
        request = RemoveVoterRequest(cluster_id=raft.settings.cluster_id, voter=old.key)
    if fetching.ask_leader(raft, role, request):
        role.not_needed = not_needed
        _wait_to_update(raft, role)


def _joins_now(raft: Raft, role: Follower) -> bool:
    if not (raft.settings.auto_join and raft.settings.is_controller and raft.key is not None):
        return False
    if raft.control.kraft_version < 1:
        return False
    if raft.now_ms < role.update_deadline_ms:
        raft.wake_at(role.update_deadline_ms)
        return False
    return True


def _wait_to_update(raft: Raft, role: Follower) -> None:
    role.update_deadline_ms = raft.now_ms + raft.timing.fetch_timeout_ms
    raft.wake_at(role.update_deadline_ms)


def fetched(raft: Raft, answer: FetchResponse) -> bool:
    """Handle the answer to a fetch."""
    if rules.failed_on_top(answer.top_error):
        return False
    handled = rules.common(raft, answer)
    if handled is not None:
        return handled
    role = raft.role
    if not isinstance(role, Follower):
        # An answer without a leader, to a node that knows of none: ask another.
        return False
    if answer.error is not Error.NONE:
        return False
    if answer.diverging_epoch is not None:
        _truncate(raft, role, answer.diverging_epoch)
    elif answer.snapshot_id is not None:
        if answer.snapshot_id.offset < 0 or answer.snapshot_id.epoch < 0:
            return False
        snapshots.begin_download(raft, role, answer.snapshot_id)
    else:
        _append(raft, role, answer)
    fetching.succeeded(raft, role)
    return True


def _truncate(raft: Raft, role: Follower, diverging: OffsetAndEpoch) -> None:
    """Cut the log where the leader's diverges. Kafka compares the leader's offset with the role's
    high watermark, and the place of the cut with the log's."""
    log, known = raft.log, role.high_watermark
    offset = log.truncation_point(diverging)
    if offset < log.committed_offset or (known is not None and diverging.offset < known):
        raise CommittedTruncation(
            min(offset, diverging.offset),
            log.committed_offset,
            leader=f"leader {role.leader_id} of epoch {role.epoch}",
        )
    log.truncate(offset)
    raft.control.truncate(offset)
    raft.emit(Truncate(offset=offset))


def _append(raft: Raft, role: Follower, answer: FetchResponse) -> None:
    usable = _usable(raft, answer.batches)
    if usable:
        raft.emit(AppendBatches(batches=usable))
        for batch in usable:
            raft.log.append(batch)
            raft.control.append(batch)
        if raft.is_voter or raft.settings.is_controller:
            raft.emit(Flush(end_offset=raft.log.end_offset))
    if answer.high_watermark >= 0:
        fetching.commit(raft, role, min(raft.log.end_offset, answer.high_watermark))


def _usable(raft: Raft, batches: tuple[Batch, ...]) -> tuple[Batch, ...]:
    """Return what may be appended: nothing at all of an answer that is damaged, and no batch of an
    epoch that this node has not heard of, nor what follows it. Batches that would leave a gap, or
    go back in offsets or epochs, are no log.
    """
    if any(not batch.is_valid for batch in batches):
        return ()
    usable: list[Batch] = []
    end, epoch = raft.log.end_offset, raft.log.last_epoch
    for batch in batches:
        if batch.epoch > raft.epoch:
            break
        if batch.base_offset != end or batch.last_offset < end or batch.epoch < epoch:
            raise ProtocolError(
                f"a batch of offsets {batch.base_offset} to {batch.last_offset},"
                f" epoch {batch.epoch},"
                f" cannot follow offset {end - 1}, epoch {epoch}"
            )
        usable.append(batch)
        end, epoch = batch.next_offset, batch.epoch
    return tuple(usable)


def joined(raft: Raft, answer: VoterChangeResponse) -> bool:
    """The answer to the request by which this node joins, or removes what it was before."""
    role = raft.role
    if not isinstance(role, Follower):
        return True
    fine = (Error.NONE, Error.REQUEST_TIMED_OUT, role.not_needed)
    if answer.top_error is Error.NONE and answer.error in fine:
        _wait_to_update(raft, role)
        return True
    return False
