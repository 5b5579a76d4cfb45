"""A data directory looked at again and again, reading only what is new of what may be large.

Owns which files a poll reads: the two small ones each time, of the log what was added, of
checkpoints, once, the control records at their beginning. It writes nothing and takes no lock.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.log_record import decode_batch
from kraftool.decoders.names import (
    META_PROPERTIES,
    FileState,
    parse_checkpoint_name,
    segment_offset,
    write_segment_name,
)
from kraftool.decoders.quorum_state import QuorumState
from kraftool.decoders.walk import Faulty, Walk
from kraftool.directory.directory_summary import record_voters, static_voters, voters_of_ids
from kraftool.directory.metadata_summary import (
    LastLeaderChange,
    NodeIds,
    SeenVoters,
    VoterSource,
)
from kraftool.raft.names import OffsetAndEpoch, VoterSet
from kraftool.reports.files.state_files import read_election, read_ids
from kraftool.storage.entry import Entry, EntryProblem
from kraftool.storage.lock import LockState, lock_holder
from kraftool.storage.paths import Location, LocationKind, open_path
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.watched_segment import ControlSeen, WatchedSegment

_MOST_CHANGES = 200
POLL_S = 0.25
"""How long a poll goes on reading what is old."""


@dataclass(slots=True)
class DirectoryWatch:
    """One PATH. `read` as often as wanted, from one thread at a time."""

    path: str
    _location: Location | None = None
    _segments: dict[str, WatchedSegment] = field(default_factory=dict)
    _checkpoints: dict[str, tuple[SeenVoters, ...]] = field(default_factory=dict)

    def read(self, budget_s: float = POLL_S) -> DirectoryReading:
        """Return what it shows now, with a problem for what cannot be read."""
        at_ms = int(time.time() * 1000)
        try:
            return self._read(at_ms, budget_s)
        except KraftoolError as error:
            problem = error.message.removeprefix(f"{self.path}: ")
            if problem.startswith(f"{self.path} "):
                problem = f"it {problem.removeprefix(f'{self.path} ')}"
            return DirectoryReading(path=self.path, at_ms=at_ms, problem=problem, is_readable=False)

    def _read(self, at_ms: int, budget_s: float) -> DirectoryReading:
        location = self._opened()
        entries, problems = [], []
        for entry in location.entries():
            if isinstance(entry, EntryProblem):
                problems.append(entry.reason)
            else:
                entries.append(entry)
        by_name = {entry.basename: entry for entry in entries}
        is_expected = location.kind is LocationKind.DATA_DIRECTORY and bool(entries)
        node = _meta(by_name.get(META_PROPERTIES), problems, is_expected=is_expected)
        state = _state(by_name.get("quorum-state"), problems)
        until = time.monotonic() + budget_s
        lock = lock_holder(location.data_directory)
        is_live = lock.state is LockState.HELD
        segments = self._read_segments(entries, by_name, until, problems, is_live=is_live)
        snapshots = self._read_checkpoints(entries, problems)
        controls = [control for one in segments for control in one.controls.values()]
        sets = self._voter_sets(controls)
        voters, before = _in_force(sets, controls, state, _static(location))
        ends = [segment for segment in segments if segment.end_offset is not None]
        last = ends[-1] if ends else None
        damage = ""
        damaged = next((segment for segment in segments if segment.damaged_at is not None), None)
        if damaged is not None:
            name = write_segment_name(damaged.base_offset, ".log")
            damage = f"{name} is damaged from position {damaged.damaged_at} on"
            problems.append(damage)
        if not entries and not problems:
            problems.append("it has no file of Kafka")
        return DirectoryReading(
            path=self.path,
            at_ms=at_ms,
            node=node,
            quorum_state=state,
            log_end_offset=last.end_offset
            if last is not None
            else (snapshots[-1].offset if snapshots else None),
            last_epoch=last.last_epoch
            if last is not None
            else (snapshots[-1].epoch if snapshots else None),
            last_timestamp=last.last_timestamp if last is not None else None,
            snapshots=snapshots,
            voters=voters,
            previous_voters=before,
            voter_sets=sets[-_MOST_CHANGES:],
            leader_changes=_leader_changes(controls),
            lock=lock.state,
            lock_pid=lock.pid,
            problem="; ".join(problems),
            damage=damage,
            is_complete=all(segment.is_complete for segment in segments),
            segments=len(segments),
            size=sum(entry.size for entry in entries if segment_offset(entry.basename) is not None),
            stamp=tuple(
                (entry.path, entry.size, entry.mtime_ns)
                for entry in entries
                if not entry.basename.endswith((".index", ".timeindex", ".lock"))
            ),
        )

    def _opened(self) -> Location:
        """The directory, opened again as long as it is not there."""
        if self._location is None:
            location = open_path(self.path)
            if location.kind in (LocationKind.FILE, LocationKind.TAR):
                raise KraftoolError(f"{self.path} is not a directory")
            self._location = location
        return self._location

    def _read_segments(
        self,
        entries: Iterable[Entry],
        by_name: dict[str, Entry],
        until: float,
        problems: list[str],
        *,
        is_live: bool,
    ) -> list[WatchedSegment]:
        """The segments in the order of the log; the newest has the first claim on the time."""
        present = {
            entry.path: (base, entry)
            for entry in entries
            if (base := segment_offset(entry.basename)) is not None
        }
        for path in [path for path in self._segments if path not in present]:
            del self._segments[path]
        readings = []
        for path, (base, entry) in sorted(present.items(), key=lambda segment: -segment[1][0]):
            segment = self._segments.setdefault(path, WatchedSegment(base_offset=base))
            try:
                index = by_name.get(entry.basename[:-4] + ".index")
                segment.read_more(entry, index, until, is_live=is_live)
            except KraftoolError as error:
                problems.append(error.message)
            readings.append(segment)
        return readings[::-1]

    def _read_checkpoints(
        self, entries: Iterable[Entry], problems: list[str]
    ) -> tuple[OffsetAndEpoch, ...]:
        """The id of each, by their names; their voters are read once, as they stay."""
        checkpoints: dict[OffsetAndEpoch, Entry] = {}
        for checkpoint in entries:
            name = parse_checkpoint_name(checkpoint.basename)
            if name is not None and name.state is FileState.LIVE and name.offset is not None:
                checkpoints[OffsetAndEpoch(name.offset, name.epoch or 0)] = checkpoint
        kept = {}
        for (offset, _), entry in sorted(checkpoints.items()):
            try:
                known = self._checkpoints.get(entry.path)
                kept[entry.path] = _checkpoint_voters(entry, offset) if known is None else known
            except KraftoolError as error:
                problems.append(error.message)
        self._checkpoints = kept
        return tuple(sorted(checkpoints))

    def _voter_sets(self, controls: Iterable[ControlSeen]) -> tuple[SeenVoters, ...]:
        """Every voter set that a record tells, the oldest first."""
        sets = {
            -1 if voters.offset is None else voters.offset: voters
            for known in self._checkpoints.values()
            for voters in known
        }
        for control in controls:
            if control.type == "KRaftVoters":
                sets[control.offset] = SeenVoters(
                    source=VoterSource.RECORD,
                    voters=record_voters(control.data),
                    offset=control.offset,
                    file="log",
                )
        return tuple(sets[offset] for offset in sorted(sets))


def _in_force(
    sets: Iterable[SeenVoters],
    controls: Iterable[ControlSeen],
    state: QuorumState | None,
    static: VoterSet,
) -> tuple[SeenVoters | None, SeenVoters | None]:
    """The newest voter set and the one before it, by the records; else what else tells."""
    if ordered := [*sets]:
        newest = ordered[-1]
        # A snapshot repeats the set that the log had: that is no change.
        while len(ordered) > 1 and ordered[-2].voters == newest.voters:
            newest = ordered[-2]
            del ordered[-1]
        return newest, (ordered[-2] if len(ordered) > 1 else None)
    if static:
        return SeenVoters(source=VoterSource.PROPERTIES, voters=static), None
    changes = [control for control in controls if control.type == "LeaderChange"]
    last_change = max(changes, key=lambda control: control.offset, default=None)
    if last_change is not None:
        ids = voters_of_ids(voter["voterId"] for voter in last_change.data["voters"])
        return (
            SeenVoters(source=VoterSource.LEADER_CHANGE, voters=ids, offset=last_change.offset),
            None,
        )
    if state is not None and state.current_voters:
        ids = voters_of_ids(state.current_voters)
        return SeenVoters(source=VoterSource.QUORUM_STATE, voters=ids), None
    return None, None


def _meta(entry: Entry | None, problems: list[str], *, is_expected: bool) -> NodeIds:
    if entry is None:
        if is_expected:
            problems.append("there is no meta.properties")
        return NodeIds()
    try:
        return read_ids(entry)[0]
    except KraftoolError as error:
        problems.append(error.message)
        return NodeIds()


def _state(entry: Entry | None, problems: list[str]) -> QuorumState | None:
    if entry is None:
        return None
    try:
        state, refused = read_election(entry)
    except KraftoolError as error:
        problems.append(error.message)
        return None
    if refused is not None:
        problems.append(f"its quorum-state: {refused.text}")
    return state


def _checkpoint_voters(entry: Entry, offset: int) -> tuple[SeenVoters, ...]:
    """The voters of a checkpoint's control records, which stand before all others."""
    voter_sets = []
    with entry.open() as source:
        for item in Walk(source.read_at):
            if isinstance(item, Faulty) or not item.is_control:
                break
            try:
                voter_sets += [
                    record_voters(record.data)
                    for record in decode_batch(item)
                    if record.type == "KRaftVoters" and record.data is not None
                ]
            except DecodeError:
                break
    return tuple(
        SeenVoters(
            source=VoterSource.RECORD, voters=voter_set, offset=offset - 1, file=entry.basename
        )
        for voter_set in voter_sets[-1:]
    )


def _leader_changes(controls: Iterable[ControlSeen]) -> tuple[LastLeaderChange, ...]:
    changes = sorted(
        (control for control in controls if control.type == "LeaderChange"),
        key=lambda control: control.offset,
    )
    return tuple(
        LastLeaderChange(
            leader_id=control_seen.data["leaderId"],
            epoch=control_seen.epoch,
            offset=control_seen.offset,
            timestamp=control_seen.timestamp,
            voters=tuple(one["voterId"] for one in control_seen.data["voters"]),
            granting_voters=tuple(one["voterId"] for one in control_seen.data["grantingVoters"]),
        )
        for control_seen in changes[-_MOST_CHANGES:]
    )


def _static(location: Location) -> VoterSet:
    static_setting = location.server.get("controller.quorum.voters") if location.server else None
    return static_voters(static_setting or "")
