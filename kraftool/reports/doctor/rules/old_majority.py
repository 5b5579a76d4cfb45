"""Directories that go by an earlier voter set, of which they are a majority.

A node elects by the newest set in its own log. Nodes that stopped before voters were added and
removed, or were restored from that time, know nothing of it: if most voters of then are among them,
they need nobody else. Kafka changes one voter at a time, so that no majority of one set can do
without the next; two changes later that no longer holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import Commitment, HistoryEntry
from kraftool.directory.voter_set import (
    keys_changed,
)
from kraftool.raft.names import NO_VOTERS, VoterSet
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.voters.commit import with_verdicts
from kraftool.reports.voters.committed_sources import rank, seats
from kraftool.reports.voters.source_differences import newest_source

KIND = SIGNATURES.kind(
    "OLD-MAJORITY",
    Severity.ERROR,
    "A majority of an earlier voter set has directories without the later voter sets. These"
    " nodes can elect a leader in addition to that of the current voters, and both sides"
    " commit different records.",
    "start the current voters first. Keep the directories of removed nodes offline",
    stake=Stake.TWO_HISTORIES,
)

Sources = Sequence[NodeDirectory]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Old:
    """Those that can elect by an earlier set."""

    entry: HistoryEntry
    candidate: NodeDirectory
    granting: tuple[tuple[int, NodeDirectory], ...]


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        given = [directory for directory in directories if directory.is_read]
        sources = with_verdicts([directory.source for directory in given])
        of = dict(zip(map(id, sources), given, strict=True))
        newest = newest_source(sources)
        now = newest.newest if newest is not None else None
        if newest is None or now is None or now.voters is None:
            continue
        going = [
            (seat.voter.id, source)
            for seat in seats(now.voters, sources)
            for source in seat.sources[:1]
            if _same(source.newest, now.voters)
        ]
        is_held = len(going) >= now.voters.majority
        if not is_held and now.commitment is not Commitment.COMMITTED:
            continue
        for old in _old_majorities(sources, newest, now.voters):
            yield _diagnosis(examination, old, now, [id for id, _ in going], of)


def _same(entry: HistoryEntry | None, voters: VoterSet) -> bool:
    return entry is not None and not keys_changed(entry.voters or NO_VOTERS, voters)


def _old_majorities(sources: Sources, newest: NodeDirectory, now: VoterSet) -> Iterator[_Old]:
    """For each earlier set of the history: the node that could win by it, if one could."""
    voter_sets: list[VoterSet] = []
    for candidate in sorted(sources, key=rank, reverse=True):
        entry = candidate.newest
        if entry is None or entry.voters is None or _same(entry, now):
            continue
        is_earlier = any(_same(voter_set, entry.voters) for voter_set in newest.voter_sets)
        if not is_earlier or any(_same(entry, voter_set) for voter_set in voter_sets):
            continue
        if not any(candidate in seat.sources for seat in seats(entry.voters, sources)):
            continue  # one that does not vote is nobody's candidate
        # Nobody votes for a log that ends before its own.
        granting = tuple(
            (seat.voter.id, best)
            for seat in seats(entry.voters, sources)
            for best in (seat.best for _ in seat.sources[:1])
            if rank(best) <= rank(candidate)
        )
        if len(granting) >= entry.voters.majority:
            voter_sets.append(entry.voters)
            yield _Old(entry=entry, candidate=candidate, granting=granting)


def _diagnosis(
    examination: Examination,
    old: _Old,
    now: HistoryEntry,
    going: Sequence[int],
    of: dict[int, ExaminedDirectory],
) -> Diagnosis:
    ids = _ids([id for id, _ in old.granting])
    before, after = (_ids([one.id for one in entry.voters or ()]) for entry in (old.entry, now))
    removed = {id for id, _ in old.granting} - {voter.id for voter in now.voters or ()}
    beside = f" in addition to {_ids(going)}" if going else ""
    advice = f"do not start {ids} before the current voters have a leader"
    if removed:
        advice += f". Never start {_ids(sorted(removed))}: it was removed. Keep it offline"
    examined = of[id(old.candidate)]
    return Diagnosis(
        finding=KIND.at(
            examined.path,
            f"{ids} use the voter set {before} and do not have the later ones since offset"
            f" {now.offset}, {after}. They are a majority of the earlier voters and can elect"
            f" a leader{beside}",
            offset=rank(old.candidate)[1],
            field="KRaftVoters",
            expected=after,
            found=before,
            advice=advice,
        ),
        evidence=(
            Evidence(file=now.file, position=now.position, offset=now.offset, found=after),
            *(
                Evidence(
                    file=of[id(source)].path, offset=rank(source)[1], found=f"{number} ends here"
                )
                for number, source in old.granting
            ),
        ),
        commands=(tools.on_all(examination, "diff-voters"),),
    )


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(ids)))
