"""The simulated world: the nodes of one run with their disks, and the network between them.

Owns which nodes there are, how each is formatted, and what is committed. Time and chance are
`simulation.py`'s.
"""

from __future__ import annotations

from random import Random

from kraftool.raft.events import Append
from kraftool.raft.names import (
    BOOTSTRAP_SNAPSHOT,
    ONLY_STATIC,
    Endpoint,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterSet,
)
from kraftool.raft.settings import NodeSettings
from kraftool.sim.batches import Batches
from kraftool.sim.disk import Disk
from kraftool.sim.machine import CHUNK_BYTES, Snapshot
from tests.simulator import application
from tests.simulator.clock import Clock
from tests.simulator.network import Network
from tests.simulator.node import Node
from tests.simulator.options import Options
from tests.simulator.simulation import Simulation

CLUSTER = "a-simulated-cluster"
LISTENER = "CONTROLLER"
RECORD_BYTES = 100


class World(Simulation):
    """Everything there is in one run."""

    def __init__(self, options: Options, random: Random) -> None:
        super().__init__(options, random)
        self.nodes: dict[int, Node] = {}
        self.lost_disks: dict[ReplicaKey, Disk] = {}
        """Of directories that were wiped, as they were then."""
        self.committed = Batches()
        """What any leader has said is committed."""
        self.base: Snapshot | None = None
        """What came before it: nothing, or what a quorum was recovered from."""
        self.network = Network(self, self.nodes)
        self.next_value = 0
        """The next record, one higher than the one before: a log has its records in this order."""
        self._build()

    # Who there is

    def _build(self) -> None:
        options, random = self.options, self.random
        voters = options.voters
        if voters is None:
            voters = random.choice((1, 2, 3, 3, 3, 3, 4, 5, 5))
        drawn, chance = random.choice((0, 1, 1, 2)), random.random()
        observers = options.observers if options.observers is not None else drawn
        dynamic = options.dynamic if options.dynamic is not None else chance < 0.6
        ids = range(1, voters + 1)
        if dynamic:
            both = VersionRange(0, 1)
            members = VoterSet.of(*(self._voter(node_id, f"d{node_id}", both) for node_id in ids))
            formatted = Snapshot(id=BOOTSTRAP_SNAPSHOT, kraft_version=1, voters=members, total=0)
            static = VoterSet()
        else:
            static = VoterSet.of(*(self._voter(node_id, None, ONLY_STATIC) for node_id in ids))
            formatted = None
        self.is_dynamic, self._static = dynamic, static
        self._everyone = tuple(self.endpoint(number) for number in range(1, voters + observers + 1))
        for number in range(1, voters + observers + 1):
            disk = Disk(f"d{number}", formatted if number <= voters else None)
            broker = number > voters and random.random() < 0.3
            is_witness = voters - options.witnesses < number <= voters
            self.add_node(number, disk, is_controller=not broker, is_witness=is_witness)
        self.note(
            f"{voters} voters, {observers} observers, {'dynamic' if dynamic else 'static'} quorum"
        )

    @staticmethod
    def endpoint(node_id: int) -> Endpoint:
        return Endpoint(f"n{node_id}", node_id)

    def _voter(self, node_id: int, directory: str | None, versions: VersionRange) -> Voter:
        return Voter(
            key=ReplicaKey(node_id, directory),
            endpoints={LISTENER: self.endpoint(node_id)},
            kraft_version=versions,
        )

    def add_node(
        self, node_id: int, disk: Disk, *, is_controller: bool = True, is_witness: bool = False
    ) -> Node:
        """A node with its disk, not yet started."""
        random, everyone = self.random, self._everyone
        # Static voters find each other; who may be removed has to find others, too.
        has_changes = self.is_dynamic or "voters" in self.options.faults
        settings = NodeSettings(
            node_id=node_id,
            directory_id=disk.directory_id,
            cluster_id=CLUSTER,
            listeners={LISTENER: self.endpoint(node_id)},
            static_voters=self._static,
            bootstrap_servers=everyone if has_changes or random.random() < 0.5 else (),
            is_controller=is_controller,
            is_witness=is_witness,
            auto_join=is_controller and "voters" in self.options.faults and random.random() < 0.3,
            timing=self.options.timing,
            fetch_max_bytes=RECORD_BYTES * 8,
            fetch_snapshot_max_bytes=CHUNK_BYTES,
        )
        return self.place(settings, disk)

    def place(self, settings: NodeSettings, disk: Disk) -> Node:
        """A node with settings of its own and what is on its disk already, not yet started."""
        random = self.random
        clock = Clock(1000)
        if "skew" in self.options.faults:
            clock = Clock(1000 + random.randrange(5000), 900 + random.randrange(201))
        node = Node(
            self,
            self.network,
            settings,
            disk,
            clock,
            Random(random.randrange(1 << 30)),
            application.deliver,
        )
        node.snapshot_every = random.choice((15, 30, 60, 1_000_000))
        self.nodes[node.id] = node
        return node

    # Appends

    def append(self, node: Node) -> None:
        """The state machine of a leader appends one to three records."""
        count = 1 + self.random.randrange(3)
        first = self.next_value
        self.next_value += count
        node.step(
            Append(
                epoch=node.raft.epoch,
                records=tuple(range(first, first + count)),
                size=RECORD_BYTES * count,
            )
        )
