"""Random answers to the requests that the node sent."""

from __future__ import annotations

from typing import Any

from kraftool.decoders import codec
from kraftool.decoders.error_codes import Error
from kraftool.decoders.snapshot import SnapshotBatches
from kraftool.raft.messages import (
    BeginQuorumEpochResponse,
    EndQuorumEpochResponse,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    Response,
    UpdateVoterResponse,
    VoterChangeResponse,
    VoteResponse,
)
from kraftool.raft.names import OffsetAndEpoch, VersionRange
from kraftool.raft.records import Batch, LeaderChange, Voters
from kraftool.raft.roles import Leader
from kraftool.raft.wire import batches as wire_batches
from kraftool.raft.wire import requests as wire_requests
from kraftool.raft.wire import responses as wire_responses
from kraftool.storage.snapshots import frame_of
from tests.differential.outcome import Sent
from tests.differential.random_start import LAST_EPOCH, ME, data_batch
from tests.differential.steps import VERSIONS, Answer
from tests.differential.world import World

_NO_LEADER = (
    Error.NOT_LEADER_OR_FOLLOWER,
    Error.FENCED_LEADER_EPOCH,
    Error.UNKNOWN_LEADER_EPOCH,
)


class Answers:
    def __init__(self, world: World) -> None:
        self.world = world
        self.random = world.random
        self._snapshots: dict[OffsetAndEpoch, bytes] = {}

    def random_answer(self) -> Answer:
        """Return an answer: mostly to a request that waits for one, rarely to an old one."""
        random, sent = self.random, self.world.pair.sent
        waiting = self._waiting()
        if waiting and random.random() < 0.9:
            destination, name, number = random.choice(waiting)
        else:
            destination, name = random.choice([key for key, messages in sent.items() if messages])
            number = random.randrange(len(sent[destination, name]))
        asked = sent[destination, name]
        version = VERSIONS[name]
        value = self._value(name, version, asked[number][0])
        return Answer(
            destination=destination,
            name=name,
            number=number,
            version=version,
            data=codec.encode(f"{name}Response", version, value),
        )

    def _waiting(self) -> list[tuple[int, str, int]]:
        """Return the requests that wait for an answer."""
        connections = self.world.raft.connections
        return [
            (destination, name, number)
            for (destination, name), listed in self.world.pair.sent.items()
            for number, (sent, _) in enumerate(listed)
            if connections.is_expected(destination, sent.correlation_id)
        ]

    def _value(self, name: str, version: int, sent: Sent) -> dict[str, Any]:
        if name == "ApiVersions":
            return self._api_versions()
        request, _ = codec.decode(f"{name}Request", version, sent.data)
        asked = wire_requests.from_kafka(name, request)
        response = self._response(name, asked, self._leader())
        return wire_responses.to_kafka(name, response, version)

    def _leader(self) -> dict[str, Any]:
        """Return errors, epoch and leader, as a well-behaved node could name them."""
        random, raft, world = self.random, self.world.raft, self.world
        step = random.choices([0, 1, -1], [20, 2, 1])[0]
        epoch = min(max(0, raft.epoch + step), LAST_EPOCH)
        leader: int | None = raft.leader_id
        if epoch != raft.epoch or random.random() < 0.03:
            leader = random.choice([None, world.leader_of(epoch), world.leader_of(epoch)])
        elif leader is None:
            leader = random.choice([None, None, world.leader_of(epoch)])
        if epoch == raft.epoch and isinstance(raft.role, Leader) and leader is not None:
            leader = ME
        endpoints: dict[str, Any] = {}
        known = raft.control.voters.ids
        if leader is not None and (random.random() < 0.8 or leader not in known):
            endpoints = {world.cast.listener: world.cast.endpoint(leader)}
        return {
            "top_error": self._error(
                40,
                Error.BROKER_NOT_AVAILABLE,
                Error.BROKER_NOT_AVAILABLE,
                Error.INCONSISTENT_CLUSTER_ID,
                Error.UNKNOWN_SERVER_ERROR,
                Error.UNSUPPORTED_VERSION,
            ),
            "error": self._error(
                30,
                Error.BROKER_NOT_AVAILABLE,
                *_NO_LEADER,
                Error.NOT_LEADER_OR_FOLLOWER,
                Error.FENCED_LEADER_EPOCH,
                Error.INVALID_VOTER_KEY,
                Error.UNKNOWN_SERVER_ERROR,
            ),
            "leader_id": -1 if leader is None else leader,
            "leader_epoch": epoch,
            "endpoints": endpoints,
        }

    def _error(self, good: int, *errors: Error) -> Error:
        """Return no error in `good` of all cases, else one of these."""
        return self.random.choice([*[Error.NONE] * good, *errors])

    def _response(self, name: str, asked: object, leader: dict[str, Any]) -> Response:
        random = self.random
        match name:
            case "Vote":
                return VoteResponse(**leader, vote_granted=random.random() < 0.7)
            case "BeginQuorumEpoch":
                return BeginQuorumEpochResponse(**leader)
            case "EndQuorumEpoch":
                return EndQuorumEpochResponse(**leader)
            case "UpdateRaftVoter":
                leader["top_error"] = Error.NONE
                if random.random() < 0.2:
                    leader["error"] = Error.UNSUPPORTED_VERSION
                return UpdateVoterResponse(**leader)
            case "AddRaftVoter" | "RemoveRaftVoter":
                done = Error.DUPLICATE_VOTER if name == "AddRaftVoter" else Error.VOTER_NOT_FOUND
                return VoterChangeResponse(
                    error=random.choice(
                        [
                            Error.NONE,
                            Error.REQUEST_TIMED_OUT,
                            done,
                            Error.UNSUPPORTED_VERSION,
                            Error.NOT_LEADER_OR_FOLLOWER,
                            Error.CLUSTER_AUTHORIZATION_FAILED,
                        ]
                    )
                )
            case "Fetch":
                assert isinstance(asked, FetchRequest), "it is what was asked"
                return self._fetched(asked, leader)
            case _:
                assert isinstance(asked, FetchSnapshotRequest), "it is what was asked"
                return self._slice(asked, leader)

    def _api_versions(self) -> dict[str, Any]:
        random = self.random
        supported = random.choices(
            [VersionRange(0, 1), VersionRange(0, 0), VersionRange(1, 1), None], [12, 1, 1, 1]
        )[0]
        error = self._error(12, Error.BROKER_NOT_AVAILABLE, Error.UNSUPPORTED_VERSION)
        features = []
        if supported is not None:
            low, high = supported
            features = [{"name": "kraft.version", "minVersion": low, "maxVersion": high}]
        return {
            "errorCode": int(error),
            "apiKeys": [],
            "throttleTimeMs": 0,
            "supportedFeatures": features,
        }

    def _fetched(self, asked: FetchRequest, leader: dict[str, Any]) -> FetchResponse:
        random, log = self.random, self.world.raft.log
        known = self.world.raft.role.high_watermark
        low = -1 if known is None else known
        if leader["leader_id"] < 0:
            leader["error"] = random.choice(_NO_LEADER)
        if leader["error"] is not Error.NONE or leader["top_error"] is not Error.NONE:
            return FetchResponse(**leader, high_watermark=-1)
        kind = random.random()
        if kind < 0.08:
            committed = random.choice([low, max(low, log.end_offset)])
            place = self._diverging(low)
            return FetchResponse(**leader, high_watermark=committed, diverging_epoch=place)
        if kind < 0.14:
            place = self._snapshot()
            return FetchResponse(**leader, high_watermark=low, snapshot_id=place)
        data, ends = self._records(asked, leader["leader_id"])
        committed = max(low, random.choice([low, log.end_offset, *ends]))
        if random.random() < 0.03:  # inside a batch, or beyond all of them
            committed = max(low, ends[-1] + random.choice([-1, 1]))
        # One batch for all of the bytes, which may be cut or damaged: they are sent as they are.
        whole = Batch(base_offset=0, last_offset=0, epoch=0, data=data)
        return FetchResponse(**leader, high_watermark=committed, batches=(whole,))

    def _diverging(self, low: int) -> OffsetAndEpoch:
        random, log = self.random, self.world.raft.log
        starts = [start for _, start in log.epochs if start >= low]
        offset = random.choice([log.end_offset, *starts])
        if random.random() < 0.05:
            offset = random.randrange(log.end_offset + 1)
        last = log.last_epoch
        epoch = random.choice([*(epoch for epoch, _ in log.epochs), last, max(0, last - 1), 0])
        return OffsetAndEpoch(offset, epoch)

    def _snapshot(self) -> OffsetAndEpoch:
        """Return the id of a snapshot that the leader has; rarely an impossible one."""
        random, raft = self.random, self.world.raft
        if random.random() < 0.1:
            return OffsetAndEpoch(random.choice([-1, 5]), random.choice([2, -1]))
        beyond = OffsetAndEpoch(raft.log.end_offset + random.randrange(1, 9), max(1, raft.epoch))
        place = random.choice([beyond, beyond, *raft.log.snapshots])
        if place not in self._snapshots:
            level = 1 if self.world.cast.is_dynamic else 0
            voters = self.world.changed_voters() if level else None
            batches = SnapshotBatches(frame_of(place, 5, level, voters, self.world.pair.now_ms))
            self._snapshots[place] = b"".join([batches.header(), *batches.end()])
        return place

    def _slice(self, asked: FetchSnapshotRequest, leader: dict[str, Any]) -> Response:
        random = self.random
        content = self._snapshots.get(asked.snapshot_id)
        if content is None or random.random() < 0.05:
            leader["error"] = Error.SNAPSHOT_NOT_FOUND
            return FetchSnapshotResponse(**leader, snapshot_id=asked.snapshot_id)
        most = random.choice([len(content), len(content), 100, 200])
        return FetchSnapshotResponse(
            **leader,
            snapshot_id=asked.snapshot_id,
            size=len(content),
            position=asked.position,
            chunk=content[asked.position : asked.position + most],
        )

    def _records(self, asked: FetchRequest, leader: int) -> tuple[bytes, list[int]]:
        """Return batches after the place that was asked for, and the offset before and after each
        of them."""
        random, raft = self.random, self.world.raft
        end, epoch = asked.fetch_offset, raft.log.last_epoch
        batches, ends = [], [end]
        for _ in range(random.choice([0, 1, 1, 2, 3])):
            is_new = epoch == 0 or (epoch < raft.epoch and random.random() < 0.6)
            if is_new:
                epoch = random.randrange(epoch + 1, raft.epoch + 1) if raft.epoch > epoch else 1
            if is_new or random.random() < 0.1:
                batch = self._control(end, epoch, leader)
            else:
                batch = data_batch(random, end, epoch)
            batches.append(wire_batches.encode(batch))
            end = batch.next_offset
            ends.append(end)
        data = b"".join(batches)
        if data and random.random() < 0.05:
            data = data[: -random.randrange(1, 20)]
        elif data and random.random() < 0.04:
            at = random.randrange(21, len(data))
            data = data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
        return data, ends

    def _control(self, base: int, epoch: int, leader: int) -> Batch:
        ids = self.world.cast.ids
        record: LeaderChange | Voters = LeaderChange(leader, ids, ids)
        if self.world.cast.is_dynamic and self.random.random() < 0.5:
            record = Voters(self.world.changed_voters())
        return Batch(
            base_offset=base, last_offset=base, epoch=epoch, timestamp_ms=7, control=(record,)
        )
