"""The worst of what was found, as one status with a mark and a meaning.

Owns the only mapping from severities, and from what was not looked at, to how a verdict looks. A
view takes a verdict's colour from here. It refuses to name a colour: commands and the dashboard
have one for each meaning.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from kraftool.reports.findings.finding import Severity


class Status(Enum):
    """A mark and a meaning, the worst status first."""

    BAD = ("✖", "bad")
    WARN = ("▲", "warn")
    UNKNOWN = ("?", "quiet")
    """Something was not looked at, so that it is not called right."""
    NOTE = ("·", "quiet")
    GOOD = ("✓", "good")

    @property
    def mark(self) -> str:
        """Return the sign for those who see no colour."""
        return self.value[0]

    @property
    def meaning(self) -> str:
        """Return the name of a style: a field of the dashboard's palette."""
        return self.value[1]


_OF_SEVERITY = {
    Severity.ERROR: Status.BAD,
    Severity.WARNING: Status.WARN,
    Severity.INFO: Status.NOTE,
}
_ORDER = [*Status]


def status_of(severity: Severity) -> Status:
    """Return the status of one finding."""
    return _OF_SEVERITY[severity]


def worst_status(statuses: Iterable[Status]) -> Status:
    """Return the worst one; UNKNOWN if there is no status at all."""
    return min(statuses, key=_ORDER.index, default=Status.UNKNOWN)


def overall_status(severities: Iterable[Severity], *, is_complete: bool) -> Status:
    """Return the worst severity's status. It is GOOD only if everything was looked at."""
    rest = Status.GOOD if is_complete else Status.UNKNOWN
    return worst_status([rest, *map(status_of, severities)])
