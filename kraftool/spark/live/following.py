"""The micro-batches of a stream of a fleet, whatever the stream is about.

Owns the answers to Spark. It lists a fleet once for each batch, and plans its end and its tasks
from that listing. Followers (`stream.py`, `finding_stream.py`) judge a listing and remember it.
Several followers make one stream with one listing. After a restart Spark plans a batch again, and
gets the same one: the offset names an entry of `state_log.py`, which has the ranges to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from kraftool.arrow.columns import RECORDS, arrow_schema
from kraftool.arrow.fleet import Fleet
from kraftool.arrow.settings import SourceOptions
from kraftool.arrow.untyped import ArrowBatch, ArrowSchema, pa
from kraftool.spark.live.logs import fleet_now
from kraftool.spark.live.state_log import Memory, StateLog

LIVE = "kraft.live"
"""The format of the stream of all rows."""
Listing = Callable[[], Fleet]
Offset = dict[str, Any]
"""The entry of the state up to which a stream is; empty if it has not begun."""


@dataclass(slots=True, kw_only=True)
class FollowStep:
    """The result of one poll at a fleet."""

    changed: dict[str, Any] = field(default_factory=dict)
    """The parts of the memory that are others now; None for what is forgotten."""
    news: dict[str, Any] = field(default_factory=dict)
    """What the micro-batch has to read, as JSON; empty if it would have no rows."""
    is_kept: bool = False
    """True if the change must be written even without news."""


class FleetFollower(Protocol):
    """One subject of a stream."""

    source: str
    """The source whose columns its rows have."""
    kind: str
    """The value of the column `kind`, if its rows do not have that column."""

    def poll(self, memory: Memory, fleet: Fleet, limit: int | None, *, begun: bool) -> FollowStep:
        """Return what changed since the memory was written."""

    def end_here(self, fleet: Fleet) -> None:
        """Take note of what is there now: the stream ends with it."""

    def skip(self, memory: Memory, fleet: Fleet) -> dict[str, Any]:
        """Return a memory in which everything that is there now was read."""

    def tasks(self, memory: Memory, news: dict[str, Any], fleet: Listing) -> list[InputPartition]:
        """Return the tasks that read the news; `memory` is the one after them."""

    def read(self, arrow: ArrowSchema, task: InputPartition) -> Iterator[ArrowBatch]:
        """The rows of one task."""


class FollowerTask(InputPartition):
    """A task of one of the followers."""

    def __init__(self, number: int, task: InputPartition) -> None:
        self.number, self.task = number, task

    def __repr__(self) -> str:
        return repr(self.task)


class FleetStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The stream of what some followers see."""

    def __init__(
        self,
        settings: SourceOptions,
        schema: StructType,
        followers: Mapping[str, FleetFollower],
    ) -> None:
        """`followers` by the names that they have in the memory."""
        self._settings, self._schema, self._followers = settings, schema, dict(followers)
        self._state = StateLog(settings.state_location)
        self._listed: tuple[Offset, Fleet] | None = None

    def initial_offset(self) -> Offset:
        """Return where a new stream begins: at the beginning of what is there, or at its end."""
        if self._settings.starting != "latest":
            return {"entry": ""}
        fleet, memory = fleet_now(self._settings), dict[str, Any]()
        for name, follower in self._followers.items():
            memory |= _named(name, follower.skip({}, fleet))
        return {"entry": self._state.append("", memory, {})}

    def default_read_limit(self) -> ReadLimit:
        most = self._settings.bytes_per_trigger
        return ReadAllAvailable() if most is None else ReadMaxBytes(most)

    def latest_offset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Poll everything once; the start itself where nothing is new."""
        memory, begun = self._state.memory(start["entry"]), bool(start["entry"])
        most = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        fleet = fleet_now(self._settings)
        changed: dict[str, Any] = {}
        news: dict[str, Any] = {}
        is_kept = False
        for name, follower in self._followers.items():
            step = follower.poll(_of(name, memory), fleet, most, begun=begun)
            changed |= _named(name, step.changed)
            is_kept |= step.is_kept or bool(step.news)
            if step.news:
                news[name] = step.news
        if begun and not is_kept:
            return start
        end = {"entry": self._state.append(start["entry"], changed, news)}
        self._listed = (end, fleet)
        return end

    def prepare_for_available_now(self) -> None:
        """Take note of what there is now: the stream ends there."""
        fleet = fleet_now(self._settings)
        for follower in self._followers.values():
            follower.end_here(fleet)

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The tasks of the batch that ends at `end`. What was listed for it is not listed again."""
        if start == end:
            return []
        news = self._state.news(end["entry"])
        memory = self._state.memory(end["entry"]) if news else {}
        tasks: list[InputPartition] = []
        for number, (name, follower) in enumerate(self._followers.items()):
            if name in news:
                own = follower.tasks(_of(name, memory), news[name], lambda: self._fleet_at(end))
                tasks += (FollowerTask(number, task) for task in own)
        return tasks

    def _fleet_at(self, end: Offset) -> Fleet:
        if self._listed is None or self._listed[0] != end:
            self._listed = (end, fleet_now(self._settings))
        return self._listed[1]

    def read(self, partition: InputPartition) -> Iterator[ArrowBatch]:
        """The rows of one task."""
        if not isinstance(partition, FollowerTask):
            return
        arrow = to_arrow_schema(self._schema, timezone="UTC")
        follower = list(self._followers.values())[partition.number]
        own = _part_of(arrow, follower.source)
        for batch in follower.read(own, partition.task):
            yield batch if own is arrow else _widened(batch, arrow, follower.kind)

    def commit(self, end: Offset) -> None:
        """Forget what no later question needs."""
        self._state.forget_before(end["entry"])

    def stop(self) -> None:
        """Let another run take the state."""
        self._state.close()

    initialOffset = initial_offset
    latestOffset = latest_offset
    getDefaultReadLimit = default_read_limit
    prepareForTriggerAvailableNow = prepare_for_available_now


def _named(name: str, memory: Mapping[str, Any]) -> dict[str, Any]:
    """The memory of a follower as a part of the stream's."""
    return {f"{name}:{key}": value for key, value in memory.items()}


def _of(name: str, memory: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the stream's memory that is a follower's."""
    start = f"{name}:"
    return {
        key.removeprefix(start): value for key, value in memory.items() if key.startswith(start)
    }


def _part_of(arrow: ArrowSchema, source: str) -> ArrowSchema:
    """The columns of a schema that a source has; the schema itself if these are all."""
    known = arrow_schema(source, variant=source == RECORDS).names
    fields = [field for field in arrow if field.name in known]
    return arrow if len(fields) == len(arrow) else pa.schema(fields)


def _widened(batch: ArrowBatch, arrow: ArrowSchema, kind: str) -> ArrowBatch:
    """A batch with all columns of a schema; those that it lacks are null, but for `kind`."""
    columns = [
        batch.column(field.name)
        if field.name in batch.schema.names
        else pa.array([kind if field.name == "kind" else None] * batch.num_rows, field.type)
        for field in arrow
    ]
    return pa.RecordBatch.from_arrays(columns, schema=arrow)
