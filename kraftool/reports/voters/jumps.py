"""Voter sets that follow on each other and differ by more than Kafka's own changes make.

Owns what counts as such a jump, for every report. Kafka adds or removes one voter by a record; its
own check, which only logs, lets one removed and one added voter pass, although the majorities of
the two sets need not overlap then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import HistoryEntry, Origin
from kraftool.directory.voter_set import keys_changed, majorities_overlap
from kraftool.raft.names import VoterSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Jump:
    """A record of the log and the set that it stands behind."""

    before: VoterSet
    voters: VoterSet
    entry: HistoryEntry

    @property
    def overlaps(self) -> bool:
        """True if no two majorities of the sets can go apart."""
        return majorities_overlap(self.before, self.voters)


def jumps_of(source: NodeDirectory) -> Iterator[Jump]:
    """The jumps in a log, where it has every offset between the two sets."""
    for before, after in pairwise(source.voter_sets):
        if before.voters is None or after.voters is None or after.origin is not Origin.LOG:
            continue
        if before.offset < 0 and after.with_leader_change:
            continue  # a node's own 0-0 checkpoint binds no other node's first leader
        if keys_changed(before.voters, after.voters) < 2:
            continue
        if source.log is not None and source.log.covers(max(before.offset + 1, 0), after.offset):
            yield Jump(before=before.voters, voters=after.voters, entry=after)
