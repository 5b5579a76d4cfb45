"""The records that are cut off on other nodes if one of them leads, and whether they may be
committed.

Owns the comparison of logs at rest. Where a follower's log parts from a leader's, the core's own
view of a log is asked, as it would be at the first fetches. That a record is committed is proved by
snapshots only, which exist below the high watermark; without, it counts who has the record.

A record is committed by the voters that its leader went by at that time, and they may have changed
behind it: by a set that stands further on in a log, committed or not, or by one that only a log had
that nobody has any more. The worst of all these is what can be said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from kraftool.decoders.json_marks import Count, Hidden, Ids, in_json
from kraftool.raft.names import OffsetAndEpoch, VoterSet
from kraftool.reports.election.case import ElectionCase, NodeCase, parts_at
from kraftool.reports.election.memory import Forgotten, forgetful

_BEHIND_ALL = 1 << 63


class CommitStatus(StrEnum):
    """The certainty about records that would be lost."""

    COMMITTED = "committed"
    MAJORITY = "on a majority"
    POSSIBLE = "possibly committed"
    MINORITY = "on a minority"
    """All voters were given, and so few have the record that it was never committed, unless a
    directory is an old copy or lost its end. Nothing but a short lag is evidence for that."""
    NOT = "not committed"

    @property
    def weighs(self) -> bool:
        """True if somebody may have been told that these records are safe."""
        return self is not CommitStatus.NOT

    @property
    def is_grave(self) -> bool:
        """True if the directories give a reason to think so."""
        return self.weighs and self is not CommitStatus.MINORITY


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLoss:
    """Records that a node has and the leader lacks."""

    leader_id: int
    node: Hidden[int]
    """Whose copy is cut off."""
    first_offset: int
    end: Hidden[int]
    """The offset after the last."""
    epoch: int
    """Of the last record."""
    commit_status: CommitStatus
    """not committed: no majority can have had them."""
    holders: Ids
    """All nodes that have these records."""

    @property
    @in_json
    def last_offset(self) -> int:
        return self.end - 1

    @property
    @in_json
    def records(self) -> Count:
        return self.end - self.first_offset


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitEvidence:
    """The directories, and which voters have forgotten what they had."""

    case: ElectionCase
    forgotten: Mapping[int, Forgotten]

    @classmethod
    def of(cls, case: ElectionCase) -> CommitEvidence:
        sound = case.sound
        return cls(case=sound, forgotten=forgetful(sound))


def losses(case: ElectionCase, leader: NodeCase) -> tuple[RecordLoss, ...]:
    """All that the logs of others have and a leader's has not; nothing of it twice."""
    return losses_by(CommitEvidence.of(case), leader)


def losses_by(known: CommitEvidence, leader: NodeCase) -> tuple[RecordLoss, ...]:
    """The same, where the evidence was weighed before."""
    case, leader = known.case, leader.sound
    distinct_losses: dict[tuple[int, int], RecordLoss] = {}
    for node in case.nodes:
        if node.id == leader.id or node.assumed:
            continue
        for loss in _cut_off(known, leader, node):
            distinct_losses.setdefault((loss.first_offset, loss.epoch), loss)
    return tuple(distinct_losses[key] for key in sorted(distinct_losses))


def _cut_off(known: CommitEvidence, leader: NodeCase, node: NodeCase) -> list[RecordLoss]:
    own = node.log.view()
    start, end = parts_at(leader, node), own.end_offset
    if start <= own.start_offset:
        start = min(start, leader.end.offset)  # what its snapshot has goes, too
    if start >= end:
        return []
    case = known.case
    inside = sorted({start, end, *(border for border in case.borders if start < border < end)})
    record_losses: list[RecordLoss] = []
    for first, after in pairwise(inside):
        epoch = node.log.known_epoch(after - 1)
        holders = tuple(
            node_case.id for node_case in case.nodes if node_case.log.has(after - 1, epoch)
        )
        standing = commit_status(known, after - 1, holders)
        last = record_losses[-1] if record_losses else None
        if last is not None and (last.commit_status, last.holders) == (standing, holders):
            record_losses.pop()
            first = last.first_offset
        record_losses.append(
            RecordLoss(
                leader_id=leader.id,
                node=node.id,
                first_offset=first,
                end=after,
                epoch=epoch,
                commit_status=standing,
                holders=holders,
            )
        )
    return record_losses


