"""Runs of no-op records, which an idle controller writes twice a second, as one line of the table.

Owns which batches a run takes. Machine formats never come here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.errors import Fault
from kraftool.reports.logs.dump import BatchEntry, Entry
from kraftool.reports.logs.source import LogFile


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOpRun:
    """Batches of one file and epoch that hold nothing but no-ops."""

    first: BatchEntry
    last: BatchEntry
    count: int


def is_no_ops(entry: Entry) -> bool:
    """True for a sound batch with nothing but no-ops."""
    return (
        not isinstance(entry, Fault)
        and entry.valid
        and bool(entry.records)
        and all(item.name == "NoOpRecord" and item.error is None for item in entry.records)
    )


class NoOpFolder:
    """Takes entries in their order, and hands on runs in the place of their batches."""

    def __init__(self, show: Callable[[LogFile, Entry | NoOpRun], None]) -> None:
        self._show = show
        self._file: LogFile | None = None
        self._run: NoOpRun | None = None

    def take(self, file: LogFile, entry: Entry) -> None:
        """Take the next entry of the log."""
        if isinstance(entry, Fault) or not is_no_ops(entry):
            self.flush()
            self._show(file, entry)
            return
        run = self._run
        if run is not None and self._belongs(file, entry, run):
            self._run = replace(run, last=entry, count=run.count + len(entry.records))
            return
        self.flush()
        self._file, self._run = file, NoOpRun(first=entry, last=entry, count=len(entry.records))

    def _belongs(self, file: LogFile, entry: BatchEntry, run: NoOpRun) -> bool:
        known = None if self._file is None else self._file.name
        return file.name == known and run.last.batch.epoch == entry.batch.epoch

    def flush(self) -> None:
        """Hand on the run that is open; a single record is no run."""
        file, run, self._run = self._file, self._run, None
        if file is None or run is None:
            return
        if run.count == 1:
            self._show(file, run.first)
        else:
            self._show(file, run)


def weight(entry: Entry | NoOpRun, *, folds: bool) -> int:
    """Return how many records --head and --tail count: with folding, no-ops do not count."""
    if not isinstance(entry, BatchEntry):
        return 0
    return len(_counted(entry, folds=folds))


def first_of(entry: BatchEntry, count: int, *, folds: bool) -> BatchEntry:
    """A batch up to the record with which the count is full."""
    numbers = _counted(entry, folds=folds)
    if len(numbers) <= count:
        return entry
    return replace(entry, records=entry.records[: numbers[count]])


def without_first(entry: BatchEntry, count: int, *, folds: bool) -> BatchEntry:
    """A batch from behind the first counted records on."""
    numbers = _counted(entry, folds=folds)
    return replace(entry, records=entry.records[numbers[count] :])


def _counted(entry: BatchEntry, *, folds: bool) -> Sequence[int]:
    """The numbers of the records that count."""
    if not folds:
        return range(len(entry.records))
    return [number for number, item in enumerate(entry.records) if item.name != "NoOpRecord"]
