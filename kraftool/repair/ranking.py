"""Directories ranked as seeds, and held against each other: who is ahead of whom, who parted.

Owns the order in which an election would put them, over what can be trusted only: the epoch
decides, the offset breaks ties, never the offset alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftool.raft.names import OffsetAndEpoch, ReplicaKey, VoterSet
from kraftool.repair.bit_evidence import UNKNOWN_EVIDENCE, BitEvidence, bit_evidence
from kraftool.repair.plan import UNREADABLE, LostRecords, Ranked, RecordCount
from kraftool.repair.record_types import counted
from kraftool.repair.survey import LogBreak, Survey, SurveyedLog
from kraftool.reports.text.words import listed, many


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A survey under its name in the plan."""

    name: str
    survey: Survey
    evidence: BitEvidence = UNKNOWN_EVIDENCE
    """About its flipped bits. The survey has them put back, unless others contradict."""
    had_records: bool = False
    """True if a directory of its cluster tells that the quorum has had records."""
    is_log_dir: bool = False
    """True for a further directory of log.dirs: topics, and no metadata."""

    @property
    def node_id(self) -> int | None:
        return self.survey.node_id

    @property
    def has_metadata(self) -> bool:
        return self.survey.end.offset > 0 or not self.lost_log

    @property
    def lost_log(self) -> str:
        """Return what tells that the log is not what it was, as words; empty where nothing does.

        A snapshot is no log: what a voter confirmed behind it is gone.
        """
        survey, log = self.survey, self.survey.log
        if log is None:
            return "is gone"
        if survey.has_no_record:
            return "has no record left" if self.had_records else ""
        newest = max(
            (whole_snapshot.offset for whole_snapshot in survey.whole_snapshots), default=0
        )
        if survey.intact and log.intact_end < newest:
            return f"ends at offset {log.intact_end}, before its own snapshot at {newest}"
        return ""

    @property
    def rank(self) -> tuple[int, int]:
        return self.survey.end.rank


def host_names(surveys: Sequence[Survey]) -> list[str]:
    """A name for each directory: its node's. A node's further ones get a number."""
    log_dirs = further_log_dirs(surveys)
    counts: Counter[str] = Counter()
    names = [""] * len(surveys)
    for number in sorted(range(len(surveys)), key=lambda number: number in log_dirs):
        node_id = surveys[number].node_id
        name = f"node-{node_id}" if node_id is not None else f"directory-{number + 1}"
        counts[name] += 1
        further = f"{name}.log-dir-" if number in log_dirs else f"{name}-"
        names[number] = f"{further}{counts[name]}" if counts[name] > 1 else name
    return names


def further_log_dirs(surveys: Sequence[Survey]) -> frozenset[int]:
    """Return the numbers of directories that have only topics, where another one of their node has
    its metadata, or should have."""
    return frozenset(
        number
        for number, survey in enumerate(surveys)
        if survey.node_id is not None and not survey.has_partition
        if any(_has_metadata_of(other, survey) for other in surveys if other is not survey)
    )


def _has_metadata_of(one: Survey, log_dir: Survey) -> bool:
    """True if one directory has the metadata of another one's node, or is the place for it."""
    clusters = {one.identity.cluster_id, log_dir.identity.cluster_id} - {""}
    is_place = log_dir.other_log_dir and not one.other_log_dir
    return one.node_id == log_dir.node_id and len(clusters) < 2 and (one.has_partition or is_place)


def hosts_of(surveys: Sequence[Survey], restored: Mapping[str, Survey]) -> tuple[Host, ...]:
    """The directories by their names, as their restorations will leave them."""
    log_dirs = further_log_dirs(surveys)
    hosts = [
        Host(
            name=name,
            survey=survey,
            had_records=_had_records(survey, surveys),
            is_log_dir=number in log_dirs,
        )
        for number, (name, survey) in enumerate(zip(host_names(surveys), surveys, strict=True))
    ]
    return tuple(_restored(host, hosts, restored) for host in hosts)


