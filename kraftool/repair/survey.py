"""A survey: all that planning needs to know of one data directory, small enough to carry.

Owns the values, which are also the content of a collect file. There is no secret in them: of
records only their types are kept, of files sizes and hashes, and bytes only of meta.properties and
quorum-state, which hold none, as far as they could be read. It refuses to read (`surveying.py`) and
to decide (`ranking.py`, `planner.py`).
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from kraftool.decoders.checkpoint_files import LEADER_EPOCH_CHECKPOINT, EpochEntry
from kraftool.decoders.names import write_segment_name
from kraftool.raft.names import NO_VOTERS, OffsetAndEpoch, VoterSet
from kraftool.repair.document import DocumentError
from kraftool.repair.plan import (
    DirectoryIdentity,
    Edit,
    Fingerprint,
    Piece,
    RecordCount,
)
from kraftool.repair.plan_file import PlanFile, PlanFileKind
from kraftool.reports.election.case import NodeCase

SCHEMA_VERSION = 1
MOST_BATCHES = 4096
"""So many batches at the end of a log are kept one by one; those before them in blocks."""
BLOCK = 8192
"""So many offsets are in a block."""
LEADER_EPOCHS = PlanFile(kind=PlanFileKind.LEADER_EPOCHS, name=LEADER_EPOCH_CHECKPOINT)
_NO_EPOCHS = (Fingerprint.of(b""), Fingerprint.of(b"0\n0\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedFile:
    """A file as it is."""

    target: PlanFile
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedBatch:
    """A batch near the log's end."""

    base_offset: int
    last_offset: int
    epoch: int
    crc: int
    types: tuple[RecordCount, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IntactBatches:
    """The batches that begin in a stretch of offsets, all of them intact.

    Two logs that have all of a stretch have the same hash where they are the same.
    """

    first_offset: int
    end_offset: int
    last_epoch: int
    sha256: str
    types: tuple[RecordCount, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBreak:
    """The place from which a log can no longer be trusted: bytes that are not a batch, or a gap.

    It is kept in collect files, and has what a plan weighs at that place beside the fault's reason:
    what lies behind, and which bit explains it.
    """

    offset: int
    """The log is intact below."""
    segment: int
    position: int
    reason: str
    torn: bool
    """True if nothing that is whole comes behind: what a power failure leaves."""
    lost_batches: int = 0
    """Whole batches behind it."""
    end_offset: int = 0
    """One beyond the last offset that there was at least: of what is damaged, or whole behind it.
    0 for what is torn."""
    highest_epoch: int = -1
    """Of the whole batches behind."""
    prefix: Fingerprint | None = None
    """Of the segment up to the position."""
    types: tuple[RecordCount, ...] = ()
    """Of the records in the whole batches behind it."""
    batches: tuple[SurveyedBatch, ...] = ()
    """The last of those batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A stretch of a segment with its own fingerprint."""

    segment: int
    start: int
    end: int
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A record that the state before it has no place for, which kills the controller that applies
    it; and what its batch may be replaced by. The edit of a plan, where a Fault would only say
    what is wrong."""

    offset: int
    base_offset: int
    last_offset: int
    segment: int
    position: int
    size: int
    text: str
    noops: bytes = b""
    """A batch of NoOps at the same offsets, in the same epoch; empty where none can be made."""
    after: Fingerprint | None = None
    """Of the segment with them in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedLog:
    """All segments together."""

    start_offset: int
    end_offset: int
    """One beyond the last offset that could be read at all."""
    intact_end: int
    """One beyond the last offset that can be trusted."""
    last_epoch: int
    """Of the batch before it; -1 where there is none."""
    last_timestamp_ms: int = -1
    segments: tuple[int, ...] = ()
    epochs: tuple[EpochEntry, ...] = ()
    broken: LogBreak | None = None
    rest: tuple[Slice, ...] = ()
    """What follows the newest whole snapshot, where the log is broken before it and whole after."""
    open_transaction: int | None = None
    blocks: tuple[IntactBatches, ...] = ()
    batches: tuple[SurveyedBatch, ...] = ()
    misfits: tuple[Misfit, ...] = ()

    @property
    def rest_start(self) -> Piece | None:
        """The slice of a segment with which the rest begins; None if there is none."""
        if not self.rest:
            return None
        first = self.rest[0]
        name = write_segment_name(first.segment, ".log")
        target = PlanFile(kind=PlanFileKind.SEGMENT, name=name)
        return Piece(file=target, start=first.start, end=first.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedSnapshot:
    """A checkpoint, live or renamed `.deleted`, read from end to end."""

    name: str
    offset: int
    epoch: int
    deleted: bool = False
    intact: bool
    complaint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedState:
    """The state that snapshot and log make together, up to the intact end."""

    end_offset: int
    last_epoch: int
    last_timestamp_ms: int
    records: int = 0
    records_sha256: str = ""
    """Empty where no checkpoint can be made of it."""
    whole: bool
    """True if nothing is missing before the log."""
    complaint: str = ""
    metadata_version: int | None = None
    topics: int = 0
    brokers: tuple[int, ...] = ()
    controllers: tuple[int, ...] = ()
    """Those that are registered, as Kafka 3.7 and later do."""
    log_start: Piece | None = None
    """The slice of a segment with which the log begins, if damage before it was left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedSettings:
    """The settings of the quorum in the server.properties next to it, and nothing else of that
    file."""

    file: str
    node_id: int | None = None
    roles: tuple[str, ...] = ()
    static_voters: str = ""
    bootstrap_servers: str = ""
    listeners: tuple[str, ...] = ()
    """Of the controller, as `NAME://host:port`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumStateSurvey:
    """quorum-state, or why there is none."""

    missing: bool = False
    complaint: str = ""
    """Why Kafka would not start on it."""
    data_version: int = 1
    leader_epoch: int = -1
    leader_id: int = -1
    voted_id: int = -1
    voted_directory_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """One data directory, as it is on the disk or as a restoration will leave it."""

    schema_version: int
    tool: str
    collected_ms: int
    path: str
    collect_file: str = ""
    """The collect file that this was read from; empty if the directory itself was read."""
    origin: str = ""
    """The pod, its namespace and kubectl's context; empty for a directory of a host."""
    archived: bool = False
    """True if that is a tar stream's, and where the directory is was not told."""
    running: bool = False
    """True if another process holds the directory's lock."""
    other_log_dir: bool = False
    """True for a directory of log.dirs that is not metadata.log.dir."""
    identity: DirectoryIdentity = field(default_factory=DirectoryIdentity)
    edited_from: int | None = None
    """The node id of the directory, if its meta.properties has another one by an edit."""
    meta_complaint: str = ""
    """Why Kafka would not take meta.properties."""
    settings: SurveyedSettings | None = None
    quorum_state: QuorumStateSurvey = field(default_factory=QuorumStateSurvey)
    kraft_version: int | None = None
    """None where nothing tells."""
    voters: VoterSet = NO_VOTERS
    """Those that a node with these files goes by; static ones have no directory id."""
    voters_offset: int | None = None
    """Where the record is; None for static ones."""
    log: SurveyedLog | None = None
    snapshots: tuple[SurveyedSnapshot, ...] = ()
    state: SurveyedState | None = None
    earlier: SurveyedState | None = None
    """The state at an offset that was asked for."""
    rest_state: SurveyedState | None = None
    """The state that the newest snapshot and the rest of a damaged log behind it lead to."""
    epochs_complaint: str = ""
    """What is wrong with leader-epoch-checkpoint."""
    topic_id_complaint: str = ""
    """What is wrong with partition.metadata."""
    bootstrap_complaint: str = ""
    """What is wrong with bootstrap.checkpoint."""
    registered_directories: tuple[str, ...] = ()
    """The ids of the node's log directories, as it was last registered as a broker."""
    files: tuple[SurveyedFile, ...] = ()
    """As they are on the disk."""
    half_done: str = ""
    """How a recovery plan is finished that is half done here, and on which no node has run."""
    stopping: tuple[str, ...] = ()
    """Names in the metadata partition's folder at which Kafka's start ends."""
    unread: tuple[str, ...] = ()
    """What could not be read at all."""
    flipped: tuple[Edit, ...] = ()
    """The damaged files that flipped bits explain, each with the bits put back."""
    restored: tuple[Edit, ...] = ()
    """The files that it has as a restoration will leave them, with other bytes than the disk."""
    node: NodeCase | None = None
    """For the judgement of the quorum; None if no file names the node."""

    def __post_init__(self) -> None:
        if self.schema_version != SCHEMA_VERSION:
            raise DocumentError(
                f"version {self.schema_version} of collect files is not known here",
                hint="use one kraftool for all hosts",
            )
        names = {file.target.name for file in self.files}
        for snapshot in self.snapshots:
            if snapshot.name not in names:
                raise DocumentError(f"{snapshot.name} is not among the files")
        if self.node is not None:
            log = self.node.log
            for pairs in (
                log.epochs,
                log.believed_epochs or (),
                log.voter_sets,
                log.kraft_versions,
            ):
                keys = [pair[0] for pair in pairs]
                if keys != sorted(set(keys)):
                    raise DocumentError("node.log has pairs that do not rise")

    @property
    def end(self) -> OffsetAndEpoch:
        """Up to where the directory can be trusted: its log, or a whole snapshot beyond."""
        ends = [
            OffsetAndEpoch(whole_snapshot.offset, whole_snapshot.epoch)
            for whole_snapshot in self.whole_snapshots
        ]
        if self.log is not None:
            ends.append(OffsetAndEpoch(self.log.intact_end, self.log.last_epoch))
        return max(ends, key=lambda end: (end.epoch, end.offset), default=OffsetAndEpoch(0, -1))

    @property
    def reach(self) -> int:
        """Beyond every offset that the directory speaks of, trusted or not."""
        ends = [snapshot.offset for snapshot in self.snapshots]
        if self.log is not None:
            ends.append(self.log.end_offset)
            ends.append(self.log.broken.end_offset if self.log.broken is not None else 0)
        return max(ends, default=0)

    @property
    def highest_epoch(self) -> int:
        """Of everything in it."""
        epochs = [snapshot.epoch for snapshot in self.snapshots]
        epochs.append(self.quorum_state.leader_epoch)
        if self.log is not None:
            epochs.append(self.log.last_epoch)
            epochs += [epoch.epoch for epoch in self.log.epochs]
            epochs.append(self.log.broken.highest_epoch if self.log.broken is not None else -1)
        return max(epochs)

    @property
    def live_snapshots(self) -> tuple[SurveyedSnapshot, ...]:
        return tuple(snapshot for snapshot in self.snapshots if not snapshot.deleted)

    @property
    def whole_snapshots(self) -> tuple[SurveyedSnapshot, ...]:
        return tuple(live_snapshot for live_snapshot in self.live_snapshots if live_snapshot.intact)

    @property
    def has_no_record(self) -> bool:
        """True if the log has no record, damaged or not.

        One that begins at a whole snapshot, and had no record since, is as Kafka leaves it that
        took the snapshot from a leader. If it has a torn tail, then that is as good as any other
        torn tail.
        """
        log = self.log
        if log is None or log.intact_end > log.start_offset:
            return False
        if log.broken is not None and log.broken.lost_batches:
            return False
        begins = any(
            whole_snapshot.offset == log.start_offset > 0 for whole_snapshot in self.whole_snapshots
        )
        is_torn = log.broken is not None and log.broken.torn
        return not begins or (self.has_epochs and not is_torn)

    @property
    def has_epochs(self) -> bool:
        """True if leader-epoch-checkpoint tells of a record: of the first one of an epoch."""
        file = self.file(LEADER_EPOCHS)
        return file is not None and file.fingerprint not in _NO_EPOCHS

    @property
    def tells_of_records(self) -> bool:
        """True if anything in it says that the quorum has had records; an epoch is enough, since a
        leader begins with one."""
        return self.reach > 0 or self.quorum_state.leader_epoch > 0 or self.has_epochs

    @property
    def intact(self) -> bool:
        """True if the log has no break but a torn tail."""
        return self.log is None or self.log.broken is None or self.log.broken.torn

    @property
    def node_id(self) -> int | None:
        if self.edited_from is not None:
            return self.edited_from
        if self.identity.node_id is not None:
            return self.identity.node_id
        return self.settings.node_id if self.settings is not None else None

    @property
    def has_partition(self) -> bool:
        """True if any file of the metadata partition is there that a log or an election is of."""
        return self.log is not None or bool(self.snapshots) or not self.quorum_state.missing

    @property
    def is_broker(self) -> bool:
        """True if its metadata registers the node as a broker, or its settings make it one."""
        is_registered = self.state is not None and self.node_id in self.state.brokers
        return is_registered or (self.settings is not None and "broker" in self.settings.roles)

    @property
    def directory(self) -> str:
        """The path as a command has it. The path of an archive on its host is not known."""
        return "data-directory" if self.archived else shlex.quote(self.path)

    def command(self, words: str) -> str:
        """A command that names the directory; a comment if you must fill in the path."""
        return f"# replace {self.directory}: {words}" if self.archived else words

    def file(self, target: PlanFile) -> SurveyedFile | None:
        return next((file for file in self.files if file.target == target), None)

    @property
    def lenders(self) -> frozenset[str]:
        """The hosts that it has batches of."""
        return frozenset(name for edit in self.restored for name in edit.sources)

    @property
    def contents(self) -> dict[PlanFile, Fingerprint]:
        """The content of each file, once it is restored."""
        on_disk = {file.target: file.fingerprint for file in self.files}
        return on_disk | {edit.target: edit.after for edit in self.restored if edit.after}
