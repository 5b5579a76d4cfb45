"""The two tables of a live quorum: its replicas as the leader knows them, and every node by itself.

Owns their columns and words. `quorum describe` and `quorum health` show them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from kraftool.client.model import NodeAnswer, QuorumView, leader_end
from kraftool.raft.messages import ReplicaState
from kraftool.reports.text.blocks import NEW_LINE, Cell, Column, Phrase, TableBlock, TableRow
from kraftool.reports.text.times import iso


def replica_table(view: QuorumView, zone: tzinfo) -> TableBlock:
    """The voters by id, and then the observers."""
    assert view.quorum is not None, "only a leader reports replicas"
    voters = sorted(view.voters, key=lambda voter: voter.replica.id)
    observers = sorted(view.observers, key=lambda observer: observer.replica.id)
    return TableBlock(
        title="Replicas, as the leader reports them",
        columns=[
            Column("node", is_right=True),
            Column("role"),
            Column("directory id"),
            Column("log end", is_right=True),
            Column("lag", is_right=True),
            Column("fetched"),
            Column("caught up"),
        ],
        rows=[_replica(view, replica, zone) for replica in (*voters, *observers)],
    )


def _replica(view: QuorumView, state: ReplicaState, zone: tzinfo) -> TableRow:
    id, end = state.replica.id, state.log_end_offset
    is_leader = view.quorum is not None and id == view.quorum.leader_id and state in view.voters
    unknown = Phrase("?", "warn")
    cells: list[Cell] = [
        Phrase(str(id), "name"),
        _role(view, state, is_leader=is_leader),
        Phrase(state.replica.directory_id or "-", "quiet"),
        Phrase(str(end)) if end >= 0 else unknown,
        Phrase(str(max(leader_end(view) - end, 0))) if end >= 0 else unknown,
        *_times(view, state, zone, is_leader=is_leader),
    ]
    return TableRow(f"{id} {state.replica.directory_id}", cells)


def _role(view: QuorumView, state: ReplicaState, *, is_leader: bool) -> Cell:
    is_witness = state in view.voters and view.is_witness(state.replica.id)
    if is_leader and is_witness:
        # On two lines: the table just fits into 80 columns.
        return Phrase("leader,", "bad"), NEW_LINE, Phrase("witness", "bad")
    if is_leader:
        return Phrase("leader", "name")
    if state not in view.voters:
        return Phrase("observer")
    return Phrase("witness", "warn") if is_witness else Phrase("voter")


def _times(
    view: QuorumView, state: ReplicaState, zone: tzinfo, *, is_leader: bool
) -> Iterator[Phrase]:
    """Yield the age by the leader's clock, in one unit: the table has to fit into 80 columns.
    After a day it is the time itself."""
    clock = max((voter.last_fetch_timestamp for voter in view.voters), default=-1)
    for timestamp in (state.last_fetch_timestamp, state.last_caught_up_timestamp):
        age_ms = clock - timestamp
        if is_leader:
            yield Phrase("-", "quiet")
        elif timestamp < 0:
            yield Phrase("never", "warn")
        elif age_ms < 60_000:
            yield Phrase(f"{max(age_ms, 0)} ms ago")
        elif age_ms < 3_600_000:
            yield Phrase(f"{age_ms // 60_000} min ago", "warn")
        elif age_ms < 86_400_000:
            yield Phrase(f"{age_ms // 3_600_000} h ago", "warn")
        else:
            yield Phrase(iso(timestamp, zone), "warn")


def node_table(view: QuorumView) -> TableBlock:
    """Every controller that was asked, with its own answer."""
    return TableBlock(
        title="Nodes, as each reports itself",
        columns=[
            Column("node", is_right=True),
            Column("runs"),
            Column("asked at"),
            Column("leader", is_right=True),
            Column("epoch", is_right=True),
            Column("answer"),
        ],
        rows=[_node(view, node) for node in view.nodes],
    )


def _node(view: QuorumView, node: NodeAnswer) -> TableRow:
    leader = view.leader
    agrees = leader is None or (node.epoch, node.leader_id) == (leader.epoch, leader.node_id)
    meaning = "" if agrees else "warn"
    cells = [
        Phrase("?" if node.node_id is None else str(node.node_id), "name"),
        _runs(view, node),
        Phrase(str(node.endpoint)),
        Phrase(_or_none(node.leader_id, node), meaning),
        Phrase(_or_none(node.epoch, node), meaning),
        _answer(node),
    ]
    return TableRow(str(node.endpoint), cells)


def _runs(view: QuorumView, node: NodeAnswer) -> Phrase:
    if node.runs_controller is None:
        return Phrase("?", "quiet")
    if node.runs_controller:
        return Phrase("controller")
    return Phrase("witness" if view.is_witness(node.node_id) else "no controller", "warn")


def _or_none(value: int | None, node: NodeAnswer) -> str:
    if value is not None:
        return str(value)
    return "none" if node.is_reached and node.epoch is not None else "-"


def _answer(node: NodeAnswer) -> Phrase:
    if not node.is_reached:
        return Phrase("not reached", "bad")
    if node.problem:
        return Phrase("refused", "warn")
    return Phrase(f"{node.took_ms} ms", "quiet")
