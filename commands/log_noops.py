"""Runs of no-op records, which an idle controller writes twice a second, as one line of the table.

Owns which batches a run takes. Machine formats never come here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import DecodeError, Fault
from kraftool.reports.logs.dump import BatchEntry, Entry
from kraftool.reports.logs.source import LogFile

_NO_OP = b"\x01\x14\x00\x00"
"""Frame version, api key and version of a NoOpRecord, and no tagged field."""


@dataclass(slots=True, kw_only=True)
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
    """Takes entries in their order, and replaces the batches of a run by the run."""

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
            run.last, run.count = entry, run.count + len(entry.records)
            return
        self.flush()
        self._file, self._run = file, NoOpRun(first=entry, last=entry, count=len(entry.records))

    def _belongs(self, file: LogFile, entry: BatchEntry, run: NoOpRun) -> bool:
        # A log that is followed is opened again at each poll.
        known = None if self._file is None else self._file.name
        return file.name == known and run.last.batch.epoch == entry.batch.epoch

    def flush(self) -> None:
        """Show the run that is open; a single record is not a run."""
        file, run, self._run = self._file, self._run, None
        if file is None or run is None:
            return
        if run.count == 1:
            self._show(file, run.first)
        else:
            self._show(file, run)


def has_only_no_ops(batch: RecordBatch) -> bool:
    """True for a sound batch with nothing but no-ops, of which nothing is decoded."""
    if batch.is_control:
        return False
    try:
        return all(record.value == _NO_OP for record in batch.records())
    except DecodeError:
        return False


def weight(entry: Entry | NoOpRun, *, folds: bool, batches_only: bool = False) -> int:
    """Return how many records, or batches, --head and --tail count.

    With folding, no-ops do not count.
    """
    if not isinstance(entry, BatchEntry):
        return 0
    if batches_only:
        return 1
    return len(_counted(entry, folds=folds))


def has_uncounted(entry: Entry | NoOpRun, *, folds: bool) -> bool:
    """True if --head and --tail do not count some of its records."""
    if isinstance(entry, BatchEntry):
        return weight(entry, folds=folds) < len(entry.records)
    return isinstance(entry, NoOpRun)


def first_of(entry: BatchEntry, count: int, *, folds: bool) -> BatchEntry:
    """Return a batch without its records after `count` counted ones."""
    numbers = _counted(entry, folds=folds)
    if len(numbers) <= count:
        return entry
    return replace(entry, records=entry.records[: numbers[count]])


def without_first(entry: BatchEntry, count: int, *, folds: bool) -> BatchEntry:
    """Return a batch without its first `count` counted records."""
    numbers = _counted(entry, folds=folds)
    return replace(entry, records=entry.records[numbers[count] :])


def _counted(entry: BatchEntry, *, folds: bool) -> Sequence[int]:
    """Return the numbers of the records that count."""
    if not folds:
        return range(len(entry.records))
    return [number for number, item in enumerate(entry.records) if item.name != "NoOpRecord"]
