"""The division of files into tasks: byte ranges of large ones at batch borders, small ones
together.

Owns finding the borders without decoding anything. A border is a place at which a walk over the
whole file would be too, so that the ranges together give what the whole file gives, around damage
as well: the offset index leads to one, or the walk itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from kraftool.arrow.fleet import FleetDirectory, FleetFile
from kraftool.decoders.batch import HEADER_SIZE, LOG_OVERHEAD, RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.indexes import OffsetIndex, decode_offset_index
from kraftool.decoders.segment import ReadAt, plausible
from kraftool.decoders.walk import Faulty, Walk, WalkState
from kraftool.storage.entry import EntryPlace

SPLIT_BYTES = 64 << 20
_BATCHES = (".log", ".checkpoint")
MOST_FILES = 200
"""Files that one task reads at the most."""
_FEWEST_TASKS = 16
"""A fleet of small files is still spread over so many tasks, for as many cores."""
_SMALLEST_TASK = 1 << 20
_LARGEST_INDEX = 64 << 20
_TRIES = 4
"""Index entries that are tried before the batches are walked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A range of one file: the batches that begin in it."""

    file: FleetFile
    start: int = 0
    stop: int | None = None
    generation: int = 0

    @property
    def size(self) -> int:
        return (self.file.size if self.stop is None else self.stop) - self.start


def cut(
    read_at: ReadAt,
    size: int,
    split_bytes: int,
    index: OffsetIndex | None = None,
    start: int = 0,
) -> list[tuple[int, int | None]]:
    """Cut a file, from a border on, into ranges of about equal size, none much larger than
    `split_bytes`. The last one has no end."""
    pieces = -(-(size - start) // split_bytes)
    cuts = [start]
    for number in range(1, pieces):
        target = start + number * (size - start) // pieces
        if target > cuts[-1]:
            border = _by_index(read_at, index, target) if index is not None else None
            border = _by_walk(read_at, cuts[-1], target) if border is None else border
            if border is None or border >= size:
                break
            cuts.append(border)
    return [*zip(cuts, [*cuts[1:], None], strict=True)]


def _by_index(read_at: ReadAt, index: OffsetIndex, target: int) -> int | None:
    """The first border from `target` on, or a later one, that an entry of the offset index leads
    to, if the batches there bear it out.

    Two whole batches that follow on each other are more than damage before them can hide: a walk
    comes to the first of them.
    """
    numbers = range(len(index))
    at = bisect_left(numbers, target, key=lambda number: index.entry(number).position)
    for entry in map(index.entry, numbers[at : at + _TRIES]):
        batch = _sound(read_at, entry.position)
        if batch is not None and batch.base_offset <= entry.offset:
            following = _sound(read_at, entry.position + batch.size)
            if following is not None and following.base_offset == batch.last_offset + 1:
                return entry.position
    return None


def _sound(read_at: ReadAt, position: int) -> RecordBatch | None:
    """The batch at a position, if there is one whose CRC holds."""
    data = read_at(position, HEADER_SIZE)
    header = RecordBatch.read(data).header if len(data) == HEADER_SIZE else None
    if header is None or not plausible(header):
        return None
    size = LOG_OVERHEAD + header.length
    batch = RecordBatch.read(read_at(position, size), position)
    return batch if batch.size == size and batch.is_valid else None


def _by_walk(read_at: ReadAt, known: int, target: int) -> int | None:
    """The first sound batch from `target` on, by a walk from a border."""
    for item in Walk(read_at, WalkState.at(known)).spans():
        if isinstance(item, Faulty) or item.position + item.size <= target:
            continue
        if isinstance(item, RecordBatch):
            batches: Iterable[RecordBatch] = (item,)
        else:
            batches = item.read_batches(item.at, item.end)
        for batch in batches:
            if batch.position >= target:
                return batch.position
    return None


def splits_of(
    file: FleetFile,
    split_bytes: int = SPLIT_BYTES,
    *,
    beside: FleetFile | None = None,
) -> list[Split]:
    """Cut one file, with the help of the offset index beside it if there is one.

    A file that cannot be read is one split: its reader tells why.
    """
    if file.size <= split_bytes:
        return [Split(file=file)]
    try:
        with file.open() as source:
            return pieces(Split(file=file), split_bytes, source.read_at, _index(beside))
    except KraftoolError:
        return [Split(file=file)]


def pieces(
    split: Split, split_bytes: int, read_at: ReadAt, index: OffsetIndex | None = None
) -> list[Split]:
    """Cut a range at batch borders."""
    end = split.file.size if split.stop is None else split.stop
    return [
        replace(split, start=start, stop=split.stop if stop is None else stop)
        for start, stop in cut(read_at, end, split_bytes, index, split.start)
    ]


def _index(file: FleetFile | None) -> OffsetIndex | None:
    if file is None or file.size > _LARGEST_INDEX:
        return None
    try:
        with file.open() as source:
            data = source.read_at(0, file.size)
    except KraftoolError:
        return None
    base = file.basename.partition(".")[0]
    index, findings = decode_offset_index(data, int(base) if base.isdigit() else 0)
    return None if findings else index


def plan(
    files: Iterable[FleetFile], everything: Iterable[FleetFile], split_bytes: int = SPLIT_BYTES
) -> list[list[Split]]:
    """All tasks: the ranges of large files, and small files packed together."""
    indexes = {file.name: file for file in everything if file.basename.endswith(".index")}
    chosen = list(files)
    total = sum(file.size for file in chosen)
    pack = min(max(total // _FEWEST_TASKS, _SMALLEST_TASK), split_bytes)
    tasks: list[list[Split]] = []
    for splits in (
        splits_of(file, split_bytes, beside=indexes.get(file.name.removesuffix(".log") + ".index"))
        for file in chosen
        if file.size > pack
    ):
        tasks += [[split] for split in splits]
    tasks += packed((Split(file=file) for file in chosen if file.size <= pack), pack)
    return tasks


class _HasSize(Protocol):
    @property
    def size(self) -> float: ...


_Sized = TypeVar("_Sized", bound=_HasSize)


def packed(things: Iterable[_Sized], size: float) -> Iterator[list[_Sized]]:
    """Small things in groups of about a size, so that a task is worth its start."""
    group: list[_Sized] = []
    weight = 0.0
    for thing in things:
        if group and (weight + thing.size > size or len(group) >= MOST_FILES):
            yield group
            group, weight = [], 0.0
        group.append(thing)
        weight += thing.size
    if group:
        yield group


def _has_state(file: FleetFile) -> bool:
    """True for a log or a snapshot; bootstrap.checkpoint is in directories of brokers too."""
    return file.basename.endswith(_BATCHES) and (file.is_named or file.place is not EntryPlace.ROOT)


def by_directory(files: Iterable[FleetFile]) -> Iterator[list[Split]]:
    """Whole directories that have a log or a snapshot, small ones together."""
    directories: dict[FleetDirectory, list[Split]] = {}
    for file in files:
        directories.setdefault(file.directory, []).append(Split(file=file))
    group: list[Split] = []
    for splits in directories.values():
        if not any(_has_state(split.file) for split in splits):
            continue
        size = sum(split.size for split in (*group, *splits))
        if group and (size > _SMALLEST_TASK or len(group) + len(splits) > MOST_FILES):
            yield group
            group = []
        group = [*group, *splits]
    if group:
        yield group
