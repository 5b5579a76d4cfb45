"""The batches of a block that may have rows of a selection, found natively.

Owns which batches it skips: a batch that begins where the one before it ends, and has no record of
the selection. It refuses selections by words and topics. The words of a row count too, and other
modules learn the ids of a topic.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Item
from kraftool.reports.browse.blocks import Block
from kraftool.reports.logs.dump import LogDump, Selection
from kraftool.reports.logs.native_sieve import Sifter, sieve_of


class SiftedBlocks:
    """Sifts one block after another, and keeps the result of the last one."""

    def __init__(self) -> None:
        self._selection: Selection | None = None
        self._sieve: Sifter | None = None
        self._last: tuple[Block, Container[int]] | None = None

    def numbers(self, block: Block, selection: Selection | None) -> Container[int]:
        """The numbers of the items that have to be looked at."""
        if selection is None or selection.topic:
            return range(len(block.items))
        if selection is not self._selection:
            self._selection, self._last = selection, None
            self._sieve = sieve_of(LogDump(replace(selection, grep=None)))
        if self._sieve is None:
            return range(len(block.items))
        if self._last is None or self._last[0] is not block:
            self._last = block, frozenset(_numbers(block, self._sieve))
        return self._last[1]


def _numbers(block: Block, sieve: Sifter) -> Iterator[int]:
    places = {item.position: number for number, item in enumerate(block.items)}
    run: list[RecordBatch] = []
    for number, item in enumerate(block.items):
        if run and _follows(run[-1], item):
            assert isinstance(item, RecordBatch), "only a sound batch follows"
            run.append(item)
            continue
        # What is wrong with its place is a row of its own.
        yield number
        yield from (places[batch.position] for batch in _left(run, sieve))
        run = [item] if isinstance(item, RecordBatch) else []
    yield from (places[batch.position] for batch in _left(run, sieve))


def _follows(before: RecordBatch, item: Item) -> bool:
    return (
        isinstance(item, RecordBatch)
        and item.base_offset == before.last_offset + 1
        and item.epoch == before.epoch
        and item.position == before.position + before.size
    )


def _left(run: list[RecordBatch], sieve: Sifter) -> Iterator[RecordBatch]:
    """The batches of a run that a sieve does not pass over."""
    if run:
        data = b"".join(batch.data for batch in run)
        first, last = run[0], run[-1]
        span = BatchSpan(
            data, 0, len(data), first.position, first.base_offset, last.last_offset,
            first.epoch, len(run),
        )  # fmt: skip
        yield from sieve.left(span)
