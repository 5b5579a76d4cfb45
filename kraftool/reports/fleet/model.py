"""The model of `pipeline audit`, as values: clusters, directories, findings, divergences.

Owns the read model that terminal, JSON and the HTML page show. Everything in it is bounded: what
was left out is counted. It knows no Spark, and refuses to find or to render anything. Names are as
they may be shown; no URL in it carries credentials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kraftool.decoders.json_marks import Count, Hidden, Inline, Moment, in_json_before
from kraftool.raft.names import NO_VOTERS, VoterSet
from kraftool.reports.doctor.model import Evidence
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.mutes import MutedFinding
from kraftool.reports.text.json_forms import FindingCounts

AUDIT = "audit"
"""What `by` names where the audit itself found something, between nodes; else a command's name."""


NOTHING_FOUND = FindingCounts()


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectorySummary:
    """One data directory at a glance; None for a value that it does not have."""

    name: str
    """The directory as it is shown; unique in a fleet."""
    cluster: str
    """The name of its cluster among the `ClusterSummary`s."""
    cluster_id: str | None = None
    """The cluster id in its own meta.properties, which may be another cluster's."""
    node_id: int | None = None
    directory_id: str | None = None
    is_live: bool = False
    """True if another process holds its lock."""
    files: Count = 0
    size: int = 0
    """Bytes of all its files that Kafka's metadata is in."""
    segments: Count = 0
    batches: Count = 0
    records: Count = 0
    start_offset: int | None = None
    end_offset: int | None = None
    """One beyond the last offset of the log."""
    intact_end_offset: int | None = None
    """The offset at which Kafka would cut the log if it started on it."""
    epoch: int | None = None
    """Of the log's last batch."""
    first_timestamp: Moment | None = None
    last_timestamp: Moment | None = None
    """Of the log's last record."""
    elections: Count = 0
    """LeaderChange records in its log."""
    snapshots: Count = 0
    newest_snapshot_offset: int | None = None
    newest_snapshot_epoch: int | None = None
    newest_snapshot_timestamp: Moment | None = None
    """lastContainedLogTimestamp."""
    newest_snapshot_hash: str = ""
    """The state hash of verify-snapshot; empty where that is not known."""
    metadata_version: int | None = None
    metadata_release: str = ""
    """The name of that level, such as `4.0-IV3`."""
    kraft_version: int | None = None
    voters: VoterSet = NO_VOTERS
    """By id."""
    voters_from: str = ""
    """The source of the voters, such as KRaftVoters record."""
    quorum_epoch: int | None = None
    """leaderEpoch of quorum-state."""
    leader_id: int | None = None
    """leaderId of quorum-state; None where it names none."""
    voted_id: int | None = None
    """votedId of quorum-state; None where it names none."""
    topics: Count | None = None
    partitions: Count | None = None
    brokers: Count | None = None
    controllers: Count | None = None
    finding_counts: FindingCounts = NOTHING_FOUND
    """Of this directory by itself: what doctor, verify-log and verify-snapshot say."""
    bytes_read: int = 0
    """Bytes that its task read."""
    seconds: float = 0.0
    """The duration of its task."""


