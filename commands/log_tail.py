"""The last records of a dump, which --tail shows.

Owns which ones these are. Batches that the native module has counted wait undecoded: nearly all of
a log never has to be decoded. What the table folds is folded at the end, among what is left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from kraftool.commands.log_noops import NoOpFolder, NoOpRun, weight, without_first
from kraftool.decoders.batch import LOG_OVERHEAD, RecordBatch
from kraftool.decoders.errors import Fault
from kraftool.decoders.segment import BatchSpan
from kraftool.reports.logs.dump import BatchEntry, Entry, LogDump
from kraftool.reports.logs.native_sieve import NativeSieve
from kraftool.reports.logs.source import LogFile

_MOST_AT_A_TIME = 1_000
"""Records that are counted before it is noted where they are."""


class UnreadBatches(NamedTuple):
    """Batches that were counted. Their bytes are a copy: the rest of the log need not be kept."""

    data: bytes
    position: int
    """Where they begin in the file."""

    def batches(self) -> Iterator[RecordBatch]:
        data, at = self.data, 0
        while at < len(data):
            end = at + LOG_OVERHEAD + int.from_bytes(data[at + 8 : at + 12], "big")
            yield RecordBatch.read(data[at:end], self.position + at)
            at = end


class _Kept(NamedTuple):
    file: LogFile
    dump: LogDump
    content: Entry | NoOpRun | UnreadBatches
    weight: int


class _Last:
    """The newest of what is added, as far as it weighs something together."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.weight = 0
        self.kept: deque[_Kept] = deque()
        self.passed = 0
        """Problems that are no longer kept."""

    def add(self, one: _Kept) -> None:
        kept = self.kept
        kept.append(one)
        self.weight += one.weight
        while kept and self.weight - kept[0].weight >= self.most:
            gone = kept.popleft()
            self.weight -= gone.weight
            self.passed += isinstance(gone.content, Fault)


class LastEntries:
    """Takes a dump from its beginning, and gives its end."""

    def __init__(self, most: int, *, folds: bool) -> None:
        self.most = most
        self._folds = folds
        self._last = _Last(most)

    def add(self, file: LogFile, dump: LogDump, entry: Entry) -> None:
        """Take the next entry."""
        self._last.add(_Kept(file, dump, entry, self._weight(dump, entry)))

    def take_span(
        self,
        file: LogFile,
        dump: LogDump,
        span: BatchSpan,
        counter: NativeSieve,
        most: int = _MOST_AT_A_TIME,
    ) -> Iterator[RecordBatch]:
        """Take batches that have no problem, undecoded. Yield those that could not be counted."""
        for part in counter.counted(span, most):
            if isinstance(part, RecordBatch):
                yield part
                continue
            unread = UnreadBatches(span.data[part.at : part.end], span.data_position + part.at)
            self._last.add(_Kept(file, dump, unread, part.weight))

    def shown(self) -> tuple[list[tuple[LogFile, Entry | NoOpRun]], int]:
        """Return what is shown, and the number of problems before it."""
        last, dump = _Last(self.most), LogDump()

        def add(file: LogFile, entry: Entry | NoOpRun) -> None:
            last.add(_Kept(file, dump, entry, self._weight(dump, entry)))
            self._trim(last)

        folder = NoOpFolder(add)
        for one in self._last.kept:
            if one.dump is not dump:
                folder.flush()
            dump = one.dump
            for entry in _entries(one):
                if self._folds:
                    folder.take(one.file, entry)
                else:
                    add(one.file, entry)
        folder.flush()
        shown = [
            (one.file, one.content)
            for one in last.kept
            if not isinstance(one.content, UnreadBatches)
        ]
        return shown, self._last.passed + last.passed

    def _trim(self, last: _Last) -> None:
        """Take records that are too many off the first batch."""
        surplus = last.weight - last.most
        if surplus <= 0 or not last.kept:
            return
        first = last.kept[0]
        if isinstance(first.content, BatchEntry) and not first.dump.batches_only:
            rest = without_first(first.content, surplus, folds=self._folds)
            last.kept[0] = first._replace(content=rest, weight=first.weight - surplus)
            last.weight -= surplus

    def _weight(self, dump: LogDump, entry: Entry | NoOpRun) -> int:
        return weight(entry, folds=self._folds, batches_only=dump.batches_only)


def _entries(one: _Kept) -> Iterator[Entry]:
    content = one.content
    assert not isinstance(content, NoOpRun), "no-ops are folded later"
    if not isinstance(content, UnreadBatches):
        yield content
        return
    for batch in content.batches():
        yield from one.dump.entries_of(one.file.name, batch)
