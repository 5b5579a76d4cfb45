"""The summary of the files of one directory together.

Owns the rules by which a later file or record overrides an earlier one, as Kafka applies them when
it starts: the newest snapshot, then the log from its offset on. Whether a record is committed
cannot be seen in one directory; all of the log counts. It refuses to judge; that is
`reports/directory/findings.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.fault import FaultKind
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import FileState, parse_checkpoint_name, segment_offset
from kraftool.decoders.quorum_state import QuorumStateFile
from kraftool.decoders.wire import ZERO_UUID
from kraftool.directory.file_report import FileReport
from kraftool.directory.log_summary import (
    FIRST_OFFSET,
    ControlRecord,
    FeatureLevel,
    LogSummary,
    Registration,
    TypeCount,
)
from kraftool.directory.metadata_summary import (
    Feature,
    FinalizedKRaftVersion,
    LastLeaderChange,
    LogExtent,
    MetadataSummary,
    NodeIds,
    SeenVoters,
    SnapshotSummary,
    TransactionCounts,
    VoterSource,
)
from kraftool.image.metadata_version import release_name
from kraftool.raft.endpoints import read_endpoint
from kraftool.raft.names import NO_VOTERS, Endpoint, ReplicaKey, VersionRange, Voter, VoterSet


def summarize_directory(
    files: Sequence[FileReport], static_voters: VoterSet = NO_VOTERS
) -> MetadataSummary:
    """Put the files of one directory together. `static_voters` are those of its properties file."""
    segments = _segments(files)
    snapshots = _snapshots(files)
    base = _base(files, snapshots, base_offset(segments[0][0]) if segments else None)
    state = _content(files, FileKind.QUORUM_STATE, QuorumStateFile)
    leader = _leader_change(segments)
    kraft_version = _kraft_version(segments, base)
    transactions, committed_features = _transactions(segments)
    feature_levels = _feature_levels(segments, base, committed_features)
    registered = _registered(segments, base)
    meta = _content(files, FileKind.META_PROPERTIES, MetaProperties)
    return MetadataSummary(
        node=NodeIds() if meta is None else NodeIds.of(meta),
        quorum_state=state.quorum_state if state is not None else None,
        log=_extent(segments),
        leader_change=leader,
        finalized_kraft_version=kraft_version,
        voter_set=_voters(segments, base) or _static(state, leader, static_voters),
        feature_levels=feature_levels,
        snapshots=snapshots,
        transactions=transactions,
        brokers=tuple(sorted(id for role, id in registered if role == "broker")),
        controllers=tuple(sorted(id for role, id in registered if role == "controller")),
        record_types=_sum_types(log for _, log in segments),
        snapshot_record_types=base[1].record_types if base is not None and base[2] >= 0 else (),
    )


T = TypeVar("T")
_Segment = tuple[FileReport, LogSummary]
_Base = tuple[FileReport, LogSummary, int]
"""The snapshot to begin with, and its offset; -1 for bootstrap.checkpoint."""


def _segments(files: Iterable[FileReport]) -> list[_Segment]:
    segments = [
        (file, file.log)
        for file in files
        if file.kind is FileKind.LOG and file.is_live and file.log is not None
    ]
    return sorted(segments, key=lambda segment: base_offset(segment[0]))


def base_offset(file: FileReport) -> int:
    """The offset in a segment's name. A file that was named itself may have any name; then that of
    its first batch."""
    named = segment_offset(file.basename)
    if named is not None:
        return named
    start = file.log.start_offset if file.log is not None else None
    return start if start is not None else 0


def _content(files: Iterable[FileReport], kind: FileKind, form: type[T]) -> T | None:
    return next(
        (
            file.content
            for file in files
            if file.kind is kind and file.is_live and isinstance(file.content, form)
        ),
        None,
    )


def _snapshots(files: Iterable[FileReport]) -> tuple[SnapshotSummary, ...]:
    snapshots = []
    for file in files:
        name = parse_checkpoint_name(file.basename)
        if file.kind is not FileKind.CHECKPOINT or name is None:
            continue
        log = file.log or LogSummary()
        snapshots.append(
            SnapshotSummary(
                file=file.file,
                path=file.path,
                offset=name.offset,
                epoch=name.epoch,
                state=name.state,
                size=file.size,
                records=log.records - log.control_records,
                timestamp=log.header_timestamp,
                has_header=log.has_header,
                has_footer=log.has_footer,
                intact=log.is_whole_snapshot and not file.fails_check,
            )
        )
    return tuple(sorted(snapshots, key=lambda snapshot: (snapshot.offset, snapshot.epoch)))


def _base(
    files: Sequence[FileReport], snapshots: Sequence[SnapshotSummary], log_start: int | None
) -> _Base | None:
    """The newest snapshot that is whole, else bootstrap.checkpoint. A damaged snapshot is the last
    resort: only where the log does not reach back to its beginning."""
    logs = {report.file: report for report in files if report.log is not None}
    read = [
        snapshot
        for snapshot in snapshots
        if snapshot.state is FileState.LIVE and snapshot.has_header and snapshot.file in logs
    ]
    usable = [
        snapshot
        for snapshot in read
        if snapshot.intact and (log_start is None or log_start <= snapshot.offset)
    ]
    if not usable and (log_start is None or log_start > FIRST_OFFSET):
        usable = read
    if usable:
        file = logs[usable[-1].file]
        assert file.log is not None, "only files with a summary are listed"
        return file, file.log, usable[-1].offset
    for report in files:
        if (
            report.kind is FileKind.BOOTSTRAP_CHECKPOINT
            and report.is_live
            and report.log is not None
        ):
            return report, report.log, -1
    return None


def _extent(segments: Sequence[_Segment]) -> LogExtent | None:
    """The offsets and epochs of all segments, and where something is missing between them.

    Segments that are of no metadata count only where no other one is.
    """
    metadata = [(file, log) for file, log in segments if log.is_metadata]
    segments = metadata or segments
    if not segments:
        return None
    start = reached = intact_end = base_offset(segments[0][0])
    epochs: list[EpochEntry] = []
    breaks: set[int] = set()
    cuts: list[int] = []
    odd: list[int] = []
    is_cut = False
    for file, log in segments:
        first = base_offset(file)
        if first != reached:
            breaks.add(first)
            odd.append(reached)
        if log.start_offset not in (None, first):
            odd.append(first)
        for fault in log.problems:
            offset = fault.offset if fault.offset is not None else first
            of_voters = fault.reason.startswith(("KRaftVoters", "KRaftVersion"))
            if fault.cuts:
                cuts.append(offset)
            if (
                fault.cuts
                or fault.kind is FaultKind.GAP
                or (fault.kind is FaultKind.RECORDS and of_voters)
            ):
                breaks.add(offset)
            if fault.kind is FaultKind.GAP:
                odd.append(int(fault.expected))
        epochs += log.epochs
        reached = max(reached, first, log.end_offset if log.end_offset is not None else first)
        if not is_cut and log.start_offset is None:
            intact_end = max(intact_end, first)
        elif not is_cut and log.intact_end_offset is not None:
            intact_end = log.intact_end_offset
        is_cut = is_cut or log.walked.is_cut
    logs = [log for _, log in segments]
    ends = [log.end_offset for log in logs if log.end_offset is not None]
    timestamps = [log.last_timestamp for log in logs if log.last_timestamp is not None]
    return LogExtent(
        start=start,
        end=max([base_offset(segments[-1][0]), *ends[-1:]]),
        epochs=tuple(sorted(epochs, key=lambda entry: (entry.start_offset, entry.epoch))),
        odd=min([*odd[:1], *_odd_epochs(start, epochs)], default=None),
        last_timestamp_ms=timestamps[-1] if timestamps else -1,
        breaks=tuple(sorted(breaks)),
        cut=min(cuts, default=None),
        intact_end=intact_end,
        ends_soundly=not segments[-1][1].walked.is_torn,
        is_metadata=bool(metadata),
        segments=len(segments),
        size=sum(file.size for file, _ in segments),
        batches=sum(log.batches for log in logs),
        records=sum(log.records for log in logs),
        first_timestamp=next(
            (log.first_timestamp for log in logs if log.end_offset is not None), None
        ),
        leader_changes=sum(log.leader_changes for log in logs),
    )


def _odd_epochs(start: int, epochs: Sequence[EpochEntry]) -> Iterable[int]:
    """Yield where epochs begin that cannot be, in the order of the file: no CRC covers an epoch."""
    before = held = EpochEntry(epoch=-1, start_offset=start)
    for after in epochs:
        if after.epoch < held.epoch:
            yield (held if before.epoch <= after.epoch else after).start_offset
        before, held = held, after


def _leader_change(segments: Sequence[_Segment]) -> LastLeaderChange | None:
    for _, log in reversed(segments):
        if log.leader_change_record is not None:
            control_record = log.leader_change_record
            return LastLeaderChange(
                leader_id=control_record.data["leaderId"],
                epoch=control_record.epoch,
                offset=control_record.offset,
                timestamp=control_record.timestamp,
                voters=tuple(voter["voterId"] for voter in control_record.data["voters"]),
                granting_voters=tuple(
                    granting_voter["voterId"]
                    for granting_voter in control_record.data["grantingVoters"]
                ),
            )
    return None


def _newest(
    segments: Sequence[_Segment], base: _Base | None, name: str
) -> tuple[ControlRecord, int, str] | None:
    """The newest control record of a kind, the offset it counts from, and its file.

    A snapshot's records count from its last offset, as Kafka files them.
    """
    of_base: ControlRecord | None = getattr(base[1], name) if base is not None else None
    for file, log in reversed(segments):
        control_record: ControlRecord | None = getattr(log, name)
        if control_record is None:
            continue
        # A snapshot repeats what the log said; the log's own record tells since when.
        if (
            base is None
            or control_record.offset >= base[2]
            or _says_the_same(of_base, control_record)
        ):
            return control_record, control_record.offset, file.file
        break
    if base is not None and of_base is not None:
        return of_base, max(base[2], 0) - 1, base[0].file
    return None


def _says_the_same(one: ControlRecord | None, other: ControlRecord) -> bool:
    """True if two records say the same; a snapshot's voters come in another order."""
    return one is not None and _sorted_voters(one.data) == _sorted_voters(other.data)