class ElectionDay(NamedTuple):
    """The elections of a day."""

    day: str
    """YYYY-MM-DD in UTC."""
    elections: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSummary:
    """The directories of one cluster together."""

    name: str
    """The cluster id; of a directory that names none and fits no other, its own name. Unique."""
    cluster_id: str | None = None
    directories: Count = 0
    node_ids: tuple[int, ...] = ()
    live: Count = 0
    """The number of its directories that another process has locked."""
    size: int = 0
    batches: Count = 0
    records: Count = 0
    start_offset: int | None = None
    end_offset: int | None = None
    """The lowest start and the highest end of its logs."""
    lowest_end_offset: int | None = None
    lag: int | None = None
    """Offsets between the node that is furthest and the one that is least far."""
    epoch: int | None = None
    leader_id: int | None = None
    """Of the quorum-state with the highest epoch."""
    first_timestamp: Moment | None = None
    last_timestamp: Moment | None = None
    newest_snapshot_offset: int | None = None
    metadata_versions: tuple[str, ...] = ()
    """The releases that its directories are at; more than one where they differ."""
    kraft_versions: tuple[int, ...] = ()
    voters: VoterSet = NO_VOTERS
    """The newest set, by id."""
    topics: Count | None = None
    partitions: Count | None = None
    brokers: Count | None = None
    elections: Count = 0
    """Different leader epochs whose LeaderChange any of the logs has."""
    elections_by_day: tuple[ElectionDay, ...] = ()
    """The newest days that had some, oldest first."""
    divergences: Count = 0
    finding_counts: FindingCounts = NOTHING_FOUND
    """Of its directories and between them."""
    between_counts: FindingCounts = NOTHING_FOUND
    """Those between its directories alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFinding:
    """A finding as every command has it, with whose it is."""

    finding: Inline[Finding]
    cluster: str = ""
    """The name of the cluster; empty where it is about several, or none is known."""
    directory: str = ""
    """The directory; empty where it is about several."""
    paths: tuple[str, ...] = ()
    """All directories that it is about."""
    by: tuple[str, ...] = ()
    """The commands that say it about the directory by itself, or audit."""
    evidence: tuple[Evidence, ...] = ()
    """The evidence."""
    commands: tuple[str, ...] = ()
    """The commands to run next, one per line. A person does lines that begin with #."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergedSide:
    """The records of some directories, which agree, at the first batch of a divergence."""

    paths: tuple[str, ...]
    """The directories."""
    epoch: int | None = None
    base_offset: int | None = None
    last_offset: int | None = None
    """Of that batch; None where these have nothing there."""
    crc: int | None = None
    batches: Count = 0
    """The number of batches that it has in the whole range."""
    file: str = ""
    position: int | None = None
    """Of that batch in the first directory's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """A range of offsets in which the logs of one cluster are not the same bytes."""

    cluster: str
    first_offset: int
    last_offset: int
    """Inclusive: the last that any two of the logs have both and differently."""
    sides: tuple[DivergedSide, ...]
    same_epoch: bool = False
    """True if two of them have batches of one epoch there. No correct quorum leaves that."""
    is_open: bool = False
    """True if the logs do not agree again after it."""
    only_epoch: bool = False
    """True if the batches are the same except for their epochs, which no CRC covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCount:
    """The number of findings with one code in the whole fleet."""

    code: str
    severity: Severity
    """The worst that it was found with."""
    findings: Count
    clusters: Count
    """In how many clusters."""
    directories: Count
    """About how many directories."""
    meaning: str = ""
    """The meaning for Kafka, as in kraftool doctor `--explain CODE`."""
    advice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionCount:
    """The number of directories and clusters at one metadata.version or kraft.version."""

    name: str
    level: int | None
    directories: Count
    clusters: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCounts:
    """Sums over the whole fleet, whatever was left out of the lists."""

    clusters: Count = 0
    directories: Count = 0
    live: Count = 0
    files: Count = 0
    size: int = 0
    batches: Count = 0
    records: Count = 0
    topics: Count = 0
    partitions: Count = 0
    brokers: Count = 0
    elections: Count = 0
    divergences: Count = 0
    finding_counts: FindingCounts = NOTHING_FOUND
    clusters_with: FindingCounts = NOTHING_FOUND
    """Clusters by the worst that was found in them."""
    directories_with: FindingCounts = NOTHING_FOUND
    """Directories by the worst that was found in them by themselves."""
    undecoded: Count = 0
    """Findings of what could not be read or decoded."""
    undecoded_with: FindingCounts = NOTHING_FOUND
    """The same by severity."""
    ignored: Count = 0
    """Findings that --ignore left out."""
    muted_findings: Hidden[tuple[MutedFinding, ...]] = ()
    """The findings that --mute left out. A mute covers few of a directory."""
    bytes_read: int = 0
    """Bytes that all tasks read."""
    task_seconds: float = 0.0

    @property
    @in_json_before("bytes_read")
    def muted(self) -> Count:
        """Findings that --mute left out."""
        return len(self.muted_findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """The entries that are not in the lists of this model; JSON has all of them."""

    clusters: Count = 0
    directories: Count = 0
    findings: Count = 0
    divergences: Count = 0
    codes: Count = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The audit's request and machine, without any credentials."""

    roots: tuple[str, ...] = ()
    master: str = ""
    cores: int = 0
    fail_on: str = "warning"
    ignored_codes: tuple[str, ...] = ()
    kraftool_version: str = ""
    spark_version: str = ""
    started_at: Moment = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SinceRun:
    """The findings of an audit against those that an earlier run put into the table."""

    earlier_run: int
    """The number of that run in the table; 0 if it has none, so that everything is new."""
    started_at: Moment | None = None
    """When that run began; None if it found nothing."""
    new_counts: FindingCounts = NOTHING_FOUND
    gone_counts: FindingCounts = NOTHING_FOUND
    undecoded_new: Hidden[FindingCounts] = NOTHING_FOUND
    """The new findings of what could not be read or decoded."""
    same: Count = 0
    """The number of findings that both runs have."""
    new_findings: tuple[FleetFinding, ...] = ()
    """The most urgent of the new ones, 1,000 at most."""
    gone_findings: tuple[FleetFinding, ...] = ()
    """The findings that this run has not, 1,000 at most. They have no evidence and no commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetAudit:
    """The whole audit, bounded: the worst first in each list."""

    run: RunSettings
    counts: FleetCounts
    clusters: tuple[ClusterSummary, ...] = ()
    directories: tuple[DirectorySummary, ...] = ()
    """Those of the listed clusters, cluster after cluster, by node id."""
    findings: tuple[FleetFinding, ...] = ()
    divergences: tuple[Divergence, ...] = ()
    codes: tuple[CodeCount, ...] = ()
    metadata_versions: tuple[VersionCount, ...] = ()
    kraft_versions: tuple[VersionCount, ...] = ()
    left_out: LeftOut = LeftOut()
    since: SinceRun | None = None
    """The comparison with an earlier run, if one was asked for."""
