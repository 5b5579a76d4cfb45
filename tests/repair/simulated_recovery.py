"""A repaired quorum goes on in the simulator, with faults, an operator, and old voters that return.

Owns a history by its seed: what `simulated_loss.py` left on the disks starts. It judges by the
simulator's own checkers: what they know of epochs, votes and records from before goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from kraftool.raft.events import UpgradeKRaftVersion
from kraftool.raft.messages import AddVoterRequest, RemoveVoterRequest
from kraftool.raft.names import VoterSet
from kraftool.raft.records import Batch
from kraftool.raft.settings import NodeSettings
from kraftool.repair.plan import Method, Plan
from kraftool.sim.batches import Batches
from kraftool.sim.disk import Disk
from kraftool.sim.machine import CHUNK_BYTES
from tests.repair.simulated_directories import numbers_in
from tests.repair.simulated_loss import Case, NothingLeft, Repaired, Return, repaired_quorum
from tests.simulator.checkers.base import Checker, hooks_of
from tests.simulator.checkers.leaders import Leaders
from tests.simulator.checkers.logs import Committed, LogMatching
from tests.simulator.checkers.machines import Machines
from tests.simulator.checkers.voters import VoterSets
from tests.simulator.checkers.votes import Votes
from tests.simulator.checkers.watermarks import HighWatermarks
from tests.simulator.node import Node
from tests.simulator.options import Options
from tests.simulator.runner import Play
from tests.simulator.simulation import ViolationError
from tests.simulator.world import LISTENER, RECORD_BYTES, World

_KEPT_KNOWLEDGE = (Leaders, LogMatching, Votes)
"""Checkers of promises that no loss of a majority takes back."""
_OF_ONE_QUORUM = (Committed, HighWatermarks, Machines)
"""Checkers of what only one quorum promises: two may stand beside each other."""
_MOST_MS = 60_000
"""How long something may take that has to come about."""
_QUIET_MS = 8_000
"""After so long a quorum has got over what went wrong: who was to start again is there."""
_PATIENCE_MS = 5000
"""After what a process that ended is started again."""


# --- the quorum that is recovered ----------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What became of a history."""

    seed: int
    plan: Plan
    returns: Return
    jumps: bool
    violation: str = ""
    deaths: list[str] = field(default_factory=list)
    """Processes that the protocol ended."""
    rogue: int = 0
    """How many records old voters committed among themselves."""
    old_ids: frozenset[int] = frozenset()
    """Who voted before, and is no voter of the plan."""
    ahead: frozenset[int] = frozenset()
    """Who had more than the seed."""
    joined: frozenset[int] = frozenset()
    """Who is of the recovered quorum in the end."""
    acknowledged: int = 0
    """How many records the recovered quorum committed."""
    grown_to: int = 0
    """The most voters that it had."""
    old_votes: int = 0
    """How many old voters vote again."""
    counts: Any = None
    trace: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"seed {self.seed}: {self.plan.method} {'(jump) ' if self.jumps else ''}"
        return f"{text}{self.returns.name} {self.violation or 'fine'} {self.deaths or ''}"


