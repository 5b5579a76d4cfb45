"""Faults that only all nodes of a cluster, or all clusters of a fleet, show together.

Owns the edits. Each directory by itself is sound, or as good as: copies of another time, and a
cluster.id that is right elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fleets.cluster import Voter, uuid, voters_record
from fleets.directory import NodePlan, NodeWriter, write_nodes
from fleets.faults import FaultKind, Place, Site
from fleets.faults_files import edited_meta
from fleets.history import Batch, Event, Snapshot
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.control import ControlRecordType, encode_key, encode_value
from kraftool.decoders.log_record import decode_control

_OLD = ("KT-SIG-FORGOTTEN-VOTE", "KT-SIG-DOUBLE-VOTE", "KT-SIG-LAG", "KT-DIR-VOTERS-BEHIND",
        "KT-FLEET-METADATA-VERSION", "KT-SIG-COMMITTED-MINORITY")  # fmt: skip
"""What else directories of another time show."""


def minority_holds(site: Site) -> Place:
    """A majority was put back from copies made before the newest snapshot of the first node."""
    events = list(site.cluster.events)
    newest = max(number for number, event in enumerate(events) if isinstance(event, Snapshot))
    before = [number for number, event in enumerate(events[:newest]) if isinstance(event, Batch)]
    epochs = [event.epoch for event in events[:newest] if isinstance(event, Batch)]
    # Before the election that the snapshot came after, if there was one; else midway.
    cut = next(
        (number for number, epoch in zip(before, epochs, strict=True) if epoch == epochs[-1]), 0
    )
    cut = cut or before[len(before) // 2]
    for voter in site.cluster.spec.voters[1:]:
        replace(site, voter=voter).rewrite(events[:cut])
    return Place()


def id_of_another_cluster(site: Site) -> Place:
    """The cluster.id of the cluster beside it; with none beside it, nobody's."""
    root, name = site.cluster.root, site.cluster.spec.name
    metas = sorted(path for path in root.glob("*/*/meta.properties") if path.parts[-3] != name)
    if not metas:
        return edited_meta(site, "cluster.id", uuid(site.random))
    near = max([path for path in metas if path.parts[-3] < name] or metas)
    # The first of its nodes is the one that no fault is put into.
    first = min(path for path in metas if path.parts[-3] == near.parts[-3])
    return edited_meta(site, "cluster.id", _cluster_id(first))


def _cluster_id(meta: Path) -> str:
    lines = meta.read_text().splitlines()
    return next(line.partition("=")[2] for line in lines if line.startswith("cluster.id="))


def old_majority(site: Site) -> Place:
    """Voters were added and removed until those who know nothing of it are needed no longer; the
    old directories of a majority are still there."""
    spec, events = site.cluster.spec, list(site.cluster.events)
    stale = len(spec.voters) // 2 + 1
    rest = spec.voters[stale:]
    voters = _newest_voters(events)
    added: list[Voter] = []
    changes: list[Event] = []
    last = [event for event in events if isinstance(event, Batch)][-1]
    for number in range(stale - len(rest)):
        voter = Voter(
            id=spec.voters[-1].id + 1 + number,
            directory_id=uuid(site.random),
            host=f"added-{number}.{spec.name}.example",
            port=9093,
        )
        added.append(voter)
        voters = [*voters, *voters_record((voter,))["voters"]]
        last = _change(voters, last)
        changes.append(last)
        voters = [voter for voter in voters if voter["voterId"] != spec.voters[number].id]
        last = _change(voters, last)
        changes.append(last)
    for voter in rest:
        replace(site, voter=voter).rewrite([*events, *changes])
    writers = [NodeWriter(site.cluster.root, spec, voter, NodePlan()) for voter in added]
    write_nodes(writers, [*events, *changes])
    candidate = spec.voters[stale - 1]
    for voter in spec.voters[:stale]:
        replace(site, voter=voter).rewrite(events)
    return Place(other=spec.folder(candidate))


def _newest_voters(events: list[Event]) -> list[dict[str, Any]]:
    """The voters of the last record, whose endpoints may have changed since the first."""
    voters: list[dict[str, Any]] = []
    for event in events:
        batch = RecordBatch.read(event.data, 0) if isinstance(event, Batch) else None
        for record in batch.records() if batch is not None and batch.is_control else ():
            item = decode_control(record)
            if item.type == "KRaftVoters" and item.data is not None:
                voters = item.data["voters"]
    assert voters, "a dynamic quorum records its voters"
    return voters


def _change(voters: list[dict[str, Any]], after: Batch) -> Batch:
    """A leader's record of a new set of voters."""
    kind = ControlRecordType.KRAFT_VOTERS
    offset, timestamp = after.last_offset + 1, after.timestamp + 1
    data = encode_batch(
        [(encode_key(kind), encode_value(kind, {"version": 0, "voters": voters}))],
        base_offset=offset,
        epoch=after.epoch,
        timestamp=timestamp,
        control=True,
    )
    return Batch(data, offset, offset, after.epoch, after.leader_id, timestamp)


KINDS = (
    FaultKind(
        name="minority-holds", plant=minority_holds, alone=False,
        codes=("KT-SIG-COMMITTED-MINORITY",), follow=_OLD,
    ),
    FaultKind(
        name="id-of-another-cluster", plant=id_of_another_cluster, alone=False,
        codes=("KT-DIR-CLUSTER-ID",), follow=("KT-SIG-WIPED-VOTER",),
    ),
    FaultKind(
        name="old-majority", plant=old_majority, alone=False, needs="dynamic",
        codes=("KT-SIG-OLD-MAJORITY",), follow=(*_OLD, "KT-SIG-NOT-REGISTERED"),
    ),
)  # fmt: skip
