"""One seed, one history, one verdict.

Owns the phases of a run: faults while records are appended, then peace, in which a leader has to be
elected and everyone has to catch up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from kraftool.raft.names import ReplicaKey
from kraftool.raft.roles import Follower, Leader
from tests.simulator.checkers import CHECKERS
from tests.simulator.checkers.base import Checker, checked_world
from tests.simulator.controllers import Controllers
from tests.simulator.faults import Faults
from tests.simulator.node import Node
from tests.simulator.options import Options
from tests.simulator.simulation import ViolationError
from tests.simulator.world import World
from tests.support.proof import count

_APPEND_EVERY_MS = 120
_LOOK_EVERY_MS = 10_000
"""How often it is asked whether there is anything to wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedResult:
    """The result of a seed."""

    seed: int
    invariant: str | None
    """The one that does not hold; None if all do."""
    text: str
    events: int
    ended_at_ms: int
    counts: Counter[str]
    trace: tuple[str, ...]

    @property
    def is_fine(self) -> bool:
        return self.invariant is None


def run(
    seed: int, options: Options | None = None, checkers: Sequence[type[Checker]] = CHECKERS
) -> SeedResult:
    """Play a seed to its end, or to the first invariant that does not hold."""
    count("seeds of the simulator")
    options = options if options is not None else Options()
    if options.controllers:
        checkers = (*checkers, Controllers)
    world = checked_world(options, Random(seed), [checker() for checker in checkers])
    invariant, text = None, ""
    try:
        Play(world).all()
    except ViolationError as error:
        invariant, text = error.invariant, str(error)
        world.note(f"violated: {text}")
    return SeedResult(
        seed=seed,
        invariant=invariant,
        text=text,
        events=world.events,
        ended_at_ms=world.now,
        counts=world.counts,
        trace=tuple(world.trace),
    )


class Play:
    """The phases."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._faults: Faults | None = None
        self._is_begun = False
        self._is_settled = self._is_peace = False
        self._committed_before = 0

    def all(self) -> None:
        world = self._world
        options = world.options
        for node in list(world.nodes.values()):
            world.after(world.random.randrange(30), node.start)
        if options.until_leader:
            if not world.run(options.settle_ms, self._has_leader):
                world.violated("liveness", "no leader was elected")
            return
        self.trouble(options.run_ms)
        self.peace()

    def trouble(self, for_ms: int) -> None:
        """Things go wrong for a while, and go on going wrong afterwards."""
        world = self._world
        self._faults = Faults(world)
        self._faults.begin()
        if not self._is_begun:
            self._is_begun = True
            world.after(100, self._append)
        world.run(world.now + for_ms)

    def calm(self) -> None:
        """Nothing goes wrong from now on, and everyone is started again."""
        if self._faults is not None:
            self._faults.stop()
            self._faults = None

    def peace(self) -> None:
        """Calm, in which everyone has to catch up."""
        world = self._world
        self.calm()
        self._is_peace, self._committed_before = True, world.committed.end
        until = world.now + world.options.settle_ms
        while not world.run(min(world.now + _LOOK_EVERY_MS, until), lambda: self._is_settled):
            if not self.is_electable():
                listening = self.is_electable(if_observers_grant=True)
                why = (
                    "a new voter still observes"
                    if listening
                    else "the longest log is a non-voter's"
                )
                world.count(f"ended without anyone who could be elected: {why}")
                return
            if world.now >= until:
                world.violated("liveness", self._unsettled())

    def _has_leader(self) -> bool:
        return self._world.committed.end > 0

    def _append(self) -> None:
        """Whoever leads appends something, now and then."""
        world = self._world
        for node in list(world.nodes.values()):
            if node.leads and world.now >= node.paused_until and world.random.random() < 0.6:
                world.append(node)
        if self._is_peace and not self._is_settled:
            self._is_settled = self._settled()
        world.after(1 + world.random.randrange(2 * _APPEND_EVERY_MS), self._append)

    def _settled(self) -> bool:
        """True if everyone is in one epoch, and has more committed than when the faults ended."""
        nodes = self._world.nodes.values()
        epochs = {node.raft.epoch for node in nodes if node.is_up}
        return (
            len(epochs) == 1
            and all(
                node.is_up
                and isinstance(node.raft.role, Follower | Leader)
                and (node.watermark or 0) > self._committed_before
                for node in nodes
            )
            and any(node.leads and self._may_stay(node) for node in nodes)
        )

    def _may_stay(self, leader: Node) -> bool:
        """True for a leader that runs a controller, and where no voter runs one."""
        nodes = self._world.nodes.values()
        return leader.settings.runs_controller or not any(
            node.settings.runs_controller and leader.voters.has(node.key) for node in nodes
        )

    def is_electable(self, *, if_observers_grant: bool = False) -> bool:
        """True if any node can win an election by what the nodes know.

        Kafka has ways to lose that without anybody's fault, both with voters that are appended and
        not committed, which count from the append on. A leader that removes itself from two voters,
        and ends before the other has that record, is needed by the other, whose log is shorter;
        itself it is no voter any more and never stands. (Raft lets such a node stand until the
        commit.) And a node that was added, and has not fetched that before the leader was lost,
        observes: an observer's fetch timer ends nothing, so it follows that leader for ever, and
        who has fetched from a leader grants no pre-vote until it leaves the role.
        """
        if any(node.leads and node.watermark for node in self._world.nodes.values()):
            return True
        for one in self._world.nodes.values():
            if one.voters.has(one.key):
                granting = sum(
                    self._may_grant(one, voter.key, if_observers_grant=if_observers_grant)
                    for voter in one.voters
                )
                if granting >= one.voters.majority:
                    return True
        return False

    def _may_grant(self, one: Node, to: ReplicaKey, *, if_observers_grant: bool) -> bool:
        other = self._world.nodes.get(to.id)
        if other is None or not other.key.is_known_as(to):
            return False
        role = other.raft.role
        observes = not if_observers_grant and not other.voters.has(other.key)
        if observes and isinstance(role, Follower) and role.has_fetched:
            return False
        disk, own = other.disk, one.disk
        return (disk.last_epoch, disk.log.end) <= (own.last_epoch, own.log.end)

    def _unsettled(self) -> str:
        node_states = ", ".join(
            f"{node.name} {type(node.raft.role).__name__} e{node.raft.epoch}"
            f" {node.watermark} of {node.log.end} {sorted(node.voters.ids)}"
            for node in self._world.nodes.values()
        )
        waited = self._world.options.settle_ms
        return f"nothing committed by all {waited} ms after the faults: {node_states}"
