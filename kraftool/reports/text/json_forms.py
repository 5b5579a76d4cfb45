"""The forms that the same things have in every JSON document: findings, voters, endpoints.

Owns these forms. A report holds the values; the serializer finds the form by their class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kraftool.decoders.errors import Fault
from kraftool.decoders.json_marks import Ids
from kraftool.decoders.quorum_state import QuorumState
from kraftool.raft.names import ONLY_STATIC, Endpoints, VersionRange, Voter, VoterSet
from kraftool.reports.findings.finding import Finding, Severity, tally


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingPlace:
    """A place in the finding's file."""

    reason: str
    """The problem there, as a sentence."""
    position: int | None
    """A byte in the file."""
    offset: int | None
    """An offset in the log."""
    field: str
    """The field at that place; empty where it needs no name."""
    expected: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingObject:
    """A problem or a note: what happened, where, what it means, and what to do."""

    code: str
    """Stable: scripts compare it, and `kraftool doctor --explain CODE` explains it."""
    severity: Severity
    reason: str
    """The problem, as a sentence."""
    file: str
    """The file or directory; empty for the PATH as a whole."""
    position: int | None
    """A byte in the file."""
    offset: int | None
    """An offset in the log."""
    field: str
    """The field at that place; empty where it needs no name."""
    expected: str
    found: str
    advice: str
    """The action to take; may be empty."""
    is_undecoded: bool
    """True if something could not be read or decoded because of it: exit code 3."""
    place_count: int
    """The number of places in the file for which the finding stands."""
    places: tuple[FindingPlace, ...]
    """The first of these places after the finding's own, nine at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingCounts:
    """The number of findings of each severity."""

    error: int = 0
    warning: int = 0
    info: int = 0

    @property
    def worst(self) -> Severity | None:
        """The worst that there is; None where nothing was found."""
        if self.error:
            return Severity.ERROR
        if self.warning:
            return Severity.WARNING
        return Severity.INFO if self.info else None

    @property
    def total(self) -> int:
        return self.error + self.warning + self.info

    def __add__(self, other: FindingCounts) -> FindingCounts:
        return FindingCounts(
            error=self.error + other.error,
            warning=self.warning + other.warning,
            info=self.info + other.info,
        )


def finding_object(finding: Finding) -> FindingObject:
    fault = finding.fault
    return FindingObject(
        code=finding.code,
        severity=finding.severity,
        reason=fault.reason,
        file=fault.file,
        **place_members(fault),
        advice=finding.advice,
        is_undecoded=finding.undecoded,
        place_count=finding.count,
        places=tuple(_place(place) for place in finding.places),
    )


def place_members(fault: Fault) -> dict[str, Any]:
    """The attributes of a place, for objects and for rows of tables."""
    return {
        "position": fault.position,
        "offset": fault.offset,
        "field": fault.field,
        "expected": fault.expected,
        "found": fault.found,
    }


def _place(fault: Fault) -> FindingPlace:
    return FindingPlace(reason=fault.reason, **place_members(fault))


def finding_counts(findings: Iterable[Finding]) -> FindingCounts:
    """Return how many findings of each severity."""
    counts = tally(findings)
    return FindingCounts(
        error=counts[Severity.ERROR],
        warning=counts[Severity.WARNING],
        info=counts[Severity.INFO],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointObject:
    """The address of a listener."""

    listener: str | None
    """null for the one address of a voter of controller.quorum.voters."""
    host: str
    """Empty where settings leave it to the machine."""
    port: int | None
    """null where settings leave it open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterObject:
    """A member of the quorum."""

    id: int
    directory_id: str | None
    """null where its source has none, as controller.quorum.voters."""
    endpoints: Endpoints
    supported_kraft_versions: VersionRange | None
    """The levels of kraft.version that it supports; null where its source does not say."""


def endpoint_objects(endpoints: Endpoints) -> tuple[EndpointObject, ...]:
    return tuple(
        EndpointObject(listener=name or None, host=endpoint.host, port=endpoint.port or None)
        for name, endpoint in endpoints.items()
    )


def voter_object(voter: Voter) -> VoterObject:
    supported = voter.kraft_version
    return VoterObject(
        id=voter.id,
        directory_id=voter.directory_id,
        endpoints=voter.endpoints,
        supported_kraft_versions=None if supported == ONLY_STATIC else supported,
    )


def voter_objects(voters: VoterSet) -> tuple[VoterObject, ...]:
    return tuple(voter_object(voter) for voter in sorted(voters, key=lambda voter: voter.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadFields:
    """Fields of a quorum-state of version 0 that say nothing: Kafka never reads them."""

    cluster_id: str
    applied_offset: int
    current_voters: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumStateObject:
    """The content of a quorum-state, with Kafka's names."""

    data_version: int
    leader_id: int
    """-1 for none."""
    leader_epoch: int
    voted_id: int
    """-1 for none."""
    voted_directory_id: str
    """AAAAAAAAAAAAAAAAAAAAAA for none."""
    unknown_fields: Mapping[str, str]
    """Members that Kafka does not know; it passes over them."""
    dead_fields: DeadFields | None
    """null in version 1."""


def quorum_state_object(state: QuorumState) -> QuorumStateObject:
    dead = DeadFields(
        cluster_id=state.cluster_id,
        applied_offset=state.applied_offset,
        current_voters=state.current_voters,
    )
    return QuorumStateObject(
        data_version=state.data_version,
        leader_id=state.leader_id,
        leader_epoch=state.leader_epoch,
        voted_id=state.voted_id,
        voted_directory_id=state.voted_directory_id,
        unknown_fields=dict(state.unknown_fields),
        # By their names alone these read as evidence.
        dead_fields=dead if state.data_version == 0 else None,
    )


FORMS = (finding_object, endpoint_objects, voter_object, voter_objects, quorum_state_object)
"""What json_document writes in these forms, whichever document it is in."""
