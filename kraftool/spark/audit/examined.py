"""All directories of a fleet, each examined in a task, as a DataFrame that stays with the workers.

Owns how directories are dealt out to tasks, and the columns that later jobs read: the smallest one
is all that the driver gets.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql.functions import broadcast
from pyspark.storagelevel import StorageLevel

from kraftool.arrow.untyped import pa
from kraftool.spark.audit.examine import AuditedDirectory, examine
from kraftool.spark.audit.log_families import NO_TRACES, Kin
from kraftool.spark.audit.roots import Item, size_of
from kraftool.spark.values import DistributedValues, Row, parallelism

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_TASKS = 4096
"""Beyond so many tasks, large directories share them too."""
_TASKS_A_CORE = 16
"""So many tasks of a core keep it busy to the end; more of them cost more than they gain."""
_DIRECTORY = 1 << 20
"""The bytes that take as long as what there is to do for any directory."""
_COLUMNS = "number INT, kin BINARY, traces BINARY, audited BINARY"


class Examined:
    """What the tasks found out."""

    def __init__(
        self, spark: SparkSession, items: Sequence[Item], ignored_codes: frozenset[str]
    ) -> None:
        self._spark = spark
        self.cores = parallelism(spark)
        task = partial(_examine_all, ignored_codes=ignored_codes)
        work = DistributedValues.of(spark, deal(items, self.cores))
        self.frame = work.rows(task, _COLUMNS).persist(StorageLevel.DISK_ONLY)
        table = self.frame.select("number", "kin").toArrow()
        numbers, kin = (table.column(name).to_pylist() for name in ("number", "kin"))
        self.members: Mapping[int, Kin] = {
            number: pickle.loads(held) for number, held in zip(numbers, kin, strict=True)
        }
        """The directories by number, without their traces."""

    def keyed(self, keys: Mapping[int, str], *columns: str) -> DataFrame:
        """The directories that have a key, with it as bytes, and these columns."""
        table = pa.table(
            {
                "number": pa.array(list(keys), pa.int32()),
                "key": pa.array(list(map(key_bytes, keys.values())), pa.binary()),
            }
        )
        named = broadcast(self._spark.createDataFrame(table))
        return self.frame.join(named, "number").select("key", *columns)

    def forget(self) -> None:
        """Let Spark drop what it keeps for this."""
        self.frame.unpersist()


def key_bytes(text: str) -> bytes:
    """A key as bytes: names of files may have what is no text to Spark."""
    return text.encode("utf-8", "surrogatepass")


def key_text(key: bytes) -> str:
    """The same key as text."""
    return key.decode("utf-8", "surrogatepass")


def deal(items: Sequence[Item], cores: int) -> list[list[tuple[int, Item]]]:
    """The items, the largest of which come first, on tasks: a large one has a task to itself,
    small ones share one. Each has its number with it."""
    weights = [size_of(item) + _DIRECTORY for item in items]
    share = sum(weights) / (_TASKS_A_CORE * max(cores, 1))
    tasks: list[list[tuple[int, Item]]] = []
    room = 0.0
    for number, (item, weight) in enumerate(zip(items, weights, strict=True)):
        if room < weight:
            tasks.append([])
            room = share
        tasks[-1].append((number, item))
        room -= weight
    return _at_most(MOST_TASKS, tasks)


def _at_most(most: int, tasks: list[list[tuple[int, Item]]]) -> list[list[tuple[int, Item]]]:
    """As many tasks as there may be; the largest and the smallest go together."""
    fewer = tasks[:most]
    for number, task in enumerate(tasks[most:]):
        around, place = divmod(number, most)
        fewer[place if around % 2 else -1 - place].extend(task)
    return fewer


def _examine_all(items: Sequence[tuple[int, Item]], ignored_codes: frozenset[str]) -> Iterator[Row]:
    for number, item in items:
        audited = examine(item, ignored_codes)
        yield (
            number,
            pickle.dumps(_kin(audited)),
            pickle.dumps(audited.traces),
            pickle.dumps(replace(audited, traces=NO_TRACES)),
        )


def _kin(audited: AuditedDirectory) -> Kin:
    summary = audited.summary
    return Kin(
        name=summary.name,
        cluster_id=summary.cluster_id,
        node_id=summary.node_id,
        voters=summary.voters.ids,
        registered=_registered(audited),
        directory_id=summary.directory_id,
        seats=frozenset(
            (voter.id, voter.directory_id) for voter in summary.voters if voter.directory_id
        ),
    )


def _registered(audited: AuditedDirectory) -> frozenset[int]:
    if audited.patient is None:
        return frozenset()
    metadata_summary = audited.patient.summary
    return frozenset((*metadata_summary.brokers, *metadata_summary.controllers))
