"""The records that the first active controller of a cluster writes.

Owns where a format left them: bootstrap.checkpoint, or, since Kafka 4.4, the first snapshot. A
directory that has neither gets the levels of the newest release, as with Kafka.
"""

from __future__ import annotations

from pathlib import Path

from kraftool.decoders.framing import decode_record
from kraftool.decoders.names import BOOTSTRAP_CHECKPOINT
from kraftool.image.metadata_version import (
    KRAFT_VERSION,
    LATEST_LEVEL,
    METADATA_VERSION,
    release_levels,
)
from kraftool.image.replay import WrittenRecord
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT
from kraftool.storage.metadata_log import MetadataLog
from kraftool.storage.snapshots import batches_of
from kraftool.storage.source import FileSource


def bootstrap_records(directory: Path, log: MetadataLog) -> tuple[WrittenRecord, ...]:
    """The records, metadata.version first. Raises KraftoolError where a file is damaged."""
    paths = [directory / BOOTSTRAP_CHECKPOINT, Path(log.snapshot_path(BOOTSTRAP_SNAPSHOT))]
    for path in paths:
        records = _records_in(path) if path.exists() else ()
        if records:
            return records
    levels = release_levels(LATEST_LEVEL)
    return tuple(
        ("FeatureLevelRecord", 0, {"name": name, "featureLevel": levels[name]})
        for name in (METADATA_VERSION, *sorted(set(levels) - {METADATA_VERSION, KRAFT_VERSION}))
        if levels[name] > 0
    )


def _records_in(path: Path) -> tuple[WrittenRecord, ...]:
    with FileSource(str(path)) as source:
        return tuple(
            decode_record(record.value)
            for batch in batches_of(source.read_at, str(path))
            if not batch.is_control
            for record in batch.shared_records()
            if record.value is not None
        )
