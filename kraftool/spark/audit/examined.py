"""All directories of a fleet, each examined in a task, as a DataFrame that stays with the workers.

Owns how directories are dealt out to tasks, and the columns that later jobs read: the smallest one
is all that the driver gets.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql.functions import broadcast
from pyspark.storagelevel import StorageLevel

from kraftool.arrow.splits import packed
from kraftool.arrow.untyped import pa
from kraftool.decoders.names import FileState, parse_checkpoint_name, segment_offset
from kraftool.reports.verify.log_parts import ReplayRange
from kraftool.spark.audit.examine import (
    DirectoryPart,
    is_shown_sound,
    look,
)
from kraftool.spark.audit.log_families import NO_TRACES, Kin
from kraftool.spark.audit.roots import Item, size_of
from kraftool.spark.job_progress import BeginStage, no_stages
from kraftool.spark.log_borders import borders, estimated_end
from kraftool.spark.values import Row, map_groups, parallelism, rows_of
from kraftool.storage.remote import is_url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_TASKS = 4096
"""Beyond so many tasks, large directories share them too."""
_TASKS_A_CORE = 16
"""So many tasks of a core keep it busy to the end; more of them cost more than they gain."""
_GROUP_TASKS_A_CORE = 4
"""Tasks of a job that compares directories. More tasks cost time: one without work takes 20 ms."""
_DIRECTORY = 1 << 20
"""The bytes that take as long as what there is to do for any directory."""
_WITH_REPLAY = 2
"""A replay takes about as long as all other work for a log."""
LARGE = 64 << 20
"""The logs of directories from this size on are replayed in tasks of their own."""
_PARTS_OF_LARGE = 2
_COLUMNS = "number INT, kin BINARY, traces BINARY, part BINARY"


class Examined:
    """The findings of all tasks."""

    def __init__(
        self,
        spark: SparkSession,
        items: Sequence[Item],
        ignored_codes: frozenset[str],
        begin: BeginStage = no_stages,
    ) -> None:
        self._spark, self._ignored_codes = spark, ignored_codes
        self._kept: list[DataFrame] = []
        self.cores = parallelism(spark)
        tasks = deal(items, self.cores)
        begin("read", [sum(look.part is None for look in looks) for looks in tasks])
        self.frame = self._rows(tasks)
        divided = {look.number for looks in tasks for look in looks if look.is_divided}
        again = self._not_sound(divided) if divided else []
        if again:
            # Each has its own task, because these directories are large.
            undivided = self._rows([[ExaminedItem(number, items[number])] for number in again])
            self.frame = self.frame.where(f"NOT {_is_one_of(again)}").union(undivided)
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

    def tasks_for(self, groups: int) -> int:
        """The number of tasks that compare so many groups of directories with each other."""
        return max(min(groups, _GROUP_TASKS_A_CORE * self.cores), 1)

    def forget(self) -> None:
        """Let Spark drop what it keeps for this."""
        for frame in self._kept:
            frame.unpersist()

    def _rows(self, tasks: Sequence[Sequence[ExaminedItem]]) -> DataFrame:
        """The rows of tasks, kept on the workers' disks."""
        task = partial(_examine_all, ignored_codes=self._ignored_codes)
        rows = rows_of(self._spark, tasks, task, _COLUMNS)
        self._kept.append(rows.persist(StorageLevel.DISK_ONLY))
        return self._kept[-1]

    def _not_sound(self, divided: Collection[int]) -> list[int]:
        """Return the divided directories with parts that do not show that the log is sound."""
        parts = self.frame.where(_is_one_of(divided)).select("number", "part")
        tasks = self.tasks_for(len(divided))
        numbers = map_groups(parts, "number", _numbers_not_sound, "number INT", tasks).toArrow()
        return sorted(numbers.column("number").to_pylist())


def _is_one_of(numbers: Iterable[int]) -> str:
    return f"number IN ({', '.join(map(str, numbers))})"


def _numbers_not_sound(number: int, rows: Sequence[Row]) -> Iterator[Row]:
    """The number of a divided directory, if its log has to be replayed undivided."""
    (parts,) = parts_by_directory(rows)
    if not is_shown_sound(parts):
        yield (number,)


