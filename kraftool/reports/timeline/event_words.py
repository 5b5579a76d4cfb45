"""Words that several kinds of events share: durations, lists, endpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

MOST_NAMED = 3


def duration(milliseconds: int) -> str:
    """A span of time as people say it, in two units at most."""
    if milliseconds < 0:
        return "-" + duration(-milliseconds)
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    seconds = milliseconds / 1000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for size, unit, below, smaller in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"


def ids(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


def named(names: Sequence[str], count: int | None = None) -> str:
    """The first few names, and how many more there are."""
    count = len(names) if count is None else count
    first = names[:MOST_NAMED]
    return ids(first) + (f" and {count - len(first)} more" if count > len(first) else "")


def endpoints(value: Sequence[dict[str, Any]]) -> str:
    return (
        ", ".join(f"{endpoint['host']}:{endpoint['port']}" for endpoint in value) or "no endpoint"
    )
