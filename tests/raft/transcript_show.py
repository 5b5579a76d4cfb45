"""Effects and state of a node as lines of a transcript.

Owns what a reader sees: every effect, in order, and one line for the state. What is as everybody
expects it (the own cluster id, the usual endpoint) is not shown; the harness sees to it that it is.
"""

from kraftool.decoders.error_codes import Error
from kraftool.raft.events import (
    AppendBatches,
    Appended,
    AppendToSnapshot,
    Deliver,
    DropSnapshotDownload,
    Effect,
    Flush,
    InstallSnapshot,
    LeaderChanged,
    PersistElection,
    Refused,
    Reply,
    Send,
    SetDeadline,
    StartSnapshotDownload,
    Stopped,
    Truncate,
)
from kraftool.raft.messages import (
    AddVoterRequest,
    Answer,
    ApiVersionsRequest,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    DescribeQuorumResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RemoveVoterRequest,
    ReplicaState,
    Request,
    UpdateVoterRequest,
    UpdateVoterResponse,
    VoterChangeResponse,
    VoteRequest,
    VoteResponse,
)
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT, NO_ID, UNKNOWN, ElectionState, ReplicaKey
from kraftool.raft.raft import Raft
from kraftool.raft.roles import (
    NEVER,
    AddingVoter,
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Unattached,
)
from tests.raft.transcript_words import (
    show_batch,
    show_endpoints,
    show_key,
    show_keys,
    show_place,
    usual_endpoint,
)


def effect_line(effect: Effect, asker: str) -> str:
    """One effect; `asker` is who gets a reply."""
    match effect:
        case PersistElection(state=state, kraft_version=version):
            return f"persist {_election(state)} (v{version})"
        case AppendBatches(batches=batches):
            return "append " + " ".join(map(show_batch, batches))
        case Flush(end_offset=end):
            return f"flush to {end}"
        case Truncate(offset=offset):
            return f"truncate to {offset}"
        case Send(destination_id=destination, endpoint=endpoint):
            where = (
                ""
                if endpoint == usual_endpoint(destination, "CONTROLLER")
                else f" ({endpoint.host}:{endpoint.port})"
            )
            asked = _request(effect.request)
            return f"send {destination}{where} #{effect.correlation_id}: {asked}"
        case Reply(response=response):
            return f"reply to {asker}: {_response(response)}"
        case StartSnapshotDownload(snapshot_id=snapshot):
            return f"start download of {show_place(snapshot)}"
        case AppendToSnapshot(snapshot_id=snapshot, chunk=chunk):
            return f"write {len(chunk)} bytes to {show_place(snapshot)}"
        case InstallSnapshot(snapshot_id=snapshot):
            return f"install {show_place(snapshot)}"
        case DropSnapshotDownload(snapshot_id=snapshot):
            return f"drop download of {show_place(snapshot)}"
        case Deliver(from_offset=first, to_offset=end, snapshot_id=None):
            return f"deliver from {first} to {end}"
        case Deliver(snapshot_id=snapshot):
            assert snapshot is not None, "the other form is above"
            return f"deliver snapshot {show_place(snapshot)}"
        case LeaderChanged(epoch=epoch, leader_id=leader):
            return f"tell: {_or_none(leader)} leads epoch {epoch}"
        case Appended(last_offset=last):
            return f"appended up to {last}"
        case Refused(error=error):
            return f"refused: {_code(error) if error is not None else 'not lawful'}"
        case Stopped():
            return "stopped"
        case SetDeadline(at_ms=at):
            return f"wake {_time(at)}"


def _time(at_ms: int) -> str:
    return "never" if at_ms == NEVER else str(at_ms)


def _or_none(value: object) -> str:
    return "none" if value is None else str(value)


def _code(error: Error) -> str:
    return f"{error.value} {error.name}"


def _election(state: ElectionState) -> str:
    text = f"epoch {state.epoch}"
    if state.leader_id is not None:
        text += f" leader {state.leader_id}"
    if state.voted is not None:
        text += f" voted {show_key(state.voted)}"
    return text