def _sorted_voters(data: dict[str, Any]) -> dict[str, Any]:
    if "voters" not in data:
        return data
    return {**data, "voters": sorted(data["voters"], key=lambda voter: int(voter["voterId"]))}


def _kraft_version(segments: Sequence[_Segment], base: _Base | None) -> FinalizedKRaftVersion:
    newest = _newest(segments, base, "kraft_version_record")
    if newest is None:
        return FinalizedKRaftVersion()
    record, offset, file = newest
    is_in_log = base is None or file != base[0].file
    return FinalizedKRaftVersion(
        level=record.data["kRaftVersion"],
        offset=offset,
        file=file,
        timestamp=record.timestamp if is_in_log else None,
    )


def _voters(segments: Sequence[_Segment], base: _Base | None) -> SeenVoters | None:
    newest = _newest(segments, base, "voters_record")
    if newest is None:
        return None
    record, offset, file = newest
    return SeenVoters(
        source=VoterSource.RECORD, voters=record_voters(record.data), offset=offset, file=file
    )


def record_voters(data: dict[str, Any]) -> VoterSet:
    """The voters of a VotersRecord, with the listeners' names as it has them."""
    return VoterSet.of(*map(_record_voter, data["voters"]))


def _record_voter(data: dict[str, Any]) -> Voter:
    directory_id, levels = data["voterDirectoryId"], data["kRaftVersionFeature"]
    return Voter(
        key=ReplicaKey(data["voterId"], None if directory_id == ZERO_UUID else directory_id),
        endpoints={
            endpoint["name"]: Endpoint(endpoint["host"], endpoint["port"])
            for endpoint in data["endpoints"]
        },
        kraft_version=VersionRange(levels["minSupportedVersion"], levels["maxSupportedVersion"]),
    )


