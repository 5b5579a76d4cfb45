"""All directories of a fleet, each examined in a task, as a DataFrame that stays with the workers.

Owns how directories are dealt out to tasks, and the columns that later jobs read: the smallest one
is all that the driver gets.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql.functions import broadcast
from pyspark.storagelevel import StorageLevel

from kraftool.arrow.splits import packed
from kraftool.arrow.untyped import pa
from kraftool.reports.findings.mutes import FindingFilter
from kraftool.spark.audit.examine import AuditedDirectory, examine
from kraftool.spark.audit.log_families import NO_TRACES, Kin
from kraftool.spark.audit.roots import FoundDirectory, size_of
from kraftool.spark.job_progress import BeginStage
from kraftool.spark.values import Row, parallelism, rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TASKS_A_CORE = 16
"""So many tasks of a core keep it busy to the end; more of them cost more than they gain."""
_GROUP_TASKS_A_CORE = 4
"""Tasks of a job that compares directories. More tasks cost time: one without work takes 20 ms."""
_DIRECTORY = 1 << 19
"""The bytes that take as long as what there is to do for any directory."""
_COLUMNS = "number INT, kin BINARY, traces BINARY, audited BINARY"


class Examined:
    """The findings of all tasks."""

    def __init__(
        self,
        spark: SparkSession,
        directories: Sequence[FoundDirectory],
        left_out: FindingFilter,
        begin: BeginStage,
    ) -> None:
        self._spark = spark
        self.cores = parallelism(spark)
        tasks = deal(directories, self.cores)
        begin("read", [*map(len, tasks)])
        work = partial(_examine_all, left_out=left_out)
        self.frame = rows_of(spark, tasks, work, _COLUMNS).persist(StorageLevel.DISK_ONLY)
        """The rows of all tasks, kept on the workers' disks."""
        table = self.frame.select("number", "kin").toArrow()
        numbers, kin = (table.column(name).to_pylist() for name in ("number", "kin"))
        self.members: Mapping[int, Kin] = {
            number: pickle.loads(held) for number, held in zip(numbers, kin, strict=True)
        }
        """The directories by number, without their traces."""

    def keyed(self, keys: Mapping[int, str], *columns: str) -> DataFrame:
        """The directories that have a key, with it as bytes, and these columns."""
        numbers = pa.array(list(keys), pa.int32())
        names = pa.array(list(map(key_bytes, keys.values())), pa.binary())
        table = pa.table({"number": numbers, "key": names})
        named = broadcast(self._spark.createDataFrame(table))
        return self.frame.join(named, "number").select("key", *columns)

    def tasks_for(self, groups: int) -> int:
        """The number of tasks that compare so many groups of directories with each other."""
        return max(min(groups, _GROUP_TASKS_A_CORE * self.cores), 1)


def key_bytes(text: str) -> bytes:
    """A key as bytes: names of files may have what is no text to Spark."""
    return text.encode("utf-8", "surrogatepass")


def key_text(key: bytes) -> str:
    """The same key as text."""
    return key.decode("utf-8", "surrogatepass")


class NumberedDirectory(NamedTuple):
    """A directory that a task examines."""

    number: int
    files: FoundDirectory

    @property
    def size(self) -> int:
        """The bytes that take about as long."""
        return size_of(self.files) + _DIRECTORY


def deal(directories: Sequence[FoundDirectory], cores: int) -> list[list[NumberedDirectory]]:
    """The directories, the largest of which come first, on tasks: small ones share one."""
    numbered = [NumberedDirectory(*numbered) for numbered in enumerate(directories)]
    share = sum(one.size for one in numbered) / (_TASKS_A_CORE * max(cores, 1))
    return list(packed(numbered, share))


def _examine_all(
    directories: Sequence[NumberedDirectory], left_out: FindingFilter
) -> Iterator[Row]:
    for number, files in directories:
        audited = examine(files, left_out)
        held = _kin(audited), audited.traces, replace(audited, traces=NO_TRACES)
        yield number, *map(pickle.dumps, held)


def _kin(audited: AuditedDirectory) -> Kin:
    summary = audited.summary
    metadata = audited.examined.summary if audited.examined is not None else None
    return Kin(
        name=summary.name,
        cluster_id=summary.cluster_id,
        node_id=summary.node_id,
        voters=summary.voters.ids,
        registered=frozenset((*metadata.brokers, *metadata.controllers) if metadata else ()),
        directory_id=summary.directory_id,
        seats=frozenset(
            (voter.id, voter.directory_id) for voter in summary.voters if voter.directory_id
        ),
    )
