"""The sums of an audit over the whole fleet.

Owns the sums, which workers make of their own part and Spark puts together. It refuses to judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql.functions import expr

from kraftool.reports.findings.finding import SEVERITY_RANK, Severity
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.fleet.model import (
    ClusterSummary,
    CodeCount,
    DirectorySummary,
    FleetCounts,
    VersionCount,
)
from kraftool.reports.text.json_forms import FindingCounts
from kraftool.spark.audit.finding_merge import added

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SEVERITIES = {rank: severity for severity, rank in SEVERITY_RANK.items()}


def of_cluster(cluster: ClusterSummary) -> FleetCounts:
    """Return what one cluster adds."""
    return FleetCounts(
        clusters=1,
        topics=cluster.topics or 0,
        partitions=cluster.partitions or 0,
        brokers=cluster.brokers or 0,
        elections=cluster.elections,
        divergences=cluster.divergences,
        clusters_with=_one(cluster.finding_counts),
    )


def of_directory(directory: DirectorySummary) -> FleetCounts:
    """Return what one directory adds."""
    return FleetCounts(
        directories=1,
        live=int(directory.is_live),
        files=directory.files,
        size=directory.size,
        batches=directory.batches,
        records=directory.records,
        directories_with=_one(directory.finding_counts),
        bytes_read=directory.bytes_read,
        task_seconds=directory.seconds,
    )


def _one(counts: FindingCounts) -> FindingCounts:
    worst = counts.worst
    return FindingCounts(
        error=int(worst is Severity.ERROR),
        warning=int(worst is Severity.WARNING),
        info=int(worst is Severity.INFO),
    )


def both(one: FleetCounts, other: FleetCounts) -> FleetCounts:
    """Two sums together."""
    return FleetCounts(
        clusters=one.clusters + other.clusters,
        directories=one.directories + other.directories,
        live=one.live + other.live,
        files=one.files + other.files,
        size=one.size + other.size,
        batches=one.batches + other.batches,
        records=one.records + other.records,
        topics=one.topics + other.topics,
        partitions=one.partitions + other.partitions,
        brokers=one.brokers + other.brokers,
        elections=one.elections + other.elections,
        divergences=one.divergences + other.divergences,
        finding_counts=added(one.finding_counts, other.finding_counts),
        clusters_with=added(one.clusters_with, other.clusters_with),
        directories_with=added(one.directories_with, other.directories_with),
        undecoded=one.undecoded + other.undecoded,
        undecoded_with=added(one.undecoded_with, other.undecoded_with),
        ignored=one.ignored + other.ignored,
        bytes_read=one.bytes_read + other.bytes_read,
        task_seconds=round(one.task_seconds + other.task_seconds, 3),
    )


def with_findings(counts: FleetCounts, findings: DataFrame) -> FleetCounts:
    """With the findings, counted where they are."""
    totals = dict.fromkeys(Severity, 0)
    undecoded = dict.fromkeys(Severity, 0)
    for row in findings.groupBy("rank", "undecoded").count().collect():
        severity = _SEVERITIES[row["rank"]]
        totals[severity] += row["count"]
        undecoded[severity] += row["count"] if row["undecoded"] else 0
    return replace(
        counts,
        finding_counts=_counts(totals),
        undecoded=sum(undecoded.values()),
        undecoded_with=_counts(undecoded),
    )


def _counts(counts: Mapping[Severity, int]) -> FindingCounts:
    return FindingCounts(
        error=counts[Severity.ERROR], warning=counts[Severity.WARNING], info=counts[Severity.INFO]
    )


def codes_of(findings: DataFrame) -> tuple[CodeCount, ...]:
    """Return how often each code was found, the most urgent first. There are no more than kinds."""
    counts = findings.groupBy("code").agg(
        expr("min(rank)").alias("rank"),
        expr("min(urgency)").alias("urgency"),
        expr("count(*)").alias("count"),
        expr("count(DISTINCT nullif(cluster, ''))").alias("clusters"),
    )
    named = findings.selectExpr("code", "explode(directories) AS name").groupBy("code")
    directories = named.agg(expr("count(DISTINCT name)").alias("directories"))
    rows = counts.join(directories, "code", "left").collect()
    rows.sort(key=lambda row: (row["urgency"], -row["clusters"], -row["count"], row["code"]))
    return tuple(
        CodeCount(
            code=row["code"],
            severity=_SEVERITIES[row["rank"]],
            findings=row["count"],
            clusters=row["clusters"],
            directories=row["directories"] or 0,
            meaning=KINDS[row["code"]].meaning if row["code"] in KINDS else "",
            advice=KINDS[row["code"]].advice if row["code"] in KINDS else "",
        )
        for row in rows
    )


def versions_of(
    directories: DataFrame,
) -> tuple[tuple[VersionCount, ...], tuple[VersionCount, ...]]:
    """Return how many are at each metadata.version, and at each kraft.version, the newest first."""
    return _levels(directories, "level", "release"), _levels(directories, "kraft", "kraft")


def _levels(directories: DataFrame, level: str, name: str) -> tuple[VersionCount, ...]:
    counted = (
        directories.where(f"{level} IS NOT NULL")
        .groupBy(expr(level).alias("at"))
        .agg(
            expr(f"CAST(min({name}) AS STRING)").alias("called"),
            expr("count(*)").alias("directories"),
            expr("count(DISTINCT cluster)").alias("clusters"),
        )
    )
    version_counts = [
        VersionCount(
            name=row["called"] or str(row["at"]),
            level=row["at"],
            directories=row["directories"],
            clusters=row["clusters"],
        )
        for row in counted.collect()
    ]
    return tuple(sorted(version_counts, key=lambda version_count: -(version_count.level or 0)))
