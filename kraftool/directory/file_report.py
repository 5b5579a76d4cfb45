"""One file of a data directory, decoded as far as a report needs it.

Owns which decoder reads which kind, and the bounds of what is kept. What decoders found wrong is
part of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

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
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.json_marks import Count, Hidden, in_json_before
from kraftool.decoders.kinds import HEAD_SIZE, Detected, FileKind, detect
from kraftool.decoders.log_record import LogRecord
from kraftool.decoders.names import FileState
from kraftool.decoders.redact import BROKER, config_value
from kraftool.directory.log_reader import Observe, summarize
from kraftool.directory.log_summary import LogSummary
from kraftool.storage.entry import Entry, EntryPlace, EntryProblem
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
    """The entries of an index, a checkpoint of offsets or a producer state, with Kafka's names."""

    entries: Count
    preallocated_size: int = 0
    """Zero bytes behind the entries."""
    head: tuple[Any, ...] = ()
    tail: tuple[Any, ...] = ()

    @property
    @in_json_before("preallocated_size")
    def omitted(self) -> Count:
        """Those between head and tail; `--head` and `--tail` say how many these two have."""
        return self.entries - len(self.head) - len(self.tail)

    @property
    def first(self) -> Any:
        return self.head[0] if self.head else None

    @property
    def last(self) -> Any:
        return self.tail[-1] if self.tail else self.head[-1] if self.head else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A server.properties, or what else has its form."""

    settings: Mapping[str, str]
    """Values that may be secret are masked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainText:
    """A small file of which only the text is of interest."""

    plain_text: str


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
    """A file, and what it holds."""

    file: str
    """As it can be given to kraftool again."""
    path: str
    """Below its directory."""
    kind: FileKind
    """As --as takes it, or unknown."""
    state: FileState = FileState.LIVE
    known_by_name: bool = True
    """True if the kind comes from the name, and not from the content or --as."""
    size: int
    content: Content | None = None
    """The decoded content; None for a leftover that was not read, and for what could not be
    decoded."""
    directory: Hidden[str]
    place: Hidden[EntryPlace]
    errors: Hidden[tuple[DecodeError, ...]] = ()
    """What is wrong with the content, first why Kafka refuses it. A log has LogFaults instead."""
    is_refused: Hidden[bool] = False
    """True if Kafka does not accept the file because of the first error."""
    unread: Hidden[EntryProblem | None] = None
    """Why the file could not be read."""
    is_misplaced: Hidden[bool] = False
    """True if Kafka cannot use a file of this name in the partition's folder."""
    fails_check: Hidden[bool] = False
    """True if a closer look at the records of a snapshot found its form wrong."""

    @property
    def basename(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_live(self) -> bool:
        return self.state is FileState.LIVE

    @property
    def log(self) -> LogSummary | None:
        return self.content if isinstance(self.content, LogSummary) else None

    @property
    def is_read_in_part(self) -> bool:
        """True if only the first `LARGEST_WHOLE` bytes were read."""
        is_read = self.content is not None and self.kind not in BATCH_KINDS
        return is_read and self.size > LARGEST_WHOLE


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


def read_file(entry: Entry, options: ReadOptions = _ALL) -> FileReport:
    """Read and decode one file. Nothing is raised for what cannot be read or decoded."""
    report = FileReport(
        file=entry.name,
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
        unread = EntryProblem(name=entry.name, reason=error.message, hint=error.hint)
        detected = detect(entry.basename, b"", entry.size)
        kind = options.kind or detected.kind
        return replace(report, kind=kind, state=detected.state, unread=unread)


def _read(report: FileReport, entry: Entry, source: ByteSource, options: ReadOptions) -> FileReport:
    head = source.read_at(0, HEAD_SIZE)
    detected = detect(entry.basename, head, entry.size)
    if options.kind is not None:
        detected = Detected(kind=options.kind, state=detected.state, by_name=False)
    report = replace(
        report, kind=detected.kind, state=detected.state, known_by_name=detected.by_name
    )
    if report.kind is FileKind.UNKNOWN:
        return report
    # A snapshot that waits for its deletion may be what is needed to start again.
    is_deleted = report.kind is FileKind.CHECKPOINT and report.state is FileState.DELETED
    if not report.is_live and not options.leftovers and not is_deleted:
        return report
    if report.kind in BATCH_KINDS:
        summary = summarize(
            source.read_at,
            progress=options.progress,
            on_control=partial(options.on_control, report.file),
            observers=options.observers,
            read_again=None if isinstance(source, StreamSource) else source.read_at,
        )
        return replace(report, content=summary, size=_size(source, report.size))
    data = source.read_at(0, LARGEST_WHOLE)
    content, errors, accepted = _decode(report, data, options)
    return replace(
        report,
        content=content,
        errors=errors,
        is_refused=not accepted,
        size=_size(source, report.size),
    )


def _size(source: ByteSource, listed: int) -> int:
    size = source.size()
    return listed if size is None else size


_Errors = tuple[DecodeError, ...]


def _decode(report: FileReport, data: bytes, options: ReadOptions) -> tuple[Content, _Errors, bool]:
    """The content, what is wrong with it, and whether Kafka accepts it."""
    match report.kind:
        case FileKind.QUORUM_STATE:
            state, errors = quorum_state.decode(data)
            return state, errors, state.accepted
        case FileKind.META_PROPERTIES:
            meta, errors = meta_properties.decode(data)
            return meta, errors, meta.accepted
        case FileKind.LEADER_EPOCH_CHECKPOINT:
            epochs, errors = checkpoint_files.decode_leader_epochs(data)
            return epochs, errors, epochs.accepted
        case FileKind.PARTITION_METADATA:
            metadata, errors = checkpoint_files.decode_partition_metadata(data)
            return metadata, errors, metadata.accepted
        case FileKind.OFFSET_CHECKPOINT:
            offsets, errors = checkpoint_files.decode_offsets(data)
            return _entries(offsets.entries, options), errors, offsets.accepted
        case FileKind.PRODUCER_STATE:
            producers, errors = producer_state.decode(data)
            return _entries(producers.entries, options), errors, True
        case FileKind.OFFSET_INDEX | FileKind.TIME_INDEX | FileKind.TXN_INDEX:
            return *_index(report, data, options), True
        case FileKind.PROPERTIES:
            loaded, errors = properties.decode(data)
            return _settings(loaded, options), errors, True
        case _:
            return PlainText(plain_text=data[:1000].decode("utf-8", "replace")), (), True


def _entries(entries: Sequence[Any], options: ReadOptions) -> EntryList:
    head, tail = options.bounds.cut(len(entries))
    return EntryList(
        entries=len(entries),
        head=tuple(entries[number] for number in head),
        tail=tuple(entries[number] for number in tail),
    )


_INDEX_DECODERS: dict[FileKind, Callable[[bytes, int], tuple[Any, tuple[DecodeError, ...]]]] = {
    FileKind.OFFSET_INDEX: indexes.decode_offset_index,
    FileKind.TIME_INDEX: indexes.decode_time_index,
    FileKind.TXN_INDEX: indexes.decode_transaction_index,
}


def _index(report: FileReport, data: bytes, options: ReadOptions) -> tuple[EntryList, _Errors]:
    segment = names.parse_segment_name(report.basename)
    base_offset = segment.base_offset if segment is not None else 0
    index, errors = _INDEX_DECODERS[report.kind](data, base_offset)
    head, tail = options.bounds.cut(len(index))
    entries = EntryList(
        entries=len(index),
        head=tuple(index.entry(number) for number in head),
        tail=tuple(index.entry(number) for number in tail),
        preallocated_size=index.zero_tail,
    )
    return entries, errors


def _settings(loaded: properties.Properties, options: ReadOptions) -> Settings:
    return Settings(
        settings={
            key: value if options.show_secrets else config_value(BROKER, key, value) or ""
            for key, value in loaded.as_dict().items()
        }
    )