class Future(World):
    """The recovered quorum, and whoever returns."""

    def __init__(self, repaired: Repaired, case: Case, outcome: Outcome, random: Random) -> None:
        self.repaired, self.case, self.outcome = repaired, case, outcome
        self.past = past = repaired.past
        options = Options(
            voters=0,
            observers=0,
            dynamic=past.dynamic,
            faults=_some_faults(random, case.faults, outcome.returns),
            trace=case.trace,
        )
        super().__init__(options, random)
        self.hooks = hooks_of(list(self._checkers()), self)
        self.next_value = past.world.next_value
        self.mark: tuple[int, Batch | None] | None = None
        """Where the recovered quorum's own log begins: nobody else's has this there."""
        self._joined: set[int] = set()
        for disk in repaired.disks.values():
            for snapshot in disk.snapshots.values():
                self.contents[snapshot.encoded()] = snapshot
        own = repaired.disk
        if repaired.jumps:
            self.base = own.newest
            self.mark = (max(own.snapshots).offset, None)
        else:
            self.committed = Batches(past.world.committed.between(0, own.log.start))
            if repaired.plan.method is Method.APPEND:
                self.mark = (own.log.end - 1, own.log.items[-1])
        self._all = (*past.nodes, *self.fresh)
        self.wall: set[tuple[int, int]] = set()
        self.is_operated = True

    @property
    def fresh(self) -> tuple[int, ...]:
        """New controllers, formatted for the recovered quorum."""
        return (101, 102)

    @property
    def old(self) -> list[int]:
        """Voters that the recovered quorum does not have."""
        return [member for member in self.past.members if member != self.repaired.seed]

    @property
    def kept(self) -> list[int]:
        """Brokers and observers, whose directories stay as they are. With a new cluster id only
        those that the plan knew of are any of it."""
        every = self.past.given if self.case.fence else self.past.nodes
        return [node_id for node_id in every if node_id not in self.past.members]

    # Who is of the recovered quorum

    def is_recovered(self, node: Node) -> bool:
        """Whether a node has followed the recovered quorum once: from then on it counts."""
        if node.id in self._joined:
            return True
        has_recovered = node.id == self.repaired.seed or self._has_mark(node)
        if has_recovered:
            self._joined.add(node.id)
        return has_recovered

    def _has_mark(self, node: Node) -> bool:
        if self.mark is None:
            return False
        offset, batch = self.mark
        if batch is None:
            return node.log.start >= offset
        is_later = node.log.start > offset and node.disk.last_epoch >= batch.epoch
        return is_later or node.log.holding(offset) is batch

    def _checkers(self) -> Iterable[Checker]:
        for before in self.past.checkers:
            kind = type(before)
            if isinstance(before, _KEPT_KNOWLEDGE):
                yield before
            elif issubclass(kind, _OF_ONE_QUORUM):
                yield _only_for(kind, self.is_recovered)
            elif isinstance(before, VoterSets):
                voters = _only_for(kind, self.is_recovered, ("wrote",))
                assert isinstance(voters, VoterSets)
                voters.seen |= before.seen | self.repaired.written
                yield voters
            else:
                yield kind()
        yield _Watcher()

    # Processes that end

    def run(self, until_ms: int, is_over: Callable[[], bool] | None = None) -> bool:
        while True:
            try:
                return super().run(until_ms, is_over)
            except ViolationError as error:
                if not self.case.mortal or error.invariant != "core":
                    raise
                self._die(str(error))

    def _die(self, text: str) -> None:
        name = text.removeprefix("core: ").split(" ")[0].rstrip(":")
        node = next(node for node in self.nodes.values() if node.name == name)
        node.end(power=True)
        self.outcome.deaths.append(text)
        self.note(f"{name} ends: {text}")
        self.after(_PATIENCE_MS, self._start_again, node, node.incarnation)

    @staticmethod
    def _start_again(node: Node, incarnation: int) -> None:
        if node.incarnation == incarnation and not node.is_up:
            node.start()

    # Who starts

    def begin(self, node_id: int) -> Node:
        """Start a node on what is on its disk."""
        past, repaired = self.past, self.repaired
        before = past.nodes.get(node_id)
        is_old = node_id in self.old
        disk = repaired.disks[node_id] if before is not None else Disk(f"d{node_id}")
        if is_old and not past.dynamic and not self.case.old_settings:
            disk = Disk(disk.directory_id)  # emptied, as the plan says
        static = past.nodes[repaired.seed].settings.static_voters
        if not (is_old and self.case.old_settings):
            after = {voter.id for voter in repaired.plan.voters_after}
            static = VoterSet.of(*(voter for voter in static if voter.key.id in after))
        is_controller = before is None or before.settings.is_controller
        new_cluster = repaired.clusters[repaired.seed]
        settings = NodeSettings(
            node_id=node_id,
            directory_id=disk.directory_id,
            cluster_id=new_cluster if before is None else repaired.clusters[node_id],
            listeners={LISTENER: self.endpoint(node_id)},
            static_voters=static,
            bootstrap_servers=tuple(self.endpoint(peer) for peer in self._all),
            is_controller=is_controller,
            auto_join=past.dynamic and is_controller and self.random.random() < 0.2,
            timing=self.options.timing,
            fetch_max_bytes=RECORD_BYTES * 8,
            fetch_snapshot_max_bytes=CHUNK_BYTES,
        )
        node = self.place(settings, disk)
        node.is_reborn = before is not None and disk is not repaired.disks[node_id]
        node.incarnation = 1000
        self.count(f"begun: {'old' if is_old else 'kept' if before is not None else 'new'}")
        node.start()
        return node

    def begin_all(self, ids: Iterable[int], within_ms: int) -> None:
        for node_id in ids:
            self.after(self.random.randrange(within_ms), self._begin_once, node_id)

    def _begin_once(self, node_id: int) -> None:
        if node_id not in self.nodes:
            self.begin(node_id)

    # The operator

    def operate(self) -> None:
        """Add a voter, or remove one; upgrade kraft.version."""
        leaders = [node for node in self.nodes.values() if node.leads and self.is_recovered(node)]
        if leaders and self.is_operated:
            self._change(self.random.choice(leaders))
        self.after(300 + self.random.randrange(1500), self.operate)

    def _change(self, leader: Node) -> None:
        random = self.random
        self.outcome.grown_to = max(self.outcome.grown_to, len(leader.voters))
        if any(voter.key.directory_id is None for voter in leader.voters):
            if random.random() < 0.1:
                leader.step(UpgradeKRaftVersion(epoch=leader.raft.epoch, level=1))
            return
        newcomers = [
            node
            for node in self.nodes.values()
            if node.id not in leader.voters.ids
            and node.settings.is_controller
            and node.is_up
            and self.is_recovered(node)
        ]
        if newcomers and len(leader.voters) < 4 and random.random() < 0.7:
            new = random.choice(newcomers)
            leader.operate(AddVoterRequest(voter=new.key, listeners=new.settings.listeners))
        elif len(leader.voters) > 2 and random.random() < 0.3:
            old = random.choice([voter.key for voter in leader.voters])
            leader.operate(RemoveVoterRequest(voter=old))


