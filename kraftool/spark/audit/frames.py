"""Findings and summaries as one DataFrame, which Spark sorts and counts where they are.

Owns its columns: the kind of a row, those to sort and count by, the JSON of the document, and the
value itself for the few that are shown. Nothing here is collected whole.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from kraftool.reports.findings.finding import SEVERITY_RANK
from kraftool.reports.findings.urgency import urgency_of
from kraftool.reports.fleet.model import (
    ClusterSummary,
    DirectorySummary,
    Divergence,
    FleetCounts,
    FleetFinding,
)
from kraftool.reports.text.json_document import json_line
from kraftool.reports.text.printable import file_text
from kraftool.spark.values import Row, collected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = (
    "kind INT, rank INT, urgency INT, errors INT, warnings INT, cluster STRING, directory STRING, "
    "directories ARRAY<STRING>, code STRING, file STRING, position BIGINT, offset BIGINT, "
    "text STRING, undecoded BOOLEAN, name STRING, node INT, level INT, release STRING, kraft INT, "
    "same_epoch BOOLEAN, first_offset BIGINT, line BINARY, held BINARY"
)
"""The columns of all kinds of rows."""
_COLUMNS = [column.split()[0] for column in ROWS.split(", ")]


class AuditRowKind(IntEnum):
    """The subject of a row."""

    FINDING = 0
    CLUSTER = 1
    DIRECTORY = 2
    DIVERGENCE = 3
    COUNTS = 4
    """What a cluster and its directories add to the sums."""
    UNCOMPARED = 5
    """The name of a cluster whose logs may differ, so that they have to be read once more."""


def rows_of(frame: DataFrame, kind: AuditRowKind) -> DataFrame:
    """The rows of one kind."""
    return frame.where(f"kind = {int(kind)}")


def _row(kind: AuditRowKind, value: object, line: bytes | None = None, **columns: Any) -> Row:
    columns |= {"kind": int(kind), "line": line, "held": pickle.dumps(value)}
    return tuple(map(columns.get, _COLUMNS))


def finding_row(fleet_finding: FleetFinding) -> Row:
    """A finding as a row."""
    finding = fleet_finding.finding
    return _row(
        AuditRowKind.FINDING,
        fleet_finding,
        json_line(fleet_finding),
        rank=SEVERITY_RANK[finding.severity],
        urgency=urgency_of(finding),
        cluster=file_text(fleet_finding.cluster),
        directory=file_text(fleet_finding.directory),
        directories=list(map(file_text, fleet_finding.paths)),
        code=finding.code,
        file=file_text(finding.file),
        position=finding.position,
        offset=finding.offset,
        text=file_text(finding.text),
        undecoded=finding.undecoded,
    )


def cluster_row(summary: ClusterSummary, findings: Iterable[FleetFinding]) -> Row:
    """The summary of a cluster as a row, as urgent as the most urgent of its findings."""
    counts = summary.finding_counts
    return _row(
        AuditRowKind.CLUSTER,
        summary,
        json_line(summary),
        urgency=min((urgency_of(one.finding) for one in findings), default=None),
        errors=counts.error,
        warnings=counts.warning,
        name=file_text(summary.name),
    )


def directory_row(summary: DirectorySummary) -> Row:
    """The summary of a directory as a row."""
    return _row(
        AuditRowKind.DIRECTORY,
        summary,
        json_line(summary),
        cluster=file_text(summary.cluster),
        node=summary.node_id,
        name=file_text(summary.name),
        level=summary.metadata_version,
        release=summary.metadata_release or None,
        kraft=summary.kraft_version,
    )


def divergence_row(divergence: Divergence) -> Row:
    """A divergence as a row."""
    return _row(
        AuditRowKind.DIVERGENCE,
        divergence,
        json_line(divergence),
        same_epoch=divergence.same_epoch,
        cluster=file_text(divergence.cluster),
        first_offset=divergence.first_offset,
    )


def counts_row(counts: FleetCounts) -> Row:
    """Sums as a row."""
    return _row(AuditRowKind.COUNTS, counts)


def uncompared_row(name: str) -> Row:
    """The name of a cluster whose logs have to be read once more, as a row."""
    return _row(AuditRowKind.UNCOMPARED, name)


def first(frame: DataFrame, count: int) -> list[Any]:
    """The first values of a sorted frame; our own workers have pickled them."""
    return collected(frame.limit(count), "held")


def lines(frame: DataFrame) -> Iterator[bytes]:
    """The JSON of a sorted frame, one partition after another."""
    for row in frame.select("line").toLocalIterator():
        yield bytes(row["line"])
