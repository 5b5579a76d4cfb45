"""The state machine's side of a node: it consumes what is committed, and writes snapshots.

Owns when a snapshot is written and when the log before it is dropped. What is in one is
`machine.py`'s.
"""

from __future__ import annotations

from kraftool.raft import snapshots
from kraftool.raft.events import Deliver, LogCleaned, SnapshotWritten, StateMachineAt
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from kraftool.sim.machine import Snapshot
from tests.simulator.node import Node


def deliver(node: Node, delivery: Deliver) -> None:
    """Consume records or a snapshot, and tell the core a little later."""
    world, machine = node.world, node.machine
    if delivery.snapshot_id is not None:
        if delivery.snapshot_id != BOOTSTRAP_SNAPSHOT:
            machine.load(node.disk.snapshots[delivery.snapshot_id])
            world.count("snapshots loaded")
    else:
        given, expected = delivery.from_offset, machine.next_offset
        if given != expected:
            world.violated("machines", f"{node.name} is given {given}, and is at {expected}")
        for batch in node.disk.log.between(given, delivery.to_offset):
            machine.consume(batch)
    world.hooks.consumed(node, delivery)
    world.after(world.apply_ms(), _applied, node, node.incarnation, machine.next_offset)


def _applied(node: Node, incarnation: int, next_offset: int) -> None:
    def again(incarnation: int) -> None:
        _applied(node, incarnation, next_offset)

    if not node.is_ready(incarnation, again):
        return
    node.step(StateMachineAt(next_offset=next_offset))
    machine = node.machine
    if machine.next_offset - machine.snapshot_offset >= node.snapshot_every and node.is_idle:
        _write_snapshot(node)


def _write_snapshot(node: Node) -> None:
    """Write one of what was consumed, and perhaps drop the log before it or the one before."""
    machine, raft = node.machine, node.raft
    key = OffsetAndEpoch(machine.next_offset, machine.last_epoch)
    if machine.next_offset > raft.log.end_offset:
        return
    if snapshots.refusal(raft, key, is_batch_border=True) is not None:
        return
    level = raft.control.kraft_versions.at(key.offset - 1) or 0
    voters = raft.control.voter_sets.at(key.offset - 1) if level else None
    content = Snapshot(id=key, kraft_version=level, voters=voters, total=machine.total)
    machine.snapshot_offset = key.offset
    node.disk.add(content)
    node.world.contents[content.encoded()] = content
    node.world.count("snapshots written")
    node.world.hooks.wrote(node, content)
    node.step(SnapshotWritten(snapshot_id=key))
    kept = sorted(node.disk.snapshots)
    if len(kept) > 1 and node.is_idle:
        start = kept[-2 if len(kept) > 2 and node.random.random() < 0.5 else -1].offset
        if start > node.log.start:
            node.disk.clean(start)
            node.log.clean(start)
            node.step(LogCleaned(start_offset=start))
