"""Who led and who voted, as the log's control records tell it, and whether that can be.

Owns the history of LeaderChange, KRaftVersion and KRaftVoters over segments and snapshots, compared
once all files are read, since a stream has them in any order. A snapshot's records count from the
last offset that it covers, as Kafka files them. It refuses to say which of two files is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.log_record import decode_control, position_in_file
from kraftool.reports.findings import Finding
from kraftool.reports.kinds import log as log_kinds
from kraftool.reports.kinds import snapshot as snap_kinds
from kraftool.reports.metadata_summary import MetadataSummary
from kraftool.reports.verify.notes import Notes

_MOST = 100_000
"""Leaders, and voters of all sets together, that are kept; a log has one leader an epoch."""
_NO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"
_HIGHEST_KRAFT_VERSION = 1

VoterKey = tuple[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one record says, and where."""

    offset: int
    file: str
    position: int | None
    epoch: int
    data: dict[str, Any]


@dataclass(slots=True)
class History:
    """The control records of one log."""

    leaders: dict[int, Told] = field(default_factory=dict)
    versions: list[Told] = field(default_factory=list)
    voters: list[Told] = field(default_factory=list)
    _room: int = _MOST
    """How many voters and endpoints may still be kept."""

    def batch(self, notes: Notes, batch: RecordBatch, *, opens_epoch: bool) -> None:
        """Take in a control batch whose CRC holds."""
        first = True
        for record in batch.records():
            item = decode_control(record)
            if first and opens_epoch and item.type != "LeaderChange":
                epoch_start(notes, batch)
            first = False
            if item.data is None:
                continue
            told = Told(
                offset=record.offset,
                file=notes.file,
                position=position_in_file(batch, record),
                epoch=batch.epoch,
                data=item.data,
            )
            if item.type == "LeaderChange":
                self._leader(notes, told)
            elif item.type == "KRaftVersion" and len(self.versions) < _MOST:
                self.versions.append(told)
            elif item.type == "KRaftVoters":
                self._voters(notes, told)

    def _voters(self, notes: Notes, told: Told) -> None:
        _one_set(notes, told)
        size = sum(1 + len(each["endpoints"]) for each in told.data["voters"])
        if size <= self._room:
            self._room -= size
            self.voters.append(told)
        else:
            text = "there are too many voters to compare them all"
            notes.add(log_kinds.NOT_CHECKED, text, position=told.position, offset=told.offset)

    def _leader(self, notes: Notes, told: Told) -> None:
        told = replace(told, data={"leaderId": told.data["leaderId"]})
        before = self.leaders.get(told.epoch)
        if before is None and len(self.leaders) < _MOST:
            self.leaders[told.epoch] = told
        elif before is not None and before.data["leaderId"] != told.data["leaderId"]:
            notes.add(
                log_kinds.TWO_LEADERS,
                f"epoch {told.epoch} had a leader at offset {before.offset}",
                position=told.position,
                offset=told.offset,
                field="leaderId",
                expected=str(before.data["leaderId"]),
                found=str(told.data["leaderId"]),
            )

    def findings(
        self, summary: MetadataSummary, snapshots: Sequence[SnapshotControls]
    ) -> Iterator[Finding]:
        """What the whole history shows, once all files were read."""
        voters = sorted(self.voters, key=lambda each: each.offset)
        versions = sorted(self.versions, key=lambda each: each.offset)
        yield from _versions(versions, voters)
        yield from _jumps(voters)
        log = summary.log
        if log is None:
            return
        for number, each in enumerate(snapshots):
            if not log.start_offset <= each.offset <= log.intact_end_offset:
                continue
            # Before the log's start only an older snapshot can tell, if the log goes on from it.
            older = [one for one in snapshots[:number] if one.offset >= log.start_offset]
            covered = log.start_offset == 0 or bool(older)
            for of_log, name in ((voters, "voters"), (versions, "kraft_version")):
                before = older[-1] if older else None
                yield from _against(each, of_log, before, name, covered=covered)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotControls:
    """What a snapshot's own control records say."""

    file: str
    offset: int
    voters: dict[str, Any] | None
    kraft_version: dict[str, Any] | None


def epoch_start(notes: Notes, batch: RecordBatch) -> None:
    text = f"epoch {batch.epoch} begins without a LeaderChange"
    notes.add(log_kinds.EPOCH_START, text, position=batch.position, offset=batch.base_offset)


