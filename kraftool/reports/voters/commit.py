"""Commitment of a change of voters or of kraft.version, as far as files can tell.

Kafka keeps the high watermark in memory only, so no file says what is committed; a running leader
that was asked does. What proves it otherwise:

1. A snapshot that ends beyond the record, or a log start beyond it. Both exist below the high
   watermark only. They speak for the record if its log went on to them: a log with the snapshot's
   last offset in the snapshot's epoch is the same up to there (log matching). What is committed in
   one log is committed in every log with the same record: same offset, same epoch, equal bytes.
2. A later add or remove in the same epoch that is not in the leader's first batch: a leader writes
   one only once the change before it is committed.
3. A batch of epoch E at or after the record on a majority of the voters in force there, while the
   quorum-state of each of these nodes still says E. Each node then got the batch from the leader
   of E itself, and none has helped to elect a later one, so every later leader must have it. The
   majority alone does not do: a record of an earlier epoch that a later leader copied to a
   majority can still be lost (the commit rule counts batches of the leader's own epoch only). It
   is then "on a majority of the directories given", and no more.
   Where a set stands in the log, at or before that batch, whose majorities need not overlap with
   those of the set before it, a majority of that earlier set must have the batch too: else its
   voters, who may never have seen the record, can elect a leader and write others in its place.
   Kafka writes no such set; a hand does. What 1 or 2 prove of it stands, since Kafka went on.

Whatever stands before something committed in a log is committed with it. A record is replaced if
another one is committed at its offset. What is left cannot be known offline: that a record is on
few of the directories does not say that it is not on others.
The 0-0 checkpoint is no record of the quorum; it holds without a commit. A damaged snapshot proves
nothing. Nodes count as voters by node id and, where the voters have one, directory id.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kraftool.directory.metadata_summary import LogExtent
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import (
    Commitment,
    HistoryEntry,
    Origin,
)
from kraftool.directory.voter_set import (
    keys_changed,
    matches,
)
from kraftool.raft.names import NO_VOTERS, VoterSet
from kraftool.reports.voters.jumps import jumps_of

_Identity = tuple[bool, int, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """The commitment of an entry, and the reason."""

    commitment: Commitment = Commitment.UNKNOWN
    reason: str = ""
    by_majority: bool = False


_NOT_YET = _Verdict()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """All below `below` is committed, in logs with the record of `epoch` at `offset`."""

    offset: int
    epoch: int
    below: int
    words: str
    file: str = ""
    """The snapshot; empty where something else proves it."""


def with_verdicts(sources: Sequence[NodeDirectory]) -> tuple[NodeDirectory, ...]:
    """The same sources (of one cluster), with each entry's verdict."""
    proofs = [proof for source in sources for proof in proofs_of(source)]
    holders, later = _holders(sources), _later_changes(sources)
    verdicts: dict[_Identity, _Verdict] = {}
    for source in sources:
        for entry in source.history.entries:
            key = entry.identity
            if key not in verdicts:
                record_holders = holders.get(key, ())
                verdicts[key] = _verdict(entry, source, record_holders, proofs, later.get(key))
    for source in sources:
        _close(source, verdicts)
    known = {id(source_report): _Sets.of(source_report) for source_report in sources}
    to_win = {id(source_report): _sets_to_win(source_report, verdicts) for source_report in sources}
    for source in sources:
        for entry in source.history.entries:
            key = entry.identity
            if entry.origin is Origin.LOG and verdicts[key] == _NOT_YET:
                having = holders.get(key, ())
                # One of them may have the older set that another's shorter log does not show.
                before = [pair for source_report in having for pair in to_win[id(source_report)]]
                verdicts[key] = _by_majority(entry, known[id(source)], having, before)
    for source in sources:
        _close(source, verdicts)
    committed = {
        key[:2]: key
        for key, verdict in verdicts.items()
        if verdict.commitment is Commitment.COMMITTED
    }
    for key, verdict in verdicts.items():
        other = committed.get(key[:2])
        weak = verdict.commitment in (
            Commitment.UNKNOWN, Commitment.ON_MAJORITY, Commitment.PENDING
        )  # fmt: skip
        if other is not None and other != key and weak:
            reason = f"another record is committed at this offset, of epoch {other[2]}"
            verdicts[key] = _Verdict(commitment=Commitment.REPLACED, reason=reason)
    return tuple(
        replace(
            source,
            history=replace(
                source.history,
                entries=tuple(
                    _judged(entry, verdicts[entry.identity]) for entry in source.history.entries
                ),
            ),
        )
        for source in sources
    )


