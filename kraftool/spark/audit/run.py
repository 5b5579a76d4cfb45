"""The audit of a fleet as Spark jobs: directories first, then clusters, then sums.

Owns the order of the jobs and what the driver holds: a name for each directory, sums, and the few
findings that are shown. Everything else stays on the workers' disks, from where the JSON document
streams it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pyspark.storagelevel import StorageLevel

from kraftool import __version__
from kraftool.reports.fleet.model import RunSettings
from kraftool.spark.audit.batches import diverged
from kraftool.spark.audit.cluster_rows import compared
from kraftool.spark.audit.collect import AuditRequest, AuditRun, collect
from kraftool.spark.audit.examined import Examined
from kraftool.spark.audit.frames import ROWS, AuditRowKind, rows_of
from kraftool.spark.audit.membership import Belonging, belonging
from kraftool.spark.audit.roots import FoundDirectories, FoundDirectory, find
from kraftool.spark.job_progress import BeginStage
from kraftool.spark.listing import ListingJob
from kraftool.spark.values import collected, map_groups
from kraftool.storage.remote import shown_url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def audit(
    spark: SparkSession, wanted: AuditRequest, begin: BeginStage = lambda stage, directories: None
) -> Iterator[AuditRun]:
    """Audit a fleet. What is yielded can be asked as long as the context lasts.

    `begin` is told each stage: list, read, compare, report.
    """
    begin("list", ())
    began, clock = time.time(), time.monotonic()
    job = ListingJob(lambda: spark)
    found = find(wanted.roots, depth=wanted.depth, options=wanted.storage, job=job)
    with ExitStack() as kept:
        examined = Examined(spark, found.directories, wanted.left_out, begin)
        kept.callback(examined.frame.unpersist)
        begin("compare", ())
        homes = belonging(examined)
        rows = _compared(spark, found, examined, homes, wanted, kept)
        begin("report", ())
        loose = (*found.findings, *homes.findings)
        run = collect(spark, wanted, loose, rows)
        settings = RunSettings(
            roots=tuple(map(shown_url, wanted.roots)),
            master=spark.conf.get("spark.master", "") or "",
            cores=examined.cores,
            fail_on=wanted.fail_on,
            ignored_codes=tuple(sorted(wanted.left_out.ignored_codes)),
            kraftool_version=__version__,
            spark_version=spark.version,
            started_at=int(began * 1000),
            seconds=round(time.monotonic() - clock, 3),
        )
        yield replace(run, model=replace(run.model, run=settings))


def _compared(
    spark: SparkSession,
    found: FoundDirectories,
    examined: Examined,
    homes: Belonging,
    wanted: AuditRequest,
    kept: ExitStack,
) -> DataFrame:
    """All rows of the directories of each cluster, compared with each other.

    Most logs are compared by what was seen when they were examined. The others are read again.
    """
    keys = {number: homes.cluster_of[member.name] for number, member in examined.members.items()}
    compare_all = partial(compared, left_out=wanted.left_out, misplaced=homes.misplaced)
    columns, none = ("number", "audited"), "CAST(NULL AS BINARY) AS divergence"
    members = examined.keyed(keys, *columns).selectExpr("*", none)
    tasks = examined.tasks_for(len(set(keys.values())))
    rows = _kept(map_groups(members, "key", compare_all, ROWS, tasks), kept)
    unread = set(collected(rows_of(rows, AuditRowKind.UNCOMPARED), "held"))
    if not unread:
        return rows
    again = {number: key for number, key in keys.items() if key in unread}
    clusters: dict[str, list[FoundDirectory]] = {}
    for number, cluster in again.items():
        if examined.members[number].name not in homes.misplaced.log_of:
            clusters.setdefault(cluster, []).append(found.directories[number])
    both = examined.keyed(again, *columns).unionByName(
        diverged(spark, clusters), allowMissingColumns=True
    )
    compare_all = partial(compare_all, is_read=True)
    return rows.where(f"kind <> {int(AuditRowKind.UNCOMPARED)}").union(
        _kept(map_groups(both, "key", compare_all, ROWS, examined.tasks_for(len(unread))), kept)
    )


def _kept(frame: DataFrame, kept: ExitStack) -> DataFrame:
    """On the workers' disks: what is asked for several times is made once."""
    frame = frame.persist(StorageLevel.DISK_ONLY)
    kept.callback(frame.unpersist)
    return frame
