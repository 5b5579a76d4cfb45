"""The document of `dump -o json`: a PATH's directories and files, with what they hold.

Owns the forms of what files hold. Values keep the units of the reports: offsets, bytes, epoch
milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kraftool.decoders.checkpoint_files import (
    EpochEntry,
    LeaderEpochCheckpoint,
    PartitionMetadata,
)
from kraftool.decoders.json_marks import Count, Ids, Moment
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import FileState
from kraftool.decoders.quorum_state import QuorumState, QuorumStateField, QuorumStateFile
from kraftool.directory.file_report import EntryList, FileReport, PlainText, Settings
from kraftool.directory.log_summary import (
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
    NodeIds,
    SeenVoters,
    SnapshotSummary,
    TransactionCounts,
)
from kraftool.reports.directory.report import DumpReport
from kraftool.reports.files.file_findings import file_findings
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.storage.entry import FolderCounts
from kraftool.storage.lock import LockState
from kraftool.storage.paths import LocationKind


@dataclass(frozen=True, slots=True, kw_only=True)
class LockObject:
    """Kafka's .lock; it is held while a Kafka runs on the directory."""

    state: LockState
    pid: int | None
    """null where it is not held, or not known by whom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTypeObject:
    """The number of records of a type and version."""

    type: str | None
    """As in Kafka's sources, such as PartitionRecord; null for one that no known release has."""
    type_id: int | None
    """The api key, or the type of a control record; null for anything that is not a metadata
    record."""
    version: int | None
    is_control: bool
    records: Count


