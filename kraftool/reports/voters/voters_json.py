"""The document of `diff-voters -o json`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.decoders.json_marks import Moment
from kraftool.decoders.quorum_state import QuorumState
from kraftool.directory.metadata_summary import LogExtent, NodeIds, SeenVoters
from kraftool.directory.voter_history import (
    Commitment,
    HistoryEntry,
    LeaderEntry,
    Origin,
    QuorumSettings,
)
from kraftool.raft.endpoints import shown_endpoints
from kraftool.raft.names import VoterSet
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import (
    EndpointObject,
    FindingCounts,
    VoterObject,
    endpoint_objects,
    finding_counts,
    voter_objects,
)
from kraftool.reports.voters.diff import ComparedSource, VoterDiff


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntryObject:
    """A voter set or a kraft.version, from an offset on."""

    offset: int
    """-1 for the 0-0 checkpoint; a snapshot's last contained offset."""
    epoch: int
    timestamp: Moment | None
    """When a leader wrote it; None for a snapshot's."""
    origin: Origin
    file: str
    position: int
    kraft_version: int | None
    """None where the entry is a voter set."""
    voters: VoterSet | None
    """None where the entry is a kraft.version."""
    differences: tuple[str, ...]
    """From the entry before."""
    is_after_damage: bool
    """True if Kafka would cut it off if it started on this log."""
    repeated_in: tuple[str, ...]
    """Snapshots that have the same at their offset."""
    commitment: Commitment
    reason: str
    """Why that is known of its commitment."""


@form
def history_entry_object(entry: HistoryEntry) -> HistoryEntryObject:
    return HistoryEntryObject(
        offset=entry.offset,
        epoch=entry.epoch,
        timestamp=entry.timestamp,
        origin=entry.origin,
        file=entry.file,
        position=entry.position,
        kraft_version=entry.level,
        voters=entry.voters,
        differences=entry.changes,
        is_after_damage=entry.after_damage,
        repeated_in=entry.repeated_in,
        commitment=entry.verdict.commitment,
        reason=entry.verdict.reason,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogExtentObject:
    """The offsets that a log has."""

    start_offset: int
    end_offset: int
    """One beyond the last offset."""


@form
def log_extent_object(log: LogExtent) -> LogExtentObject:
    return LogExtentObject(start_offset=log.start, end_offset=log.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotExtent:
    """A snapshot by its name."""

    file: str
    offset: int
    epoch: int
    intact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumSettingsObject:
    """The settings of the quorum in a server.properties."""

    file: str
    node_id: int | None
    roles: tuple[str, ...]
    static_voters: tuple[VoterObject, ...]
    """Of controller.quorum.voters."""
    bootstrap_servers: tuple[str, ...]
    """Of controller.quorum.bootstrap.servers."""
    controller_listeners: tuple[str, ...]
    advertised_endpoints: tuple[EndpointObject, ...]


@form
def quorum_settings_object(settings: QuorumSettings) -> QuorumSettingsObject:
    return QuorumSettingsObject(
        file=settings.file,
        node_id=settings.node_id,
        roles=settings.roles,
        static_voters=voter_objects(settings.static_voters),
        bootstrap_servers=settings.bootstrap_servers,
        controller_listeners=settings.controller_listeners,
        advertised_endpoints=endpoint_objects(settings.advertised),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSourceObject:
    """A source of voters, and its differences from the newest voters."""

    source: str
    kind: str
    """data directory, checkpoint and so on; live controller for a running node."""
    is_of_other_cluster: bool
    """A source of another cluster is not compared."""
    is_behind: bool
    """True if its voters are an earlier set of the same history, and it ends before the change."""
    differences: tuple[str, ...]
    """From the newest voters."""
    node: NodeIds
    is_witness: bool | None
    """True for a voter that runs no controller: its ApiVersions lacks CreateTopics. None where that
    is unknown."""
    kraft_version: int | None
    voter_set: SeenVoters | None
    """The voters that a node with these files uses."""
    end_offset: int
    """The first offset that the source knows nothing of."""
    high_watermark: int | None
    """Of a running leader with a log that was read. What is below it is committed."""
    log: LogExtent | None
    snapshots: tuple[SnapshotExtent, ...]
    quorum_state: QuorumState | None
    settings: QuorumSettings | None
    history: tuple[HistoryEntry, ...]
    """Voter sets and kraft.versions by offset."""
    leader_changes: tuple[LeaderEntry, ...]


@form
def compared_source_object(compared: ComparedSource) -> ComparedSourceObject:
    source = compared.source
    return ComparedSourceObject(
        source=source.name,
        kind=source.kind,
        is_of_other_cluster=compared.foreign,
        is_behind=compared.behind,
        differences=compared.differences,
        node=source.node,
        is_witness=source.is_witness,
        kraft_version=source.kraft_version,
        voter_set=source.in_force,
        end_offset=source.end,
        high_watermark=source.high_watermark,
        log=source.log,
        snapshots=tuple(
            SnapshotExtent(file=one.file, offset=one.offset, epoch=one.epoch, intact=one.intact)
            for one in source.snapshots
        ),
        quorum_state=source.quorum_state,
        settings=source.settings,
        history=source.history.entries,
        leader_changes=source.history.leaders,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestVoters:
    """The source with the newest voters, and these voters."""

    source: str
    voter_set: SeenVoters | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceVoterRow:
    """A voter of a source in CSV."""

    source: str
    is_of_other_cluster: bool
    is_behind: bool
    voter_source: str
    offset: int | None
    id: int
    directory_id: str | None
    endpoints: tuple[str, ...]
    min_kraft_version: int | None
    max_kraft_version: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffVotersDocument:
    """The voters by each source, and the differences between sources. Offsets are places in the
    log, positions are bytes in a file."""

    has_differences: bool
    """True if any source has other voters than the newest, even if it is only behind."""
    kraft_version: int | None
    """Of the source with the newest voters."""
    newest: NewestVoters | None
    """The source with which the others are compared."""
    sources: tuple[ComparedSource, ...]
    findings: tuple[Finding, ...]
    finding_counts: FindingCounts

    @property
    def rows(self) -> tuple[SourceVoterRow, ...]:
        """The voters of every source."""
        return tuple(row for source in self.sources for row in _rows(source))


def _rows(compared: ComparedSource) -> Iterator[SourceVoterRow]:
    seen = compared.source.in_force
    if seen is None:
        return
    for voter in sorted(seen.voters, key=lambda voter: voter.id):
        supported = voter.kraft_version if seen.is_recorded else None
        yield SourceVoterRow(
            source=compared.source.name,
            is_of_other_cluster=compared.foreign,
            is_behind=compared.behind,
            voter_source=seen.source,
            offset=seen.offset,
            id=voter.id,
            directory_id=voter.directory_id,
            endpoints=shown_endpoints(voter.endpoints),
            min_kraft_version=None if supported is None else supported.min,
            max_kraft_version=None if supported is None else supported.max,
        )


def diff_voters_document(diff: VoterDiff) -> DiffVotersDocument:
    newest = diff.newest
    return DiffVotersDocument(
        has_differences=diff.differ,
        kraft_version=diff.kraft_version,
        newest=None
        if newest is None
        else NewestVoters(source=newest.name, voter_set=newest.in_force),
        sources=diff.sources,
        findings=diff.findings,
        finding_counts=finding_counts(diff.findings),
    )
