"""The document of `pipeline audit -o json`.

Owns that it is written in pieces: the lists of a large fleet are never in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kraftool.reports.findings.mutes import MutedFinding
from kraftool.reports.fleet.model import (
    ClusterSummary,
    CodeCount,
    DirectorySummary,
    Divergence,
    FleetAudit,
    FleetCounts,
    FleetFinding,
    RunSettings,
    SinceRun,
    VersionCount,
)
from kraftool.reports.text.json_document import JsonLines


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """The elements of the document's lists, each as JSON on one line, as they come."""

    clusters: Iterable[bytes]
    directories: Iterable[bytes]
    divergences: Iterable[bytes]
    findings: Iterable[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDocument:
    """A fleet of directories: what was read, all findings, and where logs differ. The lists have
    one element a line."""

    run: RunSettings
    counts: FleetCounts
    codes: tuple[CodeCount, ...]
    """Every code that was found, the most urgent first: by severity, then by what is at stake."""
    metadata_version_counts: tuple[VersionCount, ...]
    """Levels of metadata.version, the newest first."""
    kraft_version_counts: tuple[VersionCount, ...]
    """Levels of kraft.version, the newest first."""
    clusters: JsonLines[ClusterSummary]
    """All clusters, the worst first."""
    directories: JsonLines[DirectorySummary]
    """All directories, cluster by cluster, by node id."""
    divergences: JsonLines[Divergence]
    """All ranges, cluster by cluster, by offset; of one cluster no more than 200."""
    findings: JsonLines[FleetFinding]
    """All findings, the worst first."""
    muted: tuple[MutedFinding, ...]
    """The findings that --mute left out."""
    since: SinceRun | None
    """What is new and what is gone since an earlier run, with --since."""


def audit_document(audit: FleetAudit, lists: Lists) -> AuditDocument:
    return AuditDocument(
        run=audit.run,
        counts=audit.counts,
        codes=audit.codes,
        metadata_version_counts=audit.metadata_versions,
        kraft_version_counts=audit.kraft_versions,
        clusters=JsonLines(lists.clusters),
        directories=JsonLines(lists.directories),
        divergences=JsonLines(lists.divergences),
        findings=JsonLines(lists.findings),
        muted=audit.counts.muted_findings,
        since=audit.since,
    )
