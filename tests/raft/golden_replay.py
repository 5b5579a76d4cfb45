"""A node of ours in the state in which one of Kafka's took a request, and what it answers.

Owns the way from a golden file's `state` to a core. It refuses to run anything but that one request
and what the answer waits for: records that the leader appends, or the time to give up.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from kraftool.decoders import rpc_frames
from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.error_codes import Error
from kraftool.decoders.wire import ZERO_UUID
from kraftool.raft import core
from kraftool.raft.accumulator import Accumulator
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.events import (
    Append,
    Effect,
    Reply,
    RequestReceived,
    Resign,
    TimePassed,
)
from kraftool.raft.log_view import LogView
from kraftool.raft.messages import FetchRequest, FetchResponse, FetchSnapshotResponse, Response
from kraftool.raft.names import (
    UNKNOWN,
    ElectionState,
    Endpoint,
    OffsetAndEpoch,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterSet,
)
from kraftool.raft.raft import Raft
from kraftool.raft.replicas import Replicas
from kraftool.raft.roles import (
    NEVER,
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Role,
    Unattached,
)
from kraftool.raft.settings import NodeSettings
from kraftool.raft.tally import Tally
from kraftool.raft.wire import batches, requests, responses

GOLDEN = Path(__file__).with_name("golden")
NOW_MS = 1_000_000
LISTENER = "CONTROLLER"
_CHANGES = ("AddRaftVoter", "RemoveRaftVoter")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A request of the recording, with its answer and what is known of the node that gave it."""

    scenario: str
    number: int
    scene: str
    asker: str
    node_id: int
    api: str
    version: int
    request: bytes
    response: bytes
    state: dict[str, Any] | None
    waited: bool
    meant: int | None
    """The error that Kafka could not encode."""
    recording: dict[str, Any]

    def __str__(self) -> str:
        role = self.state["role"] if self.state else "-"
        where = f"{self.scenario} {self.number}"
        return f"{where}: {self.api} v{self.version} of {self.asker} to {role} {self.node_id}"

    @property
    def asked(self) -> rpc_frames.RequestFrame:
        return rpc_frames.decode_request(self.request)

    @property
    def answer(self) -> rpc_frames.ResponseFrame:
        return rpc_frames.decode_response(self.response, self.api, self.version)


@cache
def pairs(scenario: str) -> tuple[Pair, ...]:
    """All of a recording."""
    text = (GOLDEN / f"kafka-4.3.0-{scenario}.json").read_text()
    return tuple(_read(scenario, json.loads(text)))


def of_recording(recording: dict[str, Any]) -> tuple[Pair, ...]:
    """The same of one that is not in a file."""
    return tuple(_read("", recording))


def _read(scenario: str, recording: dict[str, Any]) -> Iterator[Pair]:
    for number, pair in enumerate(recording["pairs"]):
        yield Pair(
            number=number,
            scenario=scenario,
            scene=pair["scene"],
            asker=pair["asker"],
            node_id=pair["node"],
            api=pair["api"],
            version=pair["version"],
            request=bytes.fromhex(pair["request"]),
            response=bytes.fromhex(pair["response"]),
            state=None if pair["state"] is None else recording["states"][pair["state"]],
            waited=pair["waited"],
            meant=pair["meant"],
            recording=recording,
        )


def _key(value: list[Any] | None) -> ReplicaKey | None:
    return None if value is None else ReplicaKey(value[0], value[1])


def _known(key: ReplicaKey) -> ReplicaKey:
    """A key without a directory id where that is all zeros, as old versions leave it."""
    return ReplicaKey(key.id) if key.directory_id == ZERO_UUID else key


def _endpoints(value: dict[str, Any]) -> dict[str, Endpoint]:
    return {name: Endpoint(*endpoint) for name, endpoint in value.items()}


def _voters(listed: list[dict[str, Any]]) -> VoterSet:
    return VoterSet.of(
        *(
            Voter(
                key=ReplicaKey(*voter["key"]),
                endpoints=_endpoints(voter["endpoints"]),
                kraft_version=VersionRange(*voter["kraftVersion"]),
            )
            for voter in listed
        )
    )


def _log(pair: Pair, state: dict[str, Any]) -> LogView:
    end, last = state["end"] or (state["logStart"], 0)
    epochs = [
        EpochEntry(epoch, start)
        for epoch, start in pair.recording["epochs"]
        if state["logStart"] <= start < end and (last is None or epoch <= last)
    ]
    if state["role"] == "Leader" and state["epochStart"] == end:
        epochs.append(EpochEntry(state["epoch"], end))
    return LogView(
        start_offset=state["logStart"],
        end_offset=end,
        flushed_offset=end,
        epochs=epochs,
        snapshots=[OffsetAndEpoch(*snapshot) for snapshot in state["snapshots"]],
    )


