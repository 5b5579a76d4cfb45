"""The messages of one run in words, as far as they tell the story.

Owns the choice and the wording. Fetches that bring nothing are left out, and so is what is only
said again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import (
    AddVoterRequest,
    Answer,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RemoveVoterRequest,
    UpdateVoterRequest,
    VoterChangeResponse,
    VoteRequest,
    VoteResponse,
)
from kraftool.sim.run import OPERATOR, Seen

_ROLES = {
    "Unattached": "knows no leader",
    "Prospective": "is Prospective: asks whether it could win",
    "Candidate": "is Candidate: votes for itself and asks for votes",
    "Follower": "is Follower",
    "Leader": "is Leader",
    "Resigned": "led this epoch before it stopped, and resigns",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """One line of the timeline."""

    after_ms: int
    """Virtual time since the first start."""
    who: str
    """A node, or `from → to`."""
    event: str


def lines(seen: Iterable[Seen]) -> Iterator[TimelineEntry]:
    """The story, in order."""
    last_words: dict[str, str] = {}
    first: int | None = None
    for sighting in seen:
        first = sighting.at_ms if first is None else first
        if sighting.message is None:
            words = sighting.words or f"{_ROLES[sighting.role]}, epoch {sighting.epoch}"
            who = str(sighting.node)
        else:
            sentence = _told(sighting.message.body)
            if sentence is None:
                continue
            who = f"{_name(sighting.node)} → {_name(sighting.to)}"
            words = f"{sentence}  (does not arrive)" if sighting.lost else sentence
        if last_words.get(who) == words:
            continue
        last_words[who] = words
        yield TimelineEntry(after_ms=sighting.at_ms - first, who=who, event=words)


def _name(node: int | None) -> str:
    return "operator" if node == OPERATOR else str(node)


def _told(body: object) -> str | None:
    match body:
        case Answer(top_error=Error.BROKER_NOT_AVAILABLE):
            return None
        case FetchRequest() | FetchSnapshotRequest():
            return None
        case VoteRequest():
            asks = "could I win" if body.pre_vote else "vote for me in"
            mine = f"my log ends at {body.last_offset} of epoch {body.last_offset_epoch}"
            return f"{asks} epoch {body.replica_epoch + body.pre_vote}? {mine}"
        case VoteResponse():
            return _answer(body, "yes" if body.vote_granted else "no")
        case BeginQuorumEpochRequest():
            return f"I lead epoch {body.leader_epoch}"
        case EndQuorumEpochRequest():
            return f"I resigned as leader of epoch {body.leader_epoch}"
        case BeginQuorumEpochResponse() | EndQuorumEpochResponse():
            return None if body.error is Error.NONE else _answer(body, "")
        case FetchResponse():
            return _fetched(body)
        case FetchSnapshotResponse():
            return _answer(body, f"snapshot {body.snapshot_id.offset}")
        case UpdateVoterRequest():
            return "update my entry among the voters"
        case AddVoterRequest():
            return f"add voter {body.voter.id if body.voter else '?'}"
        case RemoveVoterRequest():
            return f"remove voter {body.voter.id if body.voter else '?'}"
        case VoterChangeResponse():
            return _answer(body, "done") + (f": {body.message}" if body.message else "")
    return None


def _answer(answer: Answer, words: str) -> str:
    error = answer.top_error if answer.top_error is not Error.NONE else answer.error
    return words if error is Error.NONE else error.name


def _fetched(body: FetchResponse) -> str | None:
    if body.diverging_epoch is not None:
        where = body.diverging_epoch
        return f"our logs differ: mine has epoch {where.epoch} up to {where.offset}"
    if body.snapshot_id is not None:
        return f"you are too far behind: take snapshot {body.snapshot_id.offset}"
    if body.batches:
        return f"records {body.batches[0].base_offset} to {body.batches[-1].last_offset}"
    return None