def _restored(host: Host, hosts: Sequence[Host], restored: Mapping[str, Survey]) -> Host:
    own = restored.get(host.name)
    if own is None or not own.lenders <= {other.name for other in hosts}:
        return host
    if own.lenders:
        return replace(host, survey=own)
    others = []
    for other in hosts:
        best = restored.get(other.name, other.survey)
        # A log with batches of others is no evidence of its own.
        others.append((other.name, other.survey if best.lenders else best))
    evidence = bit_evidence(host.name, own, others)
    survey = host.survey if evidence.contradicted_by else own
    return replace(host, survey=survey, evidence=evidence)


def _had_records(survey: Survey, surveys: Iterable[Survey]) -> bool:
    """True if its quorum had any: an empty log is a lost one then, and else one that is new."""
    own = ("", survey.identity.cluster_id)
    return any(survey.tells_of_records for survey in surveys if survey.identity.cluster_id in own)


def is_voter(host: Host, voters: VoterSet) -> bool:
    """True if the directory is a voter's."""
    directory_id = host.survey.identity.directory_id or None
    return host.node_id is not None and voters.has(ReplicaKey(host.node_id, directory_id))


def ranked(hosts: Iterable[Host], voters: VoterSet) -> tuple[Ranked, ...]:
    """All that have metadata, best first."""
    ordered = sorted(
        (host for host in hosts if host.has_metadata),
        key=lambda host: (host.rank, is_voter(host, voters), host.survey.intact),
        reverse=True,
    )
    return tuple(
        Ranked(
            host=host.name,
            end_offset=host.survey.end.offset,
            last_epoch=host.survey.end.epoch,
            voter=is_voter(host, voters),
            intact=host.survey.intact and _state_is_whole(host.survey),
            note=_note(host.survey),
        )
        for host in ordered
    )


def _state_is_whole(survey: Survey) -> bool:
    return survey.state is not None and survey.state.whole


def _note(survey: Survey) -> str:
    log, notes = survey.log, []
    for edit in survey.restored:
        with_runs = f"is restored with {listed(run.describe() for run in edit.runs)}"
        notes.append(f"{edit.target.name} {with_runs}" if edit.runs else
                     f"flipped bits of {edit.target.name} are restored")  # fmt: skip
    if log is not None and log.broken is not None:
        broken = log.broken
        what = "a torn tail" if broken.torn else "damaged"
        notes.append(f"{what} from offset {broken.offset} on ({broken.reason})")
        if broken.lost_batches:
            behind = many(broken.lost_batches, "whole batch")
            # No CRC covers a base offset: a flipped bit can make it higher than the log ever was.
            reach = broken.end_offset - 1
            ends = (batch.last_offset for batch in broken.batches if batch.last_offset <= reach)
            last = max(ends, default=reach)
            notes.append(f"{behind} after it, up to offset {last}")
    if survey.state is not None and not survey.state.whole:
        notes.append("the records before its log are missing")
    if log is not None and log.misfits:
        notes.append(f"a record that cannot be applied at offset {log.misfits[0].offset}")
    return "; ".join(notes)


# --- two logs --------------------------------------------------------------------------------


def common_end(one: Survey, other: Survey) -> int:
    """The offset up to which two directories have the same records, by their epochs.

    A leader's records follow on a log that is its own: where both have records of one epoch, all
    before is the same. What a snapshot covers counts as being there.
    """
    mine, theirs = _epochs(one), _epochs(other)
    ends = [min(mine[epoch], theirs[epoch]) for epoch in mine.keys() & theirs.keys()]
    start = min(_start(one), _start(other))
    return max(ends, default=min(start, one.end.offset, other.end.offset))


def _start(survey: Survey) -> int:
    return survey.log.start_offset if survey.log is not None else 0


def _epochs(survey: Survey) -> dict[int, int]:
    """The end of each epoch."""
    ends: dict[int, int] = {}
    log = survey.log
    if log is not None and log.epochs:
        begins = [epoch.start_offset for epoch in log.epochs[1:]] + [log.intact_end]
        ends = {epoch.epoch: end for epoch, end in zip(log.epochs, begins, strict=True)}
    for whole_snapshot in survey.whole_snapshots:
        if whole_snapshot.offset > 0:
            ends[whole_snapshot.epoch] = max(
                ends.get(whole_snapshot.epoch, 0), whole_snapshot.offset
            )
    return ends