def voters_of_ids(ids: Iterable[int]) -> VoterSet:
    """Voters of whom nothing else is known."""
    return VoterSet.of(*(Voter(key=ReplicaKey(voter_id)) for voter_id in ids))


def _static(
    state: QuorumStateFile | None, leader: LastLeaderChange | None, static: VoterSet
) -> SeenVoters | None:
    """Voters that no record tells, by the weight of what does."""
    if static:
        return SeenVoters(source=VoterSource.PROPERTIES, voters=static)
    if leader is not None:
        ids = voters_of_ids(leader.voters)
        return SeenVoters(source=VoterSource.LEADER_CHANGE, voters=ids, offset=leader.offset)
    if state is not None and state.quorum_state is not None and state.quorum_state.current_voters:
        ids = voters_of_ids(state.quorum_state.current_voters)
        return SeenVoters(source=VoterSource.QUORUM_STATE, voters=ids)
    return None


def _transactions(segments: Sequence[_Segment]) -> tuple[TransactionCounts, dict[int, bool]]:
    """Count them; and of segments that end inside one, by number, whether it was committed."""
    committed = aborted = 0
    began: tuple[int, int] | None = None
    ended: dict[int, bool] = {}
    for number, (_, log) in enumerate(segments):
        if log.ends_earlier_transaction:
            was_committed = log.ends_earlier_transaction == "committed"
            committed += was_committed
            aborted += not was_committed
            if began is not None:
                ended[began[0]] = was_committed
            began = None
        committed += log.committed_transactions
        aborted += log.aborted_transactions
        if log.open_transaction_offset is not None:
            began = (number, log.open_transaction_offset)
    open_since = began[1] if began is not None else None
    return TransactionCounts(committed=committed, aborted=aborted, open_offset=open_since), ended


