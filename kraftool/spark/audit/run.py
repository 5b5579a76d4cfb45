"""The audit of a fleet as Spark jobs: directories first, then clusters, then sums.

Owns the order of the jobs and what the driver holds: a name for each directory, sums, and the few
findings that are shown. Everything else stays on the workers' disks, from where the JSON document
streams it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.storagelevel import StorageLevel

from kraftool import __version__
from kraftool.reports.fleet.model import RunSettings
from kraftool.spark.audit.batches import BatchRoots, diverged
from kraftool.spark.audit.cluster import ClusterUnit, Compared, compare
from kraftool.spark.audit.collect import AuditRequest, AuditRun, collect
from kraftool.spark.audit.examine import AuditedDirectory, examine
from kraftool.spark.audit.membership import Belonging, belonging
from kraftool.spark.audit.roots import AuditItems, Item, find
from kraftool.storage.remote import shown_url

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

    from kraftool.reports.fleet.model import Divergence

MOST_TASKS = 4096
"""Beyond so many directories, small ones share a task."""


@contextmanager
def audit(spark: SparkSession, wanted: AuditRequest) -> Iterator[AuditRun]:
    """Audit a fleet. What is yielded can be asked as long as the context lasts."""
    began, clock = time.time(), time.monotonic()
    audit_items = find(wanted.roots, depth=wanted.depth, options=wanted.storage)
    kept = _examined(spark, audit_items.items, wanted)
    kept.count()
    # What is left to do with each directory is little, so that few tasks go over all of them.
    examined = kept.coalesce(4 * spark.sparkContext.defaultParallelism)
    homes = belonging(examined)
    compared = _compared(spark, audit_items, examined, homes, wanted)
    members = examined.map(_with_home(spark, homes)).values()
    loose = (*audit_items.findings, *homes.findings)
    run = collect(spark, wanted, loose, members, compared)
    settings = RunSettings(
        roots=tuple(map(shown_url, wanted.roots)),
        master=spark.sparkContext.master or "",
        cores=spark.sparkContext.defaultParallelism,
        fail_on=wanted.fail_on,
        ignored_codes=tuple(sorted(wanted.ignored_codes)),
        kraftool_version=__version__,
        spark_version=spark.version,
        started_at=int(began * 1000),
        seconds=round(time.monotonic() - clock, 3),
    )
    try:
        yield replace(run, model=replace(run.model, run=settings))
    finally:
        run.forget()
        compared.unpersist()
        kept.unpersist()


def _examined(
    spark: SparkSession, items: Sequence[Item], wanted: AuditRequest
) -> RDD[AuditedDirectory]:
    """Every directory by itself, a task each, the largest first."""
    tasks = _dealt(items)
    work = spark.sparkContext.parallelize(tasks, max(len(tasks), 1))
    task = partial(_examine_all, ignored_codes=wanted.ignored_codes)
    return work.flatMap(task).persist(StorageLevel.DISK_ONLY)


def _dealt(items: Sequence[Item]) -> list[list[Item]]:
    """The items on as many tasks as there may be; what is largest has one to itself."""
    tasks: list[list[Item]] = [[] for _ in range(min(len(items), MOST_TASKS))]
    for number, item in enumerate(items):
        around, place = divmod(number, MOST_TASKS)
        tasks[place if around % 2 == 0 else -1 - place].append(item)
    return tasks


def _examine_all(
    items: Sequence[Item], ignored_codes: frozenset[str]
) -> Iterator[AuditedDirectory]:
    for item in items:
        yield examine(item, ignored_codes)


def _compared(
    spark: SparkSession,
    found: AuditItems,
    examined: RDD[AuditedDirectory],
    homes: Belonging,
    wanted: AuditRequest,
) -> RDD[Compared]:
    """The directories of each cluster with each other."""
    clusters: dict[str, list[str]] = {}
    for directory, cluster in homes.cluster_of.items():
        if directory not in homes.log_of:
            clusters.setdefault(cluster, []).append(directory)
    sources = BatchRoots(roots=found.roots, depth=wanted.depth, storage=wanted.storage)
    width = max(
        min(
            len(set(homes.cluster_of.values())), max(32, 4 * spark.sparkContext.defaultParallelism)
        ),
        1,
    )
    members = examined.map(_with_home(spark, homes))
    parted = diverged(spark, sources, clusters).map(_by_cluster)
    task = partial(
        _compare, ignored_codes=wanted.ignored_codes, lent=homes.lent, log_of=homes.log_of
    )
    return members.cogroup(parted, width).map(task).persist(StorageLevel.DISK_ONLY)


def _with_home(
    spark: SparkSession, homes: Belonging
) -> Callable[[AuditedDirectory], tuple[str, AuditedDirectory]]:
    """Return what gives a directory the name of its cluster, on the workers."""
    return partial(_at_home, cluster_of=spark.sparkContext.broadcast(homes.cluster_of))


def _at_home(examined: AuditedDirectory, cluster_of: Any) -> tuple[str, AuditedDirectory]:
    name = cluster_of.value[examined.summary.name]
    return name, replace(
        examined,
        summary=replace(examined.summary, cluster=name),
        findings=tuple(replace(finding, cluster=name) for finding in examined.findings),
    )


def _by_cluster(divergence: Divergence) -> tuple[str, Divergence]:
    return divergence.cluster, divergence


def _compare(
    group: tuple[str, tuple[Any, Any]],
    ignored_codes: frozenset[str],
    lent: Mapping[str, str],
    log_of: Mapping[str, str],
) -> Compared:
    name, (members, divergences) = group
    in_order = sorted(divergences, key=lambda each: each.first_offset)
    unit = ClusterUnit(
        name=name,
        members=tuple(members),
        divergences=tuple(in_order),
        lent=lent,
        log_of=log_of,
    )
    return compare(unit, ignored_codes)
