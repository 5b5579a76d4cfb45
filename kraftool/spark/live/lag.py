"""The progress of a stream: records so far and a second, and the bytes that it has yet to read.

Owns the sums over what Spark says of each micro-batch; the offset of one says how much it left for
later ones. It refuses to list the fleet, and to draw.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from kraftool.reports.text.words import size

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_EVERY_S = 1.0


@dataclass(slots=True)
class Pace:
    """The pace of a stream; asked for at most once a second."""

    query: StreamingQuery
    rows: int = 0
    rows_per_s: float = 0.0
    lag_bytes: int | None = None
    _batch: int = -1
    _next: float = field(default_factory=time.monotonic)

    def look(self) -> bool:
        """Look again, if it is time to."""
        if time.monotonic() < self._next:
            return False
        progress = self.query.lastProgress
        if progress is not None:
            self._count(progress)
            self.lag_bytes = behind(progress["sources"][0]["endOffset"])
        self._next = time.monotonic() + _EVERY_S
        return True

    def words(self) -> str:
        """The pace in words."""
        text = f"{self.rows_per_s:,.0f} records/s"
        if self.lag_bytes is None:
            return text
        return f"{text}, {size(self.lag_bytes)} behind" if self.lag_bytes else f"{text}, up to date"

    def _count(self, progress: Any) -> None:
        self.rows_per_s = float(progress["processedRowsPerSecond"] or 0)
        if progress["batchId"] != self._batch:
            self._batch = progress["batchId"]
            self.rows += int(progress["numInputRows"])


def behind(offset: object) -> int | None:
    """Bytes of the logs that a micro-batch left for later ones, by its offset as Spark reports
    it; None before the first."""
    known = orjson.loads(offset) if isinstance(offset, str) else offset
    bytes_left = known.get("behind") if isinstance(known, dict) else None
    return bytes_left if isinstance(bytes_left, int) else None