def _judged(entry: HistoryEntry, known: _Verdict) -> HistoryEntry:
    return replace(
        entry,
        commitment=known.commitment,
        reason=known.reason,
        by_majority=known.by_majority,
    )


def _close(source: NodeDirectory, verdicts: dict[_Identity, _Verdict]) -> None:
    """Whatever stands in a log before something committed is committed."""
    later: int | None = None
    by_majority = True
    for entry in reversed(source.history.entries):
        if entry.origin is not Origin.LOG:
            continue
        known = verdicts[entry.identity]
        if known.commitment is Commitment.COMMITTED:
            later = entry.offset
            by_majority = by_majority and known.by_majority
            verdicts[entry.identity] = replace(known, by_majority=by_majority)
        elif later is not None:
            words = f"a later record at offset {later} is committed"
            verdicts[entry.identity] = _Verdict(
                commitment=Commitment.COMMITTED, reason=words, by_majority=by_majority
            )


def _sets_to_win(
    source: NodeDirectory, verdicts: dict[_Identity, _Verdict]
) -> list[tuple[int, VoterSet]]:
    """The sets whose majority a batch at or behind an offset needs too, with that offset."""
    proved = [
        entry.offset
        for entry in source.history.entries
        if entry.origin is Origin.LOG
        and verdicts[entry.identity].commitment is Commitment.COMMITTED
        and not verdicts[entry.identity].by_majority
    ]
    upto = max(proved, default=-1)
    return [
        (jump.entry.offset, jump.before)
        for jump in jumps_of(source)
        if jump.entry.offset > upto and not jump.overlaps
    ]


def proofs_of(source: NodeDirectory) -> Iterator[Proof]:
    """Yield what snapshots and the start of a log prove by being there."""
    for snapshot in source.snapshots:
        if snapshot.intact and snapshot.offset > 0:
            yield Proof(
                offset=snapshot.offset - 1,
                epoch=snapshot.epoch,
                below=snapshot.offset,
                words=f"a snapshot ends beyond it, at offset {snapshot.offset}",
                file=snapshot.file,
            )
    log = source.log
    mark = source.high_watermark or 0
    reached = log.epoch_at(mark - 1) if log is not None else None
    if reached is not None:
        words = f"the running leader's high watermark is beyond it, at {mark}"
        yield Proof(offset=mark - 1, epoch=reached, below=mark, words=words)
    epoch = log.epoch_at(log.start) if log is not None else None
    if log is not None and log.start > 0 and epoch is not None:
        words = f"a log begins beyond it, at offset {log.start}"
        yield Proof(offset=log.start, epoch=epoch, below=log.start, words=words)


def _verdict(
    entry: HistoryEntry,
    source: NodeDirectory,
    holders: Sequence[NodeDirectory],
    proofs: Sequence[Proof],
    later: int | None,
) -> _Verdict:
    if entry.origin is Origin.BOOTSTRAP:
        words = "kafka-storage format wrote it. It is valid without a commit"
        return _Verdict(commitment=Commitment.FORMATTED, reason=words)
    if entry.contradicted:
        return _Verdict(reason="the log next to the snapshot has other voters at this offset")
    if entry.origin is Origin.SNAPSHOT:
        if any(snapshot.intact for snapshot in source.snapshots if snapshot.file == entry.file):
            words = "a snapshot holds only what is committed"
            return _Verdict(commitment=Commitment.COMMITTED, reason=words)
        return _Verdict(reason="the snapshot that says so is damaged")
    for holder in holders:
        assert holder.log is not None, "the record is inside the copied range of a log"
        for proof in proofs:
            if proof.below > entry.offset and holder.log.epoch_at(proof.offset) == proof.epoch:
                return _Verdict(commitment=Commitment.COMMITTED, reason=proof.words)
    if source.high_watermark is not None and entry.offset >= source.high_watermark:
        words = f"the running leader's high watermark is {source.high_watermark}"
        return _Verdict(commitment=Commitment.PENDING, reason=words)
    if later is not None:
        words = f"the leader wrote the next change, at offset {later}, only after its commit"
        return _Verdict(commitment=Commitment.COMMITTED, reason=words)
    return _NOT_YET


def _holders(sources: Sequence[NodeDirectory]) -> dict[_Identity, list[NodeDirectory]]:
    """The sources that have a record in their logs, by the record."""
    holders: dict[_Identity, list[NodeDirectory]] = {}
    for source in sources:
        for entry in source.history.entries:
            if entry.origin is Origin.LOG:
                holders.setdefault(entry.identity, []).append(source)
    return holders


