"""The rows of a live stream for people: one line each, what matters most in colour.

Owns the columns. It streams, so it is lines and not a rich table. On a terminal a line is cut at
its width; elsewhere it is whole.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, tzinfo
from typing import Any

from kraftool.commands.output import Output, printable
from kraftool.commands.times import iso

COLUMNS = (
    "kind", "cluster_id", "node_id", "directory", "file", "position", "offset", "timestamp_ms",
    "type", "version", "payload", "valid", "error", "code", "severity", "text", "field",
    "expected", "found",
)  # fmt: skip
"""The columns of the stream that are shown."""

_WIDE = 130
_NAMES = re.compile(r'"([A-Za-z]\w*)":')
_SEVERITIES = {"error": "bad", "warning": "warn", "info": "quiet"}
Row = dict[str, Any]


class LiveTable:
    """Writes rows as lines that fit the terminal."""

    def __init__(self, output: Output, zone: tzinfo) -> None:
        self.output, self.zone = output, zone
        # An offset other than Z takes five columns more.
        self.clock = 13 if zone is UTC else 18
        self.cut = output.to_terminal
        self.cluster = 22 if not self.cut or output.width >= _WIDE else 7
        self.day = ""

    def row(self, row: Row) -> None:
        """Write one row."""
        style = self.output.style
        # A finding has no time of its own; it is told when it appears.
        moment = row["timestamp_ms"]
        shown = iso(time.time_ns() // 1_000_000 if moment is None else moment, self.zone)
        day, _, clock = shown.partition("T")
        self._begin_day(day)
        cluster = self._cluster(row["cluster_id"])
        node = "-" if row["node_id"] is None else str(row["node_id"])
        fixed = f"{clock or day:{self.clock}} {cluster:{self.cluster}} {node:>4}  "
        place = printable(_place(row))
        label, says, look = _told(row)
        room = self.output.width - len(fixed) - max(len(place), 12) - 2
        label, says = self._fit(printable(label), printable(says), room)
        self.output.line(
            style(fixed, "quiet")
            + style(f"{place:12}  ", "key")
            + style(label, look)
            + ("  " + (style(says, look) if row["kind"] != "record" else says) if says else "")
        )

    def _begin_day(self, day: str) -> None:
        if day != self.day:
            self.day = day
            head = f"{'time':{self.clock}} {'cluster':{self.cluster}} node  {'file:offset':12}"
            self.output.line(self.output.style(f"{day}\n{head}  what", "quiet"))

    def _cluster(self, cluster: str | None) -> str:
        text = printable(cluster or "-")
        return text if len(text) <= self.cluster else f"{text[: self.cluster - 1]}…"

    def _fit(self, label: str, says: str, room: int) -> tuple[str, str]:
        if not self.cut or len(label) + 2 + len(says) <= room:
            return label, says
        room -= len(label) + 2
        return label, says[: room - 1] + "…" if room > 1 else ""


def _place(row: Row) -> str:
    name = str(row["file"]).rpartition("/")[2]
    stem, dot, suffix = name.partition(".")
    if stem.isdigit():
        name = f"{int(stem)}{dot}{suffix}"
    if row["offset"] is not None:
        return f"{name}:{row['offset']}"
    return name if row["position"] is None else f"{name} at {row['position']}"


def _told(row: Row) -> tuple[str, str, str]:
    """Return what a row is, what it says, and how it looks."""
    match row["kind"]:
        case "record":
            label = row["type"] + (f" v{row['version']}" if row["version"] else "")
            broken = row["error"] is not None or not row["valid"]
            says = _values(row["payload"]) if row["payload"] else row["error"] or ""
            return label, says, "bad" if broken else "type"
        case "finding":
            return f"{row['severity']} {row['code']}", _sentence(row), _SEVERITIES[row["severity"]]
        case "change":
            return row["type"], f"{row['error']} ({row['directory']})", "warn"
    return "damage", row["error"] or "", "bad"


def _values(payload: str) -> str:
    """A payload with less of JSON in it, so that more of it can be seen."""
    return _NAMES.sub(r"\1=", payload[1:-1])


def _sentence(row: Row) -> str:
    head = f"{row['field']}: {row['text']}" if row["field"] else row["text"]
    if row["expected"]:
        return f"{head} (expected {row['expected']}, found {row['found'] or 'nothing'})"
    return f"{head} (found {row['found']})" if row["found"] else str(head)
