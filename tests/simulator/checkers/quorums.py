"""Majorities: what is committed is on most voters' disks, and who leads hears from most of them."""

from __future__ import annotations

from kraftool.raft.events import Event, RequestReceived
from kraftool.raft.messages import FetchRequest, FetchSnapshotRequest, UpdateVoterRequest
from kraftool.raft.names import ReplicaKey, VoterSet
from kraftool.raft.roles import Leader, Role
from kraftool.sim.disk import Disk
from tests.simulator.checkers.base import Checker
from tests.simulator.node import Node


class Majorities(Checker):
    """When a leader commits, a majority of the voters has it on disk."""

    name = "majority"

    def watermark(self, node: Node, role: Role, before: int | None, after: int | None) -> None:
        if after is None or after == before or not isinstance(role, Leader):
            return
        last = node.log.holding(after - 1)
        have = 0
        for voter in node.voters:
            disk = self._disk(voter.key)
            have += disk is not None and (
                disk.log.start >= after
                or (disk.durable >= after and disk.log.holding(after - 1) is last)
            )
        if have < len(node.voters) // 2 + 1:
            self.violated(
                f"{node.name} commits up to {after}; {have} of {len(node.voters)} voters have it"
            )

    def _disk(self, key: ReplicaKey) -> Disk | None:
        node = self.world.nodes.get(key.id)
        if node is not None and key.directory_id in (None, node.disk.directory_id):
            return node.disk
        return self.world.lost_disks.get(key)


class CheckQuorum(Checker):
    """A leader that most voters do not reach gives up, within twice its patience at the most. After
    a pause it handles what waited for it first, and may find itself heard: so the longest pause of
    its leadership comes on top."""

    name = "check-quorum"

    def __init__(self) -> None:
        self._heard: dict[int, dict[int, int]] = {}
        self._since: dict[int, tuple[int, VoterSet]] = {}
        self._fine_until: dict[int, int] = {}
        self._stepped: dict[int, int] = {}
        self._pause: dict[int, int] = {}

    def role_changed(
        self, node: Node, before: Role | None, after: Role, event: Event | None
    ) -> None:
        if isinstance(after, Leader):
            self._heard[node.id] = {}
            self._since[node.id] = (node.raft.now_ms, node.voters)
            self._fine_until[node.id] = 0
            self._stepped[node.id], self._pause[node.id] = node.raft.now_ms, 0

    def stepped(self, node: Node, event: Event | None) -> None:
        role = node.raft.role
        if not isinstance(role, Leader):
            return
        now = node.raft.now_ms
        if isinstance(event, RequestReceived):
            self._hear(node, event, now)
        self._pause[node.id] = max(self._pause[node.id], now - self._stepped[node.id])
        self._stepped[node.id] = now
        if now <= self._fine_until[node.id]:
            return
        since, voters = self._since[node.id]
        if voters is not node.voters:
            since = now
            self._since[node.id] = (now, node.voters)
        needed = len(node.voters) // 2 + 1 - (node.id in node.voters.ids)
        if len(node.voters) == 1:
            return
        heard = sorted(
            (self._heard[node.id].get(voter_id, since) for voter_id in node.voters.ids - {node.id}),
            reverse=True,
        )
        patience = 2 * node.settings.timing.check_quorum_ms + self._pause[node.id]
        last = max(heard[needed - 1], since)
        if now > last + patience:
            self.violated(f"{node.name} leads on, {now - last} ms after it heard from a majority")
        self._fine_until[node.id] = last + patience

    def _hear(self, node: Node, event: RequestReceived, now: int) -> None:
        match event.request:
            case FetchRequest(replica=ReplicaKey(id=heard)):
                self._heard[node.id][heard] = now
            case FetchSnapshotRequest(replica=ReplicaKey(id=heard)):
                self._heard[node.id][heard] = now
            case UpdateVoterRequest(voter=ReplicaKey(id=heard)):
                self._heard[node.id][heard] = now
            case _:
                pass
