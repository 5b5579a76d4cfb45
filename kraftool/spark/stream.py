"""`spark.readStream.format("kraft")`: tails the logs of live directories, exactly once.

Owns the offset of a stream: how far each log was read, and which byte ranges and changes make up
the batch that ends there, so that a batch that is planned again after a restart is the same one.
A batch that is half written is waited for. What is no growth is a row of kind `change`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import orjson
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind, detect
from kraftool.decoders.names import parse_segment_name
from kraftool.spark.arrow import ArrowBatch, ArrowSchema
from kraftool.spark.columns import RECORDS
from kraftool.spark.fleet import FleetDirectory, FleetFile, find_fleet, with_batches
from kraftool.spark.pushdown import Pushed
from kraftool.spark.rows import Table, identity
from kraftool.spark.settings import Settings
from kraftool.spark.source import Task, row_reader, told_whole, without_collector
from kraftool.spark.splits import Split, cut, packed
from kraftool.spark.tail import Change, Segment, TailState, look

Offset = dict[str, Any]
VERSION = 1
_LEAST = 64 << 10
"""Bytes that each log may give to a batch, however many share its limit."""


class ChangeTask(InputPartition):
    """Changes to be told, as they stand in the offset."""

    def __init__(self, changes: Sequence[dict[str, Any]]) -> None:
        self.changes = tuple(changes)


class _Logs:
    """The logs of a fleet at one look: segments by folder, in order."""

    def __init__(self, settings: Settings) -> None:
        with told_whole():
            fleet = find_fleet(list(settings.paths), depth=settings.depth, options=settings.storage)
        self.files: dict[tuple[str, str], FleetFile] = {}
        self.owners: dict[str, FleetDirectory] = {}
        self.folders: dict[str, list[str]] = {}
        for file in with_batches(fleet):
            folder, _, name = file.name.rpartition("/")
            kind = detect(name, b"", file.size).kind
            if kind is not FileKind.LOG or file.in_topic:
                continue
            self.files[folder, name] = file
            self.owners[folder] = file.directory
            self.folders.setdefault(folder, []).append(name)
        for names in self.folders.values():
            names.sort()

    def segments(
        self, folder: str, caps: dict[str, int] | None, opened: ExitStack
    ) -> Iterator[Segment]:
        """The segments of one log, open as long as `opened`; one that has just gone ends them."""
        for name in self.folders.get(folder, ()):
            file = self.files[folder, name]
            if caps is not None and file.name not in caps:
                return
            try:
                source = opened.enter_context(file.open())
                size = source.size() or 0
            except KraftoolError:
                return
            parsed = parse_segment_name(name)
            yield Segment(
                name=name,
                base_offset=parsed.base_offset if parsed is not None else 0,
                size=size if caps is None else min(size, caps[file.name]),
                read_at=source.read_at,
            )


class KraftStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The stream of records, problems and changes."""

    def __init__(self, settings: Settings, schema: StructType) -> None:
        self._settings, self._schema = settings, schema
        self._caps: dict[str, int] | None = None

    def initial_offset(self) -> Offset:
        """Where a new stream begins: at the beginning of what is there, or at its end."""
        empty: Offset = {"version": VERSION, "logs": {}, "read": [], "changes": []}
        if not self._settings.from_latest:
            return empty
        return {**self._advance(empty, None), "read": [], "changes": []}

    def default_read_limit(self) -> ReadLimit:
        most = self._settings.bytes_per_trigger
        return ReadAllAvailable() if most is None else ReadMaxBytes(most)

    def latest_offset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Look at all logs once; the start itself where nothing is new."""
        return self._advance(start, limit.max_bytes if isinstance(limit, ReadMaxBytes) else None)

    def prepare_for_available_now(self) -> None:
        """Take note of how long everything is now: the stream ends there."""
        logs = _Logs(self._settings)
        caps: dict[str, int] = {}
        for file in logs.files.values():
            try:
                with file.open() as source:
                    caps[file.name] = source.size() or 0
            except KraftoolError:
                continue
        self._caps = caps

    def _advance(self, start: Offset, limit: int | None) -> Offset:
        if start.get("version") != VERSION:
            raise KraftoolError(
                f"a checkpoint of another kraftool: version {start.get('version')} of its offsets"
            )
        logs = _Logs(self._settings)
        states: dict[str, Any] = dict(start["logs"])
        read: list[list[Any]] = []
        changes: list[dict[str, Any]] = []
        folders = sorted({*states, *logs.folders})
        share = None if limit is None else max(limit // max(len(folders), 1), _LEAST)
        if share is not None and limit is not None:
            share = min(share, limit)
        for folder in folders:
            before = TailState.from_json(states[folder]) if folder in states else TailState()
            with ExitStack() as opened:
                found = look(before, list(logs.segments(folder, self._caps, opened)), share)
            states[folder] = found.state.to_json()
            read += (
                [folder, each.segment, each.start, each.stop, each.generation]
                for each in found.ranges
            )
            if found.change is not None:
                owner = logs.owners.get(folder, FleetDirectory(name=folder))
                changes.append(_told(folder, owner, found.change))
        if not read and not changes:
            return start
        return {"version": VERSION, "logs": states, "read": read, "changes": changes}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The tasks of the batch that ends at `end`: it says itself what is in it."""
        if start == end or not (end["read"] or end["changes"]):
            return []
        logs = _Logs(self._settings)
        changes = list(end["changes"])
        small: list[Split] = []
        tasks: list[InputPartition] = []
        for folder, name, begin, stop, generation in end["read"]:
            file = logs.files.get((folder, name))
            if file is None:
                owner = logs.owners.get(folder, FleetDirectory(name=folder))
                state = TailState.from_json(end["logs"][folder])
                lost = Change(
                    change="LOST", segment=name, position=begin, offset=None,
                    was_offset=state.offset, epoch=None, generation=generation,
                )  # fmt: skip
                changes.append(_told(folder, owner, lost))
                continue
            split = Split(file=file, start=begin, stop=stop, generation=generation)
            if split.size <= self._settings.split_bytes:
                small.append(split)
            else:
                tasks += [Task([each]) for each in self._cut(split)]
        pack = max(sum(each.size for each in small) // 16, 1 << 20)
        tasks += [Task(each) for each in packed(small, pack)]
        return [*tasks, ChangeTask(changes)] if changes else tasks

    def _cut(self, split: Split) -> list[Split]:
        """Cut a long range as the batch source cuts a long file."""
        file, stop = split.file, split.stop or 0
        try:
            with file.open() as source:
                ranges = cut(source.read_at, stop, self._settings.split_bytes, start=split.start)
        except KraftoolError:
            return [split]
        return [
            Split(file=file, start=begin, stop=stop if end is None else end,
                  generation=split.generation)
            for begin, end in ranges
        ]  # fmt: skip

    def read(self, partition: InputPartition) -> Iterator[ArrowBatch]:
        """The rows of one task."""
        arrow = to_arrow_schema(self._schema, timezone="UTC")
        if isinstance(partition, ChangeTask):
            yield change_rows(arrow, partition.changes)
        elif isinstance(partition, Task):
            with without_collector():
                reader = row_reader(RECORDS, arrow, Pushed(), self._settings)
                yield from reader.read(partition.splits)

    initialOffset = initial_offset
    latestOffset = latest_offset
    getDefaultReadLimit = default_read_limit
    prepareForTriggerAvailableNow = prepare_for_available_now


def _told(folder: str, owner: FleetDirectory, change: Change) -> dict[str, Any]:
    """A change as it stands in an offset: all that its row needs, whatever happens to the files."""
    return {
        "cluster_id": owner.cluster_id,
        "node_id": owner.node_id,
        "directory_id": owner.directory_id,
        "directory": owner.name,
        "file": f"{folder}/{change.segment}",
        "change": change.change,
        "position": change.position,
        "offset": change.offset,
        "was_offset": change.was_offset,
        "epoch": change.epoch,
        "generation": change.generation,
        "sentence": change.sentence(),
    }


def change_rows(arrow: ArrowSchema, changes: Sequence[dict[str, Any]]) -> ArrowBatch:
    """Changes as rows: what happened is the type, its numbers are the payload."""
    table = Table(arrow)
    for each in changes:
        owner = FleetDirectory(
            name=each["directory"],
            cluster_id=each["cluster_id"],
            node_id=each["node_id"],
            directory_id=each["directory_id"],
        )
        identity(table, owner, each["file"], 1)
        table.same("generation", each["generation"], 1)
        numbers = {name: each[name] for name in ("change", "offset", "was_offset", "generation")}
        values = {
            "kind": "change",
            "position": each["position"],
            "offset": each["offset"],
            "epoch": each["epoch"],
            "type": each["change"],
            "payload": orjson.dumps(numbers),
            "data": orjson.dumps(numbers),
            "error": each["sentence"],
        }
        for name, column in table.columns.items():
            if name not in ("cluster_id", "node_id", "directory_id", "directory", "file",
                            "generation"):  # fmt: skip
                column.append(values.get(name))
        table.rows += 1
    return table.take()