def _some_faults(random: Random, faults: Sequence[str], returns: Return) -> tuple[str, ...]:
    """Some of them; no partition that would end what keeps the old voters apart."""
    if returns in (Return.APART, Return.APART_FOR_EVER):
        faults = [fault for fault in faults if fault != "partition"]
    return tuple(random.sample(faults, random.randrange(len(faults) + 1)))


class _Watcher(Checker):
    """Counts what no invariant speaks of."""

    name = "watcher"
    world: Future

    def appended(self, node: Node, batches: tuple[Batch, ...]) -> None:
        world = self.world
        if world.mark is None and node.id == world.repaired.seed and node.leads:
            world.mark = (batches[0].base_offset, batches[0])

    def watermark(self, node: Node, role: Any, before: int | None, after: int | None) -> None:
        world = self.world
        if after is not None and node.leads and not world.is_recovered(node):
            world.outcome.rogue += 1


def _only_for(
    kind: type[Checker], is_in: Callable[[Node], bool], hooks: Sequence[str] = ()
) -> Checker:
    """A checker of the nodes of one quorum, in all or in some of its hooks."""

    def hook(name: str) -> Callable[..., None]:
        original = getattr(kind, name)

        def call(self: Checker, node: Node, *what: Any) -> None:
            if is_in(node):
                original(self, node, *what)

        return call

    every = (var for var in vars(Checker) if callable(getattr(Checker, var)))
    names = [
        name
        for name in hooks or every
        if not name.startswith("_") and getattr(kind, name) is not getattr(Checker, name)
    ]
    checker: Checker = type(
        f"{kind.__name__}OfOne", (kind,), {name: hook(name) for name in names}
    )()
    return checker


# --- one history ---------------------------------------------------------------------------------


def history(seed: int, root: Path, case: Case) -> Outcome:
    """Play a seed. Raises NothingLeft for one that leaves nothing to go on from."""
    random = Random(seed)
    repaired = repaired_quorum(random, root, case)
    returns = case.returns if case.returns is not None else random.choice(list(Return))
    outcome = Outcome(seed=seed, plan=repaired.plan, returns=returns, jumps=repaired.jumps)
    future = Future(repaired, case, outcome, random)
    try:
        _Course(future, returns).all()
    except ViolationError as error:
        outcome.violation = str(error)
        future.note(f"violated: {error}")
    outcome.old_ids = frozenset(future.old)
    past = repaired.past
    outcome.ahead = frozenset(
        node.id for node in past.nodes.values() if not repaired.is_behind(node)
    )
    outcome.joined = frozenset(
        node.id for node in future.nodes.values() if future.is_recovered(node)
    )
    outcome.acknowledged = len(numbers_in(future.committed.items))
    leaders = [node for node in future.nodes.values() if node.leads and node.id in outcome.joined]
    outcome.old_votes = max(
        (len(leader.voters.ids & outcome.old_ids) for leader in leaders), default=0
    )
    outcome.counts, outcome.trace = future.counts, tuple(future.trace)
    return outcome


