"""The progress of a stream: records so far and a second, and the bytes that it has yet to read.

Owns the sums over what Spark says of each micro-batch and what the logs are long now. It refuses
to draw.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from kraftool.arrow.settings import SourceOptions
from kraftool.spark.live.logs import Logs

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_EVERY_S = 1.0


@dataclass(slots=True)
class Pace:
    """The pace of a stream; asked for at most once a second."""

    query: StreamingQuery
    settings: SourceOptions
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
            self.lag_bytes = behind(
                orjson.loads(_end_offset(progress)), Logs(self.settings).sizes()
            )
        self._next = time.monotonic() + _EVERY_S
        return True

    def words(self) -> str:
        """The pace in words."""
        text = f"{self.rows_per_s:,.0f} records/s"
        if self.lag_bytes is None:
            return text
        return (
            f"{text}, {_size(self.lag_bytes)} behind" if self.lag_bytes else f"{text}, up to date"
        )

    def _count(self, progress: Any) -> None:
        self.rows_per_s = float(progress["processedRowsPerSecond"] or 0)
        if progress["batchId"] != self._batch:
            self._batch = progress["batchId"]
            self.rows += int(progress["numInputRows"])


def _size(count: int) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024 or unit == "MiB":
            break
        count >>= 10
    return f"{count:,} {unit}"


def _end_offset(progress: Any) -> str:
    told = progress["sources"][0]["endOffset"]
    return told if isinstance(told, str) else orjson.dumps(told).decode()


def behind(offset: dict[str, Any] | None, sizes: dict[str, int]) -> int:
    """Bytes of all segments that an offset of `kraft` has not come to."""
    logs = (offset or {}).get("logs", {})
    total = 0
    for name, size in sizes.items():
        folder, _, segment = name.rpartition("/")
        state = logs.get(folder, {"segment": "", "position": 0})
        if segment > state["segment"]:
            total += size
        elif segment == state["segment"]:
            total += max(size - state["position"], 0)
    return total
