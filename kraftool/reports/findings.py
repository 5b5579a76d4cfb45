"""Findings: what is odd in a PATH, with the place, both sides of the mismatch, and what to do.

Owns the value that every report uses for it, and its order. A code is stable: scripts compare it,
people look it up. It refuses to decide what is odd; each report has its own table of kinds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kraftool.decoders.errors import DecodeError
from kraftool.storage.entry import Severity

__all__ = ["Finding", "FindingKind", "Severity", "in_order", "tally"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is odd, and where.

    `position` is a byte in `file`, `offset` a place in the log, `field` what lies there.
    `undecoded` says that something asked for could not be read or decoded because of it.
    """

    code: str
    severity: Severity
    text: str
    file: str = ""
    position: int | None = None
    offset: int | None = None
    field: str = ""
    expected: str = ""
    found: str = ""
    advice: str = ""
    undecoded: bool = False

    def sentence(self) -> str:
        """The text with the field and both sides of the mismatch."""
        head = f"{self.field}: {self.text}" if self.field else self.text
        if self.expected:
            return f"{head} (expected {self.expected}, found {self.found or 'nothing'})"
        return f"{head} (found {self.found})" if self.found else head

    def where(self) -> str:
        """The file and the place in it, in words; empty for a directory as a whole."""
        place = [f"position {self.position}"] if self.position is not None else []
        place += [f"offset {self.offset}"] if self.offset is not None else []
        return " ".join([*([f"{self.file}:"] if self.file and place else [self.file]), *place])


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingKind:
    """What all findings of one code have in common."""

    code: str
    severity: Severity
    meaning: str
    """A sentence on what it means for Kafka, independent of the case."""
    advice: str = ""
    undecoded: bool = False

    def at(
        self,
        file: str,
        text: str,
        *,
        position: int | None = None,
        offset: int | None = None,
        field: str = "",
        expected: str = "",
        found: str = "",
        advice: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this kind in a file (or a directory), said in the words of the case."""
        return Finding(
            code=self.code,
            severity=self.severity if severity is None else severity,
            text=text,
            file=file,
            position=position,
            offset=offset,
            field=field,
            expected=expected,
            found=found,
            advice=self.advice if advice is None else advice,
            undecoded=self.undecoded and severity is not Severity.INFO,
        )

    def of(self, file: str, error: DecodeError, *, advice: str | None = None) -> Finding:
        """A finding of this kind for what a decoder says."""
        return self.at(
            file,
            error.reason,
            position=error.position,
            field=error.path,
            expected=error.expected,
            found=error.found,
            advice=advice,
        )


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first, otherwise as they came."""
    return tuple(sorted(findings, key=lambda each: _RANK[each.severity]))


def tally(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many there are of each severity."""
    counts = dict.fromkeys(Severity, 0)
    for each in findings:
        counts[each.severity] += 1
    return counts
