"""Generated incidents: simulated quorums whose directories are lost, damaged, old, or mixed up.

Owns what happens to the directories, and the truth about them: the directories as they were before,
and the records that were committed. What recover makes of an incident is `incident_trials.py`'s. A
seed is one incident.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random

from kraftool.sim.disk import Disk
from tests.repair.incident_layouts import SWAPPED_MOUNTS, laid_out
from tests.repair.simulated_directories import Records, numbers_in, numbers_of, uuid_of, write
from tests.repair.simulated_loss import BEFORE
from tests.simulator.checkers import CHECKERS
from tests.simulator.checkers.base import checked_world
from tests.simulator.node import Node
from tests.simulator.options import Options
from tests.simulator.runner import Play
from tests.simulator.world import World
from tests.support.places import PARTITION

OTHER_CLUSTER = "YW5vdGhlci1jbHVzdGVyLg"
OLD_MS = 7_000
"""An old copy is at least so old: by less, a follower may lag that is as it should be."""


class Harm(StrEnum):
    """What happens to one directory, or to two."""

    LOST = "lost"
    EMPTIED = "emptied"
    OLD_COPY = "old copy"
    FLIPPED_BYTE = "flipped byte"
    FLIPPED_BIT = "flipped bit"
    CUT_TAIL = "cut tail"
    NO_QUORUM_STATE = "lost quorum-state"
    NO_SNAPSHOT = "lost snapshot"
    SWAPPED = "swapped disks"
    FOREIGN = "foreign directory"
    SNAPSHOT_ALONE = "snapshot without a log"
    DAMAGED_CHECKPOINT = "damaged newest checkpoint"
    DAMAGED_SMALL_FILE = "damaged small file"


_FIRST = list(Harm)[: list(Harm).index(Harm.SNAPSHOT_ALONE)]
"""The harms of incidents that are not wide: a seed is the same incident for ever."""


class NoIncident(Exception):
    """This seed makes no incident: nothing was committed, or a harm finds nothing to harm."""


@dataclass(slots=True)
class Past:
    """A quorum that ran for a while, and copies of its disks from earlier moments."""

    world: World
    copies: dict[int, list[tuple[int, Disk]]]

    @classmethod
    def played(cls, random: Random, voters: int, *, dynamic: bool, upgraded: bool = False) -> Past:
        is_calm = random.random() < 0.4
        faults = random.sample(BEFORE, random.randrange(1, len(BEFORE)))
        if upgraded:  # in the middle of the log, so that old copies are of kraft.version 0
            is_calm, faults = False, [*faults, "upgrade"]
        options = Options(
            voters=voters,
            observers=random.randrange(3),
            dynamic=dynamic,
            faults=() if is_calm else tuple(faults),
        )
        world = checked_world(options, random, [checker() for checker in CHECKERS])
        for node in world.nodes.values():
            world.after(random.randrange(30), node.start)
        made = cls(world, {node_id: [] for node_id in world.nodes})
        play = Play(world)
        play.trouble(random.randrange(3_000, 8_000))
        for _ in range(random.randrange(1, 5)):
            for node in world.nodes.values():
                made.copies[node.id].append((world.now, node.disk.copy()))
            world.run(world.now + random.randrange(1_000, 8_000))
        for node in world.nodes.values():
            node.end(power=not is_calm and random.random() < 0.3)
        return made

    @property
    def nodes(self) -> dict[int, Node]:
        return self.world.nodes

    @property
    def committed(self) -> tuple[int, ...]:
        return tuple(numbers_in(self.world.committed.items))


@dataclass(slots=True)
class Incident:
    """One quorum after it went wrong."""

    seed: int
    root: Path
    random: Random
    past: Past
    records: Records
    voters: range
    is_dynamic: bool
    paths: dict[int, Path] = field(default_factory=dict)
    """What is named to recover for each node."""
    data: dict[int, Path] = field(default_factory=dict)
    """Where each node finds its data directory."""
    harms: list[str] = field(default_factory=list)
    kinds: set[Harm] = field(default_factory=set)
    foreign: set[int] = field(default_factory=set)
    """Nodes that have a directory of another cluster."""
    shown: set[int] = field(default_factory=set)
    """The records that the directories have, damaged batches included."""
    is_wide: bool = False
    """True if all harms may happen, to nodes of every layout (`incident_layouts.py`)."""

    @classmethod
    def made(cls, seed: int, root: Path, *, is_wide: bool = False) -> Incident:
        """Play a seed. Raises NoIncident where it makes none."""
        random = Random(seed)
        size, is_dynamic = random.choice((3, 3, 5)), random.random() < 0.5
        is_upgraded = is_wide and not is_dynamic and random.random() < 0.5
        past = Past.played(random, size, dynamic=is_dynamic, upgraded=is_upgraded)
        if 0 not in past.committed:
            raise NoIncident  # not even metadata.version is committed: nobody has used it
        voters = range(1, size + 1)
        records = Records([node for node in past.nodes if node not in voters])
        made = cls(seed, root, random, past, records, voters, is_dynamic, is_wide=is_wide)
        made._harm()
        if is_wide:
            made.harms += laid_out(made.paths, made.data, voters, random)
        return made

    def __str__(self) -> str:
        kind = "dynamic" if self.is_dynamic else "static"
        return f"seed {self.seed}: {len(self.voters)} {kind} voters; {'; '.join(self.harms)}"

    @property
    def has_swapped_mounts(self) -> bool:
        """True if two log directories of a node are in each other's place: Kafka exits on that, and
        only a person can swap them."""
        return any(SWAPPED_MOUNTS in harm for harm in self.harms)

    @property
    def lost(self) -> list[int]:
        """Voters of whom no directory is given."""
        return [voter for voter in self.voters if voter not in self.data]

    # --- what happens ------------------------------------------------------------------------

    def _harm(self) -> None:
        random = self.random
        harms = list(Harm) if self.is_wide else _FIRST
        planned = [random.choice(harms) for _ in range(random.choice((1, 1, 2, 2, 3)))]
        hurt = random.sample(list(self.voters), min(len(planned), len(self.voters)))
        before = [Harm.OLD_COPY, Harm.FOREIGN]
        disks = {member: node.disk for member, node in self.past.nodes.items()}
        todo = list(zip(planned, hurt, strict=False))
        todo.sort(key=lambda step: step[0] is not Harm.LOST)
        for what, node_id in todo:
            if what is Harm.OLD_COPY:
                disks[node_id] = self._old_copy(node_id)
        self.foreign = {node_id for what, node_id in todo if what is Harm.FOREIGN}
        given = [node for node in self.past.nodes if node in self.voters or random.random() < 0.7]
        for node in given:
            if node in self.foreign:
                self._write_foreign(node)
            else:
                self._write(node, disks[node])
        self.kinds = set(planned)
        for what, node_id in todo:
            if what not in before and what not in _FLIPS:
                _HARMS[what](self, node_id)
        own = [node for node in self.data if node not in self.foreign]
        if len(own) <= len(self.foreign):
            raise NoIncident  # nothing says which of the clusters it is about
        self.shown = self._shown()
        for what, node_id in todo:
            if what in _FLIPS:
                _HARMS[what](self, node_id)

    def _old_copy(self, node_id: int) -> Disk:
        now = self.past.world.now
        old = [(at, disk) for at, disk in self.past.copies[node_id] if now - at >= OLD_MS]
        if not old:
            raise NoIncident
        at, disk = self.random.choice(old)
        self.harms.append(f"node {node_id} is a copy from {now - at} ms before")
        return disk

    def _shown(self) -> set[int]:
        """The records that are in any file."""
        numbers: set[int] = set()
        for node_id, data in self.data.items():
            folder = data / PARTITION
            if node_id in self.foreign or not folder.is_dir():
                continue
            for path in folder.glob("*.log"):
                numbers |= numbers_of(path, self.records)
            ends = [int(path.name[:20]) for path in folder.glob("*.checkpoint")]
            numbers |= {*numbers_in(self.past.world.committed.between(0, max(ends, default=0)))}
        return numbers

    def _write(self, node_id: int, disk: Disk) -> None:
        settings = self.past.nodes[node_id].settings
        root = self.root / f"node-{node_id}"
        committed = self.past.world.committed
        properties = write(disk, root, settings, self.records, committed, self.random)
        self.paths[node_id], self.data[node_id] = properties, root / "data"

    def _write_foreign(self, node_id: int) -> None:
        """A directory of another cluster, whose nodes have the same ids."""
        other = Past.played(self.random, len(self.voters), dynamic=self.is_dynamic)
        if 0 not in other.committed:
            raise NoIncident
        node = other.nodes[node_id]
        root = self.root / f"node-{node_id}"
        records = Records([member for member in other.nodes if member not in self.voters])
        committed = other.world.committed
        properties = write(
            node.disk, root, node.settings, records, committed, self.random, cluster=OTHER_CLUSTER
        )
        self.paths[node_id], self.data[node_id] = properties, root / "data"
        self.harms.append(f"node {node_id} has a directory of another cluster")

    # Harms of directories that are written

    def _lose(self, node_id: int) -> None:
        if node_id not in self.data:
            raise NoIncident
        shutil.rmtree(self.data[node_id])
        del self.data[node_id], self.paths[node_id]
        self.harms.append(f"node {node_id} is lost")

    def _empty(self, node_id: int) -> None:
        data = self._data(node_id)
        shutil.rmtree(data / PARTITION)
        how = self.random.choice(("nothing but meta.properties", "an empty folder", "a new id"))
        if how == "an empty folder":
            (data / PARTITION).mkdir()
        elif how == "a new id":
            path = data / "meta.properties"
            text = path.read_text()
            path.write_text(text.replace(uuid_of(f"d{node_id}"), uuid_of(f"n{node_id}")))
        self.harms.append(f"node {node_id} is emptied: {how}")

    def _flip_byte(self, node_id: int) -> None:
        self._flip(node_id, self.random.randrange(1, 256))

    def _flip_bit(self, node_id: int) -> None:
        self._flip(node_id, 1 << self.random.randrange(8))

    def _flip(self, node_id: int, mask: int) -> None:
        data = self._data(node_id)
        names = ["*.log", "*.log", "*.log", "*.log", "*.checkpoint", "quorum-state"]
        paths = sorted((data / PARTITION).glob(self.random.choice(names)))
        paths += [data / "meta.properties"] if self.random.random() < 0.1 else []
        path = self._some_file(paths)
        content = bytearray(path.read_bytes())
        position = self.random.randrange(len(content))
        content[position] ^= mask
        path.chmod(0o644)
        path.write_bytes(content)
        size = len(content)
        self.harms.append(f"node {node_id}: {path.name} of {size}: ^{mask:02x} at {position}")

    def _cut_tail(self, node_id: int) -> None:
        """The end of the last segment is gone, and so is every segment that it takes along."""
        paths = sorted((self._data(node_id) / PARTITION).glob("*.log"))
        path = self._some_file(paths[-1:])
        content = path.read_bytes()
        position = self.random.randrange(len(content))
        path.write_bytes(content[:position])
        size = len(content)
        self.harms.append(f"node {node_id}: {path.name} of {size} is cut at {position}")

    def _lose_election(self, node_id: int) -> None:
        path = self._some_file([self._data(node_id) / PARTITION / "quorum-state"])
        path.unlink()
        self.harms.append(f"node {node_id} lost its quorum-state")

    def _lose_snapshot(self, node_id: int) -> None:
        paths = sorted((self._data(node_id) / PARTITION).glob("*.checkpoint"))
        path = self._some_file([path for path in paths if not path.name.startswith("0" * 20)])
        path.unlink()
        self.harms.append(f"node {node_id} lost {path.name}")

    def _leave_snapshot(self, node_id: int) -> None:
        folder = self._data(node_id) / PARTITION
        paths = sorted(folder.glob("*.checkpoint"))
        self._some_file([path for path in paths if not path.name.startswith("0" * 20)])
        for path in folder.glob("*.log"):
            path.unlink()
        self.harms.append(f"node {node_id} has a snapshot and no log")

    def _damage_checkpoint(self, node_id: int) -> None:
        paths = sorted((self._data(node_id) / PARTITION).glob("*.checkpoint"))
        path = self._some_file(paths[-1:])
        path.chmod(0o644)
        half = path.stat().st_size // 2
        path.write_bytes(path.read_bytes()[:half] + self.random.randbytes(half))
        self.harms.append(f"node {node_id}: the second half of {path.name} is random")

    def _damage_small_file(self, node_id: int) -> None:
        data = self._data(node_id)
        folder = data / PARTITION
        if not folder.is_dir():
            raise NoIncident
        path = self.random.choice(
            (
                folder / "leader-epoch-checkpoint",
                folder / "partition.metadata",
                folder / "quorum-state",
                data / "bootstrap.checkpoint",
            )
        )
        path.write_bytes(self.random.choice((b"", b"\n\n", self.random.randbytes(40))))
        self.harms.append(f"node {node_id}: {path.name} is garbage of {path.stat().st_size} bytes")

    def _swap(self, node_id: int) -> None:
        """The disks of two nodes are mixed up: each finds the other's."""
        others = [node for node in self.data if node != node_id and node in self.voters]
        others = [node for node in others if node not in self.foreign]
        if node_id not in self.data or not others or node_id in self.foreign:
            raise NoIncident
        other = self.random.choice(others)
        for one, two in ((node_id, other), (other, node_id)):
            path = self.paths[one]
            text, old = path.read_text(), f"log.dirs={self.data[one]}\n"
            assert old in text
            path.write_text(text.replace(old, f"log.dirs={self.data[two]}\n"))
        self.data[node_id], self.data[other] = self.data[other], self.data[node_id]
        self.harms.append(f"nodes {node_id} and {other} have each other's disk")

    def _data(self, node_id: int) -> Path:
        if node_id not in self.data:
            raise NoIncident
        return self.data[node_id]

    def _some_file(self, paths: list[Path]) -> Path:
        usable = [path for path in paths if path.is_file() and path.stat().st_size]
        if not usable:
            raise NoIncident
        return self.random.choice(usable)


_FLIPS = (Harm.FLIPPED_BYTE, Harm.FLIPPED_BIT, Harm.DAMAGED_CHECKPOINT)
"""They come last: what they hit is damaged, and not gone."""
_HARMS: dict[Harm, Callable[[Incident, int], None]] = {
    Harm.LOST: Incident._lose,
    Harm.EMPTIED: Incident._empty,
    Harm.FLIPPED_BYTE: Incident._flip_byte,
    Harm.FLIPPED_BIT: Incident._flip_bit,
    Harm.CUT_TAIL: Incident._cut_tail,
    Harm.NO_QUORUM_STATE: Incident._lose_election,
    Harm.NO_SNAPSHOT: Incident._lose_snapshot,
    Harm.SWAPPED: Incident._swap,
    Harm.SNAPSHOT_ALONE: Incident._leave_snapshot,
    Harm.DAMAGED_CHECKPOINT: Incident._damage_checkpoint,
    Harm.DAMAGED_SMALL_FILE: Incident._damage_small_file,
}