def key_bytes(text: str) -> bytes:
    """A key as bytes: names of files may have what is no text to Spark."""
    return text.encode("utf-8", "surrogatepass")


def key_text(key: bytes) -> str:
    """The same key as text."""
    return key.decode("utf-8", "surrogatepass")


class ExaminedItem(NamedTuple):
    """A directory that one task looks at, or a part of its log that one task replays."""

    number: int
    item: Item
    part: ReplayRange | None = None
    """The part of the log that this task replays, by itself."""
    share: float = 1
    """The approximate share of the log in this part."""
    is_divided: bool = False
    """True if other tasks replay the log."""

    @property
    def size(self) -> float:
        """The bytes that take about as long."""
        is_replay = self.part is not None
        times = 1 if is_replay or self.is_divided else _WITH_REPLAY
        return size_of(self.item) * self.share * times + _DIRECTORY


def deal(items: Sequence[Item], cores: int) -> list[list[ExaminedItem]]:
    """The items, the largest of which come first, on tasks: a large one has a task for each part
    of its replay, small ones share one."""
    looks = [look for number, item in enumerate(items) for look in looks_at(number, item)]
    share = sum(look.size for look in looks) / (_TASKS_A_CORE * max(cores, 1))
    tasks = list(packed(looks, share))
    return _at_most(MOST_TASKS, tasks)


def looks_at(number: int, item: Item, large: int = LARGE) -> list[ExaminedItem]:
    """The looks of all tasks at a directory."""
    # What is behind a URL is copied first, which is done once.
    if size_of(item) < large or any(is_url(file.root) for file in item):
        return [ExaminedItem(number, item)]
    parts = _parts_of(item, large // _PARTS_OF_LARGE)
    if len(parts) < 2:
        return [ExaminedItem(number, item)]
    share = 1 / len(parts)
    replays = [ExaminedItem(number, item, part, share) for part in parts]
    return [ExaminedItem(number, item, is_divided=True), *replays]


def _parts_of(item: Item, part_bytes: int) -> list[ReplayRange]:
    """The parts in which a log is replayed: from its beginning, or the oldest snapshot in it."""
    names = [parse_checkpoint_name(file.basename) for file in item]
    offsets = [name.offset for name in names if name is not None and name.state is FileState.LIVE]
    bases = [segment_offset(file.basename) for file in item if not file.in_topic]
    log_start = min((base for base in bases if base is not None), default=None)
    joined = sorted(offset for offset in offsets if log_start is not None and offset >= log_start)
    if log_start is None or len(set(offsets)) < len(offsets) or (log_start and not joined):
        return []
    first = joined[0] if log_start else 0
    later = borders(item, estimated_end(item), part_bytes)
    starts = [first, *(offset for offset in later if offset > first)]
    return [ReplayRange(*bounds) for bounds in zip_longest(starts, starts[1:])]


def _at_most(most: int, tasks: list[list[ExaminedItem]]) -> list[list[ExaminedItem]]:
    """As many tasks as there may be; the largest and the smallest go together."""
    fewer = tasks[:most]
    for number, task in enumerate(tasks[most:]):
        around, place = divmod(number, most)
        fewer[place if around % 2 else -1 - place].extend(task)
    return fewer


def _examine_all(looks: Sequence[ExaminedItem], ignored_codes: frozenset[str]) -> Iterator[Row]:
    for number, item, replayed, _, is_divided in looks:
        part = look(item, ignored_codes, part=replayed, is_divided=is_divided)
        yield (
            number,
            pickle.dumps(_kin(part)) if replayed is None else None,
            pickle.dumps(part.traces),
            pickle.dumps(replace(part, traces=NO_TRACES)),
        )


def parts_by_directory(rows: Iterable[Row]) -> list[list[DirectoryPart]]:
    """The parts of each directory, from rows of number and part; first that of the commands."""
    by_number: dict[int, list[DirectoryPart]] = {}
    for number, held in rows:
        by_number.setdefault(number, []).append(pickle.loads(held))
    return [
        sorted(by_number[number], key=lambda part: part.replayed is not None)
        for number in sorted(by_number)
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
    if part.examined is None:
        return frozenset()
    metadata_summary = part.examined.summary
    return frozenset((*metadata_summary.brokers, *metadata_summary.controllers))
