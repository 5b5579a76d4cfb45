"""The part of an audit that reaches the driver: sums, the worst of each list, and ways to the rest.

Owns what is shown where not all can be. It refuses to collect lists whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import broadcast, col, expr

from kraftool.arrow.fleet import DEPTH
from kraftool.reports.findings.urgency import urgency_of
from kraftool.reports.fleet.document import Lists
from kraftool.reports.fleet.model import FleetAudit, FleetCounts, LeftOut, RunSettings
from kraftool.reports.text.printable import file_text
from kraftool.spark.audit.frames import (
    clusters_frame,
    directories_frame,
    divergences_frame,
    findings_frame,
    first,
    lines,
)
from kraftool.spark.audit.sums import (
    both,
    codes_of,
    of_cluster,
    of_directory,
    versions_of,
    with_findings,
)

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import Column, DataFrame, SparkSession

    from kraftool.reports.fleet.model import (
        ClusterSummary,
        DirectorySummary,
        Divergence,
        FleetFinding,
    )
    from kraftool.spark.audit.cluster import Compared
    from kraftool.spark.audit.examine import AuditedDirectory

_MOST_DIRECTORIES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """The request for an audit."""

    roots: tuple[str, ...] = field(repr=False)
    depth: int = DEPTH
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False)
    ignored_codes: frozenset[str] = frozenset()
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

    def forget(self) -> None:
        """Let Spark drop what it keeps for this."""
        for frame in (self.clusters, self.directories, self.divergences, self.findings):
            frame.unpersist()


def _in_order(findings: DataFrame) -> DataFrame:
    return findings.orderBy(
        "urgency", "cluster", "directory", "code", "file", "position", "offset", "text"
    )


def collect(
    spark: SparkSession,
    wanted: AuditRequest,
    loose: Sequence[FleetFinding],
    members: RDD[AuditedDirectory],
    compared: RDD[Compared],
) -> AuditRun:
    """Count everything and take the worst; `loose` are findings of no single cluster."""
    context = spark.sparkContext
    kept = [finding for finding in loose if finding.finding.code not in wanted.ignored_codes]
    every = context.union(
        [
            context.parallelize(kept, 1),
            members.flatMap(_own_findings),
            compared.flatMap(_shared_findings),
        ]
    )
    findings = findings_frame(spark, every)
    clusters = clusters_frame(spark, compared.map(_cluster_of))
    directories = directories_frame(spark, members.map(_summary_of))
    divergences = divergences_frame(spark, compared.flatMap(_divergences_of))
    counts = both(
        members.map(_sum_of_directory).fold(FleetCounts(), both),
        compared.map(_sum_of_cluster).fold(FleetCounts(), both),
    )
    counts = replace(counts, ignored=counts.ignored + len(loose) - len(kept))
    counts = with_findings(counts, findings)
    urgent = findings.groupBy(col("cluster").alias("name")).agg(expr("min(urgency) AS urgency"))
    clusters = clusters.join(urgent, "name", "left")
    worst = first(clusters.orderBy(*_worst_first()), wanted.most_clusters)
    place = {each.name: number for number, each in enumerate(worst)}
    some = _of_clusters(spark, directories, list(place))
    some.sort(key=lambda summary: (place[summary.cluster], summary.node_id or 0, summary.name))
    shown = first(
        findings.orderBy("urgency", "repeated", "cluster", "directory", "code", "file", "offset"),
        wanted.most_findings,
    )
    # Of those that are equally urgent, the ones of one cluster together, the worst cluster first.
    shown.sort(key=lambda each: (urgency_of(each.finding), place.get(each.cluster, -1)))
    parted = first(
        divergences.orderBy(_down("same_epoch"), "cluster", "first_offset"),
        wanted.most_divergences,
    )
    metadata_versions, kraft_versions = versions_of(directories)
    model = FleetAudit(
        run=RunSettings(),
        counts=counts,
        clusters=tuple(worst),
        directories=tuple(some),
        findings=tuple(shown),
        divergences=tuple(parted),
        codes=codes_of(findings),
        metadata_versions=metadata_versions,
        kraft_versions=kraft_versions,
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


def _worst_first() -> list[Column]:
    """The order of clusters."""
    return [col("urgency").asc_nulls_last(), _down("errors"), _down("warnings"), col("name")]


def _down(column: str) -> Column:
    return col(column).desc()


def _of_clusters(
    spark: SparkSession, directories: DataFrame, names: Sequence[str]
) -> list[DirectorySummary]:
    """The directories of the clusters that are shown."""
    rows = [(file_text(name),) for name in names]
    wanted = broadcast(spark.createDataFrame(rows, "cluster STRING"))
    found = directories.join(wanted, "cluster").orderBy("cluster", "node", "name")
    return first(found, _MOST_DIRECTORIES)


def _own_findings(examined: AuditedDirectory) -> tuple[FleetFinding, ...]:
    return examined.findings


def _shared_findings(compared: Compared) -> tuple[FleetFinding, ...]:
    return compared.findings


def _divergences_of(compared: Compared) -> tuple[Divergence, ...]:
    return compared.divergences


def _cluster_of(compared: Compared) -> ClusterSummary:
    return compared.summary


def _summary_of(examined: AuditedDirectory) -> DirectorySummary:
    return examined.summary


def _sum_of_directory(examined: AuditedDirectory) -> FleetCounts:
    return replace(of_directory(examined.summary), ignored=examined.ignored)


def _sum_of_cluster(compared: Compared) -> FleetCounts:
    return replace(of_cluster(compared.summary), ignored=compared.ignored)
