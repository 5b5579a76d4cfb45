"""Kafka's text checkpoints: leader-epoch-checkpoint, *-offset-checkpoint and partition.metadata.

Owns their lines, what Kafka's readers make of damaged ones and the exact bytes that Kafka writes.
(A raft snapshot is also named `.checkpoint`, but is no text; see snapshot.py.)
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

from kraftool.decoders.errors import DecodeError
from kraftool.decoders.findings import Findings, shown
from kraftool.decoders.java_text import (
    INT32_MAX,
    TextLine,
    malformed_utf8,
    read_int32,
    read_int64,
    read_lines,
    read_uuid,
    split_label,
    split_white_space,
)
from kraftool.decoders.wire import ZERO_UUID

LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
OFFSET_CHECKPOINTS = (
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
PARTITION_METADATA = "partition.metadata"

_VERSION = 0

Entry = TypeVar("Entry")


class EpochEntry(NamedTuple):
    """A leader epoch and the offset of its first record, wherever a log or a file has them."""

    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderEpochCheckpoint:
    """The entries of leader-epoch-checkpoint in the order of the file."""

    entries: tuple[EpochEntry, ...]
    version: int | None = _VERSION
    declared_count: int | None = None
    accepted: bool = True
    """True if Kafka accepts the file; it does not start on one that it refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionOffset:
    """One partition's offset."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCheckpoint:
    """The entries of an offset checkpoint in the order of the file, which has no meaning."""

    entries: tuple[PartitionOffset, ...]
    version: int | None = _VERSION
    declared_count: int | None = None
    accepted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMetadata:
    """The topic id that a partition's folder belongs to."""

    version: int | None = _VERSION
    topic_id: str | None
    accepted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checkpoint:
    version: int | None
    declared_count: int | None


def decode_leader_epochs(
    data: bytes,
) -> tuple[LeaderEpochCheckpoint, tuple[DecodeError, ...]]:
    """Read leader-epoch-checkpoint; epochs or offsets that do not rise are findings.

    Kafka takes entries that do not rise: a later one removes those that it contradicts.
    """
    findings = Findings()
    entries: list[EpochEntry] = []

    def read_entry(line: TextLine) -> EpochEntry | None:
        parts = split_white_space(line.text)
        if len(parts) != 2:
            return None
        epoch, start_offset = read_int32(parts[0]), read_int64(parts[1])
        if epoch is None or start_offset is None:
            return None
        return EpochEntry(epoch=epoch, start_offset=start_offset)

    def take(entry: EpochEntry, line: TextLine) -> None:
        path = f"line {line.number}"
        if entry.epoch < 0 or entry.start_offset < 0:
            findings.refuse(
                "a negative epoch or offset",
                position=line.position,
                path=path,
                expected="an epoch and its start offset",
                found=shown(line.text),
            )
        if entries:
            last = entries[-1]
            if entry.epoch <= last.epoch or entry.start_offset <= last.start_offset:
                findings.note(
                    "epochs and start offsets do not rise",
                    position=line.position,
                    path=path,
                    expected=f"both above {last.epoch} {last.start_offset}",
                    found=shown(line.text),
                )
        entries.append(entry)

    head = _read_checkpoint(data, findings, read_entry, take, "an epoch and its start offset")
    checkpoint = LeaderEpochCheckpoint(
        entries=tuple(entries),
        version=head.version,
        declared_count=head.declared_count,
        accepted=findings.accepted,
    )
    return checkpoint, findings.listed()


def decode_offsets(data: bytes) -> tuple[OffsetCheckpoint, tuple[DecodeError, ...]]:
    """Read any of the offset checkpoints; a partition listed twice is a finding."""
    findings = Findings()
    entries: list[PartitionOffset] = []
    seen: dict[tuple[str, int], int] = {}

    def read_entry(line: TextLine) -> PartitionOffset | None:
        parts = split_white_space(line.text)
        if len(parts) != 3:
            return None
        partition, offset = read_int32(parts[1]), read_int64(parts[2])
        if partition is None or offset is None:
            return None
        return PartitionOffset(topic=parts[0], partition=partition, offset=offset)

    def take(entry: PartitionOffset, line: TextLine) -> None:
        path = f"line {line.number}"
        if entry.partition < 0 or entry.offset < 0 or not entry.topic:
            findings.note(
                "a partition or an offset that cannot be",
                position=line.position,
                path=path,
                expected="topic, partition and offset",
                found=shown(line.text),
            )
        key = (entry.topic, entry.partition)
        if key in seen:
            findings.note(
                "the partition is listed again, Kafka takes the last",
                position=line.position,
                path=path,
                expected=f"one entry, that of line {seen[key]}",
                found=shown(line.text),
            )
        seen[key] = line.number
        entries.append(entry)

    head = _read_checkpoint(data, findings, read_entry, take, "topic, partition and offset")
    checkpoint = OffsetCheckpoint(
        entries=tuple(entries),
        version=head.version,
        declared_count=head.declared_count,
        accepted=findings.accepted,
    )
    return checkpoint, findings.listed()


