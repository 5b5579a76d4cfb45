"""Findings of one rule, bounded: the first of each kind and file in full, the rest as a number.

Owns the bound for what is found after the files were read. It refuses to judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraftool.reports.findings import Finding
from kraftool.reports.kinds import KINDS
from kraftool.reports.verify.notes import MOST_ALIKE


def bounded(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, and behind them how many more of a kind there are in a file."""
    counts: dict[tuple[str, str], int] = {}
    first: dict[tuple[str, str], Finding] = {}
    for each in findings:
        key = (each.code, each.file)
        counts[key] = counts.get(key, 0) + 1
        first.setdefault(key, each)
        if counts[key] <= MOST_ALIKE:
            yield each
    for key, count in counts.items():
        if count > MOST_ALIKE:
            one = first[key]
            text = f"{count - MOST_ALIKE} more such places"
            rest = count - MOST_ALIKE
            yield KINDS[one.code].at(one.file, text, severity=one.severity, count=rest)
