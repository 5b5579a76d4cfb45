"""Whether a change of voters or of kraft.version is committed, as far as files can tell.

Kafka keeps the high watermark in memory only, so no file says what is committed. What proves it:

1. A snapshot that ends beyond the record, or a log start beyond it. Both exist below the high
   watermark only. They speak for the record if its log went on to them: a log with the snapshot's
   last offset in the snapshot's epoch is the same up to there (log matching). What is committed in
   one log is committed in every log with the same record: same offset, same epoch, equal bytes.
2. A later add, remove or key change in the same epoch that is not in the leader's first batch: a
   leader writes one only once the change before it is committed.
3. A batch of epoch E at or after the record on a majority of the voters in force there, while the
   quorum-state of each of these nodes still says E. Each node then got the batch from the leader
   of E itself, and none has helped to elect a later one, so every later leader must have it. The
   majority alone does not do: a record of an earlier epoch that a later leader copied to a
   majority can still be lost (the commit rule counts batches of the leader's own epoch only). It
   is then "on a majority of the directories given", and no more.

Whatever stands before something committed in a log is committed with it. A record is replaced if
another one is committed at its offset. What is left cannot be known offline: that a record is on
few of the directories does not say that it is not on others.
The 0-0 checkpoint is no record of the quorum; it holds without a commit. A damaged snapshot proves
nothing. Nodes count as voters by node id and, where the voters have one, directory id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kraftool.reports.metadata_summary import Voter
from kraftool.reports.voters.model import (
    Commitment,
    HistoryEntry,
    Origin,
    Verdict,
    VoterSourceReport,
)
from kraftool.reports.voters.voter_set import keys_changed, matches

_Identity = tuple[bool, int, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proof:
    """All below `below` is committed, in logs with the record of `epoch` at `offset`."""

    offset: int
    epoch: int
    below: int
    words: str


def with_verdicts(sources: Sequence[VoterSourceReport]) -> tuple[VoterSourceReport, ...]:
    """The same sources (of one cluster), with each entry's verdict."""
    proofs = [proof for source in sources for proof in _proofs(source)]
    holders, later = _holders(sources), _later_changes(sources)
    verdicts: dict[_Identity, Verdict] = {}
    for source in sources:
        for entry in source.history:
            if entry.identity not in verdicts:
                key = entry.identity
                found, change = holders.get(key, ()), later.get(key)
                verdicts[key] = _verdict(entry, source, found, proofs, change)
    for source in sources:
        _close(source, verdicts)
    committed = {
        key[:2]: key
        for key, verdict in verdicts.items()
        if verdict.commitment is Commitment.COMMITTED
    }
    for key, verdict in verdicts.items():
        other = committed.get(key[:2])
        weak = verdict.commitment in (Commitment.UNKNOWN, Commitment.ON_MAJORITY)
        if other is not None and other != key and weak:
            reason = f"another record is committed at this offset, of epoch {other[2]}"
            verdicts[key] = Verdict(commitment=Commitment.REPLACED, reason=reason)
    return tuple(
        replace(
            source,
            history=tuple(
                replace(each, verdict=verdicts[each.identity]) for each in source.history
            ),
        )
        for source in sources
    )


def _close(source: VoterSourceReport, verdicts: dict[_Identity, Verdict]) -> None:
    """Whatever stands in a log before something committed is committed."""
    later: int | None = None
    for entry in reversed(source.history):
        if entry.origin is not Origin.LOG:
            continue
        known = verdicts[entry.identity].commitment
        if known is Commitment.COMMITTED:
            later = entry.offset
        elif later is not None:
            words = f"what follows it in the log, at offset {later}, is committed"
            verdicts[entry.identity] = Verdict(commitment=Commitment.COMMITTED, reason=words)


def _proofs(source: VoterSourceReport) -> Iterator[_Proof]:
    for each in source.snapshots:
        if each.intact and each.offset > 0:
            yield _Proof(
                offset=each.offset - 1,
                epoch=each.epoch,
                below=each.offset,
                words=f"a snapshot ends beyond it, at offset {each.offset}",
            )
    log = source.log
    epoch = log.epoch_at(log.start) if log is not None else None
    if log is not None and log.start > 0 and epoch is not None:
        words = f"a log begins beyond it, at offset {log.start}"
        yield _Proof(offset=log.start, epoch=epoch, below=log.start, words=words)


