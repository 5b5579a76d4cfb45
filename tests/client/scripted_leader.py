"""A leader that serves the log and snapshot of a fixture to readers, as a test wants it to.

It answers over a real connection, so that requests are encoded and decoded as Kafka's are.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.names import parse_checkpoint_name
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.decoders.segment import scan
from kraftool.net.guests import Listener
from kraftool.net.server import Peer, Server
from kraftool.raft.messages import (
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    Response,
)
from kraftool.raft.names import Endpoint, OffsetAndEpoch, ReplicaKey
from kraftool.raft.wire import requests, responses
from kraftool.raft.wire.batches import decode
from tests.client.views import NOW, described, node, replica

SERVED = {"ApiVersions": (0, 4), "Fetch": (13, 18), "FetchSnapshot": (0, 1)}
KEYS = {"ApiVersions": 18, "Fetch": 1, "FetchSnapshot": 59}

DIRECTORY_IDS = ("RlGsKpAMTTKnsaRtAXfYRg", "9XKd2LvlTMGHY_Iqw4Y9pw", "VDu0TPcRRICXiN-qc2CfWA")


@dataclass(frozen=True)
class Asked:
    """One request that came."""

    name: str
    replica_id: int
    offset: int


class ScriptedLeader:
    """Node 1, leading `epoch`, with the files of a partition's folder."""

    def __init__(self, folder: Path, *, with_snapshot: bool = True, epoch: int = 9) -> None:
        self.epoch = epoch
        self.batches = [
            batch
            for segment in sorted(folder.glob("*.log"))
            for batch in _batches(segment.read_bytes())
        ]
        self.end = self.batches[-1].last_offset + 1
        self.high_watermark = self.end
        self.snapshot_id: OffsetAndEpoch | None = None
        self.snapshot = b""
        newest = sorted(folder.glob("*.checkpoint"))[-1]
        name = parse_checkpoint_name(newest.name)
        if with_snapshot and name is not None and name.offset > 0:
            self.snapshot_id = OffsetAndEpoch(name.offset, name.epoch)
            self.snapshot = newest.read_bytes()
        self.older: dict[OffsetAndEpoch, bytes] = {}
        """Its other snapshots."""
        self.log_start = -1
        """The first offset of its log: as a leader says it, and keeps to it; -1 says nothing."""
        self.asked: list[Asked] = []
        self.spoil: Callable[[Response], Response] = lambda response: response
        """What a test makes of an answer."""
        self.chunk = 1 << 20
        self.bound = Endpoint("", 0)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[QuorumView]:
        """Yields the quorum as a survey would have found it."""
        listener = Listener(name="CONTROLLER", host="127.0.0.1", port=0)

        async def handle(peer: Peer, request: RequestFrame) -> Value | None:
            return self._answer(request)

        server = Server([listener], handle, SERVED)
        await server.start()
        try:
            self.bound = server.bound["CONTROLLER"]
            yield self.view()
        finally:
            await server.close()

    def view(self, *, leads: bool = True) -> QuorumView:
        voters = [
            replace(
                replica(voter, end=self.end, fetched=NOW),
                replica=ReplicaKey(voter, DIRECTORY_IDS[voter - 1]),
            )
            for voter in (1, 2, 3)
        ]
        quorum = described(voters, mark=self.high_watermark, epoch=self.epoch) if leads else None
        answer: NodeAnswer = node(1, quorum=quorum, epoch=self.epoch, leader=1 if leads else None)
        return QuorumView(nodes=(replace(answer, endpoint=self.bound),))

    def _answer(self, request: RequestFrame) -> Value:
        if request.name == "ApiVersions":
            keys = [
                {"apiKey": KEYS[name], "minVersion": low, "maxVersion": high}
                for name, (low, high) in SERVED.items()
            ]
            return {"errorCode": 0, "apiKeys": keys}
        asked = requests.from_kafka(request.name, request.body)
        if isinstance(asked, FetchRequest):
            response: Response = self._fetch(asked)
        else:
            assert isinstance(asked, FetchSnapshotRequest), "it serves nothing else"
            response = self._chunk(asked)
        self.asked.append(_asked(request.name, asked))
        return responses.to_kafka(request.name, self.spoil(response), request.version)

    def _fetch(self, asked: FetchRequest) -> FetchResponse:
        mine = FetchResponse(
            leader_id=1,
            leader_epoch=self.epoch,
            high_watermark=self.high_watermark,
            log_start_offset=self.log_start,
        )
        if asked.current_leader_epoch != self.epoch:
            return replace(mine, error=Error.FENCED_LEADER_EPOCH, high_watermark=-1)
        if asked.fetch_offset == 0 and self.snapshot_id is not None:
            return replace(mine, snapshot_id=self.snapshot_id)
        if self.log_start > 0 and self.snapshot_id is not None:
            place = OffsetAndEpoch(asked.fetch_offset, asked.last_fetched_epoch)
            earliest = min((*self.older, self.snapshot_id))
            is_start = place.offset == self.log_start and place.epoch != earliest.epoch
            if place.offset < self.log_start or is_start or place.epoch < earliest.epoch:
                return replace(mine, snapshot_id=self.snapshot_id)  # as Kafka's ReplicatedLog
        sent, size = [], 0
        for batch in self.batches:
            if batch.last_offset >= asked.fetch_offset and size < self.chunk:
                sent.append(decode(batch))
                size += batch.size
        return replace(mine, batches=tuple(sent))

    def _chunk(self, asked: FetchSnapshotRequest) -> FetchSnapshotResponse:
        mine = FetchSnapshotResponse(leader_id=1, leader_epoch=self.epoch)
        snapshots = dict(self.older)
        if self.snapshot_id is not None:
            snapshots[self.snapshot_id] = self.snapshot
        data = snapshots.get(asked.snapshot_id)
        if data is None:
            return replace(mine, error=Error.SNAPSHOT_NOT_FOUND)
        return replace(
            mine,
            snapshot_id=asked.snapshot_id,
            size=len(data),
            position=asked.position,
            chunk=data[asked.position : asked.position + self.chunk],
        )


def _asked(name: str, asked: FetchRequest | FetchSnapshotRequest) -> Asked:
    offset = asked.fetch_offset if isinstance(asked, FetchRequest) else asked.position
    return Asked(name, -1 if asked.replica is None else asked.replica.id, offset)


def _batches(data: bytes) -> list[RecordBatch]:
    parts = scan(lambda position, size: data[position : position + size])
    return [part for part in parts if isinstance(part, RecordBatch)]
