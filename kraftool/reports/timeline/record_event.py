"""The event of a record: offset, epoch and time are the record's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kraftool.reports.findings.finding import Severity
from kraftool.reports.timeline.batches import Watched
from kraftool.reports.timeline.events import Category, Event


def record_event(
    record: Watched,
    epoch: int,
    category: Category,
    type: str,
    what: str,
    data: Mapping[str, Any],
    details: Iterable[str] = (),
    *,
    severity: Severity = Severity.INFO,
    good: bool = False,
    topics: Iterable[str] = (),
) -> Event:
    """Return the event of a record. A metadata transaction may hide the event of a data record."""
    return Event(
        category=category,
        type=type,
        offset=record.offset,
        epoch=epoch,
        timestamp=record.timestamp,
        what=what,
        details=tuple(details),
        data=data,
        severity=severity,
        good=good,
        topics=frozenset(topics),
        transactional=not record.is_control,
    )