def raft_of(pair: Pair) -> Raft:
    """A core that stands as Kafka's node did."""
    state = pair.state
    assert state is not None, "the node's log says how it stood"
    control = ControlHistory(static_voters=_voters(state["staticVoters"]))
    for voter_set in state["voters"]:
        control.voter_sets.add(voter_set["offset"], _voters(voter_set["voters"]))
    for offset, level in state["kraftVersions"]:
        control.kraft_versions.add(offset, level)
    settings = NodeSettings(
        node_id=pair.node_id,
        directory_id=pair.recording["directories"][str(pair.node_id)],
        cluster_id=pair.recording["cluster"],
        listeners=control.voters.endpoints_of(pair.node_id),
        static_voters=control.static_voters,
    )
    raft = Raft(settings, random.Random(1), _log(pair, state), control, ElectionState())
    raft.role = _role(raft, state)
    raft.is_shutting_down = state["shuttingDown"]
    return raft


def _role(raft: Raft, state: dict[str, Any]) -> Role:
    epoch, leader, voted = state["epoch"], state["leader"], _key(state["voted"])
    high, key = state["highWatermark"], raft.key
    assert key is not None, "controllers have ids"
    later = NOW_MS + 60_000
    match state["role"]:
        case "Unattached":
            return Unattached(
                epoch=epoch,
                leader_id=leader,
                voted=voted,
                high_watermark=high,
                election_deadline_ms=later,
            )
        case "Prospective":
            return Prospective(
                epoch=epoch,
                tally=Tally(raft.control.voters.ids, key.id),
                leader_id=leader,
                leader_endpoints=_endpoints(state["endpoints"]),
                voted=voted,
                high_watermark=high,
                election_deadline_ms=later,
            )
        case "Candidate":
            return Candidate(
                epoch=epoch,
                local=key,
                tally=Tally(raft.control.voters.ids, key.id),
                high_watermark=high,
                election_deadline_ms=later,
            )
        case "Follower":
            return Follower(
                epoch=epoch,
                leader_id=leader,
                leader_endpoints=_endpoints(state["endpoints"]),
                voted=voted,
                high_watermark=high,
                has_fetched=state["fetched"],
                fetch_deadline_ms=later,
                update_deadline_ms=later,
            )
        case "Resigned":
            return Resigned(
                epoch=epoch,
                local=key,
                endpoints=raft.settings.listeners,
                unacknowledged=set(raft.control.voters.ids) - {key.id},
                successors=(),
                election_deadline_ms=later,
            )
    assert state["role"] == "Leader", state["role"]
    return _leader(raft, state, key)


def _leader(raft: Raft, state: dict[str, Any], key: ReplicaKey) -> Leader:
    replicas = Replicas(local=key)
    replicas.split(raft.control.voters)
    table = [*state["replicas"], [*key, raft.log.end_offset, True]]
    for number, directory_id, offset, caught_up in table:
        replica = replicas.of(_known(ReplicaKey(number, directory_id)))
        replica.end_offset, replica.last_fetch_ms = offset, NOW_MS - 10
        replica.last_caught_up_ms = NOW_MS - 10 if caught_up else UNKNOWN
    return Leader(
        epoch=state["epoch"],
        local=key,
        endpoints=raft.settings.listeners,
        epoch_start_offset=state["epochStart"],
        granting=(),
        replicas=replicas,
        accumulator=Accumulator(
            epoch=state["epoch"], next_offset=raft.log.end_offset, linger_ms=25
        ),
        high_watermark=state["highWatermark"],
        check_quorum_deadline_ms=NEVER,
        begin_quorum_deadline_ms=NEVER,
        volatile_voters=raft.control.static_voters.updated_ignoring_directories(
            raft.settings.as_voter
        )
        if raft.control.kraft_version == 0
        else None,
    )


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """What our core made of a request."""

    raft: Raft
    effects: list[Effect]
    """Of the request itself."""
    response: Response | None
    """None where the answer waits for what the recording does not show."""
    waited: bool


def replay(pair: Pair) -> Replayed:
    """Give a core the request; the answer with what Kafka read from its files put into it."""
    raft = raft_of(pair)
    asked = requests.from_kafka(pair.api, pair.asked.body)
    recorded = responses.from_kafka(pair.api, pair.answer.body, LISTENER)
    effects = core.step(
        raft, NOW_MS, RequestReceived(request_id=1, request=asked, listener=LISTENER)
    )
    response = _reply(effects)
    waited = response is None
    if response is None and isinstance(asked, FetchRequest):
        assert isinstance(recorded, FetchResponse), "the same family answers"
        response = _reply(list(_until_answered(raft, asked, recorded)))
    return Replayed(
        raft=raft, effects=effects, response=_with_files(pair, response, recorded), waited=waited
    )


