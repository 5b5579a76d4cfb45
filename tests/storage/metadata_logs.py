"""Metadata logs for tests: batches as a leader forms them, and folders compared byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.segment import scan
from kraftool.raft.names import Endpoint, OffsetAndEpoch, ReplicaKey, VersionRange, Voter, VoterSet
from kraftool.raft.records import Batch, ControlRecord
from kraftool.storage.files import Files, OpenFile
from kraftool.storage.log_config import LogConfig
from kraftool.storage.metadata_log import MetadataLog
from tests.support.places import PARTITION

NO_OP = encode_record("NoOpRecord", 0, {})
DIRECTORY_ID = "xtzWWN4bTjitpL3kfd9s5g"
VOTERS = VoterSet.of(
    Voter(
        key=ReplicaKey(1, DIRECTORY_ID),
        endpoints={"CONTROLLER": Endpoint("localhost", 9093)},
        kraft_version=VersionRange(0, 1),
    )
)


class _Unsynced(OpenFile):
    def sync(self) -> None:
        pass


class NoSync(Files):
    """A disk that is in no hurry: for tests that only look at what is written."""

    def opened(self, path: str, descriptor: int) -> OpenFile:
        return _Unsynced(path, descriptor)

    def sync_folder(self, path: str) -> None:
        pass


def opened(directory: Path, files: Files | None = None, **config: Any) -> MetadataLog:
    directory.mkdir(exist_ok=True)
    return MetadataLog.open(
        str(directory),
        LogConfig(**config),
        static_voters=VoterSet(),
        files=files if files is not None else NoSync(),
    )


def batch(
    base_offset: int, count: int = 1, *, epoch: int = 1, timestamp: int = 1_000, size: int = 0
) -> Batch:
    """A data batch of NoOps, or of records of a size that say nothing to Kafka."""
    record = NO_OP if not size else NO_OP + bytes(size)
    return Batch(
        base_offset=base_offset,
        last_offset=base_offset + count - 1,
        epoch=epoch,
        timestamp_ms=timestamp,
        data=[record] * count,
    )


def control(base_offset: int, *records: ControlRecord, epoch: int = 1) -> Batch:
    return Batch(
        base_offset=base_offset,
        last_offset=base_offset + len(records) - 1,
        epoch=epoch,
        timestamp_ms=1_000,
        control=records,
    )


def batches_of(log: MetadataLog) -> list[RecordBatch]:
    """All that a log serves, in the pieces in which it serves it."""
    batches: list[RecordBatch] = []
    at = log.start_offset
    while at < log.end_offset:
        batches += batches_in(log.read(at, 1 << 20))
        at = batches[-1].last_offset + 1
    return batches


def batches_in(data: bytes) -> list[RecordBatch]:
    """Batches, one after the other; nothing else may be in the bytes."""
    batches = []
    for parsed in scan(lambda at, size: data[at : at + size]):
        assert isinstance(parsed, RecordBatch)
        assert parsed.is_valid
        batches.append(parsed)
    return batches


def offsets(data: bytes) -> list[tuple[int, int]]:
    """First and last offset of each batch."""
    return [
        (record_batch.base_offset, record_batch.last_offset) for record_batch in batches_in(data)
    ]


def snapshot(log: MetadataLog, offset: int, epoch: int, timestamp: int = 1_000) -> OffsetAndEpoch:
    """Have a log write a snapshot."""
    writer = log.new_snapshot(OffsetAndEpoch(offset, epoch), timestamp, 0, None, now_ms=timestamp)
    writer.append(NO_OP)
    writer.freeze()
    return writer.snapshot_id


def downloadable(path: Path, offset: int, epoch: int) -> bytes:
    """The bytes of another node's snapshot."""
    other = opened(path)
    other.append([batch(0, offset, epoch=epoch)])
    writer = other.new_snapshot(OffsetAndEpoch(offset, epoch), 1_000, 1, VOTERS)
    writer.append(NO_OP)
    writer.freeze()
    part = other.read_snapshot(writer.snapshot_id, 0, 1 << 20)
    assert part is not None
    other.close()
    return part[1]


def names(directory: Path) -> list[str]:
    """The files of the partition."""
    return sorted(path.name for path in (directory / PARTITION).iterdir())


def content(directory: Path) -> dict[str, bytes]:
    """Every file below a directory, but for the lock, which has no content."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }
