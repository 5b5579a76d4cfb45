"""The settings of the metadata log and of its snapshots.

Owns the defaults of `metadata.log.*` and `metadata.max.retention.*`. It refuses to read a
server.properties.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """One log. Negative retention is none."""

    segment_bytes: int = 1 << 30
    """metadata.log.segment.bytes."""
    segment_ms: int = 7 * 24 * 3_600_000
    """metadata.log.segment.ms."""
    retention_bytes: int = 100 << 20
    """metadata.max.retention.bytes: of segments and snapshots together."""
    retention_ms: int = 7 * 24 * 3_600_000
    """metadata.max.retention.ms: the age of a snapshot's last record."""
    snapshot_after_bytes: int = 20 << 20
    """metadata.log.max.record.bytes.between.snapshots."""
    snapshot_after_ms: int = 3_600_000
    """metadata.log.max.snapshot.interval.ms; 0 for none by time."""
    index_interval_bytes: int = 4096
    """How many bytes of a segment an index entry stands for, about."""
    index_bytes: int = 10 << 20
    """How large an index may grow before its segment ends."""
