"""One vote an epoch, for a log that is long enough, and a majority of them for every leader."""

from __future__ import annotations

from collections import defaultdict

from kraftool.raft.events import Event
from kraftool.raft.messages import Response, VoteRequest, VoteResponse
from kraftool.raft.names import ElectionState, ReplicaKey
from kraftool.raft.roles import Candidate, Follower, Leader, Role
from tests.simulator.checkers.base import Checker
from tests.simulator.network import Asked
from tests.simulator.node import Node


class Votes(Checker):
    """A directory votes once in an epoch, for nobody whose log is shorter than its own. A pre-vote
    is refused by a leader, and by whoever gets on well with one."""

    name = "votes"

    def __init__(self) -> None:
        self._given: dict[tuple[int, ReplicaKey], int] = {}
        self._told: set[tuple[int, ReplicaKey]] = set()
        """Who has told its vote; told again, it is not weighed again."""

    def persisted(self, node: Node, before: ElectionState | None, after: ElectionState) -> None:
        if after.voted is not None:
            self._give(node, after.epoch, after.voted.id)

    def replies(self, node: Node, asked: Asked, response: Response) -> None:
        request = asked.request
        if not isinstance(response, VoteResponse) or not response.vote_granted:
            return
        assert isinstance(request, VoteRequest)
        log = node.disk.log
        end = (node.disk.last_epoch, log.end)
        short = (request.last_offset_epoch, request.last_offset) < end
        if request.pre_vote:
            role = node.raft.role
            if node.is_prompt and (
                isinstance(role, Leader) or (isinstance(role, Follower) and role.has_fetched)
            ):
                self.violated(f"{node.name} has a leader, and tells {asked.source.name} to stand")
        else:
            key = (request.replica_epoch, node.key)
            short = short and key not in self._told
            self._told.add(key)
            self._give(node, request.replica_epoch, request.replica.id)
        if short:
            self.violated(f"{node.name} votes for {asked.source.name}, whose log is shorter")

    def _give(self, node: Node, epoch: int, to: int) -> None:
        key = (epoch, node.key)
        before = self._given.setdefault(key, to)
        if before != to:
            self.violated(f"{node.name} votes in epoch {epoch} for {to}, after {before}")


class Elections(Checker):
    """A leader has the votes of a majority, and whoever began an epoch was told before, by a
    majority, that it may."""

    name = "elections"

    def __init__(self) -> None:
        self._granted: defaultdict[tuple[bool, int, int], set[ReplicaKey]] = defaultdict(set)

    def replies(self, node: Node, asked: Asked, response: Response) -> None:
        if isinstance(response, VoteResponse) and response.vote_granted:
            request = asked.request
            assert isinstance(request, VoteRequest)
            key = (request.pre_vote, request.replica_epoch, request.replica.id)
            self._granted[key].add(node.key)

    def role_changed(
        self, node: Node, before: Role | None, after: Role, event: Event | None
    ) -> None:
        if isinstance(after, Leader):
            self._expect(node, (False, after.epoch, node.id), "leads")
        if isinstance(after, Candidate | Leader) and before and after.epoch > before.epoch:
            self._expect(node, (True, after.epoch - 1, node.id), "begins")

    def _expect(self, node: Node, key: tuple[bool, int, int], what: str) -> None:
        granted = self._granted[key]
        own = node.key
        voters = node.voters
        count = sum(
            voter.key.id == own.id or any(key.is_known_as(voter.key) for key in granted)
            for voter in voters
        )
        if count < len(voters) // 2 + 1:
            kind = "pre-votes" if key[0] else "votes"
            self.violated(
                f"{node.name} {what} an epoch with {count} {kind} of {len(voters)}, epoch {key[1]}"
            )
