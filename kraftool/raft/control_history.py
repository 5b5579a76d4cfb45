"""Voter sets and kraft.version as a history by offset, which truncates with the log.

Owns which of them counts now, and which counted at an offset (KRaftControlRecordStateMachine in
Kafka). What stands in a snapshot is filed at the offset before its end, so that the bootstrap
snapshot's is at -1. It has always been read up to the end of the log.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kraftool.raft.names import ProtocolError, VoterSet
from kraftool.raft.records import Batch, KRaftVersion, Voters

T = TypeVar("T")


@dataclass(slots=True)
class History(Generic[T]):
    """Values by the offset from which each of them counts."""

    entries: list[tuple[int, T]] = field(default_factory=list)

    @property
    def last(self) -> tuple[int, T] | None:
        return self.entries[-1] if self.entries else None

    def add(self, offset: int, value: T) -> None:
        if self.entries and offset <= self.entries[-1][0]:
            raise ProtocolError(f"a control record at {offset} after {self.entries[-1][0]}")
        self.entries.append((offset, value))

    def at(self, offset: int) -> T | None:
        """The value that counted at an offset."""
        index = bisect_right(self.entries, offset, key=lambda entry: entry[0])
        return self.entries[index - 1][1] if index else None

    def truncate(self, offset: int) -> None:
        """Forget what stands at an offset or after it."""
        del self.entries[bisect_left(self.entries, offset, key=lambda entry: entry[0]) :]

    def forget_before(self, offset: int) -> None:
        """Forget what is before an offset, except the newest of it."""
        index = bisect_left(self.entries, offset, key=lambda entry: entry[0])
        del self.entries[: max(index - 1, 0)]


@dataclass(slots=True, kw_only=True)
class ControlHistory:
    """Both histories of one log."""

    static_voters: VoterSet = field(default_factory=VoterSet)
    voter_sets: History[VoterSet] = field(default_factory=History)
    kraft_versions: History[int] = field(default_factory=History)

    @property
    def voters(self) -> VoterSet:
        """The set that counts, committed or not; the static one until a record names another."""
        entries = self.voter_sets.entries
        return entries[-1][1] if entries else self.static_voters

    @property
    def voters_offset(self) -> int | None:
        """Return where the newest voters stand; None where no record names any."""
        last = self.voter_sets.last
        return last[0] if last is not None else None

    @property
    def kraft_version(self) -> int:
        last = self.kraft_versions.last
        return last[1] if last is not None else 0

    def append(self, batch: Batch) -> None:
        """Take note of the control records of a batch that the log took."""
        for offset, record in enumerate(batch.control, batch.base_offset):
            match record:
                case Voters(voters):
                    self.voter_sets.add(offset, voters)
                case KRaftVersion(level):
                    self.kraft_versions.add(offset, level)
                case _:
                    pass

    def truncate(self, offset: int) -> None:
        self.voter_sets.truncate(offset)
        self.kraft_versions.truncate(offset)

    def forget_before(self, snapshot_end: int) -> None:
        """Drop what a snapshot has in it, except the newest.

        A record at the snapshot's end is not in it, and may be truncated. (Kafka 4.3 drops all that
        is before such a record, and knows no voters once that is truncated.)
        """
        self.voter_sets.forget_before(snapshot_end)
        self.kraft_versions.forget_before(snapshot_end)

    def begin_after(self, snapshot_end: int, kraft_version: int, voters: VoterSet | None) -> None:
        """Begin anew with what a snapshot says."""
        self.voter_sets = History([] if voters is None else [(snapshot_end - 1, voters)])
        self.kraft_versions = History([(snapshot_end - 1, kraft_version)] if kraft_version else [])
