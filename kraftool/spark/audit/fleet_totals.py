"""The sums of an audit over the whole fleet.

Owns the sums, which workers make of their own part and Spark puts together.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import expr

from kraftool.reports.findings.finding import SEVERITY_RANK
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.fleet.model import (
    ClusterSummary,
    CodeCount,
    DirectorySummary,
    FleetCounts,
    VersionCount,
)
from kraftool.reports.text.json_forms import FindingCounts

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
    return FindingCounts(**{counts.worst.value: 1}) if counts.worst is not None else counts


def both(one: FleetCounts, other: FleetCounts) -> FleetCounts:
    """Two sums together."""
    names = [field.name for field in fields(FleetCounts)]
    sums: dict[str, Any] = {name: getattr(one, name) + getattr(other, name) for name in names}
    return FleetCounts(**{**sums, "task_seconds": round(sums["task_seconds"], 3)})


class FindingsByCode:
    """All findings, counted by their codes where they are. There are no more codes than kinds."""

    def __init__(self, findings: DataFrame) -> None:
        counted = findings.groupBy("code").agg(
            expr("min(rank)").alias("rank"),
            expr("min(urgency)").alias("urgency"),
            *(
                expr(f"count_if(rank = {rank}{also})").alias(f"{name}{rank}")
                for rank in _SEVERITIES
                for name, also in (("found", ""), ("undecoded", " AND undecoded"))
            ),
            expr("size(collect_set(nullif(cluster, '')))").alias("clusters"),
            expr("size(array_distinct(flatten(collect_set(directories))))").alias("directories"),
        )
        self._rows = counted.collect()

    def added_to(self, counts: FleetCounts) -> FleetCounts:
        """The sums with those of the findings."""
        undecoded = self._counts("undecoded")
        return replace(
            counts,
            finding_counts=self._counts("found"),
            undecoded=undecoded.total,
            undecoded_with=undecoded,
        )

    def _counts(self, name: str) -> FindingCounts:
        return FindingCounts(
            **{
                severity.value: sum(row[f"{name}{rank}"] for row in self._rows)
                for rank, severity in _SEVERITIES.items()
            }
        )

    def codes(self) -> tuple[CodeCount, ...]:
        """Return how often each code was found, the most urgent first."""
        counts = [(row, sum(row[f"found{rank}"] for rank in _SEVERITIES)) for row in self._rows]
        counts.sort(
            key=lambda pair: (pair[0]["urgency"], -pair[0]["clusters"], -pair[1], pair[0]["code"])
        )
        return tuple(
            CodeCount(
                code=row["code"],
                severity=_SEVERITIES[row["rank"]],
                findings=count,
                clusters=row["clusters"],
                directories=row["directories"],
                meaning=KINDS[row["code"]].meaning if row["code"] in KINDS else "",
                advice=KINDS[row["code"]].advice if row["code"] in KINDS else "",
            )
            for row, count in counts
        )


def versions_of(directories: DataFrame, level: str, name: str) -> tuple[VersionCount, ...]:
    """Return how many are at each level of a column, the newest first."""
    counted = (
        directories.where(f"{level} IS NOT NULL")
        .groupBy(expr(level).alias("level"))
        .agg(
            expr(f"coalesce(min(string({name})), string({level}))").alias("name"),
            expr("count(*)").alias("directories"),
            expr("count(DISTINCT cluster)").alias("clusters"),
        )
    )
    return tuple(VersionCount(**row.asDict()) for row in counted.orderBy(expr("-level")).collect())
