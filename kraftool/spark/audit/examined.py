"""All directories of a fleet, each examined in a task, as a DataFrame that stays with the workers.

Owns how directories are dealt out to tasks, and the columns that later jobs read: the smallest one
is all that the driver gets.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql.functions import broadcast
from pyspark.storagelevel import StorageLevel

from kraftool.arrow.untyped import pa
from kraftool.spark.audit.examine import (
    DOCTOR,
    PASSES,
    AuditedDirectory,
    DirectoryPart,
    look,
    whole,
)
from kraftool.spark.audit.log_families import NO_TRACES, Kin
from kraftool.spark.audit.roots import Item, size_of
from kraftool.spark.values import DistributedValues, Row, parallelism
from kraftool.storage.remote import is_url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_TASKS = 4096
"""Beyond so many tasks, large directories share them too."""
_TASKS_A_CORE = 16
"""So many tasks of a core keep it busy to the end; more of them cost more than they gain."""
_DIRECTORY = 1 << 20
"""The bytes that take as long as what there is to do for any directory."""
LARGE = 64 << 20
"""Directories from this size on are looked at by each command in a task of its own."""
_COLUMNS = "number INT, place INT, kin BINARY, traces BINARY, part BINARY"


class Examined:
    """The findings of all tasks."""

    def __init__(
        self, spark: SparkSession, items: Sequence[Item], ignored_codes: frozenset[str]
    ) -> None:
        self._spark = spark
        self.cores = parallelism(spark)
        task = partial(_examine_all, ignored_codes=ignored_codes)
        work = DistributedValues.of(spark, deal(items, self.cores))
        self.frame = work.rows(task, _COLUMNS).persist(StorageLevel.DISK_ONLY)
        table = self.frame.select("number", "kin").where("kin IS NOT NULL").toArrow()
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


class ExaminedItem(NamedTuple):
    """A directory, and the commands that look at it in one task."""

    number: int
    item: Item
    passes: tuple[str, ...] = PASSES


def deal(items: Sequence[Item], cores: int) -> list[list[ExaminedItem]]:
    """The items, the largest of which come first, on tasks: a large one has a task for each
    command, small ones share one."""
    looks = [
        (ExaminedItem(number, item, passes), size_of(item) * len(passes) + _DIRECTORY)
        for number, item in enumerate(items)
        for passes in _passes_of(item)
    ]
    share = sum(weight for _, weight in looks) / (_TASKS_A_CORE * max(cores, 1))
    tasks: list[list[ExaminedItem]] = []
    room = 0.0
    for one, weight in looks:
        if room < weight:
            tasks.append([])
            room = share
        tasks[-1].append(one)
        room -= weight
    return _at_most(MOST_TASKS, tasks)


def _passes_of(item: Item) -> list[tuple[str, ...]]:
    # What is behind a URL is copied first, which is done once.
    if size_of(item) < LARGE or any(is_url(file.root) for file in item):
        return [PASSES]
    return [(command,) for command in PASSES]


def _at_most(most: int, tasks: list[list[ExaminedItem]]) -> list[list[ExaminedItem]]:
    """As many tasks as there may be; the largest and the smallest go together."""
    fewer = tasks[:most]
    for number, task in enumerate(tasks[most:]):
        around, place = divmod(number, most)
        fewer[place if around % 2 else -1 - place].extend(task)
    return fewer


def _examine_all(looks: Sequence[ExaminedItem], ignored_codes: frozenset[str]) -> Iterator[Row]:
    for number, item, passes in looks:
        part = look(item, ignored_codes, passes)
        yield (
            number,
            PASSES.index(passes[0]),
            pickle.dumps(_kin(part)) if DOCTOR in passes else None,
            pickle.dumps(part.traces),
            pickle.dumps(replace(part, traces=NO_TRACES)),
        )


def wholes(rows: Iterable[tuple[int, int, bytes]]) -> list[AuditedDirectory]:
    """The directories whose parts have come together, in rows of number, place and part."""
    ordered = sorted(rows, key=itemgetter(0, 1))
    return [
        whole([pickle.loads(part) for _, _, part in some])
        for _, some in groupby(ordered, key=itemgetter(0))
    ]


def _kin(part: DirectoryPart) -> Kin:
    summary = part.summary
    return Kin(
        name=summary.name,
        cluster_id=summary.cluster_id,
        node_id=summary.node_id,
        voters=summary.voters.ids,
        registered=_registered(part),
        directory_id=summary.directory_id,
        seats=frozenset(
            (voter.id, voter.directory_id) for voter in summary.voters if voter.directory_id
        ),
    )


def _registered(part: DirectoryPart) -> frozenset[int]:
    if part.patient is None:
        return frozenset()
    metadata_summary = part.patient.summary
    return frozenset((*metadata_summary.brokers, *metadata_summary.controllers))
