"""What a quorum lives through: the simulated scenarios of Kafka's own tests, all checkers on.

The numbers are those of the list of scenarios that the core is built from (233 to 239).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from random import Random

import pytest

from kraftool.raft.events import Shutdown
from kraftool.raft.names import ReplicaKey
from kraftool.raft.roles import Follower
from kraftool.raft.settings import Timing
from kraftool.sim.disk import Disk
from tests.simulator.checkers import CHECKERS
from tests.simulator.checkers.base import Checker, checked_world
from tests.simulator.node import Node
from tests.simulator.options import Options

TIMING = Timing(
    election_timeout_ms=1000,
    fetch_timeout_ms=3000,
    request_timeout_ms=3000,
    retry_backoff_ms=50,
    election_backoff_max_ms=100,
    append_linger_ms=0,
    fetch_max_wait_ms=100,
)
SEEDS = range(6)
LONGEST_MS = 120_000


class Quorum:
    """A world in which only happens what a test does; whoever leads appends without end."""

    def __init__(
        self,
        seed: int,
        voters: int | None = None,
        *,
        dynamic: bool = True,
        checkers: Iterable[type[Checker]] = CHECKERS,
    ) -> None:
        self.random = Random(seed)
        voters = voters or self.random.randrange(3, 6)
        observers = self.random.randrange(3)
        options = Options(
            voters=voters, observers=observers, dynamic=dynamic, faults=(), timing=TIMING
        )
        self.world = checked_world(options, self.random, [checker() for checker in checkers])
        self.voters = list(self.world.nodes.values())[:voters]
        for node in self.world.nodes.values():
            node.snapshot_every = self.random.choice((5, 20, 1000))
            node.start()
        self._append()

    def _append(self) -> None:
        for node in list(self.world.nodes.values()):
            if node.leads:
                self.world.append(node)
        self.world.after(60 + self.random.randrange(60), self._append)

    def until(self, what: str, condition: Callable[[], bool]) -> None:
        assert self.world.run(self.world.now + LONGEST_MS, condition), f"never: {what}"

    def until_committed(self, offset: int, nodes: Iterable[Node] | None = None) -> None:
        by = list(nodes if nodes is not None else self.world.nodes.values())
        self.until(
            f"{offset} is committed",
            lambda: all((node.watermark or 0) >= offset for node in by if node.is_up),
        )

    @property
    def leader(self) -> Node:
        return max(
            (voter for voter in self.voters if voter.leads), key=lambda voter: voter.raft.epoch
        )

    def has_leader_beside(self, old: Node) -> bool:
        return any(
            voter.leads and voter is not old and voter.raft.epoch > old.raft.epoch
            for voter in self.voters
        )

    @property
    def committed(self) -> int:
        return self.world.committed.end

    def cut(self, one: Iterable[Node], other: Iterable[Node]) -> None:
        pairs = [(a.id, b.id) for a in one for b in other]
        self.world.network.cut |= {*pairs, *((b, a) for a, b in pairs)}

    def others(self, *nodes: Node) -> list[Node]:
        return [node for node in self.world.nodes.values() if node not in nodes]


@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_233_all_start_and_find_one_leader_and_commit(seed: int, dynamic: bool) -> None:
    quorum = Quorum(seed, dynamic=dynamic)
    quorum.until_committed(10)
    leader = quorum.leader
    for node in quorum.others(leader):
        assert isinstance(node.raft.role, Follower)
        assert (node.raft.epoch, node.raft.leader_id) == (leader.raft.epoch, leader.id)


@pytest.mark.parametrize("graceful", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_234_the_others_go_on_without_the_leader_that_ends(seed: int, graceful: bool) -> None:
    quorum = Quorum(seed)
    quorum.until_committed(10)
    old = quorum.leader
    if graceful:
        old.step(Shutdown())
    else:
        old.end(power=False)
    quorum.until_committed(20, quorum.others(old))
    quorum.until("the old leader has ended", lambda: not old.is_up)
    old.start()
    quorum.until_committed(quorum.committed + 10)


@pytest.mark.parametrize("seed", SEEDS)
def test_235_a_majority_is_enough_after_all_have_ended(seed: int) -> None:
    quorum = Quorum(seed)
    quorum.until_committed(10)
    before = quorum.committed
    for node in quorum.world.nodes.values():
        node.end(power=False)
    majority = quorum.random.sample(quorum.voters, len(quorum.voters) // 2 + 1)
    for node in majority:
        node.start()
    quorum.until_committed(before + 10, majority)


@pytest.mark.parametrize("seed", SEEDS)
def test_236_the_others_go_on_without_a_leader_that_nobody_reaches(seed: int) -> None:
    quorum = Quorum(seed)
    quorum.until_committed(10)
    old = quorum.leader
    quorum.cut([old], quorum.others(old))
    quorum.until_committed(20, quorum.others(old))
    assert quorum.leader is not old
    assert (old.watermark or 0) < 20


@pytest.mark.parametrize("seed", SEEDS)
def test_237_the_majority_goes_on_and_the_minority_catches_up(seed: int) -> None:
    quorum = Quorum(seed, 5)
    quorum.until_committed(10)
    minority, majority = quorum.voters[:2], quorum.voters[2:]
    quorum.cut(minority, quorum.others(*minority))
    end = max(voter.log.end for voter in quorum.voters)
    quorum.until_committed(2 * end, majority)
    assert all((node.watermark or 0) < 2 * end for node in minority)
    quorum.world.network.heal()
    quorum.until_committed(2 * end + 10)


@pytest.mark.parametrize("seed", SEEDS)
def test_238_one_leader_after_the_other_is_cut_off(seed: int) -> None:
    quorum = Quorum(seed, 3)
    quorum.until_committed(10)
    for _ in range(4):
        old = quorum.leader
        quorum.world.network.heal()
        quorum.cut([old], quorum.others(old))
        quorum.until("another leads", partial(quorum.has_leader_beside, old))
    quorum.until_committed(quorum.committed + 10, [quorum.leader])


@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_239_nothing_committed_goes_with_a_disk_that_is_lost(seed: int, dynamic: bool) -> None:
    """Static voters do not tell a new disk from the old: its node may go back in epochs, and
    majorities are of those who remember."""
    checkers = [checker for checker in CHECKERS if checker.name not in {"epochs", "majority"}]
    quorum = Quorum(seed, dynamic=dynamic, checkers=checkers)
    quorum.until_committed(10)
    old = quorum.random.choice(quorum.voters)
    epoch = old.raft.epoch
    was_leader = old.leads
    old.end(power=False)
    rest = [voter for voter in quorum.voters if voter is not old]
    if was_leader:
        quorum.until(
            "another leads", lambda: any(node.leads and node.raft.epoch > epoch for node in rest)
        )
    quorum.until_committed(quorum.committed + 3, rest)
    quorum.world.lost_disks[ReplicaKey(old.id, old.disk.directory_id)] = old.disk
    new = quorum.world.add_node(old.id, Disk("another-disk"))
    new.incarnation, new.is_reborn = old.incarnation, True
    new.start()
    quorum.until_committed(quorum.committed + 10, [*rest, new])
    assert new.machine.next_offset > 10