@form
def record_type_object(count: TypeCount) -> RecordTypeObject:
    return RecordTypeObject(
        type=(count.type if count.is_control else count.name) or None,
        type_id=count.type_id,
        version=count.version,
        is_control=count.is_control,
        records=count.count,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCountsObject:
    """Folders of partitions, counted and not read."""

    topics: Count
    deleted: Count
    stray: Count
    future: Count
    others: Count


@form
def folder_counts_object(folders: FolderCounts) -> FolderCountsObject:
    return FolderCountsObject(
        topics=folders.topics,
        deleted=folders.deleted,
        stray=folders.stray,
        future=folders.future,
        others=folders.other,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldObject:
    """A member of a quorum-state exactly as in the file, whether or not it makes sense."""

    name: str
    json: str
    position: int


@form
def field_object(field: QuorumStateField) -> FieldObject:
    return FieldObject(name=field.name, json=field.json_text, position=field.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumStateContent:
    """A quorum-state."""

    is_accepted: bool
    """True if Kafka starts on it."""
    quorum_state: QuorumState | None
    fields: tuple[QuorumStateField, ...]


@form
def quorum_state_content(file: QuorumStateFile) -> QuorumStateContent:
    return QuorumStateContent(
        is_accepted=file.accepted, quorum_state=file.state, fields=file.fields
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaPropertiesContent:
    """A meta.properties; what is absent or cannot be read is null."""

    version: int | None
    cluster_id: str | None
    node_id: int | None
    directory_id: str | None
    unknown: Mapping[str, str]
    """Keys that Kafka does not know; it drops them when it writes the file again."""
    is_accepted: bool
    """True if Kafka accepts the file; it does not start on one that it refuses."""


@form
def meta_properties_content(meta: MetaProperties) -> MetaPropertiesContent:
    return MetaPropertiesContent(
        version=meta.version,
        cluster_id=meta.cluster_id,
        node_id=meta.node_id,
        directory_id=meta.directory_id,
        unknown=dict(meta.unknown),
        is_accepted=meta.accepted,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsContent:
    """A server.properties, or what else has its form."""

    settings: Mapping[str, str]
    """Values that may be secret are masked."""


@form
def settings_content(settings: Settings) -> SettingsContent:
    return SettingsContent(settings={entry.key: entry.value for entry in settings.entries})


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryListContent:
    """The entries of an index, a checkpoint of offsets or a producer state, with Kafka's names."""

    entries: Count
    omitted: Count
    """Those between head and tail; `--head` and `--tail` say how many these two have."""
    preallocated_size: int
    """Zero bytes behind the entries."""
    head: tuple[Any, ...]
    tail: tuple[Any, ...]


@form
def entry_list_content(listed: EntryList) -> EntryListContent:
    return EntryListContent(
        entries=listed.count,
        omitted=listed.omitted,
        preallocated_size=listed.zero_tail,
        head=listed.head,
        tail=listed.tail,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainTextContent:
    """A small file of which only the text is of interest."""

    plain_text: str


@form
def plain_text_content(content: PlainText) -> PlainTextContent:
    return PlainTextContent(plain_text=content.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRecordObject:
    """A control record, with its payload as Kafka's JSON converter writes it."""

    offset: int
    epoch: int
    timestamp: Moment
    data: Mapping[str, Any]


@form
def control_record_object(record: ControlRecord) -> ControlRecordObject:
    return ControlRecordObject(
        offset=record.offset, epoch=record.epoch, timestamp=record.timestamp, data=record.data
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogContent:
    """A segment or a checkpoint."""

    batches: Count
    records: Count
    control_records: Count
    start_offset: int | None
    end_offset: int | None
    """One beyond the last offset."""
    intact_end_offset: int | None
    """The offset at which Kafka would cut the log."""
    epochs: tuple[EpochEntry, ...]
    first_timestamp: Moment | None
    last_timestamp: Moment | None
    compressions: tuple[str, ...]
    record_types: tuple[TypeCount, ...]
    features: tuple[FeatureLevel, ...]
    """The last level of each feature, without those of aborted and open transactions."""
    registrations: tuple[Registration, ...]
    leader_changes: Count
    voters_changes: Count
    leader_change_record: ControlRecord | None
    """The last one."""
    kraft_version_record: ControlRecord | None
    """The last one."""
    voters_record: ControlRecord | None
    """The last one."""
    committed_transactions: Count
    aborted_transactions: Count
    open_transaction_offset: int | None
    """Of a BeginTransactionRecord that nothing in this file ends."""
    open_features: tuple[FeatureLevel, ...]
    """Levels inside the open transaction."""
    ends_earlier_transaction: str
    """committed or aborted, where the file ends a transaction that an earlier one began; else
    empty."""
    header_timestamp: Moment | None
    """lastContainedLogTimestamp of the SnapshotHeader."""
    has_header: bool
    has_footer: bool
    is_metadata: bool
    """False for a segment of another topic, whose values are no metadata records."""
    omitted_problems: Count
    """Damaged places beyond those among the findings."""


@form
def log_content(log: LogSummary) -> LogContent:
    return LogContent(
        batches=log.batches,
        records=log.records,
        control_records=log.control_records,
        start_offset=log.start_offset,
        end_offset=log.end_offset,
        intact_end_offset=log.intact_end_offset,
        epochs=log.epochs,
        first_timestamp=log.first_timestamp,
        last_timestamp=log.last_timestamp,
        compressions=log.compressions,
        record_types=log.types,
        features=log.features,
        registrations=log.registrations,
        leader_changes=log.leader_changes,
        voters_changes=log.voters_changes,
        leader_change_record=log.leader_change,
        kraft_version_record=log.kraft_version,
        voters_record=log.voters,
        committed_transactions=log.committed_transactions,
        aborted_transactions=log.aborted_transactions,
        open_transaction_offset=log.open_transaction,
        open_features=log.open_features,
        ends_earlier_transaction=log.ends_earlier_transaction,
        header_timestamp=log.header_timestamp,
        has_header=log.has_header,
        has_footer=log.has_footer,
        is_metadata=log.is_metadata,
        omitted_problems=log.more_problems,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileObject:
    """A file, and what it holds."""

    file: str
    """As it can be given to kraftool again."""
    path: str
    """Below its directory."""
    kind: FileKind
    """As --as takes it, or unknown."""
    state: FileState
    is_known_by_name: bool
    """True if the kind comes from the name, and not from the content or --as."""
    size: int
    content: (
        LogSummary
        | QuorumStateFile
        | MetaProperties
        | LeaderEpochCheckpoint
        | PartitionMetadata
        | EntryList
        | Settings
        | PlainText
        | None
    )
    """The decoded content; null for a leftover that was not read, and for what could not be
    decoded."""


@form
def file_object(report: FileReport) -> FileObject:
    return FileObject(
        file=report.name,
        path=report.path,
        kind=report.kind,
        state=report.state,
        is_known_by_name=report.by_name,
        size=report.size,
        content=report.content,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRangeObject:
    """All segments together."""

    segments: Count
    size: int
    batches: Count
    records: Count
    start_offset: int
    end_offset: int
    """One beyond the last offset."""
    intact_end_offset: int
    """The offset at which Kafka would cut the log if it started on it."""
    first_epoch: int | None
    last_epoch: int | None
    epochs: Count
    first_timestamp: Moment | None
    last_timestamp: Moment | None
    leader_changes: Count


def _log_range(log: LogExtent) -> LogRangeObject:
    return LogRangeObject(
        segments=log.segments,
        size=log.size,
        batches=log.batches,
        records=log.records,
        start_offset=log.start,
        end_offset=log.end,
        intact_end_offset=log.intact_end,
        first_epoch=log.first_epoch,
        last_epoch=log.last_epoch,
        epochs=len({entry.epoch for entry in log.epochs}),
        first_timestamp=log.first_timestamp,
        last_timestamp=log.last_timestamp,
        leader_changes=log.leader_changes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryObject:
    """A data directory, or a metadata partition by itself."""

    path: str
    lock: LockObject
    node: NodeIds
    quorum_state: QuorumState | None
    log: LogRangeObject | None
    leader_change: LastLeaderChange | None
    finalized_kraft_version: FinalizedKRaftVersion
    voter_set: SeenVoters | None
    features: tuple[Feature, ...]
    snapshots: tuple[SnapshotSummary, ...]
    transactions: TransactionCounts
    brokers: Ids
    """Registered at the log's end."""
    controllers: Ids
    """Registered at the log's end."""
    record_types: tuple[TypeCount, ...]
    """Of the log."""
    snapshot_record_types: tuple[TypeCount, ...]
    """Of the newest snapshot."""
    folders: FolderCounts
    files: tuple[FileReport, ...]
    findings: tuple[Finding, ...]


@form
def directory_object(judged: JudgedDirectory) -> DirectoryObject:
    report = judged.directory
    summary = report.summary
    return DirectoryObject(
        path=report.path,
        lock=LockObject(state=report.lock.state, pid=report.lock.pid),
        node=summary.node,
        quorum_state=summary.quorum_state,
        log=_log_range(summary.log) if summary.log is not None else None,
        leader_change=summary.leader_change,
        finalized_kraft_version=summary.kraft_version,
        voter_set=summary.voters,
        features=summary.features,
        snapshots=summary.snapshots,
        transactions=summary.transactions,
        brokers=summary.brokers,
        controllers=summary.controllers,
        record_types=summary.types,
        snapshot_record_types=summary.snapshot_types,
        folders=report.folders,
        files=report.files,
        findings=judged.findings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file in CSV."""

    file: str
    path: str
    kind: FileKind
    state: FileState
    is_known_by_name: bool
    size: int
    findings: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpDocument:
    """The content of a PATH: a summary for each data directory, every file, and the findings.
    Offsets are places in the log, positions are bytes in a file."""

    path: str
    path_kind: LocationKind
    directories: tuple[JudgedDirectory, ...]
    files: tuple[FileReport, ...]
    """Files that belong to no directory; the one that was asked for."""
    findings: tuple[Finding, ...]
    """Those of no directory."""
    finding_counts: FindingCounts

    @property
    def rows(self) -> tuple[FileRow, ...]:
        """Every file."""
        every = (*self.files, *(file for one in self.directories for file in one.directory.files))
        return tuple(
            FileRow(
                file=file.name,
                path=file.path,
                kind=file.kind,
                state=file.state,
                is_known_by_name=file.by_name,
                size=file.size,
                findings=len(file_findings(file)),
            )
            for file in every
        )


def dump_document(report: DumpReport) -> DumpDocument:
    return DumpDocument(
        path=report.path,
        path_kind=report.kind,
        directories=report.directories,
        files=report.files,
        findings=report.findings,
        finding_counts=finding_counts(report.all_findings),
    )
