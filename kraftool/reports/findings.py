"""Findings: what is odd in a PATH, with the place, both sides of the mismatch, and what to do.

Owns the value that every report uses for it, and its order. A code is stable: scripts compare it,
people look it up. It refuses to decide what is odd; each report has its own table of kinds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kraftool.decoders.errors import DecodeError
from kraftool.storage.entry import Severity

__all__ = [
    "SEVERITY_RANK", "Finding", "FindingKind", "FindingPlace", "Severity", "in_order", "tally",
]  # fmt: skip

MOST_PLACES = 9
"""Places that a finding lists besides its own: a damaged index can have a million."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingPlace:
    """A further place in the file where the same kind of thing is odd."""

    text: str
    position: int | None = None
    offset: int | None = None
    field: str = ""
    expected: str = ""
    found: str = ""

    def where(self) -> str:
        """The place in words."""
        return _place(self.position, self.offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is odd, and where.

    `position` is a byte in `file`, `offset` a place in the log, `field` what lies there.
    `undecoded` says that something asked for could not be read or decoded because of it.
    `count` is the number of places in the file for which the finding stands; `places` lists the
    first of them after its own.
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
    count: int = 1
    places: tuple[FindingPlace, ...] = ()

    def sentence(self) -> str:
        """The text with the field and both sides of the mismatch."""
        head = f"{self.field}: {self.text}" if self.field else self.text
        if self.expected:
            return f"{head} (expected {self.expected}, found {self.found or 'nothing'})"
        return f"{head} (found {self.found})" if self.found else head

    def where(self) -> str:
        """The file and the place in it, in words; empty for a directory as a whole."""
        place = _place(self.position, self.offset)
        return f"{self.file}: {place}" if self.file and place else self.file or place


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
        count: int = 1,
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
            count=count,
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
            count=error.count,
        )


SEVERITY_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def _place(position: int | None, offset: int | None) -> str:
    words = [f"position {position}"] if position is not None else []
    words += [f"offset {offset}"] if offset is not None else []
    return " ".join(words)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each kind and file, the worst first, otherwise as they came."""
    return tuple(sorted(_merged(findings), key=lambda each: SEVERITY_RANK[each.severity]))


def _merged(findings: Iterable[Finding]) -> Iterable[Finding]:
    """The places of one kind in one file as one finding, with their number.

    Only findings with a place are merged: without one, the text is about something of its own. A
    finding that stands for several places has none where it lists what others left out.
    """
    merged: dict[tuple[object, ...], list[Finding]] = {}
    for each in findings:
        has_place = each.position is not None or each.offset is not None
        repeats = each.file and (has_place or each.count > 1)
        key = (each.code, each.severity, each.file) if repeats else (len(merged),)
        merged.setdefault(key, []).append(each)
    return (_one(alike) if len(alike) > 1 else alike[0] for alike in merged.values())


def _one(alike: list[Finding]) -> Finding:
    first, *others = alike
    places = (*first.places, *(place for each in others for place in _places(each)))
    return replace(
        first,
        undecoded=any(each.undecoded for each in alike),
        count=sum(each.count for each in alike),
        places=places[:MOST_PLACES],
    )


def _places(finding: Finding) -> tuple[FindingPlace, ...]:
    if finding.position is None and finding.offset is None:
        return finding.places
    own = FindingPlace(
        text=finding.text,
        position=finding.position,
        offset=finding.offset,
        field=finding.field,
        expected=finding.expected,
        found=finding.found,
    )
    return own, *finding.places


def tally(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many there are of each severity."""
    counts = dict.fromkeys(Severity, 0)
    for each in findings:
        counts[each.severity] += 1
    return counts