def _feature_levels(
    segments: Sequence[_Segment], base: _Base | None, ended: dict[int, bool]
) -> tuple[Feature, ...]:
    levels: dict[str, Feature] = {}
    from_offset = -1
    if base is not None:
        file, log, from_offset = base
        levels = {
            feature.name: _feature(feature, file, is_in_log=False) for feature in log.features
        }
    for number, (file, log) in enumerate(segments):
        for record in log.features + (log.open_features if ended.get(number) else ()):
            known = levels.get(record.name)
            # A snapshot repeats what the log said; the log's own record tells since when.
            if record.offset >= from_offset or record.level == (known.level if known else 0):
                levels[record.name] = _feature(record, file, is_in_log=True)
    return tuple(
        sorted(levels.values(), key=lambda level: (level.name != "metadata.version", level.name))
    )


def _feature(level: FeatureLevel, file: FileReport, *, is_in_log: bool) -> Feature:
    return Feature(
        name=level.name,
        level=level.level,
        release=release_name(level.name, level.level),
        offset=level.offset if is_in_log else None,
        file=file.file,
        timestamp=level.timestamp if is_in_log else None,
    )


def _registered(segments: Sequence[_Segment], base: _Base | None) -> set[tuple[str, int]]:
    last: dict[tuple[str, int], Registration] = {}
    from_offset = -1
    if base is not None:
        from_offset = base[2]
        last = {
            (registration.role, registration.id): registration
            for registration in base[1].registrations
        }
    for _, log in segments:
        for registration in log.registrations:
            if registration.offset >= from_offset:
                last[registration.role, registration.id] = registration
    return {key for key, registration in last.items() if registration.registered}


def _sum_types(logs: Iterable[LogSummary]) -> tuple[TypeCount, ...]:
    total: dict[tuple[bool, int | None, int | None], TypeCount] = {}
    for log in logs:
        for type_count in log.record_types:
            key = (type_count.is_control, type_count.type_id, type_count.version)
            first = total.get(key, replace(type_count, records=0))
            total[key] = replace(first, records=first.records + type_count.records)
    return tuple(sorted(total.values(), key=lambda type_sum: type_sum.rank))


def static_voters(value: str) -> VoterSet:
    """Read controller.quorum.voters, `1@host:port,…`; what is not of that form is left out."""
    voters = []
    for part in value.split(","):
        id_text, at, endpoint = part.strip().partition("@")
        if at and id_text.isascii() and id_text.isdigit() and len(id_text) <= 10:
            endpoints = dict([read_endpoint(endpoint)]) if endpoint else {}
            voters.append(Voter(key=ReplicaKey(int(id_text)), endpoints=endpoints))
    return VoterSet.of(*voters)