def _later_changes(sources: Sequence[NodeDirectory]) -> dict[_Identity, int]:
    """The offset of the change that a leader wrote only after the commit of the one before it."""
    later_offsets: dict[_Identity, int] = {}
    for source in sources:
        logged = [voter_set for voter_set in source.voter_sets if voter_set.origin is Origin.LOG]
        for before, after in pairwise(logged):
            if (
                after.epoch == before.epoch
                and not after.with_leader_change
                and not after.after_damage
                and keys_changed(before.voters or NO_VOTERS, after.voters or NO_VOTERS) == 1
            ):
                later_offsets.setdefault(before.identity, after.offset)
    return later_offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sets:
    """The voter sets and epochs of one source, to be looked up for each entry."""

    entries: tuple[HistoryEntry, ...]
    begins: dict[int, int]
    """The first offset of each epoch in the log."""
    log: LogExtent | None

    @classmethod
    def of(cls, source: NodeDirectory) -> _Sets:
        epochs = source.log.epochs if source.log is not None else ()
        begins = {epoch.epoch: epoch.start_offset for epoch in reversed(epochs)}
        return cls(entries=source.voter_sets, begins=begins, log=source.log)

    def at(self, offset: int) -> VoterSet:
        number = bisect_right(self.entries, offset, key=lambda entry: entry.offset)
        return (self.entries[number - 1].voters or NO_VOTERS) if number else NO_VOTERS

    def newest(self) -> VoterSet:
        return (self.entries[-1].voters or NO_VOTERS) if self.entries else NO_VOTERS


def _by_majority(
    entry: HistoryEntry,
    sets: _Sets,
    holders: Sequence[NodeDirectory],
    before: Sequence[tuple[int, VoterSet]],
) -> _Verdict:
    newest = sets.newest()
    if not newest:
        return _Verdict(reason="the voters whose majority would commit it are not recorded")
    for epoch in sorted(
        {source.quorum_state.leader_epoch for source in holders if source.quorum_state}
    ):
        upto = _decisive(sets, entry, epoch)
        voters = sets.at(upto) if upto is not None else NO_VOTERS
        if upto is None or not voters:
            continue
        got = [source for source in holders if _got(source, epoch, upto)]
        if _lacking([voters, *(old for at, old in before if at <= upto)], got) is None:
            words = (
                f"on {_voters_among(voters, got)} of {len(voters)} voters, with a batch of"
                f" epoch {epoch} at or after it and no later epoch on any of them: every later"
                " leader has it"
            )
            return _Verdict(commitment=Commitment.COMMITTED, reason=words, by_majority=True)
    held, total = _voters_among(newest, holders), len(newest)
    count = f"on {held} of {total} voters' directories given"
    lacking = _lacking([newest, sets.at(entry.last_offset) or newest], holders)
    earlier = _lacking([old for _, old in before], holders)
    if lacking is None and earlier is None:
        words = f"{count}, so committed according to them. A leader of another epoch may differ"
        return _Verdict(commitment=Commitment.ON_MAJORITY, reason=words)
    if lacking is None and earlier is not None:
        old = ", ".join(map(str, sorted(voter.id for voter in earlier)))
        words = (
            f"{count}, but the voters {old} before a set written by hand can elect a leader"
            " without it"
        )
        return _Verdict(reason=words)
    return _Verdict(reason=f"{count}, and no snapshot ends beyond it")


def _lacking(sets: Sequence[VoterSet], holders: Sequence[NodeDirectory]) -> VoterSet | None:
    """The first set of which the directories are no majority."""
    return next(
        (voter_set for voter_set in sets if _voters_among(voter_set, holders) < voter_set.majority),
        None,
    )


def _voters_among(voters: VoterSet, holders: Sequence[NodeDirectory]) -> int:
    """Return how many of the voters the directories are."""
    return sum(
        any(
            voter.id == source.node.node_id and matches(voter, source.node.directory_id)
            for source in holders
        )
        for voter in voters
    )


def _decisive(sets: _Sets, entry: HistoryEntry, epoch: int) -> int | None:
    """The offset of the first batch of an epoch at or after an entry, in its log."""
    log, begins = sets.log, sets.begins.get(epoch)
    if log is None or begins is None:
        return None
    offset = max(entry.last_offset, begins)
    return offset if log.covers(entry.offset, offset) and log.epoch_at(offset) == epoch else None


def _got(source: NodeDirectory, epoch: int, offset: int) -> bool:
    """True if a node that is still in an epoch has the batch of it at an offset."""
    state, log = source.quorum_state, source.log
    if state is None or log is None or state.leader_epoch != epoch:
        return False
    return log.epoch_at(offset) == epoch
