"""The state in which a node of the recorded quorum took each request, from Kafka's own raft log.

Owns the patterns of Kafka's lines (class names and fields of its raft layer at TRACE), read one by
one in their order, which is that of the node's one raft thread. It refuses to guess: what a node
has not said yet is None, and whoever needs it leaves that request out.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

State = dict[str, Any]
"""As it stands in the golden files; the fields are told in tests/raft/golden/SOURCE."""

_NOTHING: State = {
    "role": None,
    "epoch": 0,
    "leader": None,
    "endpoints": {},
    "voted": None,
    "fetched": False,
    "highWatermark": None,
    "end": None,
    "epochStart": None,
    "logStart": 0,
    "snapshots": [],
    "staticVoters": [],
    "voters": [],
    "kraftVersions": [],
    "replicas": [],
    "shuttingDown": False,
}
_ENDS_A_WAIT = (
    "Leader appended",
    "Beginning graceful shutdown",
    "Completed transition to ResignedState",
)
_AT_ONCE_MS = 400
"""A leader that has nothing to tell waits for 500."""
_LINE = re.compile(r"(\d{13}) (?:INFO|DEBUG|TRACE|WARN|ERROR) (\S+) \[RaftManager id=\d+\] (.*)")
_ROLE = re.compile(r"Completed transition to (\w+?)(?:State)?\((.*)\) from (?:null|\w+\()")
_KEY = r"ReplicaKey\(id=(\d+), directoryId=([\w-]+|<undefined>)\)"
_VOTER = re.compile(
    rf"VoterNode\(voterKey={_KEY}, listeners=Endpoints\(endpoints=\{{(.*?)\}}\), "
    r"supportedKRaftVersion=SupportedVersionRange\[min_version:(\d+), max_version:(\d+)\]\)"
)
_LISTENER = re.compile(r"ListenerName\((\w+)\)=([\d.]+)/<unresolved>:(\d+)")
_END = re.compile(r"end offset (?:updated to|is) OffsetAndEpoch\[offset=(\d+), epoch=(\d+)\]")
_HIGH_WATERMARK = re.compile(r"(?:Leader|Follower) high watermark updated to .*?(\d+)")
_VOTERS = re.compile(r"Latest set of voters is (.*) at offset (-?\d+)")
_STATIC = re.compile(r"Starting voters are (VoterSet.*<undefined>.*)")
_LEVEL = re.compile(r"Latest kraft.version is KRAFT_VERSION_(\d+) at offset (-?\d+)")
_IN = re.compile(
    r"Received inbound message InboundRequest\(.*?correlationId=(\d+), apiVersion=(\d+),"
    r" data=(\w+)RequestData\("
)
_ASKER = re.compile(r"replicaState=ReplicaState\(replicaId=(\d+)|\b(?:replicaId|leaderId)=(\d+)")
_OUT = re.compile(
    r"Sent response .*errorCode=(-?\d+).* to inbound request InboundRequest\("
    r".*?correlationId=(\d+), apiVersion=(\d+), data=(\w+)RequestData\("
)
_NOT_FROM_HERE = re.compile(
    r"data=FetchResponseData\(.*(errorCode=[^0]|divergingEpoch=EpochEndOffset\(epoch=\d"
    r"|snapshotId=SnapshotId\(endOffset=\d)"
)
_FETCHED = re.compile(
    r"Received inbound message InboundResponse\(.*data=Fetch\w*Data\(.*?"
    r"partitions=\[Partition\w+\(\w+=0, errorCode=(?:0|98), .*?"
    r"currentLeader=LeaderIdAndEpoch\(leaderId=\d+, leaderEpoch=(\d+)\)"
)
"""98: the leader has the snapshot no more, which counts as an answer, too."""
_FETCH_SENT = re.compile(r"Sent outbound request: .*fetchOffset=(\d+), lastFetchedEpoch=(\d+)")
_VOTE_SENT = re.compile(r"Sent outbound request: .*lastOffsetEpoch=(\d+), lastOffset=(\d+)")
_TRUNCATED = re.compile(r"Truncated to offset (\d+) ")
_BEGUN_ANEW = re.compile(
    r"Fully truncated the log at .*snapshot OffsetAndEpoch\[offset=(\d+), epoch=(\d+)\]"
)
_SNAPSHOT = re.compile(r"Creating new KRaft snapshot file snapshot (\d{20})-(\d{10}) because")
_START = re.compile(r"KafkaRaftLog .*Initialized snapshots with IDs \[(.*)\] from")
_REPLICA_FETCH = re.compile(
    r"data=FetchRequestData\(.*replicaState=ReplicaState\(replicaId=(\d+),"
    r".*currentLeaderEpoch=(\d+), fetchOffset=(\d+),.*replicaDirectoryId=([\w-]+)"
)


@dataclass(slots=True, kw_only=True)
class Taken:
    """A request as a node took it, and how things stood just before."""

    at_ms: int
    api: str
    version: int
    correlation_id: int
    asker_id: int | None
    """The node that asks, where the request says so."""
    state: State
    answered_ms: int | None = None
    error: int | None = None
    """Of the partition, in the answer that the raft layer gave; it is not always what was sent."""
    waited: bool = False
    """Whether something else happened before the answer went out."""


def read(text: str) -> list[Taken]:
    """All requests in one node's log, over all its runs."""
    state, requests = copy.deepcopy(_NOTHING), []
    pending: list[Taken] = []
    fetched: int | None = None
    for line in text.splitlines():
        if snapshot := _SNAPSHOT.search(line):
            state["snapshots"].append([int(snapshot[1]), int(snapshot[2])])
            continue
        if start := _START.search(line):
            state, pending = copy.deepcopy(_NOTHING), []
            listed = re.findall(r"offset=(\d+), epoch=(\d+)", start[1])
            state["snapshots"] = [[int(offset), int(epoch)] for offset, epoch in listed]
        matched = _LINE.match(line)
        if matched is None:
            continue
        at_ms, _, message = int(matched[1]), matched[2], matched[3]
        if message.startswith("Received inbound message"):
            fetched = _fetched_epoch(message)
        if taken := _IN.match(message):
            for request in pending:
                request.waited = True
            one = Taken(
                at_ms=at_ms,
                api=taken[3],
                version=int(taken[2]),
                correlation_id=int(taken[1]),
                asker_id=_asker(message),
                state=copy.deepcopy(state),
            )
            requests.append(one)
            pending.append(one)
            _note_replica(state, message)
        elif answered := _OUT.match(message):
            for request in pending:
                if (request.correlation_id, request.version, request.api) == (
                    int(answered[2]), int(answered[3]), answered[4],
                ):  # fmt: skip
                    request.answered_ms = at_ms
                    request.error = int(answered[1])
                    request.waited = request.waited or at_ms - request.at_ms > _AT_ONCE_MS
                    if _NOT_FROM_HERE.search(message):
                        _forget_replica(state, request)
                    pending.remove(request)
                    break
        else:
            _note(state, message)
            # An answer of an earlier epoch is passed over. Of one by which the node finds its
            # leader, the transition is in the log after the answer.
            if state["role"] == "Follower" and fetched == state["epoch"]:
                state["fetched"] = True
            if message.startswith(_ENDS_A_WAIT):
                for request in pending:
                    request.waited = True
    return requests


