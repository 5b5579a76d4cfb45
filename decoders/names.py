"""File and folder names of a log directory: what they say, and how Kafka spells them.

Owns segment files, raft snapshots and partition folders, with the states that a suffix gives them.
It refuses to look at contents; `kinds.py` decides what a file is.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from kraftool.decoders.java_text import INT32_MAX, INT64_MAX, read_int32, read_int64

METADATA_TOPIC = "__cluster_metadata"
METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
"""The same in every cluster."""
WITNESS_MARKER = "kraftool-witness"
"""The file by which kraftool node marks a directory that it runs on."""
METADATA_FOLDER = f"{METADATA_TOPIC}-0"
BOOTSTRAP_CHECKPOINT = "bootstrap.checkpoint"
META_PROPERTIES = "meta.properties"

OFFSET_DIGITS = 20
EPOCH_DIGITS = 10

SEGMENT_SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
CHECKPOINT_SUFFIX = ".checkpoint"

NAMES_KEPT = 4096
"""Names whose meaning is kept: the directories of a fleet have many names in common."""

_SEGMENT = re.compile(
    r"([0-9]{1,20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)"
    r"(\.deleted|\.cleaned|\.swap)?\Z"
)
_CHECKPOINT = re.compile(
    r"[0-9]{20}-[0-9]{10}(?:\.checkpoint(?:\.deleted)?|-([^-]+)\.checkpoint\.part)\Z"
)
_MARKED_FOLDER = re.compile(r"(\S+)-(\S+)\.(\S+)-(delete|future|stray)\Z")


class FileState(Enum):
    """The meaning of a suffix of a file: only LIVE ones are read when Kafka starts."""

    LIVE = ""
    PART = ".part"
    DELETED = ".deleted"
    CLEANED = ".cleaned"
    SWAP = ".swap"
    TEMPORARY = ".tmp"


class FolderState(Enum):
    """The meaning of a suffix of a partition's folder."""

    LIVE = ""
    DELETE = "-delete"
    FUTURE = "-future"
    STRAY = "-stray"


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentName:
    """A file of a segment: its base offset and which file it is (`suffix`, with the dot).

    For `.snapshot` the offset is the first one that the producer state does not cover.
    """

    base_offset: int
    suffix: str
    state: FileState = FileState.LIVE
    padded: bool = True
    """True if the number has 20 digits; Kafka reads others but never writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointName:
    """A raft snapshot: it holds everything below `offset`; `epoch` is that of its last record."""

    offset: int
    epoch: int
    state: FileState = FileState.LIVE
    random: str = ""
    """What makes the name of a part unique."""
    canonical: bool = True
    """True if Kafka itself would have written the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderName:
    """A partition's folder."""

    topic: str
    partition: int
    state: FolderState = FolderState.LIVE


@lru_cache(maxsize=NAMES_KEPT)
def parse_segment_name(name: str) -> SegmentName | None:
    """Read `00000000000000000123.log` and its likes, None if the name is no such."""
    match = _SEGMENT.match(name)
    if match is None or int(match.group(1)) > INT64_MAX:
        return None
    return SegmentName(
        base_offset=int(match.group(1)),
        suffix=match.group(2),
        state=FileState(match.group(3) or ""),
        padded=len(match.group(1)) == OFFSET_DIGITS,
    )


def segment_offset(name: str) -> int | None:
    """The base offset of a segment by the name of its `.log`; None for what Kafka reads as none.

    Kafka takes the number from a name and opens the file that it would itself give this number, so
    that it never reads one whose number is written in another way.
    """
    parsed = parse_segment_name(name)
    if parsed is None or parsed.suffix != ".log":
        return None
    return parsed.base_offset if parsed.padded and parsed.state is FileState.LIVE else None


def read_offset(name: str) -> int | None:
    """The number before the first dot, as Kafka reads it from a segment's files at its start.

    None where it is no number: Kafka's start ends there.
    """
    number, dot, _ = name.partition(".")
    return read_int64(number) if dot else None


@lru_cache(maxsize=NAMES_KEPT)
def parse_checkpoint_name(name: str) -> CheckpointName | None:
    """Read `<20 digits>-<10 digits>.checkpoint`, its `.part` and `.deleted`, None if no such.

    Kafka cuts the numbers out at fixed places and looks at nothing between, so that it takes a
    name with a digit too many for that of another snapshot; such names are not `canonical`.
    """
    for state in (FileState.PART, FileState.DELETED, FileState.LIVE):
        if name.endswith(CHECKPOINT_SUFFIX + state.value):
            break
    else:
        return None
    epoch_start = OFFSET_DIGITS + 1
    epoch_end = epoch_start + EPOCH_DIGITS
    offset = read_int64(name[:OFFSET_DIGITS])
    epoch = read_int32(name[epoch_start:epoch_end])
    if offset is None or epoch is None or len(name) < epoch_end:
        return None
    match = _CHECKPOINT.match(name)
    return CheckpointName(
        offset=offset,
        epoch=epoch,
        state=state,
        random=(match.group(1) or "") if match else "",
        canonical=match is not None,
    )


SNAPSHOT_SUFFIXES = tuple(
    f"{CHECKPOINT_SUFFIX}{state.value}"
    for state in (FileState.LIVE, FileState.PART, FileState.DELETED)
)


def is_usable_name(name: str) -> bool:
    """True if Kafka can use a file of this name in a partition's folder, or ignores it."""
    if name.endswith(SNAPSHOT_SUFFIXES):
        return parse_checkpoint_name(name) is not None
    if not name.endswith(SEGMENT_SUFFIXES) or segment_offset(name) is not None:
        return True
    return not name.endswith(".log") and read_offset(name) is not None


def parse_folder_name(name: str) -> FolderName | None:
    """Read `topic-0` and `topic-0.<id>-delete`, None where Kafka refuses the folder."""
    state = FolderState.LIVE
    for marked in (FolderState.DELETE, FolderState.FUTURE, FolderState.STRAY):
        if name.endswith(marked.value):
            if _MARKED_FOLDER.match(name) is None:
                return None
            # Topics may hold dots, so the unique id is what follows the last one.
            name, state = name.rpartition(".")[0], marked
            break
    topic, dash, number = name.rpartition("-")
    partition = read_int32(number)
    if not dash or not topic or partition is None:
        return None
    return FolderName(topic=topic, partition=partition, state=state)


def write_segment_name(base_offset: int, suffix: str) -> str:
    assert 0 <= base_offset <= INT64_MAX, "an offset is a positive int64"
    return f"{base_offset:0{OFFSET_DIGITS}d}{suffix}"


def write_checkpoint_name(offset: int, epoch: int) -> str:
    assert 0 <= offset <= INT64_MAX, "an offset is a positive int64"
    assert 0 <= epoch <= INT32_MAX, "an epoch is a positive int32"
    return f"{offset:0{OFFSET_DIGITS}d}-{epoch:0{EPOCH_DIGITS}d}{CHECKPOINT_SUFFIX}"


def write_part_name(offset: int, epoch: int, random: str) -> str:
    """The name of a snapshot that is being written; `random` tells it from others of its id."""
    name = write_checkpoint_name(offset, epoch).removesuffix(CHECKPOINT_SUFFIX)
    return f"{name}-{random}{CHECKPOINT_SUFFIX}{FileState.PART.value}"
