"""Partitions that the native module keeps as rows: it replays their records, and no Python object
stands for a partition before a caller asks for it.

Owns the mappings by number over such rows, and what of PartitionRecord and PartitionChangeRecord
the rows need to know. It refuses nothing by itself: the native module takes a record if it is plain
and fits the rows, and `topics.py` replays all other records.
"""

from __future__ import annotations

from collections.abc import (
    ItemsView,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
    ValuesView,
)
from functools import cache
from itertools import chain, repeat
from typing import Any, Generic, TypeGuard, TypeVar

from kraftool.decoders import fast_path, schema
from kraftool.decoders.generate import default_of
from kraftool.decoders.native_rows import OpenRows, RowKinds, Rows, open_rows, row_kinds
from kraftool.decoders.programs import program
from kraftool.decoders.wire import UUID_BYTES, UUID_TEXT
from kraftool.image.uuids import MIGRATING

COMPACT_RECORDS = frozenset({"PartitionRecord", "PartitionChangeRecord"})
"""The records that the native module replays."""
_CELLS = {
    "replicas": "I",
    "directories": "U",
    "isr": "I",
    "removingReplicas": "I",
    "addingReplicas": "I",
    "eligibleLeaderReplicas": "I",
    "lastKnownElr": "I",
    "leader": "i",
    "leaderRecoveryState": "i",
    "leaderEpoch": "i",
    "partitionEpoch": "i",
}
"""The fields of a record in the order of PartitionRegistration, and whether they are numbers, or
arrays of numbers or uuids."""
_UNCHANGED = {"leader": -2, "leaderRecoveryState": -1}
"""The values by which a change leaves a number as it is. For an array it is null."""
_AT_A_TIME = 1024
_Item = TypeVar("_Item", bound=tuple[Any, ...])


class CompactPartitions(Mapping[int, _Item], Generic[_Item]):
    """The partitions of a topic at one moment, by number."""

    __slots__ = ("_kind", "rows")

    def __init__(self, rows: Rows, kind: type[_Item]) -> None:
        """`kind` is the named tuple that a row becomes."""
        self.rows, self._kind = rows, kind

    def get(self, number: Any, default: Any = None) -> Any:
        row = self.rows.get(number) if _is_number(number) else None
        return default if row is None else tuple.__new__(self._kind, row)

    def __getitem__(self, number: int) -> _Item:
        item = self.get(number)
        if item is None:
            raise KeyError(number)
        found: _Item = item
        return found

    def __contains__(self, number: object) -> bool:
        return _is_number(number) and self.rows.has(number)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows.numbers())

    def values(self) -> ValuesView[_Item]:
        return _CompactValues(self)

    def items(self) -> ItemsView[int, _Item]:
        return _CompactItems(self)

    def part(self, start: int) -> Iterator[_Item]:
        """Some items, from a place on."""
        rows = self.rows.part(start, start + _AT_A_TIME)
        return map(tuple.__new__, repeat(self._kind), rows)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CompactPartitions) and self.rows.same(other.rows):
            return True
        return super().__eq__(other)

    def __repr__(self) -> str:
        return repr(dict(self.items()))

    def __reduce__(self) -> tuple[type, tuple[dict[int, _Item]]]:
        return dict, (dict(self.items()),)


class _CompactValues(ValuesView[_Item]):
    """All items, many of them at a time."""

    _mapping: CompactPartitions[_Item]

    def __iter__(self) -> Iterator[_Item]:
        mapping = self._mapping
        return chain.from_iterable(map(mapping.part, range(0, len(mapping), _AT_A_TIME)))


class _CompactItems(ItemsView[int, _Item]):
    """The same with their numbers."""

    _mapping: CompactPartitions[_Item]

    def __iter__(self) -> Iterator[tuple[int, _Item]]:
        return zip(self._mapping, _CompactValues(self._mapping), strict=True)


