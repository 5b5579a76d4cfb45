"""The faults that can be planted: what each needs, and the list of what was planted.

Owns the registry and the manifest. A fault says which codes may answer it (one of them has to) and
which others may follow from it; whoever reads the manifest takes anything else for invented.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from fleets.cluster import ClusterSpec, Voter
from fleets.directory import NodePlan, NodeWriter, write_nodes
from fleets.history import Event
from fleets.template import PARTITION, templates
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan

MANIFEST = "planted.json"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster as it stands on disk, and all that its log was made of."""

    root: Path
    spec: ClusterSpec
    events: tuple[Event, ...]
    """Empty for a large one."""

    def path(self, voter: Voter) -> Path:
        return self.root / self.spec.folder(voter)

    def partition(self, voter: Voter) -> Path:
        return self.path(voter) / PARTITION


@dataclass(slots=True, kw_only=True)
class Place:
    """The place of a planted fault."""

    file: str = ""
    """Below the data directory; empty where it is about the directory."""
    position: int | None = None
    """Where the batch begins, and where it ends."""
    end: int | None = None
    offset: int | None = None
    """Of its first record; of a snapshot, that of its name."""
    byte: int | None = None
    """Which byte was changed, where it was one."""
    other: str = ""
    """Another directory that it is about, below the root of the fleet."""
    also: tuple[Any, ...] = ()
    """More places of the same fault, each [file, position, offset]."""


@dataclass(frozen=True, slots=True)
class Site:
    """The node that a fault is put into."""

    cluster: Cluster
    voter: Voter
    random: Random

    @property
    def path(self) -> Path:
        return self.cluster.path(self.voter)

    @property
    def partition(self) -> Path:
        return self.cluster.partition(self.voter)

    @property
    def others(self) -> list[Voter]:
        return [voter for voter in self.cluster.spec.voters if voter is not self.voter]

    def segment(self) -> Path:
        """The largest segment, of which there is a middle."""
        return max(self.partition.glob("*.log"), key=lambda path: path.stat().st_size)

    def snapshots(self) -> list[Path]:
        """Without that of offset 0, oldest first."""
        checkpoints = sorted(self.partition.glob("*.checkpoint"))
        return [path for path in checkpoints if int(path.name[:20])]

    def below(self, path: Path) -> str:
        return path.relative_to(self.path).as_posix()

    def rewrite(self, events: Iterable[Event], plan: NodePlan | None = None) -> None:
        """Write the directory again, of another history."""
        for path in (*self.partition.iterdir(), *self.path.glob("*.*")):
            if path.is_file():
                path.unlink()
        self.partition.rmdir()
        writer = NodeWriter(self.cluster.root, self.cluster.spec, self.voter, plan or NodePlan())
        write_nodes([writer], events)


def batches(path: Path) -> list[RecordBatch]:
    """The batches of a whole segment or snapshot."""
    data = path.read_bytes()
    scanned = scan(lambda at, size: data[at : at + size])
    return [batch for batch in scanned if isinstance(batch, RecordBatch)]


Planter = Callable[[Site], Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultKind:
    """One way in which a directory or a cluster can be wrong."""

    name: str
    plant: Planter
    codes: tuple[str, ...]
    """One of them has to answer."""
    follow: tuple[str, ...] = ()
    """These may be told as well."""
    needs: str = ""
    """dynamic, static or upgraded: what the cluster has to be."""
    node: int = 1
    """Which of the voters has it, by its number."""
    alone: bool = True
    """True if a command that looks at the one directory can see it."""


def fixed_for(needs: str, number: int) -> dict[str, Any]:
    """What has to be fixed of a cluster that a fault needs so."""
    every = templates()
    if needs == "dynamic":
        fitting = [template for template in every if template.may_be_dynamic]
        chosen = fitting[number % len(fitting)]
        return {"template": chosen, "is_dynamic": True, "moves_voter": True}
    if needs == "upgraded":
        upgraded = [template for template in every if len(set(template.levels)) > 1]
        return {"template": upgraded[number % len(upgraded)], "is_dynamic": False}
    return {"is_dynamic": False} if needs == "static" else {}


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault that was planted."""

    kind: FaultKind
    cluster: Cluster
    voter: Voter
    place: Place

    def document(self) -> dict[str, Any]:
        """Its entry in the manifest."""
        spec, place = self.cluster.spec, self.place
        return {
            "kind": self.kind.name,
            "cluster": spec.name,
            "clusterId": spec.cluster_id,
            "nodeId": self.voter.id,
            "directory": spec.folder(self.voter),
            "file": place.file,
            "position": place.position,
            "end": place.end,
            "offset": place.offset,
            "byte": place.byte,
            "places": [list(other_place) for other_place in place.also],
            "other": place.other,
            "codes": list(self.kind.codes),
            "follow": list(self.kind.follow),
            "alone": self.kind.alone,
        }