def _until_answered(raft: Raft, asked: FetchRequest, recorded: FetchResponse) -> Iterator[Effect]:
    """What ended the wait of a fetch, by the answer: records, a commit, the leader's end, time."""
    if recorded.batches:
        count = recorded.batches[-1].next_offset - asked.fetch_offset
        yield from core.step(raft, NOW_MS, Append(epoch=raft.epoch, records=(b"",) * count))
        yield from core.step(raft, NOW_MS + 25, TimePassed())
    elif recorded.error is Error.NOT_LEADER_OR_FOLLOWER:
        yield from core.step(raft, NOW_MS, Resign(epoch=raft.epoch))
    elif recorded.error is Error.BROKER_NOT_AVAILABLE:
        # Kafka judges a fetch again when its wait is over, in a thread of its own: between the
        # signal to stop and the resignation. Our core resigns within the step that takes the
        # signal, so this moment exists only for a request that comes then.
        raft.is_shutting_down = True
        yield from core.step(
            raft, NOW_MS, RequestReceived(request_id=1, request=asked, listener=LISTENER)
        )
    elif recorded.high_watermark > (raft.role.high_watermark or UNKNOWN):
        for number, voter in enumerate(raft.control.voters, start=2):
            if voter.key != raft.key:
                fetch = replace(asked, replica=voter.key, fetch_offset=recorded.high_watermark)
                yield from core.step(
                    raft,
                    NOW_MS,
                    RequestReceived(request_id=number, request=fetch, listener=LISTENER),
                )
    else:
        yield from core.step(raft, NOW_MS + asked.max_wait_ms, TimePassed())


def _reply(effects: list[Effect]) -> Response | None:
    for effect in effects:
        if isinstance(effect, Reply) and effect.request_id == 1:
            return effect.response
    return None


def _with_files(pair: Pair, response: Response | None, recorded: Response) -> Response | None:
    """What whoever runs the core does for it: read the recorded bytes, if it asked for those."""
    if isinstance(response, FetchResponse) and response.read is not None:
        assert isinstance(recorded, FetchResponse), "the same family answers"
        starts = [batch.base_offset <= response.read.offset for batch in recorded.batches[:1]]
        read_batches = recorded.batches if all(starts) else ()
        return replace(response, batches=read_batches, read=None)
    if isinstance(response, FetchSnapshotResponse) and response.read is not None:
        assert isinstance(recorded, FetchSnapshotResponse), "the same family answers"
        if response.read.position >= _size(pair, response.snapshot_id):
            return replace(response, error=Error.POSITION_OUT_OF_RANGE, read=None)
        return replace(response, chunk=recorded.chunk, size=recorded.size, read=None)
    return response


def _size(pair: Pair, snapshot_id: OffsetAndEpoch) -> int:
    """How long a snapshot is, from any answer with a piece of it."""
    for other in of_recording(pair.recording):
        if other.api == "FetchSnapshot":
            response = responses.from_kafka(other.api, other.answer.body, LISTENER)
            assert isinstance(response, FetchSnapshotResponse), "the same family answers"
            if response.snapshot_id == snapshot_id and response.size:
                return response.size
    raise AssertionError(f"nothing of snapshot {snapshot_id} is in the recording")


def answered_at_once(pair: Pair) -> bool:
    """A voter change that works takes more than its request, and so does one that is too early."""
    return pair.api not in _CHANGES or pair.answer.body["errorCode"] not in (0, 7)


def comparable(pair: Pair, done: Replayed) -> tuple[dict[str, Any], dict[str, Any]]:
    """Our answer and Kafka's without what need not be the same."""
    assert done.response is not None
    theirs = pair.answer.body
    body = responses.to_kafka(pair.api, done.response, pair.version)
    frame = rpc_frames.encode_response(replace(pair.answer, body=body))
    ours = rpc_frames.decode_response(frame, pair.api, pair.version).body
    match pair.api:
        case "AddRaftVoter" | "RemoveRaftVoter":
            ours, theirs = ({**state, "errorMessage": None} for state in (ours, theirs))
        case "DescribeQuorum":
            ours, theirs = _described(ours), _described(theirs)
        case "Fetch":
            theirs = with_whole_batches(theirs)
        case "FetchSnapshot" if theirs["errorCode"] == -1:
            # Kafka 4.3 cannot encode its own errors here (records that are null, but may not be):
            # the asker gets an unknown error. Ours says the one that Kafka meant, by its log.
            return {"errorCode": done.response.error}, {"errorCode": pair.meant}
    return ours, theirs


def with_whole_batches(body: dict[str, Any]) -> dict[str, Any]:
    """An answer to a fetch without the part of a batch that Kafka's end at so many bytes."""
    topics = []
    for topic in body["responses"]:
        [part] = topic["partitions"]
        records = batches.encode_batches(batches.decode_batches(part["records"]))
        topics.append({**topic, "partitions": [{**part, "records": records}]})
    return {**body, "responses": topics}


def _described(body: dict[str, Any]) -> dict[str, Any]:
    """Without times, the words of an error, and the order in which Kafka's hash map has nodes.

    Also without how far an observer is: one that fetches from within a batch, as the probes do and
    no replica does, is for Kafka where the batch begins, which the core does not know.
    """
    [topic] = body["topics"]
    [part] = topic["partitions"]
    named = ("replicaId", "replicaDirectoryId", "logEndOffset")
    for replicas in ("currentVoters", "observers"):
        fields = named if replicas == "currentVoters" else named[:2]
        listed = [
            {key: replica[key] for key in fields if key in replica} for replica in part[replicas]
        ]
        part = {
            **part,
            replicas: sorted(listed, key=lambda replica: [str(v) for v in replica.values()]),
        }
    part = {**part, "errorMessage": None}
    return {**body, "topics": [{**topic, "partitions": [part]}]}
