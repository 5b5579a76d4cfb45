"""One run of `pipeline tables`, from what is there to what is committed.

Owns the order of the steps. If nothing is new, it does not start Spark, unless workers are to list
very many folders of other machines. A run has two jobs: one reads the headers of logs, and the
other does all the work. A third one writes files again from which rows go, if there are any. Very
many clusters are several runs, one after the other, each over a limited number of files. The driver
sees only names, numbers and offsets: no record passes it.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from kraftool.arrow.search import DEPTH, SearchJob, find_fleet, require
from kraftool.arrow.splits import SPLIT_BYTES, packed
from kraftool.decoders.json_marks import Count
from kraftool.spark.errors import UnusableError
from kraftool.spark.listing import ListingJob
from kraftool.spark.tables.commit import NOTHING, TableChange, TableStore, held
from kraftool.spark.tables.commit_plan import commit_plan
from kraftool.spark.tables.layout import TABLES
from kraftool.spark.tables.memory import ClusterKey
from kraftool.spark.tables.new_batches import ReadTail, read_new
from kraftool.spark.tables.place import place_of
from kraftool.spark.tables.plan import ClusterTask, Owners, RootCoverage, compare, departed, grouped
from kraftool.spark.tables.replaced_rows import Rewritten, TableFileName, rewritten
from kraftool.spark.tables.state import SharedOptions, Totals
from kraftool.spark.tables.units import runs_of, spark_tasks_of, tails_of, units_of
from kraftool.spark.tables.work import TablesRun, work
from kraftool.spark.values import parallelism, results_of
from kraftool.storage.remote import shown_url

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

StartSpark = Callable[[], AbstractContextManager["SparkSession"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesRequest:
    """The request for tables: the inputs and the place. Roots and storage may have something to log
    in."""

    roots: tuple[str, ...] = field(repr=False)
    out: str
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False)
    out_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    depth: int = DEPTH
    show_secrets: bool = False
    snapshots: bool = False
    optimize: bool = False
    """True if small files are to be put together."""
    split_bytes: int = SPLIT_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReport:
    """The result for one table."""

    name: str
    added_rows: Count = 0
    added_files: Count = 0
    removed_rows: Count = 0
    """Rows that were replaced, or are of a log as it was before it was truncated."""
    removed_files: Count = 0
    after: Totals = NOTHING
    """The whole table after this run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesReport:
    """The output of one run."""

    out: str
    """The folder or the URL of the tables."""
    run_number: int
    """The number of the latest run that wrote something."""
    is_new: bool
    """True if this run wrote anything."""
    is_optimized: bool
    """True if small files were put together."""
    clusters: Count
    """Clusters that the ROOTs lead to; a directory without a cluster id counts as one."""
    changed_clusters: Count
    """Those of them that differ from what the latest run saw."""
    directories: Count
    read_logs: Count
    """Logs with new batches."""
    bytes_read: int
    """The size of the new batches."""
    tables: tuple[TableReport, ...]
    log_changes: Mapping[str, int]
    """The number of logs that were TRUNCATED or CLEANED, or are GONE, since the latest run."""
    unreadable: tuple[str, ...]
    """Files, folders and logs that could not be read; the next run tries again."""

    @property
    def rows(self) -> tuple[TableReport, ...]:
        return self.tables


@dataclass(slots=True)
class _Outcome:
    """The result of the work on all clusters, small in memory however many there are."""

    clusters: int
    directories: int
    unreadable: list[str]
    changed_clusters: int = 0
    is_new: bool = False
    is_optimized: bool = False
    read_logs: int = 0
    bytes_read: int = 0
    added: dict[str, Totals] = field(default_factory=dict)
    removed: dict[str, Totals] = field(default_factory=dict)
    log_changes: Counter[str] = field(default_factory=Counter)

    def take(
        self,
        tasks: Sequence[ClusterTask],
        read_tails: Sequence[ReadTail],
        changes: Mapping[str, TableChange],
    ) -> None:
        """Add the result for some clusters."""
        for name, change in changes.items():
            self.added[name] = self.added.get(name, NOTHING) + Totals.of(change.added)
            self.removed[name] = self.removed.get(name, NOTHING) + Totals.of(change.removed)
        self.read_logs += sum(bool(tail.new) for tail in read_tails)
        self.bytes_read += sum(split.size for tail in read_tails for split in tail.new)
        self.log_changes.update(
            tail.change.change for tail in read_tails if tail.change is not None
        )
        gone = (log_change for task in tasks for _, log_change in task.gone.values())
        self.log_changes.update(log_change.change for log_change in gone)


