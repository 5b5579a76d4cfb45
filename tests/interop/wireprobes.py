"""Requests to real Kafka that its nodes do not ask each other: old versions, wrong epochs, places.

Owns one connection that speaks by our own wire layer, through the proxy. It refuses whatever would
end a real node: errors that Kafka takes for a broken protocol are for the digest's reader to know.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kraftool.decoders import rpc_frames
from kraftool.raft.messages import (
    AddVoterRequest,
    BeginQuorumEpochRequest,
    DescribeQuorumRequest,
    EndQuorumEpochRequest,
    FetchRequest,
    FetchSnapshotRequest,
    RemoveVoterRequest,
    Request,
    UpdateVoterRequest,
    VoteRequest,
)
from kraftool.raft.names import Endpoint, OffsetAndEpoch, ReplicaKey, VersionRange
from kraftool.raft.wire import requests
from tests.interop import kafka
from tests.interop.clusters import Node
from tests.support.ports import HOST

if TYPE_CHECKING:
    from tests.interop.wirequorum import Quorum

STRANGER = "AAAAAAAAAAAAAAAAAAAACQ"
"""The directory id of nobody."""
NEWEST = {
    "Vote": 2,
    "BeginQuorumEpoch": 1,
    "EndQuorumEpoch": 1,
    "Fetch": 18,
    "FetchSnapshot": 1,
    "DescribeQuorum": 2,
    "AddRaftVoter": 1,
    "RemoveRaftVoter": 0,
    "UpdateRaftVoter": 0,
}


class Prober:
    """A connection to one node."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((HOST, port), 10)
        self.correlation_id = 1000

    def __enter__(self) -> Prober:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, request: Request, version: int | None = None) -> rpc_frames.ResponseFrame:
        """Ask, and wait for the answer."""
        name = requests.NAMES[type(request)]
        wanted = NEWEST[name] if version is None else version
        self.correlation_id += 1
        asked = rpc_frames.encode_request(
            rpc_frames.RequestFrame(
                name=name,
                version=wanted,
                correlation_id=self.correlation_id,
                client_id="probe",
                body=requests.to_kafka(request, wanted),
            )
        )
        self.socket.sendall(len(asked).to_bytes(4, "big") + asked)
        size = int.from_bytes(self._read(4), "big")
        return rpc_frames.decode_response(self._read(size), name, wanted)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("the node closed the connection")
            data += piece
        return data


def steady(quorum: Quorum) -> None:
    """What a leader and a follower of a quorum at rest say to whatever they are asked."""
    shown = kafka.wait_for("a leader", quorum.quorum)
    epoch, cluster_id = int(shown["leaderEpoch"]), quorum.id
    leader = quorum.nodes[int(shown["leaderId"])]
    follower = next(node for node in quorum.running() if node is not leader)
    asker = ReplicaKey(9, STRANGER)
    for node in (leader, follower):
        key = ReplicaKey(node.id, node.directory_id)
        other = follower if node is leader else leader
        voter = ReplicaKey(other.id, other.directory_id)
        with Prober(node.ports["CONTROLLER"]) as prober:
            for request, version in _questions(cluster_id, epoch, key, voter, asker, leader.id):
                prober.ask(request, version)


def alone(quorum: Quorum, node: Node, epoch: int, voters: list[Node]) -> None:
    """What a node says that was cut off and knows of no leader (in some epoch, resigned or not)."""
    first, second = (ReplicaKey(voter.id, voter.directory_id) for voter in voters)
    asked = ReplicaKey(node.id, node.directory_id)
    stranger = ReplicaKey(first.id, STRANGER)
    vote = VoteRequest(
        cluster_id=quorum.id,
        replica_epoch=epoch,
        replica=first,
        voter=asked,
        last_offset=1 << 40,
        last_offset_epoch=epoch - 1,
    )
    short = replace(vote, last_offset=0, last_offset_epoch=0)
    fetch = FetchRequest(
        cluster_id=quorum.id,
        replica=first,
        current_leader_epoch=epoch,
        fetch_offset=1,
        last_fetched_epoch=1,
        max_wait_ms=0,
    )
    with Prober(node.ports["CONTROLLER"]) as prober:
        prober.ask(replace(vote, pre_vote=True))
        prober.ask(replace(short, pre_vote=True))
        for request in (short, vote, short, replace(vote, replica=stranger)):
            prober.ask(request)
        prober.ask(replace(vote, replica=second))
        prober.ask(replace(vote, replica=second, pre_vote=True))
        prober.ask(fetch)
        prober.ask(replace(fetch, current_leader_epoch=epoch - 1))
        prober.ask(replace(fetch, current_leader_epoch=epoch + 1))
        prober.ask(DescribeQuorumRequest())


