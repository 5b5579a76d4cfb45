"""The division of files into tasks: byte ranges of large ones at batch borders, small ones
together.

Owns finding the borders without decoding anything. A border is a place at which a walk over the
whole file would be too, so that the ranges together give what the whole file gives, around
damage as well: headers are walked as long as they follow on each other, and where they do not the
walk itself says where the next batch is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from kraftool.arrow.fleet import FleetDirectory, FleetFile
from kraftool.decoders.batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader, RecordBatch
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
_CHUNK = 256 << 10
_LARGEST_INDEX = 64 << 20
_TRIES = 4
"""Index entries that are tried before the headers are walked."""


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


class _Headers:
    """Reads batch headers here and there, a chunk at a time."""

    def __init__(self, read_at: ReadAt) -> None:
        self._read_at, self._start, self._data = read_at, 0, b""

    def at(self, position: int) -> BatchHeader | None:
        """The header at a position, if one can be there."""
        at = position - self._start
        if at < 0 or at + HEADER_SIZE > len(self._data):
            self._start, self._data = position, self._read_at(position, _CHUNK)
            at = 0
            if len(self._data) < HEADER_SIZE:
                return None
        header = RecordBatch.read(self._data[at : at + HEADER_SIZE]).header
        return header if plausible(header) else None


class Borders:
    """Finds borders in one file, front to back."""

    def __init__(self, read_at: ReadAt, size: int, index: OffsetIndex | None = None) -> None:
        self._read_at, self._size = read_at, size
        self._headers = _Headers(read_at)
        self._positions = [entry.position for entry in index.entries()] if index else []
        self._index = index
        self.known = 0
        """A place at which a walk over the whole file is, too; the latest border."""

    def at_or_after(self, target: int) -> int | None:
        """The first border from `target` on, or a later one; None where there is none below the
        end. Targets must rise."""
        border = self._by_index(target)
        if border is None:
            border = self._by_headers(target)
        if border is not None:
            self.known = border
        return border

    def _by_index(self, target: int) -> int | None:
        """An entry of the offset index, if the batches there bear it out.

        Two whole batches that follow on each other are more than damage before them can hide: a
        walk comes to the first of them.
        """
        at = bisect_left(self._positions, max(target, self.known + 1))
        for number in range(at, min(at + _TRIES, len(self._positions))):
            position = self._positions[number]
            header = self._headers.at(position)
            assert self._index is not None, "positions come from it"
            offset = self._index.entry(number).offset
            if header is None or header.base_offset > offset:
                continue
            following = self._whole(position, None)
            if following is not None and self._whole(*following) is not None:
                return position
        return None

    def _whole(self, position: int, base_offset: int | None) -> tuple[int, int] | None:
        """Return where the batch at a position ends and which offset follows, if its CRC holds."""
        header = self._headers.at(position)
        if header is None or (base_offset is not None and header.base_offset != base_offset):
            return None
        size = LOG_OVERHEAD + header.length
        batch = RecordBatch.read(self._read_at(position, size), position)
        if batch.size < size or not batch.is_valid:
            return None
        return position + size, batch.last_offset + 1

    def _by_headers(self, target: int) -> int | None:
        """Walk from header to header; where they do not add up, let a walk find the next batch."""
        position, expected = self.known, None
        while position < self._size:
            header = self._headers.at(position)
            end = position + LOG_OVERHEAD + header.length if header is not None else 0
            follows = header is not None and expected in (None, header.base_offset)
            if header is None or not follows or end > self._size:
                border = self._by_walk(position)
                if border is None or (border == position and header is None):
                    return None
                if border > position or not follows:
                    position, expected = border, None
                    self.known = border
                    continue
                return None  # the last batch, which the file's end cuts
            if position >= target and position > self.known:
                if self._whole(position, expected) is not None:
                    return position
                # Its CRC is wrong: only a walk knows whether its length is right.
                border = self._by_walk(position + 1)
                if border is None:
                    return None
                self.known = border
                if border >= target:
                    return border
                position, expected = border, None
                continue
            expected = header.base_offset + header.last_offset_delta + 1
            position = end
        return None

    def _by_walk(self, past: int) -> int | None:
        """The first sound batch from `past` on, by a walk from the latest known border."""
        for item in Walk(self._read_at, WalkState.at(self.known)):
            if not isinstance(item, Faulty):
                if item.position >= past:
                    return item.position
                self.known = item.position
        return None


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
    borders = Borders(read_at, size, index)
    borders.known = start
    cuts = [start]
    for number in range(1, pieces):
        target = start + number * (size - start) // pieces
        if target <= cuts[-1]:
            continue
        border = borders.at_or_after(target)
        if border is None:
            break
        if border > cuts[-1]:
            cuts.append(border)
    return [*zip(cuts, [*cuts[1:], None], strict=True)]


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
