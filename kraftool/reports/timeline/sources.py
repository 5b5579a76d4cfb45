"""The directories behind PATHs: whose they are, their segments and their snapshots.

Owns putting PATHs together by directory, so that single segments of one folder are one log, and
reading a tar stream in its one pass. It refuses to compare nodes; that is `merge.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import HEAD_SIZE, FileKind, detect
from kraftool.decoders.names import (
    METADATA_FOLDER,
    METADATA_TOPIC,
    CheckpointName,
    FileState,
    parse_checkpoint_name,
    parse_folder_name,
    segment_offset,
)
from kraftool.decoders.quorum_state import QuorumState
from kraftool.decoders.walk import BEGINNING, WalkState
from kraftool.directory.metadata_summary import NodeIds
from kraftool.reports.files.locations import problem_finding
from kraftool.reports.files.state_files import read_election, read_ids
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.logs.file_names import misnamed
from kraftool.reports.timeline.batches import LogBatch, StoredBatches
from kraftool.reports.timeline.segments import (
    Found,
    NodeSnapshot,
    SegmentReading,
    read_snapshot,
    seam,
)
from kraftool.storage.directory import file_entry
from kraftool.storage.entry import Entry, EntryPlace, EntryProblem, Severity
from kraftool.storage.lock import LockState, lock_holder
from kraftool.storage.paths import Location, LocationKind

Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """A segment that can be read only once."""

    base_offset: int
    file: str
    batches: StoredBatches
    findings: tuple[Found, ...]
    walked: WalkState

    @classmethod
    def of(cls, reading: SegmentReading) -> _Stored:
        batches, findings = StoredBatches(), []
        for item in reading:
            if isinstance(item, LogBatch):
                batches.add(item)
            else:
                findings.append(item)
        return cls(
            base_offset=_base_offset(reading.entry),
            file=reading.entry.name,
            batches=batches,
            findings=tuple(findings),
            walked=reading.walked,
        )


@dataclass(slots=True, eq=False)
class NodeLog:
    """One directory: its identity, what lies in it, and its log in offset order."""

    path: str
    label: str = ""
    node: NodeIds = NodeIds()
    quorum_state: QuorumState | None = None
    is_live: bool = False
    findings: list[Finding] = field(default_factory=list)
    segments: list[Entry] = field(default_factory=list)
    snapshots: list[NodeSnapshot] = field(default_factory=list)
    checkpoints: list[Entry] = field(default_factory=list)
    stored: list[_Stored] = field(default_factory=list)
    """Segments that were read as they came."""
    start_offset: int | None = None
    end_offset: int | None = None
    last_epoch: int | None = None
    last_timestamp: int | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.segments or self.stored or self.snapshots or self.checkpoints)

    def items(self, progress: Progress) -> Iterator[LogBatch | Found]:
        """The batches of all segments, and the damage between them."""
        before = BEGINNING
        if self.stored:
            ordered = sorted(self.stored, key=lambda segment: segment.base_offset)
            for index, segment in enumerate(ordered):
                last = index == len(ordered) - 1
                yield from (
                    finding.settled(is_last=last, is_live=False) for finding in segment.findings
                )
                yield from seam(segment.file, before, segment.walked)
                before = before.joined(segment.walked)
                yield from segment.batches
            return
        ordered_files = sorted(self.segments, key=_base_offset)
        for index, entry in enumerate(ordered_files):
            last = index == len(ordered_files) - 1
            reading = SegmentReading(entry, progress)
            try:
                for item in reading:
                    if isinstance(item, LogBatch):
                        yield item
                    else:
                        yield item.settled(is_last=last, is_live=self.is_live)
            except KraftoolError as error:
                self.findings.append(kinds.UNREADABLE.at(entry.name, error.message))
            yield from seam(entry.name, before, reading.walked)
            before = before.joined(reading.walked)


def _base_offset(entry: Entry) -> int:
    """The offset in a segment's name. A file that was named itself may have any name; then 0."""
    return segment_offset(entry.basename) or 0