def long_log(quorum: Quorum, fourth: Node) -> None:
    """What a leader of a log with several epochs and snapshots says to those who want of it."""
    shown = kafka.wait_for("a leader", quorum.quorum)
    leader = quorum.nodes[int(shown["leaderId"])]
    epoch, end = int(shown["leaderEpoch"]), int(shown["highWatermark"])
    stranger = ReplicaKey(9, STRANGER)
    fetch = FetchRequest(
        cluster_id=quorum.id,
        replica=stranger,
        current_leader_epoch=epoch,
        fetch_offset=0,
        last_fetched_epoch=0,
        max_wait_ms=0,
        max_bytes=1,
    )
    name = quorum.snapshots(leader)[-1].removesuffix(".checkpoint").split("-")
    newest = OffsetAndEpoch(int(name[0]), int(name[1]))
    slice_ = FetchSnapshotRequest(
        cluster_id=quorum.id,
        replica=stranger,
        current_leader_epoch=epoch,
        snapshot_id=newest,
        position=0,
        max_bytes=50,
    )
    listeners = {"CONTROLLER": Endpoint(HOST, fourth.ports["CONTROLLER"])}
    with Prober(leader.ports["CONTROLLER"]) as prober:
        for offset in (0, 1, end // 4, end // 2, end - 1, end + 1000):
            for last in range(epoch + 1):
                prober.ask(replace(fetch, fetch_offset=offset, last_fetched_epoch=last))
        for position in (0, 7, 1 << 30, -1):
            for version in (0, 1):
                prober.ask(replace(slice_, position=position), version)
        prober.ask(replace(slice_, snapshot_id=OffsetAndEpoch(newest.offset, epoch + 1)))
        prober.ask(AddVoterRequest(cluster_id=quorum.id, voter=stranger, listeners=listeners))


def ahead(quorum: Quorum, follower: Node, voter: Node) -> None:
    """What a follower says to those of higher epochs; the quorum has to elect anew after this."""
    shown = kafka.wait_for("a leader", quorum.quorum)
    epoch = int(shown["leaderEpoch"])
    vote = VoteRequest(
        cluster_id=quorum.id,
        replica_epoch=epoch + 5,
        replica=ReplicaKey(voter.id, voter.directory_id),
        voter=ReplicaKey(follower.id, follower.directory_id),
        last_offset=0,
        last_offset_epoch=0,
        pre_vote=True,
    )
    with Prober(follower.ports["CONTROLLER"]) as prober:
        prober.ask(vote)
        prober.ask(replace(vote, replica_epoch=epoch + 10, pre_vote=False))
        granted = replace(vote, last_offset=1 << 40, last_offset_epoch=epoch, pre_vote=False)
        prober.ask(replace(granted, replica_epoch=epoch + 15))
        prober.ask(replace(granted, replica_epoch=epoch + 20, voter=ReplicaKey(voter.id)))


def _questions(
    cluster_id: str, epoch: int, asked: ReplicaKey, voter: ReplicaKey, stranger: ReplicaKey,
    leader_id: int,
) -> Iterator[tuple[Request, int | None]]:  # fmt: skip
    yield from _votes(cluster_id, epoch, asked, voter, stranger)
    yield from _epochs(cluster_id, epoch, asked, voter, leader_id)
    yield from _fetches(cluster_id, epoch, stranger)
    yield from _snapshots(cluster_id, epoch, stranger)
    for version in (0, 1, 2):
        yield DescribeQuorumRequest(), version
    yield from _changes(cluster_id, epoch, voter, stranger)


def _votes(
    cluster_id: str, epoch: int, asked: ReplicaKey, voter: ReplicaKey, stranger: ReplicaKey
) -> Iterator[tuple[Request, int | None]]:
    vote = VoteRequest(
        cluster_id=cluster_id,
        replica_epoch=epoch,
        replica=voter,
        voter=asked,
        last_offset=1 << 40,
        last_offset_epoch=epoch,
        pre_vote=True,
    )
    yield vote, None
    yield replace(vote, last_offset=0, last_offset_epoch=0), None
    yield replace(vote, replica=stranger), None
    yield replace(vote, cluster_id="of another"), None
    yield replace(vote, cluster_id=""), None
    yield replace(vote, cluster_id=None), None
    yield replace(vote, replica_epoch=epoch - 1, last_offset_epoch=epoch - 1), None
    yield replace(vote, voter=stranger), None
    yield replace(vote, voter=ReplicaKey(asked.id, stranger.directory_id)), None
    yield replace(vote, voter=ReplicaKey(asked.id)), None
    yield replace(vote, last_offset=-1), None
    yield replace(vote, last_offset_epoch=-1), None
    yield replace(vote, last_offset_epoch=epoch + 1), None
    yield replace(vote, replica=ReplicaKey(-1)), None
    standard = replace(vote, pre_vote=False, last_offset_epoch=epoch - 1)
    for version in (0, 1, 2):
        yield standard, version
        yield replace(standard, last_offset_epoch=epoch), version
        yield replace(standard, replica_epoch=epoch - 1, last_offset_epoch=0), version


def _epochs(
    cluster_id: str, epoch: int, asked: ReplicaKey, voter: ReplicaKey, leader_id: int
) -> Iterator[tuple[Request, int | None]]:
    begin = BeginQuorumEpochRequest(
        cluster_id=cluster_id, leader_id=voter.id, leader_epoch=epoch - 1, voter=asked
    )
    end = EndQuorumEpochRequest(
        cluster_id=cluster_id,
        leader_id=voter.id,
        leader_epoch=epoch - 1,
        preferred_candidates=(voter,),
    )
    for version in (0, 1):
        for request in (begin, end):
            yield request, version
            yield replace(request, cluster_id="of another"), version
            yield replace(request, leader_id=-1, leader_epoch=epoch), version
    if asked.id != leader_id:
        changed = replace(begin, leader_id=leader_id, leader_epoch=epoch)
        yield changed, 0
        yield changed, 1
        yield replace(changed, voter=ReplicaKey(asked.id, voter.directory_id)), 1
        yield replace(changed, voter=voter), 1


def _fetches(
    cluster_id: str, epoch: int, stranger: ReplicaKey
) -> Iterator[tuple[Request, int | None]]:
    fetch = FetchRequest(
        cluster_id=cluster_id,
        replica=stranger,
        current_leader_epoch=epoch,
        fetch_offset=0,
        last_fetched_epoch=0,
        max_wait_ms=0,
        high_watermark=-1,
        max_bytes=200,
    )
    for version in range(13, 19):
        yield fetch, version
    yield fetch, 12
    yield replace(fetch, replica=None), None
    yield replace(fetch, cluster_id="of another"), None
    yield replace(fetch, current_leader_epoch=epoch - 1), None
    yield replace(fetch, current_leader_epoch=epoch + 1), None
    yield replace(fetch, current_leader_epoch=-1), None
    yield replace(fetch, fetch_offset=-1), None
    yield replace(fetch, last_fetched_epoch=-1), None
    yield replace(fetch, last_fetched_epoch=epoch + 1), None
    yield replace(fetch, max_wait_ms=-1), None
    for offset, last in ((0, epoch), (1 << 40, epoch), (2, 0), (1, epoch), (3, epoch)):
        yield replace(fetch, fetch_offset=offset, last_fetched_epoch=last), None


def _snapshots(
    cluster_id: str, epoch: int, stranger: ReplicaKey
) -> Iterator[tuple[Request, int | None]]:
    fetch = FetchSnapshotRequest(
        cluster_id=cluster_id,
        replica=stranger,
        current_leader_epoch=epoch,
        snapshot_id=OffsetAndEpoch(1 << 40, epoch),
        position=0,
        max_bytes=100,
    )
    for version in (0, 1):
        yield fetch, version
        yield replace(fetch, snapshot_id=OffsetAndEpoch(0, 0)), version
        yield replace(fetch, current_leader_epoch=epoch - 1), version
        yield replace(fetch, current_leader_epoch=epoch + 1), version
        yield replace(fetch, cluster_id="of another"), version


def _changes(
    cluster_id: str, epoch: int, voter: ReplicaKey, stranger: ReplicaKey
) -> Iterator[tuple[Request, int | None]]:
    listeners = {"CONTROLLER": Endpoint(HOST, 9)}
    add = AddVoterRequest(cluster_id=cluster_id, voter=voter, listeners=listeners, timeout_ms=1000)
    for version in (0, 1):
        yield add, version
    yield replace(add, cluster_id="of another"), None
    yield replace(add, voter=None), None
    yield replace(add, listeners={}), None
    yield replace(add, listeners={"OTHER": Endpoint(HOST, 9)}), None
    yield replace(add, voter=ReplicaKey(voter.id, stranger.directory_id)), None
    remove = RemoveVoterRequest(cluster_id=cluster_id, voter=stranger)
    yield remove, None
    yield replace(remove, cluster_id="of another"), None
    yield replace(remove, voter=None), None
    yield replace(remove, voter=ReplicaKey(voter.id, stranger.directory_id)), None
    update = UpdateVoterRequest(
        cluster_id=cluster_id,
        current_leader_epoch=epoch,
        voter=stranger,
        listeners=listeners,
        kraft_version=VersionRange(0, 1),
    )
    yield update, None
    yield replace(update, cluster_id="of another"), None
    yield replace(update, current_leader_epoch=epoch - 1), None
    yield replace(update, current_leader_epoch=epoch + 1), None
    yield replace(update, voter=None), None
    yield replace(update, listeners={}), None
    yield replace(update, kraft_version=VersionRange(-1, 1)), None
    yield replace(update, kraft_version=VersionRange(1, 0)), None
    yield replace(update, kraft_version=VersionRange(0, 0)), None
