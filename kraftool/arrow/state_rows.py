"""Rows of the metadata at the end of each directory: partitions, configs, ACLs and the like.

Owns how entities become columns. The end is what `kraftool state` reports: the newest usable
snapshot, and the log after it. A directory whose state cannot be loaded has no entities, and one
row of `kraft.state` that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import groupby, islice
from operator import attrgetter, itemgetter
from typing import Any

from kraftool.arrow.columns import STATE, SUMMARY
from kraftool.arrow.fleet import FleetDirectory, Unread
from kraftool.arrow.local_copy import on_disk
from kraftool.arrow.rows import ROWS, ArrowRows, Rows, identity, repeated
from kraftool.arrow.splits import Split
from kraftool.arrow.state_columns import ENTITIES, attribute_of
from kraftool.arrow.untyped import Array, ArrowBatch, ArrowSchema, ArrowType, pa
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.state.entities import aspects, partition_object
from kraftool.reports.state.entity_objects import TopicPartitionEntity
from kraftool.reports.state.files import open_state
from kraftool.reports.state.load import LoadedState, load_from
from kraftool.reports.text.printable import file_text

_PARTITION = tuple(field.name for field in fields(TopicPartitionEntity))


def state_rows(
    source: str,
    arrow: ArrowSchema,
    splits: Sequence[Split],
    unread: Sequence[Unread] = (),
    *,
    newest: Collection[FleetDirectory] = (),
    show_secrets: bool,
) -> Iterator[ArrowBatch]:
    """The rows of directories. `splits` has all files of each of them, directory by directory; what
    is `unread` may be a directory, whose state is not known."""
    table = ArrowRows(arrow)
    for place in unread:
        table.add(identity(place.owner) | _summary(None, place.reason, newest=False))
    rows = source.removeprefix(f"{STATE}.")
    for owner, group in groupby(splits, key=lambda split: split.file.directory):
        state, error = _loaded(list(group))
        if source == STATE:
            table.add(identity(owner) | _summary(state, error, newest=owner in newest))
        elif state is not None:
            same = {**identity(owner), **_end(state), "newest": owner in newest}
            entities = _entities(state, rows, show_secrets=show_secrets)
            while part := list(islice(entities, ROWS)):
                yield _entity_batch(arrow, rows, same, part)
    if table:
        yield table.take()


def _loaded(splits: Sequence[Split]) -> tuple[LoadedState | None, str]:
    with on_disk([split.file for split in splits]) as here:
        for problem in here.problems:
            if problem.name.endswith((".log", ".checkpoint")):
                return None, f"{problem.name}: {problem.reason}"
        try:
            return load_from(open_state(here.path)), ""
        except KraftoolError as error:
            return None, here.shown_text(error.message)


def _entity_batch(
    arrow: ArrowSchema, rows: str, same: dict[str, Any], part: Sequence[Any]
) -> ArrowBatch:
    """Entities of one state, column by column: a state may have a million of them."""
    getter: Callable[[str], Callable[[Any], Any]] = (
        itemgetter if rows == "partitions" else attrgetter
    )

    def column(name: str, kind: ArrowType) -> Array:
        if name in same:
            return repeated(same[name], len(part), kind)
        cells = map(_cell_of(kind), map(getter(attribute_of(rows, name)), part))
        return pa.array(list(cells), kind)

    made = {field.name: column(field.name, field.type) for field in arrow}
    return Rows(len(part), made=made).batch(arrow)


def _end(state: LoadedState) -> dict[str, Any]:
    provenance = state.image.provenance
    return {"end_offset": provenance.offset, "end_epoch": provenance.last_epoch}


def _summary(state: LoadedState | None, error: str, *, newest: bool) -> dict[str, Any]:
    values: dict[str, Any] = {**dict.fromkeys(SUMMARY), "newest": newest}
    if state is None:
        return {**values, "error": file_text(error), "complete": False}
    moment = state.image.provenance.last_timestamp
    return {
        **values,
        **_end(state),
        "start_offset": state.start_offset,
        "timestamp": moment,
        "timestamp_ms": moment,
        "complete": state.is_whole and state.has_its_beginning,
        "snapshot": file_text(state.snapshot.rpartition("/")[2]) or None,
    }


def _entities(state: LoadedState, rows: str, *, show_secrets: bool) -> Iterator[Any]:
    if rows == "partitions":
        yield from _partitions(state)
        return
    kind = ENTITIES[rows][0]
    aspect = next(aspect for aspect in aspects(state.image) if aspect.kind == kind)
    for key in aspect.ordered():
        yield aspect.entity(key, aspect.items[key], show_secrets)


def _partitions(state: LoadedState) -> Iterator[dict[str, Any]]:
    topics = state.image.topics.by_id.values()
    for topic in sorted(topics, key=lambda topic: (topic.name, topic.id)):
        for number in sorted(topic.partitions):
            values = partition_object(number, topic.partitions[number]).values()
            own = zip(_PARTITION, values, strict=True)
            yield dict(own, topic=topic.name, topic_id=topic.id)


def _cell_of(kind: ArrowType) -> Callable[[Any], Any]:
    """Return what makes a cell of a column from a value."""
    if pa.types.is_floating(kind):
        return float  # NaN and the infinities are texts in JSON
    if pa.types.is_list(kind) and _cell_of(kind.value_type) is _as_it_is:
        return _as_it_is
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return _as_it_is
    return _cell


def _as_it_is(value: Any) -> Any:
    return value


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return file_text(value)
    if isinstance(value, list | tuple):
        return [_cell(item) for item in value]
    if is_dataclass(value):
        return {field.name: _cell(getattr(value, field.name)) for field in fields(value)}
    return value
