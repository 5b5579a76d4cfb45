"""`spark.readStream.format("kraft")`: tails the logs of live directories, exactly once.

Owns the offset of a stream: how far each log was read, and which byte ranges and changes make up
the batch that ends there, so that a batch that is planned again after a restart is the same one.
A batch that is half written is waited for. What is no growth is a row of kind `change`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from kraftool.arrow.columns import RECORDS
from kraftool.arrow.settings import SourceOptions
from kraftool.arrow.splits import Split, cut, packed
from kraftool.arrow.untyped import ArrowBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.live.changes import (
    Told,
    appeared,
    change_rows,
    lost,
    owner_object,
    owner_of,
    told,
)
from kraftool.spark.live.logs import Logs
from kraftool.spark.tasks import ReadTask, read_task
from kraftool.storage.tail import TailState, look

Offset = dict[str, Any]
VERSION = 1
_LEAST = 64 << 10
"""Bytes that each log may give to a batch, however many share its limit."""


class ChangeTask(InputPartition):
    """Changes to be told, as they stand in the offset."""

    def __init__(self, changes: Sequence[Told]) -> None:
        self.changes = tuple(changes)


class KraftStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The stream of records, problems and changes."""

    def __init__(self, settings: SourceOptions, schema: StructType) -> None:
        self._settings, self._schema = settings, schema
        self._caps: dict[str, int] | None = None

    def initial_offset(self) -> Offset:
        """Return where a new stream begins: at the beginning of what is there, or at its end."""
        empty: Offset = {"version": VERSION, "begun": False, "logs": {}, "owners": {}}
        empty |= {"read": [], "changes": []}
        if self._settings.starting != "latest":
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
        self._caps = Logs(self._settings).sizes()

    def _advance(self, start: Offset, limit: int | None) -> Offset:
        if start.get("version") != VERSION:
            raise KraftoolError(
                f"a checkpoint of another kraftool: version {start.get('version')} of its offsets"
            )
        logs = Logs(self._settings)
        states: dict[str, Any] = dict(start["logs"])
        owners: dict[str, Any] = dict(start["owners"])
        read: list[list[Any]] = []
        changes: list[Told] = []
        folders = sorted({*states, *logs.folders})
        share = None if limit is None else max(limit // max(len(folders), 1), _LEAST)
        if share is not None and limit is not None:
            share = min(share, limit)
        for folder in folders:
            if folder not in logs.folders and logs.is_unread(folder):
                continue
            is_known, is_there = folder in states, folder in logs.folders
            before = TailState.from_json(states[folder]) if is_known else TailState()
            with ExitStack() as opened:
                found = look(before, list(logs.segments(folder, self._caps, opened)), share)
            states[folder] = found.state.to_json()
            if is_there:
                owners[folder] = owner_object(logs.owners[folder])
            read += (
                [folder, each.segment, each.start, each.stop, each.generation]
                for each in found.ranges
            )
            change = found.change
            is_new = not is_known and start["begun"]
            if change is None and (is_new or (before.gone and not found.state.gone)):
                change = appeared(found.state)
            if change is not None:
                changes.append(told(folder, owner_of(owners[folder]), change))
        if start["begun"] and not read and not changes:
            return start
        return {
            "version": VERSION, "begun": True, "logs": states, "owners": owners,
            "read": read, "changes": changes,
        }  # fmt: skip

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The tasks of the batch that ends at `end`: it says itself what is in it."""
        if start == end or not (end["read"] or end["changes"]):
            return []
        logs = Logs(self._settings)
        changes = list(end["changes"])
        small: list[Split] = []
        tasks: list[InputPartition] = []
        for folder, name, begin, stop, generation in end["read"]:
            file = logs.files.get((folder, name))
            if file is None:
                state = TailState.from_json(end["logs"][folder])
                change = lost(state, name, begin, generation)
                changes.append(told(folder, owner_of(end["owners"][folder]), change))
                continue
            if not self._settings.narrowing.wants_owner(file.directory):
                continue
            split = Split(file=file, start=begin, stop=stop, generation=generation)
            if split.size <= self._settings.split_bytes:
                small.append(split)
            else:
                tasks += [ReadTask([each]) for each in self._cut(split)]
        pack = max(sum(each.size for each in small) // 16, 1 << 20)
        tasks += [ReadTask(each) for each in packed(small, pack)]
        changes = [change for change in changes if self._wants(change)]
        # What was truncated is told before what took its place.
        return [ChangeTask(changes), *tasks] if changes else tasks

    def _wants(self, change: Told) -> bool:
        narrowing = self._settings.narrowing
        return narrowing.wants_kind("change") and narrowing.wants_owner(owner_of(change["owner"]))

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
        elif isinstance(partition, ReadTask):
            yield from read_task(RECORDS, arrow, self._settings, partition)

    initialOffset = initial_offset
    latestOffset = latest_offset
    getDefaultReadLimit = default_read_limit
    prepareForTriggerAvailableNow = prepare_for_available_now
