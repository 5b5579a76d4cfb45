"""The part of an audit that reaches the driver: sums, the worst of each list, and ways to the rest.

Owns what is shown where not all can be. It refuses to collect lists whole.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import col, expr

from kraftool.arrow.search import DEPTH
from kraftool.reports.findings.mutes import NOTHING_LEFT_OUT, FindingFilter
from kraftool.reports.findings.urgency import urgency_of
from kraftool.reports.fleet.document import Lists
from kraftool.reports.fleet.model import FleetAudit, FleetCounts, LeftOut, RunSettings
from kraftool.reports.text.printable import file_text
from kraftool.spark.audit.fleet_totals import FindingsByCode, both, versions_of
from kraftool.spark.audit.frames import ROWS, AuditRowKind, finding_row, first, lines, rows_of
from kraftool.spark.values import collected, rows_table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from kraftool.reports.fleet.model import DirectorySummary, FleetFinding

_MOST_DIRECTORIES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """The request for an audit."""

    roots: tuple[str, ...] = field(repr=False)
    depth: int = DEPTH
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False)
    left_out: FindingFilter = NOTHING_LEFT_OUT
    fail_on: str = "warning"
    most_findings: int = 1000
    most_clusters: int = 2000
    most_divergences: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRun:
    """An audit whose session still runs: the model, and lists as long as they are."""

    model: FleetAudit
    clusters: DataFrame
    directories: DataFrame
    divergences: DataFrame
    findings: DataFrame

    def lists(self) -> Lists:
        """All elements of the document's lists, as they come from the workers."""
        return Lists(
            clusters=lines(self.clusters.orderBy(*_worst_first())),
            directories=lines(self.directories.orderBy("cluster", "node", "name")),
            divergences=lines(self.divergences.orderBy("cluster", "first_offset")),
            findings=lines(_in_order(self.findings)),
        )

    def every_finding(self) -> Iterator[FleetFinding]:
        """All findings, the most urgent first, as they come from the workers."""
        for row in _in_order(self.findings).select("held").toLocalIterator():
            yield pickle.loads(row["held"])


def _in_order(findings: DataFrame) -> DataFrame:
    return findings.orderBy(
        "urgency", "cluster", "directory", "code", "file", "position", "offset", "text"
    )


def collect(
    spark: SparkSession,
    wanted: AuditRequest,
    loose: Sequence[FleetFinding],
    rows: DataFrame,
) -> AuditRun:
    """Count everything and take the worst; `loose` are findings of no single cluster."""
    chosen = wanted.left_out.sorted(loose, lambda finding: finding.finding)
    findings = _findings(spark, rows, chosen.kept)
    directories = rows_of(rows, AuditRowKind.DIRECTORY)
    divergences = rows_of(rows, AuditRowKind.DIVERGENCE)
    of_none = FleetCounts(ignored=chosen.ignored, muted_findings=chosen.muted)
    counts = reduce(both, collected(rows_of(rows, AuditRowKind.COUNTS), "held"), of_none)
    by_code = FindingsByCode(findings)
    counts = by_code.added_to(counts)
    clusters = rows_of(rows, AuditRowKind.CLUSTER)
    worst = first(clusters.orderBy(*_worst_first()), wanted.most_clusters)
    place = {cluster.name: number for number, cluster in enumerate(worst)}
    some = _of_clusters(directories, list(place))
    some.sort(key=lambda summary: (place[summary.cluster], summary.node_id or 0, summary.name))
    shown = first(_first_of_their_like(findings), wanted.most_findings)
    # Of those that are equally urgent, the ones of one cluster together, the worst cluster first.
    shown.sort(key=lambda finding: (urgency_of(finding.finding), place.get(finding.cluster, -1)))
    parted = first(
        divergences.orderBy(col("same_epoch").desc(), "cluster", "first_offset"),
        wanted.most_divergences,
    )
    model = FleetAudit(
        run=RunSettings(),
        counts=counts,
        clusters=tuple(worst),
        directories=tuple(some),
        findings=tuple(shown),
        divergences=tuple(parted),
        codes=by_code.codes(),
        metadata_versions=versions_of(directories, "level", "release"),
        kraft_versions=versions_of(directories, "kraft", "kraft"),
        left_out=LeftOut(
            clusters=counts.clusters - len(worst),
            directories=counts.directories - len(some),
            findings=counts.finding_counts.total - len(shown),
            divergences=counts.divergences - len(parted),
        ),
    )
    return AuditRun(
        model=model,
        clusters=clusters,
        directories=directories,
        divergences=divergences,
        findings=findings,
    )


def _findings(spark: SparkSession, rows: DataFrame, loose: Sequence[FleetFinding]) -> DataFrame:
    """All findings: those of clusters, and those of no single one."""
    frame = rows_of(rows, AuditRowKind.FINDING)
    if not loose:
        return frame
    return frame.union(spark.createDataFrame(rows_table(map(finding_row, loose), ROWS)))


def _first_of_their_like(findings: DataFrame) -> DataFrame:
    """The most urgent findings first; of those, the second of its like after all firsts."""
    like = "PARTITION BY code, cluster, directory ORDER BY urgency, file, position, offset, text"
    counted = findings.withColumn("repeated", expr(f"row_number() OVER ({like})"))
    return counted.orderBy("urgency", "repeated", "cluster", "directory", "code", "file", "offset")


def _worst_first() -> list[Column]:
    """The order of clusters."""
    worst = (col(column).desc() for column in ("errors", "warnings"))
    return [col("urgency").asc_nulls_last(), *worst, col("name")]


def _of_clusters(directories: DataFrame, names: Iterable[str]) -> list[DirectorySummary]:
    """The directories of the clusters that are shown."""
    shown = directories.where(col("cluster").isin([file_text(name) for name in names]))
    return first(shown.orderBy("cluster", "node", "name"), _MOST_DIRECTORIES)
