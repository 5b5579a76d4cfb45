"""All sources against each other: the report that `kraftool diff-voters` shows.

Owns the order of work: sources of other clusters are set aside, verdicts given, then each rule is
asked. It takes sources as values, so that a running controller can be one beside directories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftool.decoders.json_marks import Hidden, in_json, in_json_before
from kraftool.decoders.quorum_state import QuorumState
from kraftool.directory.metadata_summary import NodeIds, SeenVoters
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import HistoryEntry, LeaderEntry, QuorumSettings
from kraftool.raft.endpoints import shown_endpoints
from kraftool.reports.files.finding_limits import bounded
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.voters import identities, node_rules, settings_rules, source_differences
from kraftool.reports.voters.commit import with_verdicts
from kraftool.reports.voters.judged_directory import JudgedDirectory, about_voters

_RULES: tuple[Callable[[Sequence[NodeDirectory]], Iterator[Finding]], ...] = (
    source_differences.newest_sets,
    source_differences.conflicts,
    identities.ids_twice,
    node_rules.membership,
    node_rules.elections,
    node_rules.current_voters,
    node_rules.leader_changes,
    node_rules.jumps,
    settings_rules.bootstrap,
    settings_rules.static_sets,
    settings_rules.advertised,
)


class LogRange(NamedTuple):
    """The offsets that a log has."""

    start_offset: int
    end_offset: int
    """One beyond the last offset."""


class SnapshotExtent(NamedTuple):
    """A snapshot by its name."""

    file: str
    offset: int
    epoch: int
    intact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSource:
    """A source of voters, and its differences from the newest voters."""

    directory: Hidden[NodeDirectory]
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
    log: LogRange | None
    snapshots: tuple[SnapshotExtent, ...]
    quorum_state: QuorumState | None
    settings: QuorumSettings | None
    history: tuple[HistoryEntry, ...]
    """Voter sets and kraft.versions by offset."""
    leader_changes: tuple[LeaderEntry, ...]


class NewestVoters(NamedTuple):
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
class VoterDiff:
    """The voters by each source, and the differences between sources. Offsets are places in the
    log, positions are bytes in a file."""

    newest_directory: Hidden[NodeDirectory | None]
    kraft_version: int | None
    """Of the source with the newest voters."""
    sources: tuple[ComparedSource, ...]
    findings: tuple[Finding, ...]

    @property
    @in_json_before("kraft_version")
    def has_differences(self) -> bool:
        """True if any source has other voters than the newest, even if it is only behind."""
        return any(source.differences for source in self.sources)

    @property
    @in_json_before("sources")
    def newest(self) -> NewestVoters | None:
        """The source with which the others are compared."""
        newest = self.newest_directory
        return None if newest is None else NewestVoters(newest.name, newest.in_force)

    @property
    @in_json
    def finding_counts(self) -> FindingCounts:
        return finding_counts(self.findings)

    @property
    def voters(self) -> SeenVoters | None:
        return None if self.newest is None else self.newest.voter_set

    @property
    def rows(self) -> tuple[SourceVoterRow, ...]:
        """The voters of every source."""
        return tuple(row for source in self.sources for row in _rows(source))


def _rows(compared: ComparedSource) -> Iterator[SourceVoterRow]:
    seen = compared.voter_set
    if seen is None:
        return
    for voter in sorted(seen.voters, key=lambda voter: voter.id):
        supported = voter.kraft_version if seen.is_recorded else None
        yield SourceVoterRow(
            source=compared.source,
            is_of_other_cluster=compared.is_of_other_cluster,
            is_behind=compared.is_behind,
            voter_source=seen.source,
            offset=seen.offset,
            id=voter.id,
            directory_id=voter.directory_id,
            endpoints=shown_endpoints(voter.endpoints),
            min_kraft_version=None if supported is None else supported.min,
            max_kraft_version=None if supported is None else supported.max,
        )


def diff_voters(judged: Sequence[JudgedDirectory]) -> VoterDiff:
    """Compare sources; a single one is compared with itself, file by file."""
    sources = [one.directory for one in judged]
    home = source_differences.home_cluster(sources)
    own = [source for source in sources if not source_differences.is_foreign(source, home)]
    ours = with_verdicts(own)
    given = dict(zip(map(id, own), ours, strict=True))
    newest = source_differences.newest_source(ours)
    compared = []
    for source in sources:
        source_report = given.get(id(source))
        if source_report is None:
            compared.append(_compared(with_verdicts([source])[0], is_of_other_cluster=True))
            continue
        differences = (
            source_differences.differs(source_report, newest) if newest is not None else ()
        )
        behind = bool(differences) and source_differences.is_behind(source_report, ours)
        compared.append(_compared(source_report, differences, is_behind=behind))
    findings = [finding for one in judged for finding in about_voters(one)]
    findings += source_differences.clusters(sources)
    for rule in _RULES:
        findings += bounded(rule(ours))
    return VoterDiff(
        sources=tuple(compared),
        newest_directory=newest,
        kraft_version=None if newest is None else newest.kraft_version,
        findings=in_order(findings),
    )


def _compared(
    directory: NodeDirectory,
    differences: tuple[str, ...] = (),
    *,
    is_of_other_cluster: bool = False,
    is_behind: bool = False,
) -> ComparedSource:
    log = directory.log
    return ComparedSource(
        directory=directory,
        source=directory.name,
        kind=directory.kind,
        is_of_other_cluster=is_of_other_cluster,
        is_behind=is_behind,
        differences=differences,
        node=directory.node,
        is_witness=directory.is_witness,
        kraft_version=directory.kraft_version,
        voter_set=directory.in_force,
        end_offset=directory.end,
        high_watermark=directory.high_watermark,
        log=None if log is None else LogRange(log.start, log.end),
        snapshots=tuple(
            SnapshotExtent(snapshot.file, snapshot.offset, snapshot.epoch, snapshot.intact)
            for snapshot in directory.snapshots
        ),
        quorum_state=directory.quorum_state,
        settings=directory.settings,
        history=directory.history.entries,
        leader_changes=directory.history.leaders,
    )