def _read_checkpoint(
    data: bytes,
    findings: Findings,
    read_entry: Callable[[TextLine], Entry | None],
    take: Callable[[Entry, TextLine], None],
    expected: str,
) -> _Checkpoint:
    """Read a line with the version, one with the count, then a line for each entry.

    As in Kafka's CheckpointFile, a file that ends before the count has no entries and is fine.
    """
    _check_utf8(data, findings)
    lines = read_lines(data)
    version_line = next(lines, None)
    version = _head_number(version_line, "version", findings)
    if version is not None and version != _VERSION:
        findings.refuse(
            "unknown version",
            position=0,
            path="version",
            expected=str(_VERSION),
            found=str(version),
        )
    count_line = next(lines, None)
    declared = _head_number(count_line, "count", findings)
    if declared is not None and declared < 0:
        findings.refuse(
            "a negative count",
            position=count_line.position if count_line else 0,
            path="count",
            expected="the number of entries",
            found=str(declared),
        )
    count = 0
    for line in lines:
        count += 1
        entry = read_entry(line)
        if entry is None:
            findings.refuse(
                "unreadable line",
                position=line.position,
                path=f"line {line.number}",
                expected=expected,
                found=shown(line.text),
            )
        else:
            take(entry, line)
    if declared is not None and declared >= 0 and declared != count:
        findings.refuse(
            "the count and the entries differ",
            position=count_line.position if count_line else 0,
            path="count",
            expected=f"{declared} entries",
            found=str(count),
        )
    return _Checkpoint(version=version, declared_count=declared)


def _head_number(line: TextLine | None, path: str, findings: Findings) -> int | None:
    if line is None:
        return None
    number = read_int32(line.text)
    if number is None:
        findings.refuse(
            "unreadable line",
            position=line.position,
            path=path,
            expected="a whole number",
            found=shown(line.text),
        )
    return number


def _check_utf8(data: bytes, findings: Findings) -> None:
    bad = malformed_utf8(data)
    if bad is not None:
        findings.refuse("not UTF-8", position=bad, expected="text", found=f"0x{data[bad]:02x}")


def decode_partition_metadata(
    data: bytes,
) -> tuple[PartitionMetadata, tuple[DecodeError, ...]]:
    """Read partition.metadata; Kafka takes any version from 0 up and looks at no label."""
    findings = Findings()
    _check_utf8(data, findings)
    lines = read_lines(data)
    version_line, version_text = _labelled(lines, "version", len(data), findings)
    version = None if version_text is None else read_int32(version_text)
    if version_text is not None and (version is None or version < 0):
        findings.refuse(
            "unreadable value" if version is None else "unknown version",
            position=version_line,
            path="version",
            expected=str(_VERSION),
            found=shown(version_text),
        )
    topic_line, topic_text = _labelled(lines, "topic_id", len(data), findings)
    topic_id = None if topic_text is None else read_uuid(topic_text)
    if topic_text is not None and (topic_id is None or topic_id == ZERO_UUID):
        findings.refuse(
            "not a topic id",
            position=topic_line,
            path="topic_id",
            expected="a uuid of 22 base64 characters, not the zero uuid",
            found=shown(topic_text),
        )
    following = next(lines, None)
    if following is not None:
        findings.note(
            "Kafka reads two lines only, more follows",
            position=following.position,
            expected="the end of the file",
            found=shown(following.text),
        )
    metadata = PartitionMetadata(version=version, topic_id=topic_id, accepted=findings.accepted)
    return metadata, findings.listed()


def _labelled(
    lines: Iterator[TextLine], label: str, end: int, findings: Findings
) -> tuple[int, str | None]:
    """Read a line `label: value`; return its position and its value."""
    line = next(lines, None)
    if line is None:
        findings.refuse("a line is missing", position=end, path=label, expected=f"'{label}: …'")
        return end, None
    parts = split_label(line.text)
    if len(parts) != 2:
        findings.refuse(
            "unreadable line",
            position=line.position,
            path=label,
            expected=f"'{label}: …'",
            found=shown(line.text),
        )
        return line.position, None
    if parts[0] != label:
        findings.note(
            "another label than Kafka writes, it does not look at it",
            position=line.position,
            path=label,
            expected=f"'{label}'",
            found=shown(parts[0]),
        )
    return line.position, parts[1]


def encode_leader_epochs(entries: tuple[EpochEntry, ...]) -> bytes:
    """Write leader-epoch-checkpoint as Kafka does; epochs have to rise."""
    for earlier, later in pairwise(entries):
        assert earlier.epoch < later.epoch, "epochs rise"
        assert earlier.start_offset < later.start_offset, "start offsets rise"
    return _encode([f"{entry.epoch:d} {entry.start_offset:d}" for entry in entries])


def _encode(lines: list[str]) -> bytes:
    assert len(lines) <= INT32_MAX, "the count is an int32"
    return "".join(f"{line}\n" for line in (str(_VERSION), str(len(lines)), *lines)).encode()


def encode_partition_metadata(topic_id: str) -> bytes:
    """Write partition.metadata as Kafka does: no line end after the topic id."""
    assert read_uuid(topic_id) == topic_id, "a topic id in Kafka's spelling"
    assert topic_id != ZERO_UUID, "the zero uuid names no topic"
    return f"version: {_VERSION}\ntopic_id: {topic_id}".encode()