def _verdict(
    entry: HistoryEntry,
    source: VoterSourceReport,
    holders: Sequence[VoterSourceReport],
    proofs: Sequence[_Proof],
    later: int | None,
) -> Verdict:
    if entry.origin is Origin.BOOTSTRAP:
        words = "kafka-storage format wrote it; it holds without a commit"
        return Verdict(commitment=Commitment.FORMATTED, reason=words)
    if entry.origin is Origin.SNAPSHOT:
        if any(each.intact for each in source.snapshots if each.file == entry.file):
            words = "a snapshot holds only what is committed"
            return Verdict(commitment=Commitment.COMMITTED, reason=words)
        return Verdict(reason="the snapshot that says so is damaged")
    for holder in holders:
        assert holder.log is not None, "a record of a log comes with its extent"
        for proof in proofs:
            if proof.below > entry.offset and holder.log.epoch_at(proof.offset) == proof.epoch:
                return Verdict(commitment=Commitment.COMMITTED, reason=proof.words)
    if later is not None:
        words = f"the leader wrote the next change, at offset {later}, only after its commit"
        return Verdict(commitment=Commitment.COMMITTED, reason=words)
    return _by_majority(entry, source, holders)


def _holders(sources: Sequence[VoterSourceReport]) -> dict[_Identity, list[VoterSourceReport]]:
    """The sources that have a record in their logs, by the record."""
    found: dict[_Identity, list[VoterSourceReport]] = {}
    for source in sources:
        for entry in source.history:
            if entry.origin is Origin.LOG:
                found.setdefault(entry.identity, []).append(source)
    return found


def _later_changes(sources: Sequence[VoterSourceReport]) -> dict[_Identity, int]:
    """The offset of the change that a leader wrote only after the commit of the one before it."""
    found: dict[_Identity, int] = {}
    for source in sources:
        logged = [each for each in source.voter_sets if each.origin is Origin.LOG]
        for before, after in pairwise(logged):
            if (
                after.epoch == before.epoch
                and not after.with_leader_change
                and not after.after_damage
                and keys_changed(before.voters or (), after.voters or ()) == 1
            ):
                found.setdefault(before.identity, after.offset)
    return found


def _by_majority(
    entry: HistoryEntry, source: VoterSourceReport, holders: Sequence[VoterSourceReport]
) -> Verdict:
    newest = source.newest
    if newest is None or newest.voters is None:
        return Verdict(reason="the voters whose majority would commit it are not recorded")
    for epoch in {each.quorum_state.leader_epoch for each in holders if each.quorum_state}:
        upto = _decisive(source, entry, epoch)
        known = source.set_at(upto) if upto is not None else None
        if upto is None or known is None or known.voters is None:
            continue
        sure = _voters_among(known.voters, [each for each in holders if _got(each, epoch, upto)])
        if sure >= len(known.voters) // 2 + 1:
            words = (
                f"on {sure} of {len(known.voters)} voters, with a batch of epoch {epoch} at or"
                " after it and no later epoch on any of them: every later leader has it"
            )
            return Verdict(commitment=Commitment.COMMITTED, reason=words)
    held, total = _voters_among(newest.voters, holders), len(newest.voters)
    count = f"on {held} of {total} voters' directories given"
    then = source.set_at(entry.last_offset)
    sets = [newest.voters, *([then.voters] if then is not None and then.voters else [])]
    if all(_voters_among(each, holders) >= len(each) // 2 + 1 for each in sets):
        words = f"{count}, so committed as far as they tell; a leader of another epoch may differ"
        return Verdict(commitment=Commitment.ON_MAJORITY, reason=words)
    return Verdict(reason=f"{count}, and no snapshot ends beyond it")


def _voters_among(voters: Sequence[Voter], holders: Sequence[VoterSourceReport]) -> int:
    """How many of the voters the directories are."""
    return sum(
        any(
            voter.id == each.node.node_id and matches(voter, each.node.directory_id)
            for each in holders
        )
        for voter in voters
    )


def _decisive(source: VoterSourceReport, entry: HistoryEntry, epoch: int) -> int | None:
    """The offset of the first batch of an epoch at or after an entry, in its log."""
    log = source.log
    if log is None:
        return None
    begins = next((start for start, each in log.epochs if each == epoch), None)
    if begins is None:
        return None
    offset = max(entry.last_offset, begins)
    return offset if log.covers(entry.offset, offset) and log.epoch_at(offset) == epoch else None


def _got(source: VoterSourceReport, epoch: int, offset: int) -> bool:
    """Whether a node that is still in an epoch has the batch of it at an offset."""
    state, log = source.quorum_state, source.log
    if state is None or log is None or state.leader_epoch != epoch:
        return False
    return log.epoch_at(offset) == epoch
