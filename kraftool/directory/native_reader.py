"""The native reader: plain batches read field by field and counted.

It keeps the records whose values matter, and nothing else. It stops at whatever is not plain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple

from kraftool.decoders import fast_path
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.programs import program
from kraftool.decoders.segment import BatchSpan

_MOST_FOR_PYTHON = 64
"""Batches that Python takes at a time of a log that is not plain."""


class Taken(NamedTuple):
    """The part of a span that was read, from one place in its data up to another one."""

    at: int
    end: int
    is_stuck: bool
    """True if Python has to take the next batch."""
    batches: int
    records: int
    last_timestamp: int
    counts: list[tuple[int, int, int, int, int]]
    """Of each record type: api key, version, the number of records, place and offset of the
    first."""
    watched: list[tuple[int, int, int, bytes]]
    """The records of watched types: place, offset, time and value."""


class NativeReader:
    """Reads spans of one file; `watched` are the api keys whose records it keeps."""

    def __init__(self, watched: Collection[int] = ()) -> None:
        from kraftool.decoders._native import Checker

        self._checker, self._watched = Checker(), watched

    def read(self, span: BatchSpan, at: int) -> Taken:
        """Read a span from `at` on. If nothing can be taken, `end` is `at`."""
        checker, start = self._checker, span.data_position
        while True:
            end, reason = checker.check(span.data, at, span.end, start)
            if reason >= 0:
                self._learn(reason >> 8, reason & 0xFF)
                if end == at:
                    continue
            batches, records, last_timestamp = checker.taken
            is_stuck = reason == fast_path.NOT_PLAIN
            counts, watched = checker.take_counts(), checker.take_watched()
            return Taken(at, end, is_stuck, batches, records, last_timestamp, counts, watched)

    def parts(self, span: BatchSpan) -> Iterator[Taken | RecordBatch]:
        """The parts of a span that are plain, and the batches between them, in order."""
        at, for_python = span.at, 1
        while at < span.end:
            taken = self.read(span, at)
            if taken.end > at:
                yield taken
                at, for_python = taken.end, 1
                if not taken.is_stuck:
                    continue
            for batch in islice(span.read_batches(at, span.end), for_python):
                yield batch
                at += batch.size
            for_python = min(2 * for_python, _MOST_FOR_PYTHON)

    def _learn(self, api_key: int, version: int) -> None:
        code = program(api_key, version, masked=False)
        if code is None:
            self._checker.refuse(api_key, version)
        else:
            self._checker.add(api_key, version, code, api_key in self._watched)


def native_reader(watched: Collection[int] = ()) -> NativeReader | None:
    """The native reader; None if Python has to read everything."""
    return NativeReader(watched) if fast_path.is_native() else None
