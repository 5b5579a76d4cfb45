"""One file of a data directory, decoded as far as a report needs it.

Owns which decoder reads which kind, the bounds of what is kept, and the findings that a file gives
rise to by itself. It refuses to compare files; that is `directory/findings.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from kraftool.decoders import (
    checkpoint_files,
    indexes,
    meta_properties,
    names,
    producer_state,
    properties,
    quorum_state,
)
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.kinds import HEAD_SIZE, Detected, FileKind, detect
from kraftool.decoders.log_record import LogRecord
from kraftool.decoders.names import FileState
from kraftool.decoders.redact import BROKER, config_value
from kraftool.reports.files.log_findings import log_findings
from kraftool.reports.findings.finding import Finding, FindingKind
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.logs.reader import Observe, summarize
from kraftool.reports.logs.summary import LogSummary
from kraftool.storage.entry import Entry, EntryPlace
from kraftool.storage.source import ByteSource, StreamSource

LARGEST_WHOLE = 32 << 20
"""Files without batches are read whole; Kafka makes none of them larger than 10 MiB."""

BATCH_KINDS = frozenset({FileKind.LOG, FileKind.CHECKPOINT, FileKind.BOOTSTRAP_CHECKPOINT})
SNAPSHOT_KINDS = frozenset({FileKind.CHECKPOINT, FileKind.BOOTSTRAP_CHECKPOINT})


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryBounds:
    """The number of entries of a long file that are kept, counted from its two ends."""

    head: int = 1
    tail: int = 1

    def cut(self, count: int) -> tuple[range, range]:
        """The numbers of the entries to keep: those of the head, those of the tail."""
        head = min(self.head, count)
        return range(head), range(max(count - self.tail, head), count)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryList:
    """The entries of an index, a checkpoint or a producer state, or as many as were asked for."""

    count: int
    head: tuple[Any, ...] = ()
    tail: tuple[Any, ...] = ()
    zero_tail: int = 0
    """Bytes of preallocated space behind them."""

    @property
    def omitted(self) -> int:
        return self.count - len(self.head) - len(self.tail)

    @property
    def first(self) -> Any:
        return self.head[0] if self.head else None

    @property
    def last(self) -> Any:
        return self.tail[-1] if self.tail else self.head[-1] if self.head else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One line of a server.properties; what may be secret is masked."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A server.properties, or what else has its form."""

    entries: tuple[Setting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainText:
    """A small file of which only the text is of interest."""

    text: str


Content = (
    LogSummary
    | quorum_state.QuorumStateFile
    | meta_properties.MetaProperties
    | checkpoint_files.LeaderEpochCheckpoint
    | checkpoint_files.PartitionMetadata
    | EntryList
    | Settings
    | PlainText
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """One file: what it is and what it holds. `content` is None where nothing could be decoded,
    or where a leftover was not looked into."""

    name: str
    path: str
    directory: str
    place: EntryPlace
    size: int
    kind: FileKind
    state: FileState = FileState.LIVE
    by_name: bool = True
    content: Content | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def basename(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_live(self) -> bool:
        return self.state is FileState.LIVE

    @property
    def log(self) -> LogSummary | None:
        return self.content if isinstance(self.content, LogSummary) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """The options for reading files."""

    bounds: EntryBounds = EntryBounds()
    kind: FileKind | None = None
    """What the user says that the file is."""
    leftovers: bool = False
    """True if files that Kafka would remove are read too."""
    show_secrets: bool = False
    progress: Callable[[int], None] = lambda position: None
    on_control: Callable[[str, RecordBatch, LogRecord], None] = lambda name, batch, item: None
    """Sees every control record that can be decoded, with the name of its file."""
    observers: tuple[Observe, ...] = ()
    """They see each item of the walk over a segment or checkpoint."""


_ALL = ReadOptions()


def _unchanged(report: FileReport) -> FileReport:
    return report


class FileView(NamedTuple):
    """The observers that one report adds to the reading of a file."""

    observers: tuple[Observe, ...] = ()
    end: Callable[[FileReport], FileReport] = _unchanged
    """Called after the file was read. Returns the file's report, with more findings if there are
    any."""


def read_with(entry: Entry, options: ReadOptions, view: FileView) -> FileReport:
    """Read a file for one report, which sees its batches."""
    observers = (*options.observers, *view.observers)
    return view.end(read_file(entry, replace(options, observers=observers)))


def read_file(entry: Entry, options: ReadOptions = _ALL) -> FileReport:
    """Read and decode one file. What cannot be read or decoded is among its findings."""
    report = FileReport(
        name=entry.name,
        path=entry.path,
        directory=entry.directory,
        place=entry.place,
        size=entry.size,
        kind=options.kind or FileKind.UNKNOWN,
    )
    try:
        with entry.open() as source:
            return _read(report, entry, source, options)
    except KraftoolError as error:
        finding = dir_kinds.UNREADABLE.at(entry.name, error.message, advice=error.hint)
        detected = detect(entry.basename, b"", entry.size)
        kind = options.kind or detected.kind
        return replace(report, kind=kind, state=detected.state, findings=(finding,))


def _read(report: FileReport, entry: Entry, source: ByteSource, options: ReadOptions) -> FileReport:
    head = source.read_at(0, HEAD_SIZE)
    detected = detect(entry.basename, head, entry.size)
    if options.kind is not None:
        detected = Detected(kind=options.kind, state=detected.state, by_name=False)
    report = replace(report, kind=detected.kind, state=detected.state, by_name=detected.by_name)
    if report.kind is FileKind.UNKNOWN:
        return replace(report, findings=(_unknown(report, options),))
    if not report.is_live and not options.leftovers:
        # A snapshot that waits for its deletion may be what is needed to start again.
        if not (report.kind is FileKind.CHECKPOINT and report.state is FileState.DELETED):
            return report
        quiet = replace(options, leftovers=True)
        return replace(_read(report, entry, source, quiet), findings=())
    if report.kind in BATCH_KINDS:
        summary = summarize(
            source.read_at,
            progress=options.progress,
            on_control=partial(options.on_control, report.name),
            observers=options.observers,
            read_again=None if isinstance(source, StreamSource) else source.read_at,
        )
        report = replace(report, content=summary, size=_size(source, report.size))
        return replace(report, findings=log_findings(report.name, report.kind, summary))
    data = source.read_at(0, LARGEST_WHOLE + 1)
    findings: list[Finding] = []
    if len(data) > LARGEST_WHOLE:
        text = f"kraftool read only the first {LARGEST_WHOLE} bytes"
        findings.append(dir_kinds.TOO_LARGE.at(report.name, text, position=LARGEST_WHOLE))
        data = data[:LARGEST_WHOLE]
    content, more = _decode(report, data, options)
    return replace(
        report, content=content, findings=(*findings, *more), size=_size(source, report.size)
    )


def _size(source: ByteSource, listed: int) -> int:
    size = source.size()
    return listed if size is None else size


def _unknown(report: FileReport, options: ReadOptions) -> Finding:
    """A file that nothing tells the kind of: the only one asked for, or one among others."""
    text = (
        "empty" if not report.size else "kraftool cannot tell its kind from its name or its content"
    )
    kind = dir_kinds.UNKNOWN_KIND if options.leftovers else dir_kinds.UNKNOWN_FILE
    return kind.at(report.name, text)


def _of(kind: FindingKind, name: str, errors: Sequence[DecodeError]) -> tuple[Finding, ...]:
    return tuple(kind.of_error(name, error) for error in errors)


def _refused_or_odd(
    name: str,
    errors: Sequence[DecodeError],
    *,
    accepted: bool,
    refused: FindingKind,
    odd: FindingKind,
) -> tuple[Finding, ...]:
    """Decoders list first what makes Kafka refuse the file."""
    if accepted:
        return _of(odd, name, errors)
    return _of(refused, name, errors[:1]) + tuple(
        refused.of_error(name, error, advice="") for error in errors[1:]
    )


def _decode(
    report: FileReport, data: bytes, options: ReadOptions
) -> tuple[Content | None, tuple[Finding, ...]]:
    name = report.name
    errors: tuple[DecodeError, ...]
    match report.kind:
        case FileKind.QUORUM_STATE:
            state, errors = quorum_state.decode(data)
            return state, _refused_or_odd(
                name, errors, accepted=state.accepted,
                refused=dir_kinds.QUORUM_STATE, odd=dir_kinds.QUORUM_STATE_ODD,
            )  # fmt: skip
        case FileKind.META_PROPERTIES:
            meta, errors = meta_properties.decode(data)
            return meta, _refused_or_odd(
                name, errors, accepted=meta.accepted, refused=dir_kinds.META, odd=dir_kinds.META_ODD
            )
        case FileKind.LEADER_EPOCH_CHECKPOINT:
            epochs, errors = checkpoint_files.decode_leader_epochs(data)
            return epochs, _refused_or_odd(
                name, errors, accepted=epochs.accepted,
                refused=dir_kinds.EPOCHS, odd=dir_kinds.EPOCHS_DIFFER,
            )  # fmt: skip
        case FileKind.PARTITION_METADATA:
            return _partition_metadata(report, data)
        case FileKind.OFFSET_CHECKPOINT:
            offsets, errors = checkpoint_files.decode_offsets(data)
            return _entries(offsets.entries, options), _refused_or_odd(
                name, errors, accepted=offsets.accepted,
                refused=dir_kinds.OFFSETS, odd=dir_kinds.TEXT,
            )  # fmt: skip
        case FileKind.PRODUCER_STATE:
            producers, errors = producer_state.decode(data)
            return _entries(producers.entries, options), _of(log_kinds.PRODUCER_STATE, name, errors)
        case FileKind.OFFSET_INDEX | FileKind.TIME_INDEX | FileKind.TXN_INDEX:
            return _index(report, data, options)
        case FileKind.PROPERTIES:
            loaded, errors = properties.decode(data)
            return _settings(loaded, options), _of(dir_kinds.TEXT, name, errors)
        case _:
            return PlainText(text=data[:1000].decode("utf-8", "replace")), ()


def _entries(entries: Sequence[Any], options: ReadOptions) -> EntryList:
    head, tail = options.bounds.cut(len(entries))
    return EntryList(
        count=len(entries),
        head=tuple(entries[number] for number in head),
        tail=tuple(entries[number] for number in tail),
    )


_INDEX_DECODERS: dict[FileKind, Callable[[bytes, int], tuple[Any, tuple[DecodeError, ...]]]] = {
    FileKind.OFFSET_INDEX: indexes.decode_offset_index,
    FileKind.TIME_INDEX: indexes.decode_time_index,
    FileKind.TXN_INDEX: indexes.decode_transaction_index,
}


def _index(
    report: FileReport, data: bytes, options: ReadOptions
) -> tuple[EntryList, tuple[Finding, ...]]:
    segment = names.parse_segment_name(report.basename)
    base_offset = segment.base_offset if segment is not None else 0
    index, errors = _INDEX_DECODERS[report.kind](data, base_offset)
    head, tail = options.bounds.cut(len(index))
    entries = EntryList(
        count=len(index),
        head=tuple(index.entry(number) for number in head),
        tail=tuple(index.entry(number) for number in tail),
        zero_tail=index.zero_tail,
    )
    return entries, _of(log_kinds.INDEX, report.name, errors)


def _partition_metadata(report: FileReport, data: bytes) -> tuple[Content, tuple[Finding, ...]]:
    metadata, errors = checkpoint_files.decode_partition_metadata(data)
    findings = _refused_or_odd(
        report.name,
        errors,
        accepted=metadata.accepted,
        refused=dir_kinds.TOPIC_ID,
        odd=dir_kinds.TEXT,
    )
    in_metadata = report.path.startswith(f"{names.METADATA_FOLDER}/")
    if in_metadata and metadata.accepted and metadata.topic_id != names.METADATA_TOPIC_ID:
        findings += (
            dir_kinds.TOPIC_ID.at(
                report.name,
                "the topic id of another topic",
                field="topic_id",
                expected=names.METADATA_TOPIC_ID,
                found=str(metadata.topic_id),
            ),
        )
    return metadata, findings


def _settings(loaded: properties.Properties, options: ReadOptions) -> Settings:
    shown = (
        (key, value if options.show_secrets else config_value(BROKER, key, value) or "")
        for key, value in loaded.as_dict().items()
    )
    return Settings(entries=tuple(Setting(key=key, value=value) for key, value in shown))
