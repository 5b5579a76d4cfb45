"""Findings in a number that people can read: the first of each kind in full, the rest counted.

Owns the bound, for what is found while a file is read and for what a rule finds afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraftool.reports.findings.finding import Finding, FindingKind
from kraftool.reports.findings.kinds import KINDS

MOST_ALIKE = 20


class FileFindings:
    """Collects what is found in one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._findings: list[Finding] = []
        self._counts: dict[str, int] = {}
        self._kinds: dict[str, FindingKind] = {}

    def add(
        self,
        kind: FindingKind,
        text: str,
        *,
        position: int | None = None,
        offset: int | None = None,
        field: str = "",
        expected: str = "",
        found: str = "",
    ) -> None:
        count = self._counts.get(kind.code, 0) + 1
        self._counts[kind.code] = count
        self._kinds[kind.code] = kind
        if count <= MOST_ALIKE:
            self._findings.append(
                kind.at(
                    self.file,
                    text,
                    position=position,
                    offset=offset,
                    field=field,
                    expected=expected,
                    found=found,
                )
            )

    def all(self) -> tuple[Finding, ...]:
        more = [
            self._kinds[code].at(
                self.file, f"{count - MOST_ALIKE} more such places", count=count - MOST_ALIKE
            )
            for code, count in self._counts.items()
            if count > MOST_ALIKE
        ]
        return (*self._findings, *more)


def bounded(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, and behind them how many more of a kind there are in a file."""
    counts: dict[tuple[str, str], int] = {}
    first: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        key = (finding.code, finding.file)
        counts[key] = counts.get(key, 0) + 1
        first.setdefault(key, finding)
        if counts[key] <= MOST_ALIKE:
            yield finding
    for key, count in counts.items():
        if count > MOST_ALIKE:
            one = first[key]
            text = f"{count - MOST_ALIKE} more such places"
            rest = count - MOST_ALIKE
            yield KINDS[one.code].at(one.file, text, severity=one.severity, count=rest)
