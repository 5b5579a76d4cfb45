"""A fleet on disk: every cluster's directories, and the faults that are planted in some of them.

Owns which cluster gets what. A fault has a cluster for itself, so that what is found there can be
told apart; large clusters get none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fleets import faults_cluster, faults_files, faults_log
from fleets.cluster import ClusterSpec, cluster_spec
from fleets.directory import NodePlan, NodeWriter, write_nodes
from fleets.faults import MANIFEST, Cluster, FaultKind, Planted, Site, fixed_for
from fleets.history import History

KINDS = {
    fault_kind.name: fault_kind
    for fault_kind in (*faults_log.KINDS, *faults_files.KINDS, *faults_cluster.KINDS)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlan:
    """The options of a fleet."""

    clusters: int
    nodes: int = 3
    seed: int = 1
    huge: int = 0
    """So many bytes of log the last cluster has on each node; 0: it is as the others."""
    faults: int = 0
    kinds: tuple[str, ...] = tuple(KINDS)
    """Those that are planted, one after the other, and again from the first."""

    def fault_of(self, number: int) -> FaultKind | None:
        """What is planted in the cluster of that number: the faults are spread over all of them."""
        there = self.clusters - bool(self.huge)
        before, after = (bound * self.faults // there for bound in (number, number + 1))
        if number >= there or before == after:
            return None
        return KINDS[self.kinds[before % len(self.kinds)]]


def nothing(_: int) -> None:
    """Progress that nobody looks at."""


def build(root: Path, plan: FleetPlan, progress: Callable[[int], None] = nothing) -> list[Planted]:
    """Write a fleet below `root`, and the manifest of what was planted."""
    assert plan.faults <= plan.clusters - bool(plan.huge), "a fault has a cluster for itself"
    assert plan.nodes > 1 or not plan.faults, "some faults need a second node"
    planted: list[Planted] = []
    for number in range(plan.clusters):
        kind = plan.fault_of(number)
        cluster = write_cluster(root, _spec(plan, number, kind))
        if kind is not None:
            planted.append(plant(kind, cluster))
        progress(number + 1)
    document = {
        "seed": plan.seed,
        "clusters": plan.clusters,
        "nodes": plan.nodes,
        "planted": [fault.document() for fault in planted],
    }
    (root / MANIFEST).write_text(json.dumps(document, indent=1) + "\n")
    return planted


def _spec(plan: FleetPlan, number: int, kind: FaultKind | None) -> ClusterSpec:
    if plan.huge and number == plan.clusters - 1:
        large = {"bulk_bytes": plan.huge, "segment_bytes": 1 << 30}
        return cluster_spec(plan.seed, number, plan.nodes, **large)
    fixed = fixed_for(kind.needs, number) if kind is not None else {}
    return cluster_spec(plan.seed, number, plan.nodes, **fixed)


def plant(kind: FaultKind, cluster: Cluster) -> Planted:
    """Put a fault into one of a cluster's directories."""
    spec = cluster.spec
    random: Random = spec.random(f"fault {kind.name}")
    # One that may be behind anyway: what is committed has to be on a majority.
    voter = random.choice(spec.may_be_behind or spec.voters[1:])
    return Planted(kind, cluster, voter, kind.plant(Site(cluster, voter, random)))


def write_cluster(root: Path, spec: ClusterSpec) -> Cluster:
    """Write all directories of one cluster."""
    events = History(spec).events()
    kept = () if spec.bulk_bytes else tuple(events)
    writers = [
        NodeWriter(root, spec, voter, node_plan(spec, number))
        for number, voter in enumerate(spec.voters)
    ]
    write_nodes(writers, kept or events)
    return Cluster(root, spec, kept)


def node_plan(spec: ClusterSpec, number: int) -> NodePlan:
    """In what a node is behind the others, or has cleaned more."""
    random = spec.random(f"node {number}")
    cleaned = number > 0 and not spec.bulk_bytes and random.random() < 0.4
    behind = random.choice((0, 0, 1, 2, 3))
    return NodePlan(
        # A majority has it all, as it has what is in a snapshot.
        behind=behind if spec.voters[number] in spec.may_be_behind else 0,
        # Never two in a row, so that none becomes old.
        skips=frozenset(
            snapshot_number
            for snapshot_number in range(2, 12, 2)
            if number and random.random() < 0.4
        ),
        keeps=random.randint(1, 2) if cleaned else None,
    )