def commit_status(known: CommitEvidence, offset: int, holders: tuple[int, ...]) -> CommitStatus:
    """Return what can be said of a record, by all sets of voters that may have committed it."""
    case = known.case
    having = [case.by_id[holder] for holder in holders]
    proofs = [snapshot for node in case.nodes for snapshot in node.log.snapshots]
    if any(_proves(proof, node, offset) for node in having for proof in proofs):
        return CommitStatus.COMMITTED
    commit_statuses = [
        _by(known, node, sets, offset) for node in having for sets in _sets_from(case, node, offset)
    ]
    status = max(commit_statuses, key=_GRAVITY.index, default=CommitStatus.NOT)
    if status is not CommitStatus.MAJORITY and any(
        _was_passed_over(case, one, offset) for one in having
    ):
        return CommitStatus.NOT
    return status


def _was_passed_over(case: ElectionCase, node: NodeCase, offset: int) -> bool:
    """True if the leader of a later epoch was elected without a record: it was never committed.

    What that leader wrote begins where its log ended when it was elected. A snapshot of its epoch
    ends behind that place.
    """
    epoch = node.log.epoch_at(offset)
    if epoch is None:
        return False
    return any(
        any(later.epoch > epoch and later.start_offset <= offset for later in other.log.epochs)
        or any(later.epoch > epoch and later.offset <= offset for later in other.log.snapshots)
        for other in case.nodes
        if not other.assumed
    )