def _fetched_epoch(message: str) -> int | None:
    """The epoch of the leader that answered a fetch, if this is such an answer."""
    match = _FETCHED.match(message)
    return None if match is None else int(match[1])


def _asker(message: str) -> int | None:
    match = _ASKER.search(message)
    return None if match is None else int(match[1] or match[2])


def _note(state: State, message: str) -> None:
    """Take what a line says into the state."""
    if role := _ROLE.match(message):
        _note_role(state, role[1], role[2])
    elif voters := _VOTERS.search(message):
        offset = int(voters[2])
        state["voters"] = [entry for entry in state["voters"] if entry["offset"] < offset]
        state["voters"].append({"offset": offset, "voters": list(_voters(voters[1]))})
    elif static := _STATIC.match(message):
        state["staticVoters"] = list(_voters(static[1]))
    elif level := _LEVEL.match(message):
        before = [entry for entry in state["kraftVersions"] if entry[0] < int(level[2])]
        state["kraftVersions"] = [*before, [int(level[2]), int(level[1])]]
    elif end := _END.search(message):
        state["end"] = [int(end[1]), int(end[2])]
    elif high := _HIGH_WATERMARK.match(message):
        state["highWatermark"] = int(high[1])
    elif sent := _FETCH_SENT.search(message):
        state["end"] = [int(sent[1]), int(sent[2])]
    elif sent := _VOTE_SENT.search(message):
        state["end"] = [int(sent[2]), int(sent[1])]
    elif truncated := _TRUNCATED.match(message):
        offset = int(truncated[1])
        state["end"] = [offset, None]  # the epoch shows with the next request
        state["voters"] = [entry for entry in state["voters"] if entry["offset"] < offset]
        state["kraftVersions"] = [entry for entry in state["kraftVersions"] if entry[0] < offset]
    elif begun := _BEGUN_ANEW.match(message):
        offset, epoch = int(begun[1]), int(begun[2])
        state |= {
            "end": [offset, epoch],
            "logStart": offset,
            "snapshots": [[offset, epoch]],
            "voters": [],
            "kraftVersions": [],
        }
    elif message.startswith("Beginning graceful shutdown"):
        state["shuttingDown"] = True


