"""Findings of one file, bounded: the first of each kind in full, the rest as a number.

Owns the bound. It refuses to judge.
"""

from __future__ import annotations

from kraftool.reports.findings import Finding, FindingKind

MOST_ALIKE = 20


class Notes:
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

    def findings(self) -> tuple[Finding, ...]:
        more = [
            self._kinds[code].at(
                self.file, f"{count - MOST_ALIKE} more such places", count=count - MOST_ALIKE
            )
            for code, count in self._counts.items()
            if count > MOST_ALIKE
        ]
        return (*self._findings, *more)