def _asker(replica: ReplicaKey | None) -> str:
    if replica is None:
        return "nobody"
    return f"nobody in {replica.directory_id}" if replica.id == NO_ID else show_key(replica)


def _request(asked: Request) -> str:
    match asked:
        case VoteRequest():
            kind = "pre-vote" if asked.pre_vote else "vote"
            return (
                f"{kind} epoch {asked.replica_epoch} end {asked.last_offset}"
                f"@{asked.last_offset_epoch} to {_asker(asked.voter)}"
            )
        case BeginQuorumEpochRequest():
            listeners = show_endpoints(asked.leader_id, asked.leader_endpoints)
            return (
                f"begin-quorum epoch {asked.leader_epoch} to {_asker(asked.voter)} at {listeners}"
            )
        case EndQuorumEpochRequest():
            successors = show_keys(asked.preferred_candidates) or "none"
            return f"end-quorum epoch {asked.leader_epoch} successors {successors}"
        case FetchRequest():
            committed = "unknown" if asked.high_watermark == UNKNOWN else asked.high_watermark
            return (
                f"fetch as {_asker(asked.replica)} epoch {asked.current_leader_epoch}"
                f" at {asked.fetch_offset}@{asked.last_fetched_epoch} hwm {committed}"
            )
        case FetchSnapshotRequest():
            return (
                f"fetch-snapshot as {_asker(asked.replica)} epoch {asked.current_leader_epoch}"
                f" of {show_place(asked.snapshot_id)} position {asked.position}"
            )
        case AddVoterRequest():
            assert asked.voter is not None, "a node adds itself"
            listeners = show_endpoints(asked.voter.id, asked.listeners)
            when = "commit" if asked.ack_when_committed else "append"
            return f"add-voter {show_key(asked.voter)} at {listeners} ack at {when}"
        case RemoveVoterRequest():
            return f"remove-voter {_asker(asked.voter)}"
        case UpdateVoterRequest():
            assert asked.voter is not None, "a node tells of itself"
            listeners = show_endpoints(asked.voter.id, asked.listeners)
            supported = f"{asked.kraft_version.min}-{asked.kraft_version.max}"
            return (
                f"update-voter {show_key(asked.voter)} epoch {asked.current_leader_epoch}"
                f" at {listeners} supports {supported}"
            )
        case ApiVersionsRequest():
            return "api-versions"
        case _:
            raise AssertionError(f"a node does not send {asked}")


def _response(answer: Answer) -> str:
    """What is said, then who leads."""
    if answer.top_error is not Error.NONE:
        return f"top {_code(answer.top_error)}"
    parts = [_code(answer.error)] if answer.error is not Error.NONE else []
    match answer:
        case VoteResponse():
            if not parts:
                parts.append("granted" if answer.vote_granted else "rejected")
        case FetchResponse():
            parts += _fetched(answer)
        case FetchSnapshotResponse():
            if answer.read is not None:
                parts.append(
                    f"read {show_place(answer.read.snapshot_id)} from {answer.read.position}"
                    f" up to {answer.read.max_bytes} bytes"
                )
            elif answer.snapshot_id != BOOTSTRAP_SNAPSHOT:
                parts.append(f"of {show_place(answer.snapshot_id)} at {answer.position}")
        case VoterChangeResponse():
            return parts[0] if parts else "done"
        case DescribeQuorumResponse():
            parts += _described(answer) if not parts else ["says why"] if answer.message else []
        case BeginQuorumEpochResponse() | EndQuorumEpochResponse() | UpdateVoterResponse():
            parts = parts or ["done"]
        case _:
            raise AssertionError(f"a node does not answer {answer}")
    parts.append(_leads(answer))
    return ", ".join(parts)


def _leads(answer: Answer) -> str:
    text = f"epoch {answer.leader_epoch}"
    if answer.leader_id < 0:
        return text + " no leader"
    known = f" at {show_endpoints(answer.leader_id, answer.endpoints)}" if answer.endpoints else ""
    return f"{text} leader {answer.leader_id}{known}"