def _note_role(state: State, role: str, fields: str) -> None:
    def field(name: str, pattern: str) -> re.Match[str] | None:
        return re.search(rf"\b{name}={pattern}", fields)

    epoch = int(_found(field("epoch", r"(\d+)"), "epoch"))
    leader = field("leaderId", r"OptionalInt\[(\d+)\]") or field("leader", r"(\d+)")
    voted = field("votedKey", rf"Optional\[{_KEY}\]")
    high = field("highWatermark", r"Optional\[LogOffsetMetadata\(offset=(\d+)")
    before = (state["role"], state["leader"], state["epoch"])
    endpoints = state["endpoints"] if role == "Prospective" else {}
    state |= {
        "role": role,
        "epoch": epoch,
        "leader": int(leader[1]) if leader else None,
        "voted": [int(voted[1]), voted[2]] if voted else None,
        "highWatermark": int(high[1]) if high else None,
        "endpoints": endpoints,
        "fetched": False,
        "epochStart": None,
    }
    if role == "Follower":
        listed = _found(field("leaderEndpoints", r"Endpoints\(endpoints=\{(.*?)\}\)"), "endpoints")
        state["endpoints"] = _endpoints(listed)
    elif role == "Leader":
        assert before[0] == "Candidate", "only a candidate becomes leader"
        state["epochStart"] = int(_found(field("epochStartOffset", r"(\d+)"), "start"))
        state["replicas"] = []


def _found(match: re.Match[str] | None, what: str) -> str:
    if match is None:
        raise ValueError(f"a line of Kafka's without {what}")
    return match[1]


def _note_replica(state: State, message: str) -> None:
    """A leader's table: what each replica said last that it has, and if that was ever all."""
    fetch = _REPLICA_FETCH.search(message)
    if state["role"] != "Leader" or fetch is None or int(fetch[2]) != state["epoch"]:
        return
    key, offset = [int(fetch[1]), fetch[4]], int(fetch[3])
    before = any(replica[3] for replica in state["replicas"] if replica[:2] == key)
    caught_up = before or (state["end"] is not None and offset >= state["end"][0])
    state["replicas"] = [replica for replica in state["replicas"] if replica[:2] != key]
    state["replicas"].append([*key, offset, caught_up])


def _forget_replica(state: State, taken: Taken) -> None:
    """A fetch from where the leader's log has nothing says nothing of what the replica has."""
    known = {tuple(replica[:2]) for replica in taken.state["replicas"]}
    state["replicas"] = [
        replica
        for replica in state["replicas"]
        if replica[0] != taken.asker_id or tuple(replica[:2]) in known
    ]
    for replica in taken.state["replicas"]:
        if replica[0] == taken.asker_id:
            state["replicas"] = [one for one in state["replicas"] if one[:2] != replica[:2]]
            state["replicas"].append(replica)


def _voters(text: str) -> Iterator[State]:
    for voter in _VOTER.finditer(text):
        yield {
            "key": [int(voter[1]), None if voter[2] == "<undefined>" else voter[2]],
            "endpoints": _endpoints(voter[3]),
            "kraftVersion": [int(voter[4]), int(voter[5])],
        }


def _endpoints(text: str) -> dict[str, list[Any]]:
    return {match[1]: [match[2], int(match[3])] for match in _LISTENER.finditer(text)}