class _Course:
    """What happens to the recovered quorum, one thing after the other."""

    def __init__(self, future: Future, returns: Return) -> None:
        self.future, self.case, self.random = future, future.case, future.random
        self.camp = [future.repaired.seed, *future.fresh, *future.kept]
        self.old = [
            node_id
            for node_id in future.old
            if not self.case.only_behind or future.repaired.is_behind(future.past.nodes[node_id])
        ]
        self.returns = returns if self.old else Return.NEVER
        self.coming = [] if self.returns is Return.NEVER else self.old
        self.play = Play(future)

    def all(self) -> None:
        """Faults, the return, faults again, and peace."""
        future = self.future
        self._begin()
        future.after(1_000, future.operate)
        self.play.trouble(self.random.randrange(5_000, 12_000))
        if self.returns not in (Return.NEVER, Return.APART_FOR_EVER):
            self._return()
            self.play.calm()
            self.play.trouble(self.random.randrange(3_000, 8_000))
        if self.returns is Return.APART_FOR_EVER or self.case.fence:
            self._switch_off()
        self._begin_rest(1_000)
        future.run(future.now + 1_000)
        self.play.peace()

    def _begin(self) -> None:
        future = self.future
        match self.returns:
            case Return.BEFORE:
                future.begin(self.old[0])
                future.begin_all(self.old, 30)
            case Return.APART | Return.APART_FOR_EVER:
                future.wall = {
                    pair for a in self.old for b in self.camp for pair in ((a, b), (b, a))
                }
                future.network.cut |= future.wall
                future.begin(future.repaired.seed)
                future.begin_all((*self.camp, *self.old), 3_000)
            case _:
                future.begin(future.repaired.seed)
                future.begin_all(self.camp, 3_000)

    def _return(self) -> None:
        """Old voters meet the recovered quorum."""
        future = self.future
        if not self.case.rough:
            self.play.calm()
            future.network.cut |= future.wall
            future.is_operated = False
            if self.returns is not Return.BEFORE:
                future.run(future.now + _QUIET_MS)
                self._until(self._is_led, "is led again")
        future.network.cut -= future.wall
        if self.returns is Return.ONE_BY_ONE:
            self._one_by_one()
        elif self.case.rough or self.case.fence:
            self._begin_rest(3_000)
            future.run(future.now + 8_000)
        else:
            self._begin_rest(3_000)
            self._until(lambda: all(map(self._follows, self.old)), "is followed by old voters")
        future.is_operated = True

    def _one_by_one(self) -> None:
        """Each when the one before follows; who does not, while faults go on, ends it."""
        future, self.coming = self.future, []
        if not future.run(future.now + _MOST_MS, self._is_led):
            return
        for node_id in self.old:
            self.coming.append(node_id)
            future.begin(node_id)
            if not future.run(future.now + _MOST_MS, partial(self._follows, node_id)):
                return

    def _until(self, is_true: Callable[[], bool], what: str) -> None:
        future = self.future
        if not future.run(future.now + _MOST_MS, is_true) and self.play.is_electable():
            future.violated("liveness", f"after {_MOST_MS} ms it is not so that it {what}")

    def _is_led(self) -> bool:
        return any(
            node.leads and node.watermark is not None and self.future.is_recovered(node)
            for node in self.future.nodes.values()
        )

    def _follows(self, node_id: int) -> bool:
        node = self.future.nodes.get(node_id)
        return node is not None and self.future.is_recovered(node)

    def _begin_rest(self, within_ms: int) -> None:
        """Start everyone who was not started yet."""
        self.future.begin_all((*self.camp, *self.coming), within_ms)

    def _switch_off(self) -> None:
        """What never joins is off in the end, since peace is only where all follow one leader."""
        self.coming = []
        for node_id in self.old:
            node = self.future.nodes.pop(node_id, None)
            if node is not None:
                node.end(power=True)


def played(case: Case, seeds: Iterable[int], root: Path) -> Iterator[Outcome]:
    """The histories of some seeds, but for those that leave nothing."""
    for seed in seeds:
        try:
            yield history(seed, root / str(seed), case)
        except NothingLeft:
            continue
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def first(
    case: Case,
    root: Path,
    is_wanted: Callable[[Outcome], object] | None = None,
    *,
    start: int = 0,
) -> Outcome:
    """The first history that goes wrong, or that is wanted for something else. `start` only saves
    the time for seeds before it."""
    wanted = is_wanted if is_wanted is not None else lambda outcome: outcome.violation
    seeds = range(start, start + 150)
    outcome = next((outcome for outcome in played(case, seeds, root) if wanted(outcome)), None)
    assert outcome is not None, f"no seed of {seeds}"
    return outcome