def _fetched(answer: FetchResponse) -> list[str]:
    if answer.error is not Error.NONE:
        return []
    if answer.diverging_epoch is not None:
        what = f"diverging {show_place(answer.diverging_epoch)}"
    elif answer.snapshot_id is not None:
        what = f"snapshot {show_place(answer.snapshot_id)}"
    elif answer.read is not None:
        what = f"read from {answer.read.offset} up to {answer.read.max_bytes} bytes"
    else:
        what = "nothing new"
    committed = "unknown" if answer.high_watermark == UNKNOWN else answer.high_watermark
    return [what, f"hwm {committed}", f"log start {answer.log_start_offset}"]


def _described(answer: DescribeQuorumResponse) -> list[str]:
    committed = "unknown" if answer.high_watermark == UNKNOWN else answer.high_watermark
    return [
        "voters " + " ".join(map(_replica, answer.voters)),
        "observers " + (" ".join(map(_replica, answer.observers)) or "none"),
        f"hwm {committed}",
    ]


def _replica(state: ReplicaState) -> str:
    """Who, how far, when it fetched last and when it was caught up last."""
    numbers = (
        state.log_end_offset,
        state.last_fetch_timestamp,
        state.last_caught_up_timestamp,
    )
    return (
        f"{show_key(state.replica)}({','.join('?' if n == UNKNOWN else str(n) for n in numbers)})"
    )


def state_line(raft: Raft) -> str:
    """The role with all that it carries, and how far the log is."""
    role = raft.role
    parts = [f"= {type(role).__name__} {_election(role.election)}"]
    if not raft.is_voter:
        parts.append("observer")
    if role.high_watermark is not None:
        parts.append(f"hwm {role.high_watermark}")
    match role:
        case Unattached():
            parts.append(f"election {_time(role.election_deadline_ms)}")
        case Prospective() | Candidate():
            if role.leader_endpoints:
                assert role.leader_id is not None, "endpoints are the leader's"
                parts.append(f"at {show_endpoints(role.leader_id, role.leader_endpoints)}")
            parts.append(f"granted {_ids(role.tally.granting)}")
            if role.tally.rejecting:
                parts.append(f"rejected {_ids(role.tally.rejecting)}")
            parts.append(f"election {_time(role.election_deadline_ms)}")
        case Follower():
            parts += _follower(role)
        case Leader():
            parts += _leader(raft, role)
        case Resigned():
            parts.append(f"untold {_ids(sorted(role.unacknowledged)) or 'none'}")
            parts.append(f"election {_time(role.election_deadline_ms)}")
    end = f"log end {show_place(raft.log.end)}"
    if raft.log.start_offset:
        end += f" from {raft.log.start_offset}"
    if raft.log.flushed_offset != raft.log.end_offset:
        end += f" flushed {raft.log.flushed_offset}"
    return ", ".join([*parts, end])


def _ids(ids: object) -> str:
    assert isinstance(ids, tuple | list), "ids are few"
    return " ".join(map(str, ids))


def _follower(role: Follower) -> list[str]:
    parts = [f"at {show_endpoints(role.leader_id, role.leader_endpoints)}"]
    if role.has_fetched:
        parts.append("has fetched")
    if role.has_updated_leader:
        parts.append("has updated leader")
    if role.download is not None:
        where = show_place(role.download.snapshot_id)
        parts.append(f"downloading {where} at {role.download.position}")
    parts.append(f"fetch {role.fetch_deadline_ms}")
    parts.append(f"update {role.update_deadline_ms}")
    return parts


def _leader(raft: Raft, role: Leader) -> list[str]:
    parts = [f"from {role.epoch_start_offset}"]
    if role.change is not None:
        name = "adding" if isinstance(role.change, AddingVoter) else "removing"
        replica = role.change.voter.key if isinstance(role.change, AddingVoter) else role.change.key
        parts.append(f"{name} {show_key(replica)} until {role.change.deadline_ms}")
    is_alone = len(raft.control.voters) == 1
    parts.append(f"check-quorum {'never' if is_alone else role.check_quorum_deadline_ms}")
    return parts
