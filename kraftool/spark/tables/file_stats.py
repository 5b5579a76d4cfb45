"""The statistics of a Parquet file as Delta's log has them.

Owns which columns readers may skip files by. They are those that Parquet itself has counted.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import orjson

COLUMNS = ("cluster_id", "date", "file", "directory", "offset", "timestamp")
"""By which fleets are asked: whose rows, of which file, of which time. A property of each table
names them (`delta.py`): it has to change with them."""


def file_stats(metadata: Any) -> str:
    """Return the statistics as JSON. `metadata` is pyarrow's, of the whole file."""
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    names = {metadata.schema.column(index).path: index for index in range(metadata.num_columns)}
    for name in COLUMNS:
        if name not in names:
            continue
        groups = [
            metadata.row_group(number).column(names[name]).statistics
            for number in range(metadata.num_row_groups)
        ]
        if any(group is None or not group.has_null_count for group in groups):
            continue
        nulls[name] = sum(group.null_count for group in groups)
        known = [group for group in groups if group.has_min_max]
        # A group of nulls alone has neither.
        if known and sum(group.num_values for group in known) + nulls[name] == metadata.num_rows:
            least[name] = _json(min(group.min for group in known), up=False)
            greatest[name] = _json(max(group.max for group in known), up=True)
    return orjson.dumps(
        {
            "numRecords": metadata.num_rows,
            "minValues": least,
            "maxValues": greatest,
            "nullCount": nulls,
        }
    ).decode()


def _json(value: Any, *, up: bool) -> Any:
    """A time has milliseconds there, and is never nearer than it is."""
    if isinstance(value, datetime):
        if up:
            value += timedelta(microseconds=-value.microsecond % 1000)
        return value.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    return value.isoformat() if isinstance(value, date) else value
