"""Findings and summaries as DataFrames, which Spark sorts and counts where they are.

Owns their columns: those to sort and count by, the JSON of the document, and the value itself for
the few that are shown. Nothing here is collected whole.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import expr
from pyspark.storagelevel import StorageLevel

from kraftool.reports.findings.finding import SEVERITY_RANK
from kraftool.reports.findings.urgency import urgency_of
from kraftool.reports.fleet.document import fleet_finding_object
from kraftool.reports.fleet.model import (
    ClusterSummary,
    DirectorySummary,
    Divergence,
    FleetFinding,
)
from kraftool.reports.text.json_document import json_line
from kraftool.reports.text.json_forms import FindingCounts
from kraftool.reports.text.printable import file_text

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

_HELD = "line BINARY, held BINARY"
_FINDINGS = (
    "rank INT, urgency INT, cluster STRING, directory STRING, directories ARRAY<STRING>,"
    " code STRING, file STRING, position BIGINT, offset BIGINT, text STRING,"
    f" undecoded BOOLEAN, {_HELD}"
)
_CLUSTERS = f"rank INT, errors INT, warnings INT, name STRING, {_HELD}"
_DIRECTORIES = (
    "rank INT, cluster STRING, node INT, name STRING, level INT, release STRING, kraft INT,"
    f" {_HELD}"
)
_DIVERGENCES = f"same_epoch BOOLEAN, cluster STRING, first_offset BIGINT, {_HELD}"
_FINE = 3
"""The rank of what has no finding."""


def findings_frame(spark: SparkSession, found: RDD[FleetFinding]) -> DataFrame:
    """Findings: `repeated` is how many of its like, in one directory, come before it."""
    rows = spark.createDataFrame(found.map(finding_row), _FINDINGS)
    like = "PARTITION BY code, cluster, directory ORDER BY urgency, file, position, offset, text"
    return _kept(rows.withColumn("repeated", expr(f"row_number() OVER ({like})")))


def finding_row(found: FleetFinding) -> tuple[Any, ...]:
    """A finding as the row of its frame."""
    finding = found.finding
    return (
        SEVERITY_RANK[finding.severity],
        urgency_of(finding),
        file_text(found.cluster),
        file_text(found.directory),
        list(map(file_text, found.directories)),
        finding.code,
        file_text(finding.file),
        finding.position,
        finding.offset,
        file_text(finding.text),
        finding.undecoded,
        # By its name: a form that is only looked up counts where its module was imported, and a
        # worker imports this one alone.
        json_line(fleet_finding_object(found)),
        pickle.dumps(found),
    )


def clusters_frame(spark: SparkSession, found: RDD[ClusterSummary]) -> DataFrame:
    """Summaries of clusters."""
    return _kept(spark.createDataFrame(found.map(_cluster), _CLUSTERS))


def _cluster(found: ClusterSummary) -> tuple[Any, ...]:
    counts = found.finding_counts
    return (
        rank_of(counts),
        counts.error,
        counts.warning,
        file_text(found.name),
        json_line(found),
        pickle.dumps(found),
    )


def directories_frame(spark: SparkSession, found: RDD[DirectorySummary]) -> DataFrame:
    """Summaries of directories."""
    return _kept(spark.createDataFrame(found.map(_directory), _DIRECTORIES))


def _directory(found: DirectorySummary) -> tuple[Any, ...]:
    return (
        rank_of(found.finding_counts),
        file_text(found.cluster),
        found.node_id,
        file_text(found.name),
        found.metadata_version,
        found.metadata_release or None,
        found.kraft_version,
        json_line(found),
        pickle.dumps(found),
    )


def divergences_frame(spark: SparkSession, found: RDD[Divergence]) -> DataFrame:
    """Divergences."""
    return _kept(spark.createDataFrame(found.map(_divergence), _DIVERGENCES))


def _divergence(found: Divergence) -> tuple[Any, ...]:
    return (
        found.same_epoch,
        file_text(found.cluster),
        found.first_offset,
        json_line(found),
        pickle.dumps(found),
    )


def rank_of(counts: FindingCounts) -> int:
    """Return how bad the worst of some findings is."""
    return SEVERITY_RANK[counts.worst] if counts.worst is not None else _FINE


def _kept(frame: DataFrame) -> DataFrame:
    """On the workers' disks: what is asked for several times is made once."""
    return frame.persist(StorageLevel.DISK_ONLY)


def first(frame: DataFrame, count: int) -> list[Any]:
    """The first values of a sorted frame; our own workers have pickled them."""
    return [pickle.loads(row["held"]) for row in frame.limit(count).select("held").collect()]


def lines(frame: DataFrame) -> Iterator[bytes]:
    """The JSON of a sorted frame, one partition after another."""
    for row in frame.select("line").toLocalIterator():
        yield bytes(row["line"])
