"""What is cut off on other nodes if one of them leads, and whether it may have been committed.

Owns the comparison of logs at rest. Where a follower's log parts from a leader's, the core's own
view of a log is asked, as it would be at the first fetches. That a record is committed is proved by
snapshots only, which exist below the high watermark; without, it counts who has the record.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from kraftool.raft.log_view import Validity
from kraftool.raft.names import OffsetAndEpoch, VoterSet
from kraftool.reports.election.case import Case, NodeCase


class Standing(StrEnum):
    """What can be said about records that would be lost."""

    COMMITTED = "committed"
    MAJORITY = "on a majority"
    POSSIBLE = "possibly committed"
    NOT = "not committed"

    @property
    def weighs(self) -> bool:
        """Whether somebody may have been told that these records are safe."""
        return self is not Standing.NOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Records that a node has and a leader has not."""

    leader: int
    node: int
    """Whose copy is cut off."""
    first: int
    end: int
    """The offset after the last."""
    epoch: int
    """Of the last record."""
    standing: Standing
    holders: tuple[int, ...]
    """All nodes that have these records."""

    @property
    def records(self) -> int:
        return self.end - self.first


def losses(case: Case, leader: NodeCase) -> tuple[Loss, ...]:
    """All that the logs of others have and a leader's has not; nothing of it twice."""
    found: dict[tuple[int, int], Loss] = {}
    for node in case.nodes:
        if node.id == leader.id or node.assumed:
            continue
        for each in _cut_off(case, leader, node):
            found.setdefault((each.first, each.epoch), each)
    return tuple(found[key] for key in sorted(found))


def parts_at(leader: NodeCase, node: NodeCase) -> int:
    """Where a node's log would be cut by following a leader: its end where it would not be."""
    theirs, own = leader.log.view(), node.log.view()
    for _ in range(len(own.epochs) + 2):
        validity, place = theirs.validate(own.end_offset, own.last_epoch)
        if validity is not Validity.DIVERGING:
            break
        cut = own.truncation_point(place)
        if cut >= own.end_offset:
            break
        if cut <= own.start_offset:
            return own.start_offset
        own.truncate(cut)
    return own.end_offset


def _cut_off(case: Case, leader: NodeCase, node: NodeCase) -> list[Loss]:
    start, end = parts_at(leader, node), node.log.view().end_offset
    if start >= end:
        return []
    inside = sorted({start, end, *(each for each in case.borders if start < each < end)})
    found: list[Loss] = []
    for first, after in pairwise(inside):
        epoch = node.log.epoch_at(after - 1) or 0
        holders = tuple(each.id for each in case.nodes if each.log.has(after - 1, epoch))
        standing = _standing(case, node, after - 1, epoch, holders)
        last = found[-1] if found else None
        if last is not None and (last.standing, last.holders) == (standing, holders):
            found.pop()
            first = last.first
        found.append(
            Loss(
                leader=leader.id,
                node=node.id,
                first=first,
                end=after,
                epoch=epoch,
                standing=standing,
                holders=holders,
            )
        )
    return found


def _standing(
    case: Case, node: NodeCase, offset: int, epoch: int, holders: tuple[int, ...]
) -> Standing:
    if any(_proves(each, node, offset) for one in case.nodes for each in one.log.snapshots):
        return Standing.COMMITTED
    voters = node.voters or case.voters
    sure = [each for each in holders if _votes(case, each, node) and not case.by_id[each].assumed]
    unknown = [each for each in voters.ids if _may_have_had(case, voters, each, offset)]
    if len(sure) >= voters.majority:
        return Standing.MAJORITY
    return Standing.POSSIBLE if len(sure) + len(unknown) >= voters.majority else Standing.NOT


def _may_have_had(case: Case, voters: VoterSet, voter: int, offset: int) -> bool:
    """Whether nothing shows what a voter had: there is no directory, or not all of its log."""
    node = case.by_id.get(voter)
    if node is None or node.assumed or not voters.has(node.key):
        return True
    end = node.log.view().end_offset
    return end == 0 or (node.log.is_cut and end <= offset)


def _votes(case: Case, node_id: int, by: NodeCase) -> bool:
    return (by.voters or case.voters).has(case.by_id[node_id].key)


def _proves(snapshot: OffsetAndEpoch, node: NodeCase, offset: int) -> bool:
    """Whether a snapshot goes beyond a record of the log that it was made from."""
    return snapshot.offset > offset and (
        snapshot in node.log.snapshots or node.log.has(snapshot.offset - 1, snapshot.epoch)
    )