def _keys(data: dict[str, Any]) -> list[VoterKey]:
    return [(each["voterId"], each["voterDirectoryId"]) for each in data["voters"]]


def _words(keys: Sequence[VoterKey] | set[VoterKey]) -> str:
    return ", ".join(f"{id}@{directory}" for id, directory in sorted(keys)) or "none"


def _one_set(notes: Notes, told: Told) -> None:
    keys = _keys(told.data)
    ids = [id for id, _ in keys]
    if not keys:
        text = "a voter set without voters"
    elif len(set(ids)) < len(ids):
        text = "a voter stands in the set twice"
    elif any(directory == _NO_UUID for _, directory in keys):
        text = "a voter without a directory id"
    elif any(not each["endpoints"] for each in told.data["voters"]):
        text = "a voter without an endpoint"
    else:
        return
    notes.add(
        log_kinds.VOTERS, text, position=told.position, offset=told.offset, found=_words(keys)
    )


def _jumps(voters: Sequence[Told]) -> Iterator[Finding]:
    for before, after in pairwise(voters):
        old, new = set(_keys(before.data)), set(_keys(after.data))
        if len(old - new) > 1 or len(new - old) > 1:
            yield log_kinds.VOTERS_JUMP.at(
                after.file,
                f"the set at offset {before.offset} differs by more than one voter",
                position=after.position,
                offset=after.offset,
                expected=_words(old),
                found=_words(new),
            )


def _versions(versions: Sequence[Told], voters: Sequence[Told]) -> Iterator[Finding]:
    level = 0
    for each in versions:
        found = each.data["kRaftVersion"]
        if found < level or not 0 <= found <= _HIGHEST_KRAFT_VERSION:
            yield log_kinds.KRAFT_VERSION.at(
                each.file,
                "the level goes back" if found < level else "a level that Kafka 4.4 does not have",
                position=each.position,
                offset=each.offset,
                field="kRaftVersion",
                expected=f"{level} to {_HIGHEST_KRAFT_VERSION}",
                found=str(found),
            )
        level = max(level, found)
    if versions and voters and voters[0].offset < versions[0].offset:
        first = voters[0]
        # Where the log begins later the version stands in a snapshot.
        yield log_kinds.VOTERS.at(
            first.file,
            "voters before any kraft.version that has them",
            position=first.position,
            offset=first.offset,
            expected=f"after offset {versions[0].offset}",
            found=str(first.offset),
        )


def _against(
    snapshot: SnapshotControls,
    of_log: Sequence[Told],
    older: SnapshotControls | None,
    name: str,
    *,
    covered: bool,
) -> Iterator[Finding]:
    """Compare what a snapshot says with the newest record below its offset."""
    below = [each for each in of_log if each.offset < snapshot.offset]
    newest = below[-1] if below else None
    expected: dict[str, Any] | None = None
    if newest is not None and (older is None or newest.offset >= older.offset):
        expected, where = newest.data, f"the log's record at offset {newest.offset}"
    elif older is not None:
        expected, where = getattr(older, name), f"the snapshot at {older.offset}"
    elif not covered:
        return
    else:
        where = "the log, which has none"
    found = getattr(snapshot, name)
    if expected is None and (found is None or newest is None):
        # A bootstrap checkpoint may have told it first, which the first leader then repeats.
        return
    if _comparable(expected) != _comparable(found):
        yield snap_kinds.LOG_VOTERS.at(
            snapshot.file,
            f"other than {where}",
            field="KRaftVoters" if name == "voters" else "KRaftVersion",
            expected=_told(expected),
            found=_told(found),
        )


def _comparable(data: dict[str, Any] | None) -> Any:
    """Without order: a snapshot lists voters in another one than the log."""
    if data is None or "voters" not in data:
        return data
    return sorted(
        (
            each["voterId"],
            each["voterDirectoryId"],
            sorted((one["name"], one["host"], one["port"]) for one in each["endpoints"]),
            each["kRaftVersionFeature"]["minSupportedVersion"],
            each["kRaftVersionFeature"]["maxSupportedVersion"],
        )
        for each in data["voters"]
    )


def _told(data: dict[str, Any] | None) -> str:
    if data is None:
        return "none"
    return _words(_keys(data)) if "voters" in data else str(data["kRaftVersion"])