def open_nodes(
    locations: Iterable[Location], progress: Progress
) -> tuple[list[NodeLog], list[Finding]]:
    """The directories of all PATHs in the order given, and what belongs to none of them."""
    reader = _Reader(progress)
    for location in locations:
        reader.take(location)
    nodes = [log for log in reader.nodes.values() if not log.is_empty]
    nodes.sort(key=lambda log: (log.node.node_id is None, log.node.node_id or 0))
    for node in nodes:
        node.checkpoints.sort(key=lambda entry: entry.basename)
    for node in reader.nodes.values():
        if node.is_empty:
            reader.findings += node.findings
    for path, is_log_dir in reader.without.items():
        text = "there is neither a metadata log nor a snapshot here"
        kind = kinds.PASSED_OVER if is_log_dir and nodes else kinds.NOTHING
        reader.findings.append(kind.at(path, text))
    _label(nodes)
    return nodes, reader.findings


@dataclass(slots=True)
class _Reader:
    """Takes location after location."""

    progress: Progress
    nodes: dict[str, NodeLog] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    without: dict[str, bool] = field(default_factory=dict)
    """PATHs with no metadata, and whether they are log directories all the same."""
    _files: set[str] = field(default_factory=set)

    def is_new(self, entry: Entry) -> bool:
        """True if a file was not taken yet, by whichever PATH; it then is."""
        real = os.path.realpath(entry.name)
        is_new = real not in self._files
        self._files.add(real)
        return is_new

    def take(self, location: Location) -> None:
        file_count, before, is_unread = 0, len(self.nodes), False
        try:
            for item in location.entries():
                if isinstance(item, EntryProblem):
                    self.findings.append(problem_finding(item))
                    is_unread |= item.severity is Severity.ERROR
                else:
                    file_count += self.entry(location, item)
        except KraftoolError as error:
            self.findings.append(kinds.UNREADABLE.at(location.path, error.message))
            return
        if not file_count and not is_unread:
            # One of the other log.dirs of a node has a meta.properties and no metadata.
            self.without[location.path] = len(self.nodes) > before

    def node(self, location: Location, entry: Entry) -> NodeLog:
        if location.is_stream:
            key = f"{location.path}\0{entry.directory}"
            path = entry.directory or location.path
        else:
            folder = os.path.dirname(entry.name) if entry.place is not EntryPlace.ROOT else ""
            folder = folder or os.path.join(location.directory, METADATA_FOLDER)
            key = os.path.realpath(folder)
            path = location.directory if location.kind is not LocationKind.FILE else entry.name
        node = self.nodes.get(key)
        if node is None:
            node = self.nodes[key] = NodeLog(path)
            if location.kind in (LocationKind.PARTITION, LocationKind.FILE):
                self.beside(node, key)
            if not location.is_stream:
                root = os.path.dirname(key) if os.path.basename(key) == METADATA_FOLDER else key
                node.is_live = lock_holder(root).state is LockState.HELD
        return node

    def beside(self, node: NodeLog, folder: str) -> None:
        """The state files around a partition or file that was named by itself."""
        files = [os.path.join(folder, "quorum-state")] if os.path.isdir(folder) else []
        if os.path.basename(folder) == METADATA_FOLDER:
            files.append(os.path.join(os.path.dirname(folder), "meta.properties"))
        for path in files:
            try:
                self.state_file(node, file_entry(path))
            except KraftoolError:
                continue  # nobody asked for these

    def entry(self, location: Location, entry: Entry) -> bool:
        """Take one file; whether it is of a metadata log."""
        if entry.place is EntryPlace.PARTITION and location.kind is not LocationKind.FILE:
            wrong = misnamed(entry.name)
            if wrong is not None:
                self.node(location, entry).findings.append(wrong)
                return False
        kind, base = self.kind(location, entry), entry.basename
        if kind is None:
            return False
        node = self.node(location, entry)
        try:
            if kind in (FileKind.META_PROPERTIES, FileKind.QUORUM_STATE):
                self.state_file(node, entry)
                return False
            if kind is FileKind.CHECKPOINT:
                name = parse_checkpoint_name(base)
                if location.is_stream and name is not None:
                    self.snapshot(node, entry, name)
                elif self.is_new(entry):
                    node.checkpoints.append(entry)
                return True
            if location.is_stream:
                reading = SegmentReading(entry, self.progress, has_stretches=False)
                node.stored.append(_Stored.of(reading))
            elif self.is_new(entry):
                node.segments.append(entry)
        except KraftoolError as error:
            node.findings.append(kinds.UNREADABLE.at(entry.name, error.message))
        return True

    def kind(self, location: Location, entry: Entry) -> FileKind | None:
        """Return what an entry is to the timeline; None for what it does not look at."""
        base = entry.basename
        if location.kind is LocationKind.FILE:
            folder = os.path.basename(os.path.dirname(os.path.abspath(entry.name)))
            with entry.open() as source:
                kind = detect(base, source.read_at(0, HEAD_SIZE), entry.size).kind
            if kind not in (FileKind.LOG, FileKind.CHECKPOINT):
                raise KraftoolError(f"neither segment nor snapshot: {kind.value}")
            if _is_topic(folder):
                raise KraftoolError("the log of a topic, not of the metadata")
            return kind
        if entry.place is EntryPlace.ROOT:
            return FileKind.META_PROPERTIES if base == "meta.properties" else None
        if entry.place is not EntryPlace.PARTITION:
            return None
        if location.kind is LocationKind.PARTITION:
            folder = os.path.basename(os.path.normpath(os.path.abspath(location.directory)))
            if _is_topic(folder):
                raise KraftoolError("the folder of a topic, not of the metadata")
        if base == "quorum-state":
            return FileKind.QUORUM_STATE
        detection = detect(base, b"", entry.size)
        wanted = detection.kind in (FileKind.LOG, FileKind.CHECKPOINT)
        return detection.kind if wanted and detection.state is FileState.LIVE else None

    def state_file(self, node: NodeLog, entry: Entry) -> None:
        if entry.basename == "meta.properties":
            node.node, finding = read_ids(entry)
        else:
            node.quorum_state, finding = read_election(entry)
        if finding is not None:
            node.findings.append(finding)

    def snapshot(self, node: NodeLog, entry: Entry, name: CheckpointName) -> None:
        snapshot, findings = read_snapshot(entry, name, records=True)
        node.snapshots.append(snapshot)
        node.findings += findings