def parts_in_one_epoch(one: Survey, other: Survey) -> int | None:
    """Return where two logs have other bytes in the same epoch, which never happens by itself; an
    offset near it. None where they agree as far as can be seen.
    """
    if one.log is None or other.log is None:
        return None
    theirs = {(batch.base_offset, batch.epoch): batch for batch in other.log.batches}
    for batch in one.log.batches:
        same = theirs.get((batch.base_offset, batch.epoch))
        if same is not None and (same.crc, same.last_offset) != (batch.crc, batch.last_offset):
            return batch.base_offset
    blocks = {
        (intact_batches.first_offset, intact_batches.end_offset): intact_batches
        for intact_batches in other.log.blocks
    }
    start = max(one.log.start_offset, other.log.start_offset)
    for block in one.log.blocks:
        other_block = blocks.get((block.first_offset, block.end_offset))
        if (
            other_block is not None
            and block.first_offset >= start
            and block.last_epoch == other_block.last_epoch
            and block.sha256 != other_block.sha256
            and block.end_offset <= common_end(one, other)
        ):
            return block.first_offset
    return None


def are_identical(one: Survey, other: Survey) -> bool:
    """True if two logs are the same to their ends, byte for byte as far as both have them."""
    return (
        one.end == other.end
        and common_end(one, other) == one.end.offset
        and parts_in_one_epoch(one, other) is None
    )


def beyond(host: Host, outcome: Survey, outcome_end: int, outcome_epoch: int) -> LostRecords | None:
    """Return what a directory has that an outcome lacks, which is another's state up to an offset.

    What only earlier leaders wrote is not lost: the leader of the outcome's last epoch was elected
    without it, so that it was never committed, and its node would cut it off anyway.
    """
    first = min(common_end(host.survey, outcome), outcome_end)
    end = host.survey.end
    if end.offset <= first or end.epoch < outcome_epoch:
        return _behind_damage(host, outcome_end)
    log = host.survey.log
    types = types_between(log, first, end.offset) if log is not None else ()
    return LostRecords(host=host.name, first_offset=first, end_offset=end.offset, types=types)


def _behind_damage(host: Host, outcome_end: int) -> LostRecords | None:
    """Whole batches behind damage that an outcome does not reach: nothing says that they were not
    committed, though the log cannot be trusted there."""
    broken = host.survey.log.broken if host.survey.log is not None else None
    if broken is None or broken.end_offset <= outcome_end:
        return None
    first = max(broken.offset, outcome_end)
    return behind_damage(host, first, broken)


def behind_damage(host: Host, first: int, broken: LogBreak) -> LostRecords:
    """The records of a damaged log from an offset on, by the types that can be read."""
    types = broken.types
    if first > broken.offset:
        counts: Counter[str] = Counter()
        for batch in broken.batches:
            _add(counts, batch.types if batch.base_offset >= first else ())
        types = counted(counts)
    missing = broken.end_offset - first - sum(record_count.count for record_count in types)
    if missing > 0:
        types = (*types, RecordCount(type=UNREADABLE, count=missing))
    return LostRecords(
        host=host.name, first_offset=first, end_offset=broken.end_offset, types=types
    )


def types_between(log: SurveyedLog, first: int, end: int) -> tuple[RecordCount, ...]:
    """Return how many records of each type lie between two offsets; of blocks whole ones are
    counted.
    """
    counts: Counter[str] = Counter()
    begin = log.batches[0].base_offset if log.batches else end
    for block in log.blocks:
        if block.first_offset >= first and block.end_offset <= min(begin, end):
            _add(counts, block.types)
    for batch in log.batches:
        if first <= batch.base_offset < end:
            _add(counts, batch.types)
    return counted(counts)


def _add(counts: Counter[str], types: Iterable[RecordCount]) -> None:
    for record_count in types:
        counts[record_count.type] += record_count.count


def is_ahead(survey: Survey, end: OffsetAndEpoch) -> bool:
    """True if a directory has anything beyond an end, trusted or not."""
    return survey.reach > end.offset or survey.end.rank > end.rank
