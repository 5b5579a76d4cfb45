"""Findings: what is odd in a PATH, with the place, both sides of the mismatch, and what to do.

Owns the value that every report uses for it, and its order. A code is stable: scripts compare it,
people look it up. It refuses to decide what is odd; each report has its own table of kinds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

from kraftool.decoders.errors import DecodeError, Fault
from kraftool.storage.entry import Severity

__all__ = [
    "SEVERITY_RANK", "Finding", "FindingKind", "Remedy", "Severity", "Stake", "in_order",
    "tally",
]  # fmt: skip

MOST_PLACES = 9
"""Places that a finding lists besides its own: a damaged index can have a million."""


class Stake(IntEnum):
    """The loss that is possible, the worst first."""

    TWO_HISTORIES = 0
    """Two leaders are possible, or committed records can be lost."""
    NO_QUORUM = 1
    """There is no leader, or there will be none after a restart."""
    MIXED_UP = 2
    """Nodes of different clusters can reach each other's quorum."""
    LOST_DATA = 3
    """Something cannot be read or decoded."""
    OTHER = 4


class Remedy(StrEnum):
    """Commands that answer a finding. `doctor` fills in ids, endpoints and paths of the case."""

    COMPARE_VOTERS = "compare voters"
    TIMELINE = "timeline"
    REPLACE_VOTER = "replace voter"
    ADD_CONTROLLER = "add controller"
    WRITE_QUORUM_STATE = "write quorum state"
    MOVE_ASIDE = "move aside"
    COPY_FIRST = "copy first"
    EXPLAIN_RECORD = "explain record"
    VERIFY_SNAPSHOT = "verify snapshot"
    COPY_SNAPSHOT = "copy snapshot"
    DESCRIBE_REPLICATION = "describe replication"
    DUMP_TRANSACTION = "dump transaction"
    SET_BOOTSTRAP_SERVERS = "set bootstrap servers"
    SET_STATIC_VOTERS = "set static voters"
    UPGRADE_KRAFT_VERSION = "upgrade kraft version"
    SHOW_STORAGE = "show storage"
    WRITE_META_PROPERTIES = "write meta properties"


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingKind:
    """The common part of all findings of one code."""

    code: str
    severity: Severity
    meaning: str
    """A sentence on what it means for Kafka, independent of the case."""
    advice: str = ""
    undecoded: bool = False
    stake: Stake = Stake.OTHER
    references: tuple[str, ...] = ()
    """KIPs and pull requests of Kafka in which it is discussed."""
    note: str = ""
    """What `doctor --explain` adds."""
    observed: tuple[str, ...] = ()
    """What Kafka was seen to do about it, each with the releases."""
    keeps_from_starting: bool = False
    """True if Kafka exits when it starts on a directory with it, unless the case says otherwise."""
    stops_controller: bool = False
    """True if Kafka starts, and exits as soon as its controller reads what this is about."""
    concerns_voters: bool = True
    """False for what says nothing about who votes; diff-voters leaves it out."""
    tells_better: frozenset[str] = frozenset()
    """Codes of what it is made of: a finding of these about the same file is left out."""
    remedy: Remedy | None = None
    """None for what a rule of doctor finds itself, which has its own commands, and for what is
    answered with `explain` at its place in the file."""

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
        fault = Fault(
            reason=text,
            file=file,
            position=position,
            offset=offset,
            field=field,
            expected=expected,
            found=found,
        )
        return self.of(fault, advice=advice, severity=severity, count=count)

    def of(
        self,
        fault: Fault,
        *,
        advice: str | None = None,
        severity: Severity | None = None,
        count: int = 1,
    ) -> Finding:
        """A finding of this kind for a fault."""
        return Finding(
            kind=self,
            fault=fault,
            severity=self.severity if severity is None else severity,
            advice=self.advice if advice is None else advice,
            undecoded=self.undecoded and severity is not Severity.INFO,
            count=count,
        )

    def of_error(self, file: str, error: DecodeError, *, advice: str | None = None) -> Finding:
        """A finding of this kind for what a decoder says about a file."""
        return self.of(error.fault(file), advice=advice, count=error.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault of a known kind, which says what it means for Kafka. It reads as its fault.

    `undecoded` says that something asked for could not be read or decoded because of it.
    `count` is the number of places in the file for which the finding stands; `places` lists the
    first of them after its own.
    """

    kind: FindingKind
    fault: Fault
    severity: Severity
    advice: str = ""
    undecoded: bool = False
    count: int = 1
    places: tuple[Fault, ...] = ()
    exits_here: bool | None = None
    """True or False if the case shows whether Kafka exits on it; None if the kind says so."""

    @property
    def keeps_from_starting(self) -> bool:
        """True if Kafka exits when it starts on the directory."""
        exits = self.kind.keeps_from_starting if self.exits_here is None else self.exits_here
        return exits and self.severity is Severity.ERROR

    @property
    def code(self) -> str:
        return self.kind.code

    @property
    def text(self) -> str:
        return self.fault.reason

    @property
    def file(self) -> str:
        return self.fault.file

    @property
    def position(self) -> int | None:
        return self.fault.position

    @property
    def offset(self) -> int | None:
        return self.fault.offset

    @property
    def field(self) -> str:
        return self.fault.field

    @property
    def expected(self) -> str:
        return self.fault.expected

    @property
    def found(self) -> str:
        return self.fault.found

    def saying(self, text: str) -> Finding:
        """The same in other words."""
        return replace(self, fault=replace(self.fault, reason=text))

    def in_file(self, file: str) -> Finding:
        """The same of another name of the file."""
        return replace(self, fault=replace(self.fault, file=file))

    def sentence(self) -> str:
        """The text with the field and both sides of the mismatch."""
        return self.fault.sentence()

    def where(self) -> str:
        """The file and the place in it, in words; empty for a directory as a whole."""
        return ": ".join(part for part in (self.file, self.fault.where()) if part)


SEVERITY_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each kind and file, the worst first, otherwise as they came."""
    return tuple(sorted(_merged(findings), key=lambda finding: SEVERITY_RANK[finding.severity]))


def _merged(findings: Iterable[Finding]) -> Iterable[Finding]:
    """The places of one kind in one file as one finding, with their number.

    Only findings with a place are merged: without one, the text is about something of its own. A
    finding that stands for several places has none where it lists what others left out.
    """
    merged: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        repeats = finding.file and (finding.fault.has_place or finding.count > 1)
        key = (finding.code, finding.severity, finding.file) if repeats else (len(merged),)
        merged.setdefault(key, []).append(finding)
    return (_one(alike) if len(alike) > 1 else alike[0] for alike in merged.values())


def _one(alike: list[Finding]) -> Finding:
    first, *others = alike
    places = (*first.places, *(place for other in others for place in _places(other)))
    return replace(
        first,
        undecoded=any(finding.undecoded for finding in alike),
        count=sum(finding.count for finding in alike),
        places=places[:MOST_PLACES],
    )


def _places(finding: Finding) -> tuple[Fault, ...]:
    return (finding.fault, *finding.places) if finding.fault.has_place else finding.places


def tally(findings: Iterable[Finding]) -> dict[Severity, int]:
    """Return how many there are of each severity."""
    counts = dict.fromkeys(Severity, 0)
    for finding in findings:
        counts[finding.severity] += 1
    return counts
