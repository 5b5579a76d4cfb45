"""The batches of a directory's log as three columns, by which the logs of a cluster are compared.

Owns the question whether any offset has two batches. Offset, epoch and CRC say what a batch is: the
CRC covers the rest. It refuses a log that is damaged or very long: that one is read again, by
`batches.py`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from kraftool.reports.doctor.log_statistics import LogStatistics

MOST = 100_000
"""A log with more batches than these is read again: its columns would be too large to travel."""


@dataclass(frozen=True, slots=True)
class BatchIdentities:
    """All batches of a log, in the order of their offsets."""

    offsets: array[int]
    epochs: array[int]
    crcs: array[int]

    def part(self, first: int, last: int) -> BatchIdentities:
        """Return the batches that begin at offsets from `first` to `last`."""
        begin, end = bisect_left(self.offsets, first), bisect_left(self.offsets, last + 1)
        return BatchIdentities(
            self.offsets[begin:end], self.epochs[begin:end], self.crcs[begin:end]
        )


def identities_of(statistics: LogStatistics, batches: int) -> BatchIdentities | None:
    """Return the batches of a log; None unless they are few, one after another, and all of so many:
    the others would be damaged ones."""
    offsets = statistics.offsets
    is_whole = len(offsets) == batches <= MOST
    if not is_whole or any(map(int.__ge__, offsets, offsets[1:])):
        return None
    return BatchIdentities(offsets, statistics.epochs, statistics.crcs)


def may_differ(logs: Sequence[BatchIdentities | None]) -> bool:
    """True if an offset has two batches in these logs, or if that is unknown."""
    known = [log for log in logs if log is not None]
    if len(known) < len(logs):
        return True
    filled = sorted((log for log in known if log.offsets), key=lambda log: -len(log.offsets))
    at: dict[int, tuple[int, int]] = {}
    for log in filled:
        # Most are the beginning or the end of the longest one, which is compared at once.
        if log is not filled[0] and log == filled[0].part(log.offsets[0], log.offsets[-1]):
            continue
        for offset, epoch, crc in zip(log.offsets, log.epochs, log.crcs, strict=True):
            if at.setdefault(offset, (epoch, crc)) != (epoch, crc):
                return True
    return False
