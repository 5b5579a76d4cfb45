"""The kind of a file: by its name, or otherwise by its first bytes.

Owns the list of kinds that can be dumped and the guesses. A name of Kafka's wins over a content: a
`00000000000000000000.log` full of rubbish is a damaged log.
"""

import re
import struct
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from kraftool.decoders import names, properties
from kraftool.decoders.checkpoint_files import (
    LEADER_EPOCH_CHECKPOINT,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
)
from kraftool.decoders.indexes import (
    OFFSET_ENTRY_SIZE,
    TIME_ENTRY_SIZE,
    TXN_ENTRY_SIZE,
    decode_offset_index,
    decode_time_index,
    decode_transaction_index,
)
from kraftool.decoders.names import NAMES_KEPT, FileState
from kraftool.decoders.producer_state import ENTRY_SIZE, HEADER_SIZE, VERSION

HEAD_SIZE = 4096
"""How much of a file's beginning is worth handing in."""


class FileKind(Enum):
    """Every kind of file in a log directory; the value is the word for `--as`."""

    LOG = "log"
    CHECKPOINT = "checkpoint"
    """A raft snapshot; bootstrap.checkpoint has the same format and its own kind."""
    BOOTSTRAP_CHECKPOINT = "bootstrap-checkpoint"
    QUORUM_STATE = "quorum-state"
    META_PROPERTIES = "meta-properties"
    LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
    OFFSET_CHECKPOINT = "offset-checkpoint"
    PARTITION_METADATA = "partition-metadata"
    OFFSET_INDEX = "index"
    TIME_INDEX = "timeindex"
    TXN_INDEX = "txnindex"
    PRODUCER_STATE = "snapshot"
    PROPERTIES = "properties"
    LOCK = "lock"
    CLEAN_SHUTDOWN = "clean-shutdown"
    WITNESS = "witness"
    """Ours: kraftool node runs on the directory."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """A file's kind, the state its name gives it, and whether the name or the content told."""

    kind: FileKind
    state: FileState = FileState.LIVE
    by_name: bool = True


_BY_NAME = {
    names.BOOTSTRAP_CHECKPOINT: FileKind.BOOTSTRAP_CHECKPOINT,
    "quorum-state": FileKind.QUORUM_STATE,
    "meta.properties": FileKind.META_PROPERTIES,
    LEADER_EPOCH_CHECKPOINT: FileKind.LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA: FileKind.PARTITION_METADATA,
    ".lock": FileKind.LOCK,
    ".kafka_cleanshutdown": FileKind.CLEAN_SHUTDOWN,
    names.WITNESS_MARKER: FileKind.WITNESS,
    **dict.fromkeys(OFFSET_CHECKPOINTS, FileKind.OFFSET_CHECKPOINT),
}
_BY_SUFFIX = {
    ".log": FileKind.LOG,
    ".index": FileKind.OFFSET_INDEX,
    ".timeindex": FileKind.TIME_INDEX,
    ".txnindex": FileKind.TXN_INDEX,
    ".snapshot": FileKind.PRODUCER_STATE,
    "-offset-checkpoint": FileKind.OFFSET_CHECKPOINT,
    ".checkpoint": FileKind.CHECKPOINT,
    ".properties": FileKind.PROPERTIES,
}
_SEGMENT_STATES = (FileState.DELETED, FileState.CLEANED, FileState.SWAP)

_BATCH_HEAD = struct.Struct(">qiibIhiqqqhii")
_MAGIC_POSITION = 16
_CONTROL_BIT = 0x20
_SNAPSHOT_HEADER_TYPE = 3

_LIKELY_TIMES = range(10**12, 10**13)
"""Milliseconds from 2001 to 2286."""

META_KEYS = frozenset({"version", "cluster.id", "broker.id", "node.id", "directory.id"})
_SERVER_KEYS = ("process.roles", "log.dirs", "log.dir", "metadata.log.dir", "listeners",
                "controller.quorum.voters", "controller.quorum.bootstrap.servers", "node.id",
                "broker.id", "controller.listener.names")  # fmt: skip
_TEXT_CHECKPOINT = re.compile(rb"[0-9]+\r?\n[0-9]+\r?\n")
_EPOCH_LINE = re.compile(rb"-?[0-9]+\s+-?[0-9]+\s*\Z")
_OFFSET_LINE = re.compile(rb"\S+\s+-?[0-9]+\s+-?[0-9]+\s*\Z")
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")


@lru_cache(maxsize=NAMES_KEPT)
def state_by_name(name: str) -> tuple[str, FileState]:
    """Take the suffix of a state off a name; `quorum-state.tmp` is a TEMPORARY quorum-state."""
    for state in (FileState.PART, *_SEGMENT_STATES, FileState.TEMPORARY):
        if name.endswith(state.value):
            return name.removesuffix(state.value), state
    return name, FileState.LIVE


@lru_cache(maxsize=NAMES_KEPT)
def kind_by_name(name: str) -> FileKind | None:
    """Return the kind that a name of Kafka's tells, whatever its state; None for other names.

    `server.log` is no name of Kafka's data: a segment is named by its base offset.
    """
    bare, _ = state_by_name(name)
    exact = _BY_NAME.get(bare)
    if exact is not None:
        return exact
    if names.parse_segment_name(bare) or names.parse_checkpoint_name(name):
        return kind_by_suffix(bare)
    return FileKind.PROPERTIES if bare.endswith(".properties") else None


def kind_by_suffix(name: str) -> FileKind | None:
    """Return the kind that only the end of a name suggests, for renamed copies."""
    bare, _ = state_by_name(name)
    for suffix, kind in _BY_SUFFIX.items():
        if bare.endswith(suffix):
            return kind
    return None