_GRAVITY = (
    CommitStatus.NOT, CommitStatus.MINORITY, CommitStatus.POSSIBLE, CommitStatus.MAJORITY,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Term:
    """A set of voters that counts in a log from an offset on."""

    at: int
    voters: VoterSet
    is_last: bool
    """True if that log has no later one."""


def _sets_from(case: ElectionCase, node: NodeCase, offset: int) -> list[_Term]:
    """The voters at a record, and all later ones of the log that it is in."""
    control = node.log.control(node.settings.static_voters)
    entries = [(-1, control.static_voters or case.voters), *control.voter_sets.entries]
    first = max(number for number, (at, _) in enumerate(entries) if at <= offset)
    return [
        _Term(at=at, voters=voters, is_last=number == len(entries) - 1)
        for number, (at, voters) in enumerate(entries)
        if number >= first
    ]


def _by(known: CommitEvidence, node: NodeCase, term: _Term, offset: int) -> CommitStatus:
    """Return what can be said of a node's record, if its leader went by these voters."""
    voters = term.voters
    sure, unknown = _counted(known, node, voters, offset)
    if len(sure) >= voters.majority:
        return CommitStatus.MAJORITY
    needed = voters.majority - _may_have_changed(known, node, term)
    if not voters or len(sure) + len(unknown) < needed:
        return CommitStatus.NOT
    only_lag = _only_lag(known, voters, unknown)
    if only_lag and len(sure | only_lag) >= voters.majority and len(sure) < needed:
        return CommitStatus.MINORITY
    return CommitStatus.POSSIBLE


def _only_lag(known: CommitEvidence, voters: VoterSet, unknown: frozenset[int]) -> frozenset[int]:
    """Voters with logs that end so shortly before the best one that its leader wrote the rest
    alone. Empty if anything but a lag makes any voter's past unknown."""
    if not all(was_given(known.case, voters, voter_id) for voter_id in voters.ids):
        return frozenset()
    if not all(known.forgotten[voter_id].is_lag for voter_id in unknown):
        return frozenset()
    return frozenset(voter_id for voter_id in unknown if known.forgotten[voter_id].is_explained)


def _counted(
    known: CommitEvidence, node: NodeCase, voters: VoterSet, offset: int
) -> tuple[frozenset[int], frozenset[int]]:
    """Return the voters that have a node's record, and those that might have had it."""
    epoch = node.log.epoch_at(offset) or 0
    sure = {
        node_case.id
        for node_case in known.case.nodes
        if voters.has(node_case.key) and not node_case.assumed and node_case.log.has(offset, epoch)
    }
    unknown = {voter_id for voter_id in voters.ids if may_have_had(known, voters, voter_id, offset)}
    return frozenset(sure), frozenset(unknown - sure)


def _may_have_changed(known: CommitEvidence, node: NodeCase, term: _Term) -> bool:
    """True if one voter less may have been enough, by a set that no log here has.

    Whoever led may have begun one more change where nobody can look. Of an even number of voters
    it can have removed one that lacks the record, or added one that has it. It was begun only if
    the set before was committed; and a second change only if the first was, for which there would
    have to be so many whose logs are not known that the record is possibly committed anyway.
    """
    voters = term.voters
    if not term.is_last or len(voters) % 2 or _is_static(voters):
        return False
    if not any(may_have_had(known, voters, voter_id, _BEHIND_ALL) for voter_id in voters.ids):
        return False
    if term.at < node.log.view().start_offset:
        return True
    return len(frozenset().union(*_counted(known, node, voters, term.at))) >= voters.majority


def _is_static(voters: VoterSet) -> bool:
    """True if these come from the settings: no record can change them."""
    return any(voter.key.directory_id is None for voter in voters)


def may_have_had(known: CommitEvidence, voters: VoterSet, voter: int, offset: int) -> bool:
    """True if nothing shows what a voter had: there is no directory, or not all of its log."""
    if not was_given(known.case, voters, voter):
        return True
    forgotten = known.forgotten.get(voter)
    return forgotten is not None and forgotten.first <= offset


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenRecords:
    """Records that may be committed and are in no readable part of any log."""

    first: int
    end: int | None = None
    """The offset after the last; None if nothing shows how many there are."""
    holder: int | None = None
    """The node that has the last one behind the damage of its log; None if there is no end."""


def unseen_records(known: CommitEvidence, leader: NodeCase) -> UnseenRecords | None:
    """Return the records that a leader lacks and that may be committed, though no readable log has
    them; None if there are none.

    There may be some if the logs of a majority of its voters are gone or damaged, or were not
    given. A damaged log whose end is known had no more than that, and nothing that is not in a
    readable log which goes as far.
    """
    leader = leader.sound
    if not _may_have_unseen(known, leader):
        return None
    damaged = {
        node.id: behind
        for node in known.case.nodes
        if (behind := node.log.behind) is not None and node.log.is_end_known
    }
    rest = {id_: forgotten for id_, forgotten in known.forgotten.items() if id_ not in damaged}
    if not damaged or _may_have_unseen(replace(known, forgotten=rest), leader):
        return UnseenRecords(first=leader.end.offset)
    best = known.case.most_complete or leader
    farther = {id_: end for id_, end in damaged.items() if not best.end.is_at_least(end)}
    if not farther:
        return None
    first = best.end.offset
    for id_, end in farther.items():
        if end.epoch > best.end.epoch:  # where its log parts from the best one is not known
            first = min(first, known.case.by_id[id_].log.end)
    holder = max(farther, key=lambda id_: farther[id_].offset)
    return UnseenRecords(first=first, end=farther[holder].offset, holder=holder)


def _may_have_unseen(known: CommitEvidence, leader: NodeCase) -> bool:
    """True if voters that may have had any record behind a leader's log can have committed it.

    Half of an even number may be enough, as in `_may_have_changed`: with a change that no directory
    shows. An old copy or a cut log beside a whole one is a doubt (`may_have_unseen_by_doubt`), and
    no reason to expect such records. If no voter has the best log, it is one.
    """
    voters = leader.voters
    if not voters:
        return False
    is_counted = lacks_whole_voter(known, voters)
    old = {
        voter_id
        for voter_id, forgotten in known.forgotten.items()
        if not (forgotten.is_gone or forgotten.is_damage or is_counted)
    }
    unknown = {
        voter_id for voter_id in voters.ids if may_have_had(known, voters, voter_id, _BEHIND_ALL)
    }
    may_have_changed = len(voters) % 2 == 0 and not _is_static(voters)
    return len(unknown - old) >= voters.majority - may_have_changed


def lacks_whole_voter(known: CommitEvidence, voters: VoterSet) -> bool:
    """True if a voter certainly forgot records, and no voter reaches as far as any node did."""
    nodes = [node for node in known.case.nodes if not node.assumed]
    if all(forgotten.is_doubt for forgotten in known.forgotten.values()):
        return False
    ends = [end for node in nodes for end in (node.end, node.log.behind) if end is not None]
    farthest = max(ends, key=lambda end: end.rank)
    return not any(voters.has(node.key) and node.end.is_at_least(farthest) for node in nodes)


def may_have_unseen_by_doubt(known: CommitEvidence) -> bool:
    """True if records that nobody shows may have been committed, counting each voter that may be an
    old copy as one. A damaged log does not count: the bytes behind the damage show its end.

    A small lag counts, too: a leader that was cut off leaves logs that end before its own, and so
    does a cut of the others at one batch.
    """
    voters = known.case.voters
    damaged = {voter_id for voter_id, forgotten in known.forgotten.items() if forgotten.is_damage}
    unknown = {
        voter_id for voter_id in voters.ids if may_have_had(known, voters, voter_id, _BEHIND_ALL)
    }
    return len(unknown - damaged) >= voters.majority


def was_given(case: ElectionCase, voters: VoterSet, voter: int) -> bool:
    """True if the directory of a voter was looked at, and is that voter's."""
    node = case.by_id.get(voter)
    return node is not None and not node.assumed and voters.has(node.key)


def _proves(snapshot: OffsetAndEpoch, node: NodeCase, offset: int) -> bool:
    """True if a snapshot goes beyond a record of the log that it was made from."""
    return snapshot.offset > offset and (
        snapshot in node.log.snapshots or node.log.has(snapshot.offset - 1, snapshot.epoch)
    )
