"""Runs of good batches in several copies of one log, and the batches that belong between them.

Owns the proof that a batch of another node was in a damaged log: Raft's log matching. Two logs with
a record of the same offset and epoch are the same up to it, and one epoch has one leader. So a
batch comes before another one if a log has both, or if both are of one epoch. From a good batch
behind the damage the proof leads back, batch by batch, to the good one before it. Where two logs
have other bytes at one offset of one epoch, or two batches could come before, nothing is proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.walk import Faulty, Walk
from kraftool.repair.log_survey import SegmentFile


class BatchKey(NamedTuple):
    """The identity of a batch, in whichever log."""

    base_offset: int
    end_offset: int
    epoch: int
    crc: int
    size: int


class PlacedBatch(NamedTuple):
    """A batch of one node's log."""

    key: BatchKey
    segment: int
    position: int

    @property
    def end(self) -> int:
        """The position behind it."""
        return self.position + self.key.size


def good_batches(segments: Iterable[SegmentFile]) -> list[PlacedBatch]:
    """The sound batches of a log that fit their sound neighbours, in the order of the log.

    No CRC covers the base offset and the epoch. A batch that does not follow the one before it, or
    that the next one does not follow, may have a false one, and so may its neighbour.
    """
    batches: list[PlacedBatch] = []
    doubtful: set[int] = set()
    for file in sorted(segments, key=lambda file: file.base_offset):
        is_adjacent = False
        with file.open() as source:
            for item in Walk(source.read_at):
                if isinstance(item, Faulty):
                    is_adjacent = is_adjacent and item.size == 0
                    continue
                placed = _placed(file.base_offset, item)
                if is_adjacent and not _follows(batches[-1].key, placed.key):
                    doubtful |= {len(batches) - 1, len(batches)}
                batches.append(placed)
                is_adjacent = True
    return [batch for number, batch in enumerate(batches) if number not in doubtful]


def _placed(segment: int, batch: RecordBatch) -> PlacedBatch:
    key = BatchKey(
        batch.base_offset, batch.last_offset + 1, batch.epoch, batch.header.crc, batch.size
    )
    return PlacedBatch(key, segment, batch.position)


def _follows(before: BatchKey, after: BatchKey) -> bool:
    return before.end_offset == after.base_offset and before.epoch <= after.epoch


@dataclass(slots=True)
class LogCopies:
    """The good batches of several nodes' logs, by node."""

    nodes: dict[str, Sequence[PlacedBatch]]
    _places: dict[BatchKey, dict[str, PlacedBatch]] = field(default_factory=dict)
    _by_end: dict[int, set[BatchKey]] = field(default_factory=dict)
    _by_base: dict[int, set[BatchKey]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        one_of: dict[tuple[int, int], BatchKey] = {}
        refuted: set[BatchKey] = set()
        for node, placed in self.nodes.items():
            for batch in placed:
                key = batch.key
                other = one_of.setdefault((key.base_offset, key.epoch), key)
                if other != key:
                    refuted |= {other, key}
                self._places.setdefault(key, {})[node] = batch
        for key in self._places.keys() - refuted:
            self._by_end.setdefault(key.end_offset, set()).add(key)
            self._by_base.setdefault(key.base_offset, set()).add(key)

    def places(self, key: BatchKey) -> dict[str, PlacedBatch]:
        """Return where the nodes have a batch."""
        return self._places[key]

    def between(self, before: BatchKey | None, start: int, after: BatchKey) -> list[BatchKey]:
        """The batches from an offset on up to a good one, in order; empty if they are not proved.

        `before` is the good batch that ends at `start`; None at the start of the log.
        """
        keys: list[BatchKey] = []
        current = after
        while current.base_offset > start:
            earlier = self._joined(current, self._by_end.get(current.base_offset, ()))
            if len(earlier) != 1:
                return []
            (current,) = earlier
            keys.append(current)
        if current.base_offset != start:
            return []
        if before is not None and self._joined(current, self._by_end.get(start, ())) != {before}:
            return []
        return keys[::-1]

    def after(self, before: BatchKey, size: int) -> list[BatchKey]:
        """The batches that follow a good one and fill so many bytes; empty if none do."""
        keys: list[BatchKey] = []
        current = before
        while size > 0:
            later = self._joined(current, self._by_base.get(current.end_offset, ()))
            if len(later) != 1:
                return []
            (current,) = later
            keys.append(current)
            size -= current.size
        return keys if size == 0 else []

    def _joined(self, key: BatchKey, others: Iterable[BatchKey]) -> set[BatchKey]:
        """Those of the batches that are in one log with a batch at its side."""
        nodes = self._places[key].keys()
        return {
            other
            for other in others
            if other.epoch == key.epoch or nodes & self._places[other].keys()
        }


def runs_of(placed: Sequence[PlacedBatch]) -> Iterator[list[PlacedBatch]]:
    """Good batches of one log that follow each other, with nothing else between them."""
    run: list[PlacedBatch] = []
    for batch in placed:
        if run and not _is_next(run[-1], batch):
            yield run
            run = []
        run.append(batch)
    if run:
        yield run


def _is_next(before: PlacedBatch, after: PlacedBatch) -> bool:
    if not _follows(before.key, after.key):
        return False
    if before.segment == after.segment:
        return before.end == after.position
    return after.position == 0