def write_tables(wanted: TablesRequest, spark: StartSpark) -> TablesReport:
    """Bring the tables up to date. `spark` is called only if there is something to do."""
    place = place_of(wanted.out, wanted.out_options)
    require(list(wanted.roots), options=wanted.storage)  # else nothing is made
    kept = SharedOptions(show_secrets=wanted.show_secrets, snapshots=wanted.snapshots)
    roots = [shown_url(root).rstrip("/") or "/" for root in wanted.roots]
    with held(place, kept, roots, wanted.depth) as store:
        with ExitStack() as ending:
            started = cache(lambda: ending.enter_context(spark()))
            outcome, changed = _find(wanted, store, ListingJob(started))
            if changed:
                session = started()
                cores = parallelism(session)
                gc.freeze()  # what was listed is not looked at again
                ending.callback(gc.unfreeze)
                for tasks in runs_of(changed):
                    _run(session, store, tasks, cores, wanted, outcome)
                    store.end()
                    # py4j's objects are in cycles. Until these are collected, the JVM has the items
                    # of every run so far in its memory.
                    gc.collect()
            outcome.is_optimized = wanted.optimize and store.put_together()
        return _report(store, outcome)


def _find(
    wanted: TablesRequest, store: TableStore, job: SearchJob
) -> tuple[_Outcome, list[ClusterTask]]:
    """Compare the directories of the ROOTs with what is remembered."""
    fleet = find_fleet(wanted.roots, depth=wanted.depth, options=wanted.storage, job=job)
    for file in fleet.files:
        if file.is_named:  # the other files of its log would never be read after it
            raise UnusableError(
                f"{file.name} is one file, but tables require whole directories",
                hint="name its directory; kraftool dump-log reads single files",
            )
    groups = grouped(fleet, snapshots=wanted.snapshots)
    reach, owners = RootCoverage(wanted.roots, fleet.problems), Owners(groups.values())
    outcome, tasks = (
        _Outcome(
            clusters=sum(bool(group.directories) for group in groups.values()),
            directories=sum(len(group.directories) for group in groups.values()),
            unreadable=[problem.name for problem in fleet.problems],
        ),
        list[ClusterTask](),
    )
    waiting = dict(groups)
    for before in store.memories():
        group = waiting.pop(before.key, None)
        if group is None:
            task = departed(before, reach, owners)
        else:
            task = compare(group, before, reach, owners)
            if task is None:
                outcome.unreadable += (name for name in before.unreadable if name)
        if task is not None:
            tasks.append(task)
    for group in waiting.values():
        task = compare(group, None, reach, owners)
        if task is not None:
            tasks.append(task)
    outcome.changed_clusters = len(tasks)
    return outcome, tasks


def _run(
    session: SparkSession,
    store: TableStore,
    tasks: Sequence[ClusterTask],
    cores: int,
    wanted: TablesRequest,
    outcome: _Outcome,
) -> None:
    """Do all work of some clusters, and commit it."""
    split_bytes = wanted.split_bytes
    read_tails = results_of(session, tails_of(tasks, split_bytes, cores), partial(map, read_new))
    tails: dict[ClusterKey, dict[str, ReadTail]] = {}
    for tail in read_tails:
        tails.setdefault(tail.key, {})[tail.folder] = tail
    units = (
        unit
        for task in tasks
        for unit in units_of(task, tails.get(task.group.key, {}), split_bytes)
    )
    spark_tasks = spark_tasks_of(units, split_bytes, cores)
    run = TablesRun(place=store.place, run_id=store.start(), show_secrets=wanted.show_secrets)
    numbered = {unit.number: unit for dealt in spark_tasks for unit in dealt}
    # Only what an attempt returns that Spark saw succeed is known here.
    done = results_of(session, spark_tasks, partial(work, run))
    plan = commit_plan(tasks, tails, ((numbered[outcome.number], outcome) for outcome in done))

    def rewrite(files: Sequence[TableFileName]) -> list[Rewritten]:
        task = partial(rewritten, store.place, store.start(), plan.replaced)
        spark_tasks = list(packed(sorted(files, key=lambda file: -file.size), split_bytes))
        return results_of(session, spark_tasks, task)

    changes: dict[str, TableChange] = {}
    if not plan.is_empty:
        changes = store.changes(plan, rewrite)
        store.commit(plan, changes)
        outcome.is_new = True
    outcome.unreadable += plan.unreadable
    outcome.take(tasks, read_tails, changes)


def _report(store: TableStore, outcome: _Outcome) -> TablesReport:
    tables = store.summary.tables
    return TablesReport(
        out=store.place.root,
        run_number=store.summary.run,
        is_new=outcome.is_new,
        is_optimized=outcome.is_optimized,
        clusters=outcome.clusters,
        changed_clusters=outcome.changed_clusters,
        directories=outcome.directories,
        read_logs=outcome.read_logs,
        bytes_read=outcome.bytes_read,
        tables=tuple(
            TableReport(
                name=name,
                added_rows=added.rows,
                added_files=added.files,
                removed_rows=removed.rows,
                removed_files=removed.files,
                after=tables[name].totals,
            )
            for name in TABLES
            if name in tables and (tables[name].totals.files or name in outcome.added)
            for added in [outcome.added.get(name, NOTHING)]
            for removed in [outcome.removed.get(name, NOTHING)]
        ),
        log_changes=dict(sorted(outcome.log_changes.items())),
        unreadable=tuple(dict.fromkeys(outcome.unreadable)),
    )
