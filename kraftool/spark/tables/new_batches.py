"""The search for what is new in a log since the latest run, by its headers, in a Spark task.

Owns the step from a log's files and its memory to ranges that are to be read, cut for the tasks to
come. Behind the last whole batch lies the tail: a batch that is half written, damage, or a segment
that cannot be opened. Its rows are replaced as soon as it changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from kraftool.arrow.fleet import FleetFile
from kraftool.arrow.splits import SPLIT_BYTES, Split, pieces
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.tables.memory import ClusterKey, LogMemory
from kraftool.storage.tail import ListedSegment, LogRewrite, Range, TailState, read_tail


@dataclass(frozen=True, slots=True, kw_only=True)
class TailTask:
    """A log whose new batches are to be read. `files` are its segments, in order."""

    key: ClusterKey
    folder: str
    files: tuple[FleetFile, ...]
    before: LogMemory | None
    split_bytes: int = SPLIT_BYTES

    @property
    def size(self) -> int:
        """Bytes that are new, about; opening it costs something in any case."""
        read = 0
        if self.before is not None:
            state = self.before.state
            read = sum(file.size for file in self.files if file.basename < state.segment)
            read += state.position
        return max(sum(file.size for file in self.files) - read, 0) + (64 << 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTail:
    """The result of a tail. The tail is None if it is as it was."""

    key: ClusterKey
    folder: str
    state: TailState
    new: tuple[Split, ...] = ()
    tail: tuple[Split, ...] | None = None
    tail_listing: str = ""
    change: LogRewrite | None = None
    unreadable: tuple[str, ...] = ()


TailsByCluster = Mapping[ClusterKey, Mapping[str, ReadTail]]
"""The results for each cluster, by the folders of its logs."""


def listing_of(files: Iterable[FleetFile], *more: object) -> str:
    """Files as they are listed, as a short text that is another one if anything has changed."""
    digest = hashlib.sha256(repr(more).encode("utf-8", "backslashreplace"))
    for file in files:
        text = repr((file.name, file.size, file.mtime_ns, file.etag, file.directory))
        digest.update(text.encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:32]


def read_new(task: TailTask) -> ReadTail:
    """Read what is new of one log."""
    before = task.before or LogMemory(listing="", state=TailState())
    state, change, new = before.state, None, list[Split]()
    with ExitStack() as opened:
        segments, unreadable = _segments(task.files, opened)
        lost = task.files[len(segments)].basename if unreadable else None
        # What was read and cannot be compared would look like a truncation.
        if segments and (lost is None or lost > state.segment):
            try:
                read = read_tail(state, segments)
                new = [
                    split for new_range in read.ranges for split in _cut(task, segments, new_range)
                ]
                state, change = read.state, read.change
            except KraftoolError:
                unreadable = [task.files[-1].name]
                new = []
    tail, listing = _tail(task.files, state), ""
    if tail or unreadable:
        starts = [split.start for split in tail]
        listing = listing_of((split.file for split in tail), starts, unreadable)
    same = change is None and not new and listing == before.tail
    return ReadTail(
        key=task.key,
        folder=task.folder,
        state=state,
        new=tuple(new),
        tail=None if same else tuple(tail),
        tail_listing=listing,
        change=change,
        unreadable=tuple(unreadable),
    )


def _segments(
    files: Sequence[FleetFile], opened: ExitStack
) -> tuple[list[ListedSegment], list[str]]:
    """The segments up to the first that cannot be opened, and what cannot be."""
    segments: list[ListedSegment] = []
    for file in files:
        try:
            segment = file.segment(opened)
            segment.read_at(0, 1)
        except KraftoolError:
            return segments, [file.name]
        segments.append(segment)
    return segments, []


def _cut(task: TailTask, segments: Sequence[ListedSegment], new_range: Range) -> list[Split]:
    file = next(fleet_file for fleet_file in task.files if fleet_file.basename == new_range.segment)
    split = Split(
        file=file, start=new_range.start, stop=new_range.stop, generation=new_range.generation
    )
    if split.size <= task.split_bytes:
        return [split]
    read_at = next(segment.read_at for segment in segments if segment.name == new_range.segment)
    return pieces(split, task.split_bytes, read_at)


def _tail(files: Sequence[FleetFile], state: TailState) -> list[Split]:
    """Return what lies behind the place up to which a log was read."""
    tail = []
    for file in files:
        start = state.position if file.basename == state.segment else 0
        if file.basename >= state.segment and file.size > start:
            tail.append(Split(file=file, start=start, generation=state.generation))
    return tail