def load_snapshots(node: NodeLog) -> None:
    """Look at each snapshot that lies on disk: is it whole, and of when?"""
    for entry in node.checkpoints:
        name = parse_checkpoint_name(entry.basename)
        if name is None:
            continue
        try:
            snapshot, findings = read_snapshot(entry, name, records=False)
        except KraftoolError as error:
            node.findings.append(kinds.UNREADABLE.at(entry.name, error.message))
            continue
        node.snapshots.append(snapshot)
        node.findings += findings


def _is_topic(folder: str) -> bool:
    parsed = parse_folder_name(folder)
    return parsed is not None and parsed.topic != METADATA_TOPIC


def _label(nodes: list[NodeLog]) -> None:
    """Name nodes by node.id; where two have the same, or none is known, by path."""
    ids = [log.node.node_id for log in nodes]
    for node in nodes:
        node_id = node.node.node_id
        alone = node_id is not None and ids.count(node_id) == 1
        node.label = str(node_id) if alone else node.path
    labels = [log.label for log in nodes]
    for index, node in enumerate(nodes):
        if labels.count(node.label) > 1:
            node.label = f"{node.label}#{index + 1}"


def clusters(nodes: Iterable[NodeLog]) -> dict[str, list[str]]:
    """The paths of the directories, by cluster.id."""
    paths_by_cluster: dict[str, list[str]] = {}
    for node in nodes:
        if node.node.cluster_id:
            paths_by_cluster.setdefault(node.node.cluster_id, []).append(node.path)
    return paths_by_cluster
