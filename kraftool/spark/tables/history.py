"""The effect of each record on topics and partitions, seen while a log is replayed.

Owns the words of the column `change`. Rows of a metadata transaction wait for its end: an aborted
transaction has no rows. It refuses to replay: it passes records to the image loader, and reads the
changes from the loader's delta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kraftool.arrow.fleet import FleetDirectory
from kraftool.arrow.rows import PAYLOAD, ROWS, Arrays, Rows, repeated, runs
from kraftool.arrow.untyped import ArrowBatch, pa
from kraftool.image.compact import compact_changes
from kraftool.image.configs import TOPIC, ConfigResource
from kraftool.image.loader import ABORT, TRANSACTION_RECORDS, ImageLoader
from kraftool.image.seen import SeenChanges
from kraftool.reports.state.replay import Records, RecordsPlace
from kraftool.reports.text.printable import file_text
from kraftool.reports.timeline.events import Visibility
from kraftool.spark.tables.history_columns import (
    coded,
    config_array,
    noted_arrays,
    partition_arrays,
    topic_arrays,
)
from kraftool.spark.tables.layout import TABLES, arrow_schema
from kraftool.spark.tables.sink import Sink

_WORDS = {
    ("PartitionRecord", False): "created",
    ("PartitionRecord", True): "replaced",
    ("PartitionChangeRecord", True): "changed",
    ("ClearElrRecord", True): "ELR cleared",
    ("RemoveTopicRecord", True): "removed",
}
"""What a record did to a partition; by whether it was there before."""


def _text(text: str | None) -> str | None:
    return None if text is None else file_text(text)


class _TopicChange(NamedTuple):
    """A row of `topic_history`."""

    topic: str
    topic_id: str | None
    change: str
    config: str | None
    configs: Mapping[str, str] | None


class _Rows:
    """Rows of one history that are not columns yet: where their records are."""

    def __init__(self, table: str, owner: FleetDirectory) -> None:
        self._table, self._kinds = table, TABLES[table].columns
        self._same = {
            "node_id": owner.node_id,
            "directory_id": owner.directory_id,
            "directory": file_text(owner.name),
        }
        self.offsets: list[int] = []
        self.types: list[str] = []
        self._places: list[tuple[int, RecordsPlace]] = []
        """The places of runs of rows, with the first row of each."""

    def begin(self, place: RecordsPlace) -> None:
        """Say where the records of the next rows are."""
        row = len(self.offsets)
        if self._places and self._places[-1][0] == row:
            self._places[-1] = row, place
        else:
            self._places.append((row, place))

    def take(
        self, own: Arrays, shown: Callable[[str], str], visibility: Visibility | None
    ) -> ArrowBatch:
        """The rows with their own columns; and start again without rows."""
        count, kinds = len(self.offsets), self._kinds
        last = self._places[-1][1]
        if self._places[-1][0] == count:
            self._places.pop()
        places = [place for _, place in self._places]
        ends = [*(row for row, _ in self._places[1:]), count]
        times = runs(ends, [place.timestamp for place in places], pa.int64())
        arrays = {
            "file": runs(ends, [shown(place.file) for place in places], kinds["file"]),
            "offset": pa.array(self.offsets, kinds["offset"]),
            "epoch": runs(ends, [place.epoch for place in places], kinds["epoch"]),
            "timestamp_ms": times,
            "type": coded(self.types, kinds["type"]),
            **own,
        }
        self.offsets.clear()
        self.types.clear()
        self._places = [(0, last)]
        return self.batch(arrays, count, visibility)

    def batch(self, arrays: Arrays, count: int, visibility: Visibility | None) -> ArrowBatch:
        """Rows, with the columns that have one value."""
        kinds, word = self._kinds, None if visibility is None else visibility.value
        same = {**self._same, "visibility": word}
        arrays |= {name: repeated(value, count, kinds[name]) for name, value in same.items()}
        return Rows(count, made=arrays).batch(arrow_schema(self._table))


class ReplayRecorder:
    """Watches a replay and writes what it sees."""

    def __init__(
        self,
        sink: Sink,
        owner: FleetDirectory,
        renaming: Callable[[str], str],
        *,
        show_secrets: bool,
    ) -> None:
        self._sink, self._renaming, self._show_secrets = sink, renaming, show_secrets
        self.changes = compact_changes()
        """The changes of partitions that the native module notes. Those of Python come after them.
        """
        self._files: list[tuple[int, str]] = []
        """The files of native changes, each with the number of changes at its end."""
        self._names: dict[str, str] = {}
        """The names of topics that records have made or removed, by their ids."""
        self._loader = ImageLoader()
        self.has_begun = False
        """True if a record was seen."""
        self._cluster = owner.cluster_id
        self._seen = SeenChanges()
        self._partitions = _Rows("partition_history", owner)
        self._topics = _Rows("topic_history", owner)
        self._topic_changes: list[_TopicChange] = []
        self._weight = 0
        self._is_full = self._is_open = False
        self._held: list[tuple[str, ArrowBatch]] = []
        """The rows of an open transaction, as compact as Arrow has them."""

    def watch(self, loader: ImageLoader, place: RecordsPlace, records: Records) -> Iterator[Any]:
        """Hand on records that are to be replayed, and note what each of them changed."""
        self._begin(loader)
        self._partitions.begin(place)
        self._topics.begin(place)
        seen = self._seen
        partitions, noted = seen.partitions, len(seen.partitions)
        offsets, types = self._partitions.offsets, self._partitions.types
        for offset, record in enumerate(records, place.offset):
            yield record
            name = record[0]
            count = len(partitions)
            if count == noted:
                if name in TRANSACTION_RECORDS:
                    self._note_transaction(loader, name)
            elif count == noted + 1:
                offsets.append(offset)
                types.append(name)
            else:
                offsets += [offset] * (count - noted)
                types += [name] * (count - noted)
            if seen.configs or seen.topics:
                self._note_topics(loader, name, offset)
            if count >= ROWS or self._is_full:
                self._hand_on()
            noted = len(partitions)

    def _begin(self, loader: ImageLoader) -> None:
        self._loader = loader
        if not self.has_begun:
            loader.watch(self._seen)
            self.has_begun, self._is_open = True, loader.open_transaction is not None

    def replayed(self, loader: ImageLoader, file: str) -> None:
        """Take note that the native module has replayed records of a file."""
        if self.changes is None or not self.changes.native.has_begun:
            return
        self._begin(loader)
        count, before = self.changes.native.count, self._files[-1][0] if self._files else 0
        if count == before:
            return
        if self._files and self._files[-1][1] == file:
            self._files.pop()
        self._files.append((count, file))
        if self._seen.partitions:
            # Those of Python are before the new ones.
            batch = self._native_batch()
            self._give("partition_history", batch.slice(0, before))
            self._hand_on()
            self._give("partition_history", batch.slice(before))
        elif count >= ROWS or self.changes.native.is_full:
            self._hand_on()

    def _note_topics(self, loader: ImageLoader, record_type: str, offset: int) -> None:
        """Make rows of what was seen of topics and their configs."""
        for name, topic_id, _ in self._seen.topics:
            if self._names.setdefault(topic_id, name) != name:
                self._hand_on()  # the notes with this id are of the other topic
                self._names[topic_id] = name
        delta, changes = loader.delta, self._topic_changes
        known = len(changes)
        for name, topic_id, is_created in self._seen.topics:
            change, configs = "removed", None
            if is_created:
                change, configs = "created", delta.configs.of(ConfigResource(TOPIC, name))
            changes.append(_TopicChange(name, topic_id, change, None, configs))
        for (kind, name), config, is_set, after in self._seen.configs:
            if kind == TOPIC:
                change = "config set" if is_set else "config removed"
                owner = delta.topics.id_of(name)
                changes.append(_TopicChange(name, owner, change, config, after))
        for row in changes[known:]:
            self._topics.offsets.append(offset)
            self._topics.types.append(record_type)
            if row.configs is not None:
                self._weight += sum(map(len, row.configs.values()))
        self._is_full = self._weight >= PAYLOAD or len(changes) >= ROWS
        self._seen.topics.clear()
        self._seen.configs.clear()

    def _note_transaction(self, loader: ImageLoader, record_type: str) -> None:
        is_open = loader.open_transaction is not None
        if is_open and not self._is_open:
            self._hand_on()
            self._is_open = True
        elif self._is_open and not is_open:
            self._release(Visibility.ABORTED if record_type == ABORT else Visibility.VISIBLE)

    def _hand_on(self) -> None:
        """Make columns of all rows."""
        for table, batch in self._batches():
            self._give(table, batch)

    def _give(self, table: str, batch: ArrowBatch) -> None:
        """Write rows. Those of an open transaction are kept."""
        if not batch.num_rows:
            return
        if self._is_open:
            self._held.append((table, batch))
        else:
            self._sink.write(table, self._cluster, None, batch)

    @property
    def _visibility(self) -> Visibility | None:
        return None if self._is_open else Visibility.VISIBLE

    def _native_batch(self) -> ArrowBatch:
        """Return the native changes as rows, and clear them."""
        assert self.changes is not None, "it has noted some"
        ids, cells = self.changes.take()
        ends, files = zip(*self._files, strict=True)
        self._files = []
        topics = self._loader.delta.topics
        names = [_text(self._names.get(topic_id) or topics.name_of(topic_id)) for topic_id in ids]
        arrays = noted_arrays(cells, ids, names)
        arrays["file"] = runs(ends, [self._shown(file) for file in files], pa.string())
        return self._partitions.batch(arrays, ends[-1], self._visibility)

    def _shown(self, file: str) -> str:
        return file_text(self._renaming(file))

    def _batches(self) -> Iterator[tuple[str, ArrowBatch]]:
        visibility = self._visibility
        if self._files:
            yield "partition_history", self._native_batch()
        if self._seen.partitions:
            topics, numbers, after, were_there = zip(*self._seen.partitions, strict=True)
            rows = self._partitions
            causes = list(zip(rows.types, were_there, strict=True))
            own = {
                "change": coded(causes, pa.string(), _WORDS.__getitem__),
                **topic_arrays(topics),
                **partition_arrays(numbers, after),
            }
            self._seen.partitions.clear()
            yield "partition_history", rows.take(own, self._shown, visibility)
        if self._topic_changes:
            columns: Any = _TopicChange._make(zip(*self._topic_changes, strict=True))
            own = {
                name: coded(getattr(columns, name), pa.string(), _text)
                for name in ("topic", "topic_id", "change", "config")
            }
            own["configs"] = config_array(columns.configs, show_secrets=self._show_secrets)
            self._topic_changes.clear()
            self._weight, self._is_full = 0, False
            yield "topic_history", self._topics.take(own, self._shown, visibility)

    def _release(self, visibility: Visibility) -> None:
        """Hand on the rows of the transaction, now that it is known who sees them."""
        self._hand_on()
        held, self._held, self._is_open = self._held, [], False
        for table, batch in held:
            index = batch.schema.get_field_index("visibility")
            field = batch.schema.field(index)
            known = repeated(visibility.value, batch.num_rows, field.type)
            self._sink.write(table, self._cluster, None, batch.set_column(index, field, known))

    def finish(self) -> None:
        """The log has ended; a transaction that is open stays so."""
        self._release(Visibility.OPEN)
