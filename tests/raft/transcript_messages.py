"""Requests that come in, and answers to what was sent, as a transcript writes them.

Owns which words each family knows. What is left out is as a well-behaved node would have it: the
right cluster, the right receiver, the sender's usual endpoint.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import (
    AddVoterRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    DescribeQuorumRequest,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RemoveVoterRequest,
    Request,
    Response,
    UpdateVoterRequest,
    UpdateVoterResponse,
    VoterChangeResponse,
    VoteRequest,
    VoteResponse,
)
from kraftool.raft.names import NO_HIGH_WATERMARK_FIELD, UNKNOWN, OffsetAndEpoch, ReplicaKey
from kraftool.raft.raft import Raft
from tests.raft import transcript_words as words
from tests.raft.transcript_setup import CLUSTER_ID
from tests.raft.transcript_words import TranscriptError, one, options

_ALL = {"from", "cluster", "elsewhere", "listener"}

REQUESTS: dict[str, set[str]] = {
    "vote": _ALL | {"epoch", "end", "to"},
    "pre-vote": _ALL | {"epoch", "end", "to"},
    "begin-quorum": _ALL | {"epoch", "to", "endpoints"},
    "end-quorum": _ALL | {"epoch", "successors", "endpoints"},
    "fetch": _ALL | {"epoch", "at", "hwm", "wait", "bytes"},
    "fetch-snapshot": _ALL | {"epoch", "of", "position", "bytes"},
    "describe-quorum": _ALL,
    "add-voter": _ALL | {"endpoints", "ack"},
    "remove-voter": _ALL,
    "update-voter": _ALL | {"epoch", "endpoints", "supports"},
}
"""Command by command, the options. `elsewhere` names another partition."""


def _cluster(parsed: Mapping[str, list[str]]) -> str | None:
    named = one(dict(parsed), "cluster", CLUSTER_ID)
    return {"none": None, "empty": ""}.get(named, named)


def _meant(parsed: dict[str, list[str]], raft: Raft) -> ReplicaKey | None:
    """The receiver that a request names: `to nobody`, another, or who receives it."""
    if "to" not in parsed:
        return raft.settings.key
    word = one(parsed, "to")
    return None if word == "nobody" else words.key(word)


def _member(parsed: dict[str, list[str]], name: str) -> ReplicaKey | None:
    word = one(parsed, name)
    return None if word == "nobody" else words.key(word)


def request(verb: str, parsed: dict[str, list[str]], raft: Raft) -> Request:
    """A request as it comes in."""
    cluster, is_right = _cluster(parsed), "elsewhere" not in parsed
    epoch = int(one(parsed, "epoch", "0"))
    match verb:
        case "vote" | "pre-vote":
            offset, last_epoch = words.place(one(parsed, "end"))
            return VoteRequest(
                cluster_id=cluster,
                is_for_metadata=is_right,
                replica_epoch=epoch,
                replica=words.key(one(parsed, "from")),
                voter=_meant(parsed, raft),
                last_offset=offset,
                last_offset_epoch=last_epoch,
                pre_vote=verb == "pre-vote",
            )
        case "begin-quorum":
            leader = words.key(one(parsed, "from")).id
            return BeginQuorumEpochRequest(
                cluster_id=cluster,
                is_for_metadata=is_right,
                leader_id=leader,
                leader_epoch=epoch,
                voter=_meant(parsed, raft),
                leader_endpoints=words.endpoints(leader, parsed.get("endpoints", ["CONTROLLER"])),
            )
        case "end-quorum":
            leader = words.key(one(parsed, "from")).id
            return EndQuorumEpochRequest(
                cluster_id=cluster,
                is_for_metadata=is_right,
                leader_id=leader,
                leader_epoch=epoch,
                preferred_candidates=tuple(map(words.key, parsed.get("successors", []))),
                leader_endpoints=words.endpoints(leader, parsed.get("endpoints", ["none"])),
            )
        case "fetch":
            return _fetch(parsed, cluster, is_right, epoch)
        case "fetch-snapshot":
            return FetchSnapshotRequest(
                cluster_id=cluster,
                is_for_metadata=is_right,
                replica=_member(parsed, "from"),
                current_leader_epoch=epoch,
                snapshot_id=words.place(one(parsed, "of")),
                position=int(one(parsed, "position", "0")),
                max_bytes=int(one(parsed, "bytes", str(1 << 20))),
            )
        case "describe-quorum":
            return DescribeQuorumRequest(is_for_metadata=is_right)
        case "add-voter":
            voter = _member(parsed, "")
            return AddVoterRequest(
                cluster_id=cluster,
                voter=voter,
                listeners=words.endpoints(
                    voter.id if voter else 0, parsed.get("endpoints", ["CONTROLLER"])
                ),
                ack_when_committed=one(parsed, "ack", "commit") == "commit",
            )
        case "remove-voter":
            return RemoveVoterRequest(cluster_id=cluster, voter=_member(parsed, ""))
        case "update-voter":
            voter = _member(parsed, "from")
            return UpdateVoterRequest(
                cluster_id=cluster,
                current_leader_epoch=epoch,
                voter=voter,
                listeners=words.endpoints(
                    voter.id if voter else 0, parsed.get("endpoints", ["CONTROLLER"])
                ),
                kraft_version=words.versions(one(parsed, "supports", "0-1")),
            )
        case _:
            raise TranscriptError(f"{verb} is no request")


def _fetch(
    parsed: dict[str, list[str]], cluster: str | None, is_right: bool, epoch: int
) -> FetchRequest:
    offset, last_epoch = words.place(one(parsed, "at"))
    committed = one(parsed, "hwm", str(NO_HIGH_WATERMARK_FIELD))
    return FetchRequest(
        cluster_id=cluster,
        is_for_metadata=is_right,
        replica=_member(parsed, "from"),
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        max_wait_ms=int(one(parsed, "wait", "500")),
        max_bytes=int(one(parsed, "bytes", str(1 << 20))),
        high_watermark=UNKNOWN if committed == "unknown" else int(committed),
    )


_WHO_LEADS = {"epoch", "leader", "endpoints"}
_OUTCOME = {"error", "top"}
_OWN: dict[type[Request], set[str]] = {
    VoteRequest: _WHO_LEADS,
    BeginQuorumEpochRequest: _WHO_LEADS,
    EndQuorumEpochRequest: _WHO_LEADS,
    FetchRequest: _WHO_LEADS | {"hwm", "records", "diverging", "snapshot"},
    FetchSnapshotRequest: _WHO_LEADS | {"of", "size", "position", "bytes"},
    UpdateVoterRequest: _WHO_LEADS,
    AddVoterRequest: set(),
    RemoveVoterRequest: set(),
    ApiVersionsRequest: {"supports", "controller"},
}
"""What answers may say, by what was asked."""


def response(asked: Request, rest: Sequence[str]) -> Response:
    """The answer to a request that was sent. The epoch is the request's own unless it is named,
    and nobody leads."""
    own = _OWN[type(asked)]
    parsed = options(rest, own | _OUTCOME)
    outcome = parsed[""]
    if outcome and not (isinstance(asked, VoteRequest) and outcome in (["granted"], ["rejected"])):
        raise TranscriptError(f"not known in an answer: {outcome}")
    answer = replace(
        _answer(asked, parsed),
        top_error=Error(int(one(parsed, "top", "0"))),
        error=Error(int(one(parsed, "error", "0"))),
    )
    if "leader" not in own:
        return answer
    leader = words.leader(one(parsed, "leader", "none"))
    return replace(
        answer,
        leader_id=leader,
        leader_epoch=int(one(parsed, "epoch", str(_epoch_of(asked)))),
        endpoints=words.endpoints(leader, parsed.get("endpoints", ["none"])),
    )


def _answer(asked: Request, parsed: dict[str, list[str]]) -> Response:
    """What a family has of its own."""
    match asked:
        case VoteRequest():
            return VoteResponse(vote_granted=parsed[""] == ["granted"])
        case BeginQuorumEpochRequest():
            return BeginQuorumEpochResponse()
        case EndQuorumEpochRequest():
            return EndQuorumEpochResponse()
        case FetchRequest():
            return FetchResponse(
                high_watermark=int(one(parsed, "hwm", str(UNKNOWN))),
                log_start_offset=0,
                diverging_epoch=_place(parsed, "diverging"),
                snapshot_id=_place(parsed, "snapshot"),
                batches=tuple(map(words.batch, parsed.get("records", []))),
            )
        case FetchSnapshotRequest():
            return FetchSnapshotResponse(
                snapshot_id=words.place(one(parsed, "of", "0@0")),
                size=int(one(parsed, "size", "0")),
                position=int(one(parsed, "position", "0")),
                chunk=b"x" * int(one(parsed, "bytes", "0")),
            )
        case UpdateVoterRequest():
            return UpdateVoterResponse()
        case AddVoterRequest() | RemoveVoterRequest():
            return VoterChangeResponse()
        case _:
            supported = words.versions(one(parsed, "supports")) if "supports" in parsed else None
            runs = one(parsed, "controller", "no") == "yes"
            return ApiVersionsResponse(kraft_version=supported, runs_controller=runs)


def _place(parsed: dict[str, list[str]], name: str) -> OffsetAndEpoch | None:
    return words.place(one(parsed, name)) if name in parsed else None


def _epoch_of(asked: Request) -> int:
    for name in ("replica_epoch", "leader_epoch", "current_leader_epoch"):
        if hasattr(asked, name):
            return int(getattr(asked, name))
    return UNKNOWN
