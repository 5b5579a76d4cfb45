"""The faults and their times: a schedule drawn from the seed.

Owns the faults, how long each lasts, and the operators who change the quorum meanwhile. It refuses
what no quorum survives: a second disk is wiped only once the first is no voter any more.
"""

from __future__ import annotations

from kraftool.raft.events import Resign, Shutdown, UpgradeKRaftVersion
from kraftool.raft.messages import AddVoterRequest, RemoveVoterRequest
from kraftool.raft.names import ReplicaKey
from kraftool.raft.roles import Leader
from kraftool.sim.disk import Disk
from tests.simulator.node import Node
from tests.simulator.world import World

_PAUSE_MS = 700
"""Between the beginnings of two faults, at most."""


class Faults:
    """Begins faults until it is told to stop."""

    def __init__(self, world: World) -> None:
        self._world, self._random = world, world.random
        self._enabled = world.options.faults
        if "voters" in self._enabled:  # most of these are refused
            self._enabled += ("voters",) * 5
        self._is_over = False
        self._directories = len(world.nodes)
        self._actions = {
            "crash": self._crash,
            "kill": self._kill,
            "partition": self._partition,
            "loss": self._loss,
            "duplication": self._duplication,
            "delay": self._delay,
            "corruption": self._corruption,
            "skew": self._skew,
            "slow-disk": self._slow_disk,
            "pause": self._pause,
            "wipe": self._wipe,
            "voters": self._voters,
            "resign": self._resign,
            "shutdown": self._shutdown,
            "upgrade": self._upgrade,
        }
        unknown = set(self._enabled) - set(self._actions)
        assert not unknown, f"unknown faults: {sorted(unknown)}"

    def begin(self) -> None:
        if self._enabled:
            self._world.after(self._random.randrange(2 * _PAUSE_MS), self._next)

    def _next(self) -> None:
        if self._is_over:
            return
        name = self._random.choice(self._enabled)
        self._world.note(f"fault: {name}")
        self._actions[name]()
        self._world.after(1 + self._random.randrange(_PAUSE_MS), self._next)

    def stop(self) -> None:
        """From now on all is well: everyone is up and reaches everyone."""
        world = self._world
        world.note("faults stop")
        self._is_over = True
        world.network.calm()
        for node in world.nodes.values():
            node.slow_ms = 0
            if node.is_up and node.raft.is_shutting_down:
                node.end(power=True)
            self._restart_within(node, 500)

    # Who and how long

    def _some(self) -> Node:
        """Any node; half the time one that leads, if there is one."""
        nodes = list(self._world.nodes.values())
        leaders = [node for node in nodes if node.leads]
        return self._random.choice(leaders if leaders and self._random.random() < 0.5 else nodes)

    def _leader(self) -> Node | None:
        leaders = [
            node for node in self._world.nodes.values() if node.leads and not self._rests(node)
        ]
        return self._random.choice(leaders) if leaders else None

    def _rests(self, node: Node) -> bool:
        return self._world.now < node.paused_until

    def _while(self, most: int) -> int:
        return 50 + self._random.randrange(most)

    def _restart_within(self, node: Node, most: int) -> None:
        self._world.after(1 + self._random.randrange(most), self._restart, node)

    def _restart(self, node: Node) -> None:
        if not node.is_up and self._world.nodes.get(node.id) is node:
            self._world.count("restarts")
            node.start()

    # Nodes that end

    def _crash(self) -> None:
        everyone = list(self._world.nodes.values())
        for node in everyone if self._random.random() < 0.1 else [self._some()]:
            if node.is_up:
                self._world.count("crashes")
                node.end(power=False)
            self._restart_within(node, 3000)

    def _kill(self) -> None:
        node = self._some()
        if node.is_up:
            self._world.count("kills")
            node.end(power=True)
        self._restart_within(node, 3000)

    def _shutdown(self) -> None:
        node = self._some()
        if node.is_up and not self._rests(node):
            self._world.count("shutdowns")
            node.step(Shutdown())
            self._world.after(5000, self._lose_patience, node, node.incarnation)
        self._restart_within(node, 7000)

    def _lose_patience(self, node: Node, incarnation: int) -> None:
        if node.incarnation == incarnation and not self._is_over:
            node.end(power=True)
            self._restart_within(node, 1000)

    def _wipe(self) -> None:
        node = self._some()
        if not self._world.is_dynamic or not self._may_wipe(node):
            return
        world = self._world
        world.count("wipes")
        node.end(power=False)
        world.lost_disks[node.key] = node.disk
        self._directories += 1
        new = world.add_node(
            node.id,
            Disk(f"d{self._directories}"),
            is_controller=node.settings.is_controller,
        )
        new.incarnation, new.is_reborn = node.incarnation, True
        world.note(f"{node.name} is wiped, and becomes {new.disk.directory_id}")
        self._restart_within(new, 2000)

    def _may_wipe(self, node: Node) -> bool:
        key = node.key
        lost = self._world.lost_disks
        for other in self._world.nodes.values():
            keys = other.voters.keys
            if any(one in lost for one in keys) or (key in keys and len(keys) < 3):
                return False
        return True

    # What happens to nodes

    def _pause(self) -> None:
        node = self._some()
        until = self._world.now + self._while(4000)
        node.paused_until = max(until, node.paused_until)  # what waits stays in order

    def _slow_disk(self) -> None:
        node = self._some()
        node.slow_ms = self._while(1500)
        self._world.after(self._while(5000), self._fast_disk, node)

    def _fast_disk(self, node: Node) -> None:
        node.slow_ms = 0

    def _skew(self) -> None:
        node = self._some()
        jump = self._random.randrange(3000) if self._random.random() < 0.3 else 0
        node.clock.change(self._world.now, rate=900 + self._random.randrange(201), jump_ms=jump)

    # What happens to the network

    def _partition(self) -> None:
        world, random = self._world, self._random
        ids = list(world.nodes)
        if random.random() < 0.6:
            one = {self._some().id}
        else:
            one = set(random.sample(ids, random.randrange(1, len(ids) + 1)))
        other = set(ids) - one
        out = {(a, b) for a in one for b in other}
        back = {(b, a) for a in one for b in other}
        cut = random.choice((out, back, out | back, out | back))
        world.count("partitions")
        world.network.cut |= cut
        world.after(self._while(6000), world.network.cut.difference_update, cut)

    def _loss(self) -> None:
        self._world.network.loss = 0.05 + self._random.random() * 0.4
        self._world.after(self._while(3000), self._set, "loss")

    def _duplication(self) -> None:
        self._world.network.duplication = 0.5
        self._world.after(self._while(3000), self._set, "duplication")

    def _delay(self) -> None:
        self._world.network.long_delay = 0.2
        self._world.after(self._while(3000), self._set, "long_delay")

    def _corruption(self) -> None:
        self._world.network.corruption = 0.3
        self._world.after(self._while(3000), self._set, "corruption")

    def _set(self, what: str) -> None:
        setattr(self._world.network, what, 0.0)

    # What operators do

    def _resign(self) -> None:
        node = self._leader()
        if node is not None:
            self._world.count("resignations")
            node.step(Resign(epoch=node.raft.epoch))

    def _upgrade(self) -> None:
        node = self._leader()
        if node is not None:
            node.step(UpgradeKRaftVersion(epoch=node.raft.epoch, level=1))

    def _voters(self) -> None:
        node = self._leader()
        if node is None or not isinstance(node.raft.role, Leader):
            return
        world, random = self._world, self._random
        lost = [key for key in node.voters.keys if key in world.lost_disks]
        newcomers = [
            newcomer
            for newcomer in world.nodes.values()
            if newcomer.id not in node.voters.ids
            and newcomer.settings.is_controller
            and newcomer.is_up
        ]
        if newcomers and random.random() < 0.6:
            new = random.choice(newcomers)
            node.operate(
                AddVoterRequest(
                    voter=new.key,
                    listeners=new.settings.listeners,
                    ack_when_committed=random.random() < 0.7,
                )
            )
        elif lost or len(node.voters) > 1:
            old = min(lost) if lost else random.choice([voter.key for voter in node.voters])
            if old.id == node.id and len(node.voters) == 2 and random.random() < 0.9:
                return  # of two, the leader: nobody may be left who can be elected
            if lost or not any(key in world.lost_disks for key in self._all_keys()):
                node.operate(RemoveVoterRequest(voter=old))

    def _all_keys(self) -> list[ReplicaKey]:
        return [voter.key for node in self._world.nodes.values() for voter in node.voters]
