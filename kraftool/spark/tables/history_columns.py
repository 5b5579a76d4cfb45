"""Partitions and configs as columns of Arrow, made from lists of an image's values.

Owns the reuse of equal values: a log has a million changes, and few lists of replicas.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kraftool.arrow.native_columns import arrow_column
from kraftool.arrow.rows import Arrays, repeated
from kraftool.arrow.untyped import Array, ArrowType, pa
from kraftool.decoders.redact import config_value
from kraftool.image.configs import TOPIC
from kraftool.image.seen import NamedTopic
from kraftool.image.topics import RECOVERED, PartitionRegistration
from kraftool.reports.text.printable import file_text
from kraftool.spark.tables.layout import TABLES

if TYPE_CHECKING:
    from kraftool.decoders._native import Cells

_REMOVED = PartitionRegistration._make((None,) * len(PartitionRegistration._fields))
_STATES = ("RECOVERED", "RECOVERING")
_WORDS = {RECOVERED: "RECOVERED", None: None}
_NOTED = ("offset", "epoch", "timestamp_ms", "effect", "group", "partition")
"""The columns of native changes before those of the partition."""
_NOTED_KINDS = {"effect": pa.int8(), "group": pa.int32(), "leader_recovery_state": pa.int32()}
_EFFECTS = (
    ("PartitionRecord", "created"),
    ("PartitionRecord", "replaced"),
    ("PartitionChangeRecord", "changed"),
)
"""The effects that the native module calls 0, 1 and 2: the record and the change."""
_KINDS = TABLES["partition_history"].columns
_PLAIN = frozenset({"leader", "leader_epoch", "partition_epoch"})


def coded(
    values: Sequence[Hashable], kind: ArrowType, word: Callable[[Any], Any] | None = None
) -> Array:
    """A column of values of which most occur many times. `word` makes a value's cell."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    cells: Sequence[Any] = list(numbers) if word is None else list(map(word, numbers))
    if len(cells) == 1:
        return repeated(cells[0], len(values), kind)
    if word is None and 2 * len(cells) > len(values):
        return pa.array(values, kind)
    which = pa.array(list(map(numbers.__getitem__, values)), pa.int32())
    return pa.array(cells, kind).take(which)


def topic_arrays(topics: Sequence[NamedTopic]) -> Arrays:
    """The names and ids of topics. Most occur many times, as the same object."""
    keys = list(map(id, topics))
    objects = dict(zip(keys, topics, strict=True))
    return {
        "topic": coded(keys, pa.string(), lambda key: file_text(objects[key].name)),
        "topic_id": coded(keys, pa.string(), lambda key: objects[key].id),
    }


def partition_arrays(
    numbers: Sequence[int], partitions: Sequence[PartitionRegistration | None]
) -> Arrays:
    """Partitions as `state` has them; one that was removed has only its number."""
    if None in partitions:
        partitions = [_REMOVED if partition is None else partition for partition in partitions]
    values: Any = PartitionRegistration._make(zip(*partitions, strict=True))
    arrays = {"partition": pa.array(numbers, _KINDS["partition"])}
    for name, column in values._asdict().items():
        if name != "leader_recovery_state":
            make = pa.array if name in _PLAIN else coded
            arrays[name] = make(column, _KINDS[name])
    arrays["leader_recovery_state"] = coded(
        values.leader_recovery_state, pa.string(), lambda state: _WORDS.get(state, "RECOVERING")
    )
    return arrays


def noted_arrays(
    cells: Sequence[Cells], topic_ids: Sequence[str], topics: Sequence[str | None]
) -> Arrays:
    """Changes that the native module noted, of topics with these ids and names."""
    columns = (*_NOTED, *PartitionRegistration._fields)
    arrays = {
        name: arrow_column(column, _NOTED_KINDS.get(name) or _KINDS[name])
        for name, column in zip(columns, cells, strict=True)
    }
    topic, effect = arrays.pop("group"), arrays.pop("effect")
    for name, number, words in (
        ("topic", topic, topics),
        ("topic_id", topic, topic_ids),
        ("type", effect, [kind for kind, _ in _EFFECTS]),
        ("change", effect, [change for _, change in _EFFECTS]),
        ("leader_recovery_state", arrays["leader_recovery_state"], _STATES),
    ):
        arrays[name] = pa.array(words, pa.string()).take(number)
    return arrays


def config_array(all_configs: Sequence[Mapping[str, str] | None], *, show_secrets: bool) -> Array:
    """The configs of topics as a map column, by name; masked unless asked for."""
    names: list[str] = []
    values: list[str] = []
    offsets: list[int | None] = []
    for configs in all_configs:
        offsets.append(None if configs is None else len(names))
        for name, value in sorted((configs or {}).items()):
            names.append(name)
            shown = value if show_secrets else config_value(TOPIC, name, value) or ""
            values.append(shown if shown.isascii() else file_text(shown))
    offsets.append(len(names))
    kind = TABLES["topic_history"].columns["configs"]
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()),
        coded(names, kind.key_type, file_text) if names else pa.array(names, kind.key_type),
        pa.array(values, kind.item_type),
    )