class OpenPartitions(MutableMapping[int, _Item], Generic[_Item]):
    """The partitions of a topic while records change them."""

    __slots__ = ("_group", "_kind", "_plain", "_rows")

    def __init__(self, rows: OpenRows, group: bytes, kind: type[_Item]) -> None:
        self._rows, self._group, self._kind = rows, group, kind
        self._plain: dict[int, _Item] | None = None
        """The partitions in Python, if rows cannot keep one of them."""

    @property
    def now(self) -> Mapping[int, _Item]:
        """The partitions as they are now. Later changes do not change them."""
        if self._plain is not None:
            return self._plain
        return CompactPartitions(self._rows.rows(self._group), self._kind)

    def close(self) -> None:
        """Take no more records."""
        self._rows.close(self._group)

    def get(self, number: Any, default: Any = None) -> Any:
        if self._plain is not None:
            return self._plain.get(number, default)
        row = self._rows.get(self._group, number)
        return default if row is None else tuple.__new__(self._kind, row)

    def __getitem__(self, number: int) -> _Item:
        item = self.get(number)
        if item is None:
            raise KeyError(number)
        found: _Item = item
        return found

    def __setitem__(self, number: int, item: _Item) -> None:
        if self._plain is None:
            if self._rows.put(self._group, number, item):
                return
            self._plain = dict(self.now.items())
            self.close()
        self._plain[number] = item

    def __delitem__(self, number: int) -> None:
        raise TypeError("a topic keeps its partitions")

    def __len__(self) -> int:
        if self._plain is not None:
            return len(self._plain)
        return self._rows.count(self._group)

    def __iter__(self) -> Iterator[int]:
        return iter(self.now)


class CompactTopics(Generic[_Item]):
    """The topics whose partitions are rows, while records change them."""

    def __init__(self, kind: type[_Item]) -> None:
        self._kind, self._rows = kind, open_rows(_kinds())

    def take(self, batch: bytes, at: int, index: int) -> tuple[int, int, str | None]:
        """Replay the next records of a sound batch; `at` is where the record of this index begins.
        Returns the index and the place of the first one that is left for Python, and the id of its
        topic if that topic might be opened for it."""
        index, at, group = self._rows.take(batch, at, index)
        return index, at, None if group is None else UUID_TEXT[group]

    def open(self, topic_id: str, partitions: Mapping[int, _Item]) -> OpenPartitions[_Item] | None:
        """Open a topic with these partitions; None if rows cannot keep one of them."""
        group = UUID_BYTES[topic_id]
        if isinstance(partitions, CompactPartitions):
            self._rows.open(group, partitions.rows)
        elif not self._load(group, list(partitions), list(partitions.values())):
            return None
        return OpenPartitions(self._rows, group, self._kind)

    def _load(self, group: bytes, numbers: Sequence[int], items: Sequence[_Item]) -> bool:
        return self._rows.load(group, numbers, items)


def compact_topics(kind: type[_Item]) -> CompactTopics[_Item] | None:
    """Return what keeps partitions natively; None if Python keeps them."""
    return CompactTopics(kind) if fast_path.is_native() else None


def _is_number(number: object) -> TypeGuard[int]:
    return isinstance(number, int) and -(1 << 31) <= number < 1 << 31


@cache
def _kinds() -> RowKinds:
    names = list(_CELLS)
    layouts = []
    for record in sorted(COMPACT_RECORDS):
        message = schema.message(record)
        makes = record == "PartitionRecord"
        assert message.api_key is not None, "a record has an api key"
        for version in message.versions:
            code = program(message.api_key, version, masked=False)
            fields = [field for field in message.fields if version in field.versions]
            at = {field.name: place for place, field in enumerate(fields)}
            others = at.keys() - _CELLS.keys() - {"topicId", "partitionId"}
            changes = all(
                default_of(field, version) == _UNCHANGED.get(field.name)
                for field in fields
                if field.is_tagged(version)
            )
            if code is None or others or not (makes or changes):
                continue
            key = at["topicId"], at["partitionId"]
            layouts.append(
                (message.api_key, version, code, makes, key, [at.get(name) for name in names])
            )
    arrays = names.index("replicas"), names.index("directories")
    counters = [
        (names.index("leaderEpoch"), names.index("leader")),
        (names.index("partitionEpoch"), None),
    ]
    choice = names.index("leaderRecoveryState")
    filler = UUID_BYTES[MIGRATING]
    return row_kinds("".join(_CELLS.values()), choice, arrays, filler, counters, layouts)
