"""Streams: `spark.readStream.format("kraft")` tails the logs of live directories, exactly once.

Owns which streams there are, what this one remembers of each log, and which byte ranges and changes
make up a micro-batch, so that a batch that is planned again after a restart is the same one. A
batch that is half written is waited for. What is no growth is a row of kind `change`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import StructType

from kraftool.arrow.columns import FINDINGS, RECORDS
from kraftool.arrow.fleet import Fleet
from kraftool.arrow.reading import Part
from kraftool.arrow.settings import SourceOptions
from kraftool.arrow.splits import Split, packed, pieces
from kraftool.arrow.untyped import ArrowBatch, ArrowSchema
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.columns import spark_schema
from kraftool.spark.live.changes import (
    Told,
    appeared,
    change_rows,
    lost,
    owner_object,
    owner_of,
    stored_change,
)
from kraftool.spark.live.finding_stream import FindingFollower
from kraftool.spark.live.following import (
    LIVE,
    FleetFollower,
    FleetStreamReader,
    FollowStep,
    Listing,
)
from kraftool.spark.live.logs import Logs
from kraftool.spark.live.state_log import Memory
from kraftool.spark.tasks import ReadTask
from kraftool.storage.tail import TailState, read_tail

_LEAST = 64 << 10
"""Bytes that each log may give to a batch, however many share its limit."""


class ChangeTask(InputPartition):
    """Changes to be told, as they stand in the news."""

    def __init__(self, changes: Sequence[Told]) -> None:
        self.changes = tuple(changes)


class RecordFollower:
    """Follows the logs: records, problems and changes.

    The memory of a log is its owner and the state of its tail.
    """

    source, kind = RECORDS, ""

    def __init__(self, settings: SourceOptions) -> None:
        self._settings = settings
        self._caps: Mapping[str, int] | None = None
        self._read_up: dict[str, tuple[Any, Any]] = {}
        """Of each log in which the last poll saw nothing new: its memory, and its files as they
        were listed. It is not opened until they change."""

    def end_here(self, fleet: Fleet) -> None:
        self._caps = Logs(fleet).sizes()

    def skip(self, memory: Memory, fleet: Fleet) -> dict[str, Any]:
        return self.poll(memory, fleet, None, begun=False).changed

    def poll(self, memory: Memory, fleet: Fleet, limit: int | None, *, begun: bool) -> FollowStep:
        logs = Logs(fleet)
        changed: dict[str, Any] = {}
        read: list[list[Any]] = []
        changes: list[Told] = []
        folders = sorted({*memory, *logs.folders})
        share = limit and min(max(limit // max(len(folders), 1), _LEAST), limit)
        for folder in folders:
            if folder not in logs.folders and logs.is_unread(folder):
                continue
            known = memory.get(folder)
            marks = logs.marks(folder)
            if known is not None and self._read_up.get(folder) == (known, marks):
                continue
            before = TailState.from_json(known[1]) if known is not None else TailState()
            with ExitStack() as opened:
                read_now = read_tail(before, list(logs.segments(folder, self._caps, opened)), share)
            files = logs.folders.get(folder, [])
            # Only a log that was known before can have gone.
            owner = owner_object(files[0].directory) if files or known is None else known[0]
            now = [owner, read_now.state.to_json()]
            if now != known:
                changed[folder] = now
            elif marks is not None:
                self._read_up[folder] = (now, marks)
            read += (
                [folder, new_range.segment, new_range.start, new_range.stop, new_range.generation]
                for new_range in read_now.ranges
            )
            change = read_now.change
            is_new = known is None and begun
            if change is None and (is_new or (before.gone and not read_now.state.gone)):
                change = appeared(read_now.state)
            if change is not None:
                changes.append(stored_change(folder, owner_of(owner), change))
        news = {"read": read, "changes": changes} if read or changes else {}
        return FollowStep(changed=changed, news=news)

    def tasks(self, memory: Memory, news: dict[str, Any], fleet: Listing) -> list[InputPartition]:
        changes = list(news["changes"])
        folders = Logs(fleet()).folders if news["read"] else {}
        small: list[Split] = []
        tasks: list[InputPartition] = []
        for folder, name, begin, stop, generation in news["read"]:
            files = {file.basename: file for file in folders.get(folder, ())}
            file = files.get(name)
            if file is None or not file.is_there():
                owner, state = memory[folder]
                change = lost(TailState.from_json(state), name, begin, generation)
                changes.append(stored_change(folder, owner_of(owner), change))
                continue
            if not self._settings.narrowing.wants_owner(file.directory):
                continue
            split = Split(file=file, start=begin, stop=stop, generation=generation)
            if split.size <= self._settings.split_bytes:
                small.append(split)
            else:
                tasks += [ReadTask(Part(splits=(piece,))) for piece in self._cut(split)]
        pack = max(sum(split.size for split in small) // 16, 1 << 20)
        tasks += [ReadTask(Part(splits=tuple(splits))) for splits in packed(small, pack)]
        wanted = self._settings.narrowing
        is_told = wanted.wants_kind("change")
        changes = [one for one in changes if is_told and wanted.wants_owner(owner_of(one["owner"]))]
        # What was truncated is told before what took its place.
        return [ChangeTask(changes), *tasks] if changes else tasks

    def _cut(self, split: Split) -> list[Split]:
        """Cut a long range as the batch source cuts a long file."""
        try:
            with split.file.open() as source:
                return pieces(split, self._settings.split_bytes, source.read_at)
        except KraftoolError:
            return [split]

    def read(self, arrow: ArrowSchema, task: InputPartition) -> Iterator[ArrowBatch]:
        if isinstance(task, ChangeTask):
            yield change_rows(arrow, task.changes)
        elif isinstance(task, ReadTask):
            yield from task.rows(RECORDS, arrow, self._settings)


def live_schema() -> StructType:
    """The columns of `kraft.live`: those of records, and then those that only findings have."""
    records = spark_schema(RECORDS)
    others = [field for field in spark_schema(FINDINGS) if field.name not in records.names]
    return StructType([*records, *others])


def stream_reader(source: str, settings: SourceOptions, schema: StructType) -> FleetStreamReader:
    """The reader of a stream, by the name of its format. One source for records and findings lists
    the fleet once for each micro-batch; two sources would list it twice, since Spark runs each in a
    process of its own."""
    followers: dict[str, FleetFollower] = {}
    if source != FINDINGS:
        followers["logs"] = RecordFollower(settings)
    if source == FINDINGS or (source == LIVE and settings.findings):
        followers["files"] = FindingFollower(settings)
    return FleetStreamReader(settings, schema, followers)
