"""The replay of a large log in parts, each from one snapshot to another one.

Owns the conditions under which the parts are as good as one replay of the whole log: all records
fit, each part reached its end, and its state there is that of the snapshot with which the next part
begins. The last part ends with the log; a torn tail may follow. It refuses to name a fault: only a
replay of the whole log shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.indexes import decode_offset_index
from kraftool.decoders.names import FileState, parse_checkpoint_name, segment_offset
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Walk, WalkState
from kraftool.directory.file_report import LARGEST_WHOLE, ReadOptions, read_file
from kraftool.image.image import EMPTY
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.placed_records import kept_records
from kraftool.reports.state.replay import Replay
from kraftool.reports.verify.log_replay import DirectoryReplay, SnapshotReplay
from kraftool.reports.verify.log_states import LogStates, StateHash
from kraftool.reports.verify.snapshot_replay import NotingLoader, log_start, segments_of
from kraftool.storage.entry import Entry

Progress = Callable[[str, int], None]


class ReplayRange(NamedTuple):
    """The offsets that one part replays."""

    start: int = 0
    """0, or the offset of a snapshot."""
    end: int | None = None
    """The offset of a later snapshot; None for the last part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPart:
    """The result of the replay of one part."""

    range: ReplayRange
    log_start: int | None = None
    base_hash: str = ""
    """The hash of the state of the snapshot with which it begins."""
    states: LogStates
    next: int = 0
    """One beyond the last offset that was replayed."""
    fits: bool = False
    """True if the replay began, and each record up to `next` fits the state before it."""


def replay_part(entries: Sequence[Entry], part: ReplayRange, progress: Progress) -> ReplayedPart:
    """Replay one part of the log that these files hold. Nothing is raised."""
    states, segments = LogStates(), segments_of(entries)
    replay = DirectoryReplay(log_start=log_start(segments), states=states)
    base_hash = ""
    snapshots = [entry for entry in entries if _offset(entry) > 0]
    try:
        if part.start == 0:
            replay.replay = Replay(loader=NotingLoader(EMPTY))
        else:
            base_hash = _load(replay, snapshots, part.start)
        wanted = (_offset(snapshot) for snapshot in snapshots)
        states.want(
            offset
            for offset in wanted
            if offset > part.start and (part.end is None or offset <= part.end)
        )
        if replay.replay is not None:
            _replay(replay, segments, entries, part, progress)
    except KraftoolError as error:
        replay.ended = error.message
    return ReplayedPart(
        range=part,
        log_start=replay.log_start,
        base_hash=base_hash,
        states=states,
        next=replay.next,
        fits=replay.fits,
    )


def joined(
    parts: Sequence[ReplayedPart], hashes: Mapping[str, str], log_end: int | None
) -> LogStates | None:
    """The states of the whole log; None if the parts do not show that all of it is sound.

    `hashes` are those of the snapshots' states by file. `log_end` is where another look at the log
    ended; a running node may have appended records since.
    """
    parts = sorted(parts, key=lambda part: part.range.start)
    first = parts[0]
    whole = LogStates(base_offset=first.states.base_offset, base_file=first.states.base_file)
    removals: frozenset[int] = frozenset()
    for part, following in zip_longest(parts, parts[1:]):
        base = part.states.base_file
        if not part.fits or (base and hashes.get(base) != part.base_hash):
            return None
        for offset, state in part.states.hashes.items():
            whole.hashes[offset] = StateHash(state.hash, removals | state.scram_removals)
        if following is not None:
            reached = part.states.hashes.get(following.range.start)
            if reached is None or reached.hash != following.base_hash:
                return None
            removals |= reached.scram_removals
    return whole if log_end is not None and parts[-1].next >= log_end else None


def _offset(entry: Entry) -> int:
    name = parse_checkpoint_name(entry.basename)
    return name.offset if name is not None and name.state is FileState.LIVE else -1


def _load(replay: DirectoryReplay, snapshots: Sequence[Entry], offset: int) -> str:
    """Begin with the snapshot at an offset, if it is whole; return the hash of its state."""
    for entry in snapshots:
        name = parse_checkpoint_name(entry.basename)
        if name is None or name.offset != offset:
            continue
        loading = SnapshotReplay(name, kept_records(entry.name))
        report = read_file(entry, ReadOptions(observers=(loading,)))
        image = loading.image() if report.log is not None and report.log.has_header else None
        if image is not None:
            replay.take(name, image, entry.name)
            return state_hash(image)
    return ""


def _replay(
    replay: DirectoryReplay,
    segments: Sequence[Entry],
    entries: Sequence[Entry],
    part: ReplayRange,
    progress: Progress,
) -> None:
    def is_over() -> bool:
        return bool(replay.ended) or (part.end is not None and replay.next >= part.end)

    for segment, following in zip_longest(segments, segments[1:]):
        if following is not None and (segment_offset(following.basename) or 0) <= replay.next:
            continue
        if is_over():
            return
        start = _position(segment, entries, replay.next)
        with segment.open() as source:
            for item in Walk(source.read_at, WalkState.at(start)).spans():
                if isinstance(item, Faulty):
                    if item.fault.cuts:
                        replay.damage(item)
                elif isinstance(item, BatchSpan):
                    replay.span(segment.name, item, item.at, item.end)
                else:
                    replay.batch(segment.name, item)
                progress(segment.name, item.position + item.size - start)
                if is_over():
                    return


def _position(segment: Entry, entries: Sequence[Entry], offset: int) -> int:
    """The place of a batch before an offset, by the index; 0 without an index. If the index
    is wrong, there is no batch at the place, and the part is not sound."""
    base = segment_offset(segment.basename) or 0
    name = segment.basename.removesuffix(".log") + ".index"
    index = next(
        (
            entry
            for entry in entries
            if entry.directory == segment.directory and entry.basename == name
        ),
        None,
    )
    if index is None or offset <= base or index.size > LARGEST_WHOLE:
        return 0
    with index.open() as source:
        known, findings = decode_offset_index(source.read_at(0, index.size), base)
    if findings:
        return 0
    # An entry has the last offset of a batch.
    places = (entry.position for entry in known.entries() if entry.offset < offset)
    return max(places, default=0)
