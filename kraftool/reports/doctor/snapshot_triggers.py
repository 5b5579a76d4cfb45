"""When a node makes a snapshot, by its settings: after so many bytes, after so long a time.

Owns the defaults. A directory without its server.properties is held to them with a wide margin,
since its settings may be others.
"""

from __future__ import annotations

from typing import NamedTuple

from kraftool.directory.metadata_summary import LogExtent
from kraftool.reports.doctor.model import ExaminedDirectory

_BYTES_KEY = "metadata.log.max.record.bytes.between.snapshots"
_TIME_KEY = "metadata.log.max.snapshot.interval.ms"
_BYTES, _TIME = 20 << 20, 3_600_000
_LEAST_BYTES = 1 << 20
"""A restart begins to count anew, so a setting far below the size of a log says little."""
_TIMED_LEVEL = 8
"""metadata.version 3.4-IV0: Kafka 3.3 had no trigger by time."""


class Trigger(NamedTuple):
    """An action that should have happened, with where the limit comes from."""

    by_bytes: int
    by_time_ms: int
    """0 where time brings about none."""
    words: str


def triggers(examined: ExaminedDirectory) -> Trigger:
    """Limits that a healthy node never exceeds: several times what it is set to."""
    known = examined.server is not None
    size = examined.number(_BYTES_KEY, _BYTES)
    time = examined.number(_TIME_KEY, _TIME)
    level = examined.summary.feature("metadata.version")
    if level is None or level.level < _TIMED_LEVEL:
        time = 0
    margin = 3 if known else 24
    settings = f"{_BYTES_KEY}={size}, {_TIME_KEY}={time}"
    words = settings if known else f"the defaults {settings}"
    return Trigger(
        by_bytes=max(size, _LEAST_BYTES) * margin, by_time_ms=max(time, 0) * margin, words=words
    )


def overdue(examined: ExaminedDirectory, log: LogExtent, since: int | None) -> str:
    """Return which limit a log has passed since a time, in words; empty if none.

    Time without a leader does not count: a cluster that was down makes no snapshot. Neither does
    time before the last start of the node's process, which counts from its start.
    """
    trigger = triggers(examined)
    if since is None or log.last_timestamp is None:
        return ""
    since = max(since, examined.statistics.last_start(examined.node_id))
    waited = log.last_timestamp - since
    for election in examined.statistics.elections:
        if election.before_timestamp >= 0:
            waited -= max(election.timestamp - max(election.before_timestamp, since), 0)
    if trigger.by_time_ms and waited > trigger.by_time_ms:
        return (
            f"{waited / 3_600_000:.1f} hours" if waited >= 3_600_000 else f"{waited // 60_000} min"
        )
    return ""
