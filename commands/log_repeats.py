"""Repeated lines of a log: the first at once, then how many more in each interval.

Owns the counting, for records that carry a `Limit`. It keeps a bounded number of keys, since a peer
can choose what is in them.
"""

from __future__ import annotations

import copy
import logging
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from kraftool.net.lines import Limit

INTERVAL_S = 60.0
_MAX_KEYS = 100
"""Keys of one text that are counted apart; all further ones are counted together."""
_OTHERS = object()

Key = tuple[str, Hashable]


@dataclass(slots=True)
class _Window:
    """One interval of one key."""

    end_s: float
    written: int
    repeated: int
    last: logging.LogRecord


class Repeats:
    """Decides which records are written. Times are seconds of a monotonic clock."""

    def __init__(self, interval_s: float = INTERVAL_S) -> None:
        self.interval_s = interval_s
        self._windows: dict[Key, _Window] = {}
        """The one that ends first comes first."""
        self._keys: Counter[str] = Counter()

    @property
    def next_end_s(self) -> float | None:
        """When a count may be due; None if nothing is counted."""
        return next((window.end_s for window in self._windows.values()), None)

    def take(self, record: logging.LogRecord, now_s: float) -> Iterator[logging.LogRecord]:
        """Yield what to write: counts that are due, and the record unless it only repeats."""
        yield from self.due(now_s)
        limit: Limit | None = getattr(record, "limit", None)
        if limit is None:
            yield record
            return
        key = self._key(record.getMessage(), limit.key)
        window = self._windows.get(key)
        if window is None:
            self._keys[key[0]] += 1
            window = self._windows[key] = _Window(now_s + self.interval_s, 0, 0, record)
        if window.written < limit.burst:
            window.written += 1
            yield record
        else:
            window.repeated += 1
            window.last = record

    def due(self, now_s: float) -> Iterator[logging.LogRecord]:
        """Yield the counts of the intervals that are over. What repeated is counted on."""
        while (end_s := self.next_end_s) is not None and end_s <= now_s:
            key = next(iter(self._windows))
            window = self._windows.pop(key)
            if window.repeated:
                yield self._counted(window)
                window.end_s, window.repeated = now_s + self.interval_s, 0
                self._windows[key] = window
            else:
                self._forget(key)

    def close(self) -> Iterator[logging.LogRecord]:
        """Yield every count that is left."""
        windows, self._windows = list(self._windows.values()), {}
        self._keys.clear()
        yield from (self._counted(window) for window in windows if window.repeated)

    def _key(self, text: str, key: Hashable) -> Key:
        if (text, key) in self._windows or self._keys[text] < _MAX_KEYS:
            return text, key
        return text, _OTHERS

    def _forget(self, key: Key) -> None:
        self._keys[key[0]] -= 1
        if not self._keys[key[0]]:
            del self._keys[key[0]]

    def _counted(self, window: _Window) -> logging.LogRecord:
        """The last of the repeats, with their number."""
        counted = copy.copy(window.last)
        fields = {**getattr(window.last, "fields", {})}
        fields |= {"repeated": window.repeated, "withinSeconds": round(self.interval_s)}
        counted.fields = fields
        return counted
