"""The newest of the watched logs, and the reason why another one is behind the quorum.

Owns the comparison of logs, which is Kafka's own: the higher epoch first, then the later end. A log
that a running node is a moment behind with is current: directories are read one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.client.model import leader_end
from kraftool.client.thresholds import LAG_MS, LAG_RECORDS
from kraftool.directory.metadata_summary import SeenVoters
from kraftool.storage.lock import LockState
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.picture import Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Currency:
    """The age of the log of a directory."""

    stale: str = ""
    """Why it is older than the newest log that is known; empty where it is not."""
    idle: str = ""
    """Why nobody goes on writing it; empty where a process may."""

    @property
    def is_current(self) -> bool:
        return not self.stale and not self.idle

    @property
    def words(self) -> str:
        return "; ".join(filter(None, (self.stale, self.idle)))


CURRENT = Currency()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Newest:
    """The log that the others are compared with."""

    name: str
    epoch: int
    end: int
    timestamp: int | None
    cluster_id: str | None


def _key(reading: DirectoryReading) -> tuple[int, int]:
    return (
        -1 if reading.last_epoch is None else reading.last_epoch,
        -1 if reading.log_end_offset is None else reading.log_end_offset,
    )


def newest_directory(picture: Picture) -> int:
    """Return the number of the directory with the newest log; the first one where none has any."""
    numbers = range(len(picture.directories))
    return max(numbers, key=lambda number: _key(picture.directories[number]), default=0)


def currencies(picture: Picture) -> tuple[Currency, ...]:
    """Return how current each directory of the picture is."""
    return tuple(currency(picture, directory) for directory in picture.directories)


def currency(picture: Picture, reading: DirectoryReading) -> Currency:
    """Return how current a directory of the picture is."""
    newest = _newest(picture)
    if newest is None or reading.log_end_offset is None:
        return CURRENT
    idle = ""
    if reading.lock in (LockState.FREE, LockState.MISSING):
        idle = "no process holds its lock"
    if None not in (newest.cluster_id, reading.node.cluster_id) and (
        newest.cluster_id != reading.node.cluster_id
    ):
        return Currency(stale=f"it is of another cluster, {reading.node.cluster_id}", idle=idle)
    reasons = [*_behind(reading, newest, is_idle=bool(idle)), *_removed(picture, reading)]
    return Currency(stale="; ".join(reasons), idle=idle)


def _newest(picture: Picture) -> _Newest | None:
    """The leader's log where a node leads, or else the newest directory's."""
    view = picture.view
    if view is not None and view.quorum is not None and view.epoch is not None:
        return _Newest(
            name="the leader",
            epoch=view.epoch,
            end=leader_end(view),
            timestamp=picture.at_ms,
            cluster_id=view.cluster_id,
        )
    if not picture.directories:
        return None
    reading = picture.directories[newest_directory(picture)]
    epoch, end = _key(reading)
    return _Newest(
        name=reading.path,
        epoch=epoch,
        end=end,
        timestamp=reading.last_timestamp,
        cluster_id=reading.node.cluster_id,
    )


def _behind(reading: DirectoryReading, newest: _Newest, *, is_idle: bool) -> Iterator[str]:
    epoch, end = _key(reading)
    if (epoch, end) >= (newest.epoch, newest.end):
        return
    lag = newest.end - end
    where = f"ends at {end:,}"
    if lag > 0:
        where += f", {lag:,} behind {newest.name}"
    else:
        where += f" in epoch {epoch}, and {newest.name} is at epoch {newest.epoch}"
    stands_still = None not in (reading.last_timestamp, newest.timestamp) and (
        (newest.timestamp or 0) - (reading.last_timestamp or 0) > LAG_MS
    )
    if is_idle:
        yield where
    elif stands_still:
        yield f"{where}; it does not grow"
    elif lag > LAG_RECORDS:
        yield where


def _removed(picture: Picture, reading: DirectoryReading) -> Iterator[str]:
    """Say that the newest voter set lacks a node that an older one has."""
    node = reading.node
    sets = picture.directories[newest_directory(picture)].voter_sets
    if not any(_votes(voters, reading) for voters in (reading.voters, *reading.voter_sets, *sets)):
        return
    if sets and not _votes(sets[-1], reading):
        kept = [number for number, voters in enumerate(sets) if _votes(voters, reading)]
        removal = sets[kept[-1] + 1 if kept else 0]
        offset = removal.offset
        when = "" if offset is None else f" at offset {offset}"
        if offset is not None and (removal.file != "log" or not kept):
            when = f" before offset {offset + 1}"
        yield f"node {node.node_id} was removed as a voter{when}"
        return
    view = picture.view
    if view is not None and view.voters and node.node_id is not None:
        ids = {(voter.replica.id, voter.replica.directory_id) for voter in view.voters}
        if not any(_same(id, key, reading) for id, key in ids):
            yield f"node {node.node_id} is not a voter of the live quorum"


def _votes(voters: SeenVoters | None, reading: DirectoryReading) -> bool:
    return voters is not None and any(
        _same(voter.id, voter.directory_id, reading) for voter in voters.voters
    )


def _same(node_id: int, directory_id: str | None, reading: DirectoryReading) -> bool:
    mine = reading.node
    return node_id == mine.node_id and (
        None in (directory_id, mine.directory_id) or directory_id == mine.directory_id
    )
