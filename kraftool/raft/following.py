"""A follower's turn, and what the leader's answers do to its log.

Owns whom to fetch from, the handling of a Fetch answer (records, a place to truncate to, a
snapshot), and the requests by which a node joins the voters on its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.raft import candidacy, rules, snapshots, voter_updates
from kraftool.raft.events import AppendBatches, Flush, Truncate
from kraftool.raft.messages import (
    AddVoterRequest,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    RemoveVoterRequest,
    Request,
    VoterChangeResponse,
)
from kraftool.raft.names import (
    UNKNOWN,
    CommittedTruncation,
    Endpoint,
    Error,
    OffsetAndEpoch,
    ProtocolError,
)
from kraftool.raft.records import Batch
from kraftool.raft.roles import Follower

if TYPE_CHECKING:
    from kraftool.raft.raft import Raft


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
        fetch_from_best(raft, role)
    elif voter_updates.is_needed(raft, role):
        if _ask_leader(raft, role, voter_updates.about_self(raft)):
            _wait_to_update(raft, role)
    else:
        _wait_to_update(raft, role)
        fetch_from_best(raft, role)


def _poll_observer(raft: Raft, role: Follower) -> None:
    if not _joins_now(raft, role):
        fetch_from_best(raft, role)
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
    if _ask_leader(raft, role, request):
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


def _leader_endpoint(raft: Raft, role: Follower) -> Endpoint:
    endpoint = role.leader_endpoints.get(raft.settings.default_listener)
    if endpoint is None:
        raise ProtocolError(
            f"leader {role.leader_id} has no endpoint of listener {raft.settings.default_listener}"
        )
    return endpoint


def _ask_leader(raft: Raft, role: Follower, request: Request) -> bool:
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
        _ask_leader(raft, role, _next_request(raft, role))
    else:
        raft.wake_at(connections.bootstrap_ready_ms(tuple(raft.bootstrap), now))


def fetch_from_any(raft: Raft) -> None:
    """Ask a bootstrap server, to learn who leads."""
    servers = tuple(raft.bootstrap)
    found = raft.connections.ready_bootstrap(servers, raft.now_ms, raft.random)
    if found is not None:
        raft.send(found, raft.bootstrap[found], _fetch(raft))
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
    succeeded(raft, role)
    return True


def succeeded(raft: Raft, role: Follower) -> None:
    """The leader answered well: it is not waited for, nor campaigned against, for a while."""
    role.fetch_deadline_ms = raft.now_ms + raft.timing.fetch_timeout_ms
    role.has_fetched = True


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
        commit(raft, role, min(raft.log.end_offset, answer.high_watermark))


def _usable(raft: Raft, batches: tuple[Batch, ...]) -> tuple[Batch, ...]:
    """What may be appended: nothing at all of an answer that is damaged, and no batch of an epoch
    that this node has not heard of, nor what follows it. Batches that would leave a gap, or go back
    in offsets or epochs, are no log."""
    if any(not each.is_valid for each in batches):
        return ()
    usable: list[Batch] = []
    end, epoch = raft.log.end_offset, raft.log.last_epoch
    for each in batches:
        if each.epoch > raft.epoch:
            break
        if each.base_offset != end or each.last_offset < end or each.epoch < epoch:
            raise ProtocolError(
                f"a batch of offsets {each.base_offset} to {each.last_offset}, epoch {each.epoch},"
                f" cannot follow offset {end - 1}, epoch {epoch}"
            )
        usable.append(each)
        end, epoch = each.next_offset, each.epoch
    return tuple(usable)


def commit(raft: Raft, role: Follower, offset: int) -> None:
    """Take over how much is committed, which is never less than before."""
    known = role.high_watermark
    if known is not None and offset < known:
        raise ProtocolError(f"the high watermark goes back from {known} to {offset}")
    role.high_watermark = offset
    raft.log.commit(offset)


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