def kind_by_content(head: bytes, size: int) -> FileKind:
    """Guess the kind from the first bytes; `size` is that of the whole file.

    An empty file and one of zeros could be anything and are UNKNOWN.
    """
    if not head or not head.strip(b"\0"):
        return FileKind.UNKNOWN
    if _NOT_TEXT.search(head) is None:
        return _kind_of_text(head)
    batch = _kind_of_batch(head)
    if batch is not None:
        return batch
    if _is_producer_state(head, size):
        return FileKind.PRODUCER_STATE
    return _kind_of_index(head, size)


def detect(name: str, head: bytes, size: int) -> Detected:
    """Return the kind by name, else by content, else by what the name ends with."""
    _, state = state_by_name(name)
    named = kind_by_name(name)
    if named is not None:
        return Detected(kind=named, state=state)
    kind = kind_by_content(head, size)
    suggested = kind_by_suffix(name)
    if kind is FileKind.UNKNOWN and suggested is not None:
        return Detected(kind=suggested, state=state)
    return Detected(kind=kind, state=state, by_name=False)


def _kind_of_batch(head: bytes) -> FileKind | None:
    """Tell a log segment from a snapshot, which begins with a SnapshotHeader control record."""
    if len(head) <= _MAGIC_POSITION:
        return None
    base_offset, length = struct.unpack_from(">qi", head)
    magic = head[_MAGIC_POSITION]
    # The oldest message sets, magic 0 and 1, are shorter; a broker's old topics may hold them.
    shortest = _BATCH_HEAD.size - 12 if magic == 2 else 14
    if base_offset < 0 or magic > 2 or length < shortest:
        return None
    if magic < 2:
        # One small byte is thin evidence; these have an attributes byte of 0-15 behind it.
        likely = len(head) > 17 and head[17] < 16 and head[12:16] != bytes(4)
        return FileKind.LOG if likely else None
    if len(head) < _BATCH_HEAD.size:
        return FileKind.LOG
    attributes = _BATCH_HEAD.unpack_from(head)[5]
    if not attributes & _CONTROL_BIT:
        return FileKind.LOG
    if _first_control_type(head) == _SNAPSHOT_HEADER_TYPE:
        return FileKind.CHECKPOINT
    return FileKind.LOG


def _first_control_type(head: bytes) -> int | None:
    position = _skip_varint(head, _BATCH_HEAD.size)  # the record's length
    position = _skip_varint(head, position + 1)  # attributes, timestampDelta
    position = _skip_varint(head, position)  # offsetDelta
    # The key is always four bytes: a zigzag 8 for its length, then version and type.
    if len(head) < position + 5 or head[position] != 8:
        return None
    return int.from_bytes(head[position + 3 : position + 5], "big")


def _skip_varint(head: bytes, position: int) -> int:
    for index in range(position, min(position + 10, len(head))):
        if head[index] < 0x80:
            return index + 1
    return len(head)


def _is_producer_state(head: bytes, size: int) -> bool:
    if len(head) < HEADER_SIZE:
        return False
    version, _, count = struct.unpack_from(">hIi", head)
    return bool(version == VERSION and size == HEADER_SIZE + count * ENTRY_SIZE)


def _kind_of_index(head: bytes, size: int) -> FileKind:
    """Take the entry size under which the whole head makes sense; the longest entry first."""
    if size % TXN_ENTRY_SIZE == 0:
        whole = head[: len(head) - len(head) % TXN_ENTRY_SIZE]
        if whole and not decode_transaction_index(whole)[1]:
            return FileKind.TXN_INDEX
    if size % TIME_ENTRY_SIZE == 0:
        whole = head[: len(head) - len(head) % TIME_ENTRY_SIZE]
        index, findings = decode_time_index(whole)
        # A short offset index can be read as timestamps, but hardly as ones of our time.
        if len(index) and not findings and index.entry(0).timestamp in _LIKELY_TIMES:
            return FileKind.TIME_INDEX
    if size % OFFSET_ENTRY_SIZE == 0:
        whole = head[: len(head) - len(head) % OFFSET_ENTRY_SIZE]
        if whole and not decode_offset_index(whole)[1]:
            return FileKind.OFFSET_INDEX
    return FileKind.UNKNOWN


def _kind_of_text(head: bytes) -> FileKind:
    stripped = head.lstrip()
    if stripped.startswith(b"{"):
        if b'"data_version"' in head or b'"leaderEpoch"' in head:
            return FileKind.QUORUM_STATE
        return FileKind.CLEAN_SHUTDOWN if b'"brokerEpoch"' in head else FileKind.UNKNOWN
    if stripped.startswith(b"version:") and b"topic_id" in head:
        return FileKind.PARTITION_METADATA
    checkpoint = _TEXT_CHECKPOINT.match(head)
    if checkpoint is not None:
        line = head[checkpoint.end() :].splitlines()
        # Without entries the two have the same bytes.
        if not line or _EPOCH_LINE.match(line[0]):
            return FileKind.LEADER_EPOCH_CHECKPOINT
        return FileKind.OFFSET_CHECKPOINT if _OFFSET_LINE.match(line[0]) else FileKind.UNKNOWN
    loaded, _ = properties.decode(head)
    keys = loaded.as_dict().keys()
    if keys and keys <= META_KEYS and ("cluster.id" in keys or "version" in keys):
        return FileKind.META_PROPERTIES
    return FileKind.PROPERTIES if any(key in keys for key in _SERVER_KEYS) else FileKind.UNKNOWN
