"""The values that describe what a PATH holds: entries, problems and folder counts.

Owns the sorting of file and folder names into "in the data directory", "in the metadata
partition", "in some topic's folder". It refuses to touch the file system: names in, values out.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from kraftool.decoders.json_marks import Count, Hidden
from kraftool.decoders.names import (
    CHECKPOINT_SUFFIX,
    META_PROPERTIES,
    METADATA_FOLDER,
    METADATA_TOPIC,
    NAMES_KEPT,
    SEGMENT_SUFFIXES,
    CheckpointName,
    FileState,
    FolderState,
    SegmentName,
    parse_checkpoint_name,
    parse_folder_name,
    parse_segment_name,
)
from kraftool.storage.source import ByteSource

METADATA_PARTITION = METADATA_FOLDER

# What Kafka keeps directly in a data directory and nowhere else.
ROOT_FILES = (
    META_PROPERTIES,
    "bootstrap.checkpoint",
    ".lock",
    ".kafka_cleanshutdown",
    "log-start-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
PARTITION_FILES = ("quorum-state", "leader-epoch-checkpoint", "partition.metadata")


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryProblem:
    """Something that could not be read or was passed over, while the rest could. It is no Fault:
    reading stopped there, nothing was decoded, and how bad that is depends on the source alone.

    `name` is the path as the user would write it. `position` is a byte position in that file, or
    in the unpacked tar stream.
    """

    name: str
    reason: str
    severity: Severity = Severity.ERROR
    position: int | None = None
    hint: str = ""


class EntryPlace(StrEnum):
    """The place of an entry in a data directory."""

    ROOT = "root"
    PARTITION = "partition"
    LOOSE = "loose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One regular file of a PATH.

    `directory` names the data directory it belongs to (the partition's own directory if only that
    was given), as the user wrote it; entries of one directory share it. `path` is relative to it,
    with `/`. `name` is what to print. `size` was true when it was listed; a live file moves on.
    """

    directory: str
    path: str
    name: str
    place: EntryPlace
    size: int
    mtime_ns: int
    opener: Callable[[], ByteSource] = field(repr=False, compare=False)

    @property
    def basename(self) -> str:
        return self.path.rpartition("/")[2]

    def open(self) -> ByteSource:
        """Open for reading. Raises KraftoolError if the file has gone or may not be read."""
        return self.opener()


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCounts:
    """Folders of partitions, counted and not read."""

    topics: Count = 0
    deleted: Count = 0
    stray: Count = 0
    future: Count = 0
    others: Count = 0
    metadata_copies: Hidden[tuple[str, ...]] = ()
    """The names of folders that begin as the metadata partition's. They are counted, too."""

    @property
    def total(self) -> int:
        return self.topics + self.deleted + self.stray + self.future + self.others


class FolderKind(StrEnum):
    METADATA = "metadata"
    TOPIC = "topics"
    DELETED = "deleted"
    STRAY = "stray"
    FUTURE = "future"
    OTHER = "other"


_KIND_OF_STATE = {
    FolderState.LIVE: FolderKind.TOPIC,
    FolderState.DELETE: FolderKind.DELETED,
    FolderState.STRAY: FolderKind.STRAY,
    FolderState.FUTURE: FolderKind.FUTURE,
}


def is_metadata_copy(name: str) -> bool:
    """True if a folder has nearly the name of the metadata partition: Kafka never makes one."""
    return name.startswith(METADATA_TOPIC) and name != METADATA_PARTITION


def folder_kind(name: str) -> FolderKind:
    """Tell what a folder directly below a data directory is, by its name alone."""
    if name == METADATA_PARTITION:
        return FolderKind.METADATA
    parsed = parse_folder_name(name)
    return FolderKind.OTHER if parsed is None else _KIND_OF_STATE[parsed.state]


@lru_cache(maxsize=NAMES_KEPT)
def is_partition_file(name: str) -> bool:
    """True if Kafka keeps a file of this name in a partition's folder."""
    return name in PARTITION_FILES or _checkpoint(name) is not None or _segment(name) is not None


def is_used_name(name: str) -> bool:
    """True if Kafka uses, removes or fails at a file of this name in a data directory or in a
    partition's folder, or leaves it there when it writes one of its own."""
    own = name.removesuffix(".tmp")
    return (
        own in ROOT_FILES
        or is_partition_file(own)
        or parse_segment_name(name) is not None
        or name.endswith(SEGMENT_SUFFIXES)
        or CHECKPOINT_SUFFIX in name
    )


def root_order(name: str) -> tuple[int, str]:
    """Sort key: the files that say who this node is come first."""
    return (ROOT_FILES.index(name) if name in ROOT_FILES else len(ROOT_FILES), name)


@lru_cache(maxsize=NAMES_KEPT)
def partition_order(name: str) -> tuple[int, int, int, str]:
    """Sort key: the partition's state, snapshots, segments in offset order, then the rest."""
    if name in PARTITION_FILES:
        return (0, PARTITION_FILES.index(name), 0, name)
    snapshot = _checkpoint(name)
    if snapshot:
        return (1, snapshot.offset, snapshot.epoch, name)
    segment = _segment(name)
    if segment:
        return (2, segment.base_offset, SEGMENT_SUFFIXES.index(segment.suffix), name)
    return (3, 0, 0, name)


def split_member(path: str) -> tuple[str, str, EntryPlace | FolderKind]:
    """Split an archive member's path into data directory, path inside it, and where that is.

    The whole path is the evidence, since a stream cannot be asked what else the directory holds.
    The last item is a FolderKind when the member lies in a folder that is counted only, or OTHER,
    which is not looked at; then the middle item is that folder's name.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if METADATA_PARTITION in parts[:-1]:
        # A pod's own name may look like a topic folder (kafka-0/), so this test comes first.
        at = len(parts) - 2 - parts[-2::-1].index(METADATA_PARTITION)
        if at < len(parts) - 2:  # a folder in the partition's, which Kafka does not look into
            return "/".join(parts[:at]), "/".join(parts[at:-1]), FolderKind.OTHER
        return "/".join(parts[:at]), "/".join(parts[at:]), EntryPlace.PARTITION
    directory, name = "/".join(parts[:-1]), parts[-1] if parts else ""
    if name in ROOT_FILES:
        return directory, name, EntryPlace.ROOT
    if len(parts) > 1:
        kind = folder_kind(parts[-2])
        # No topic has these two, so their folder is a metadata partition under another name.
        metadata_only = name == "quorum-state" or _checkpoint(name) is not None
        if kind is not FolderKind.OTHER and not metadata_only:
            return "/".join(parts[:-2]), parts[-2], kind
    if is_partition_file(name):
        return directory, name, EntryPlace.PARTITION
    return directory, name, EntryPlace.LOOSE


def _segment(name: str) -> SegmentName | None:
    """A live file of a segment. Kafka pads its numbers; `1.log` is some program's own log."""
    parsed = parse_segment_name(name)
    is_kafkas = parsed is not None and parsed.padded and parsed.state is FileState.LIVE
    return parsed if is_kafkas else None


def _checkpoint(name: str) -> CheckpointName | None:
    parsed = parse_checkpoint_name(name)
    is_kafkas = parsed is not None and parsed.canonical and parsed.state is FileState.LIVE
    return parsed if is_kafkas else None
