"""Rows that the native module keeps and changes. A row becomes a Python object when a caller
asks for it.

Owns the mappings by number over rows. The native module replays a record if it is plain and fits
the rows. The caller replays all other records.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, MutableMapping, ValuesView
from functools import cache
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from kraftool.decoders.wire import UUID_BYTES, UUID_TEXT

if TYPE_CHECKING:
    from kraftool.decoders._native import Cells, Changes, OpenRows, RowKinds, Rows

Place = tuple[int, int, int]
"""A place among the records of batches: where a batch begins, the index of a record in it, and
where that record begins in the batch, 0 for the first."""
_NUMBERS = range(-(1 << 31), 1 << 31)
_AT_A_TIME = 1024
_Item = TypeVar("_Item", bound=tuple[Any, ...])


class RowRules(NamedTuple):
    """The facts about rows that the native module requires, by the names of fields."""

    cells: tuple[tuple[str, str], ...]
    """The fields in the order of a row: i for a number, I for an array of numbers, U for one of
    uuids."""
    makes: str
    """The record that makes a row, or replaces it."""
    changes: str
    """The record that changes a row."""
    does_nothing: str
    """A record that may be passed over."""
    group: str
    number: str
    choice: str
    """A number that is 0 or 1."""
    arrays: tuple[str, str]
    """An array of numbers, and one of as many uuids."""
    filler: str
    """No uuids stand for as many of this one."""
    counters: tuple[tuple[str, str | None], ...]
    """Numbers that a change raises by one: every change, or one that sets another field."""
    unchanged: tuple[tuple[str, int], ...]
    """The values by which a change leaves a number as it is. For an array it is null."""


class CompactRows(Mapping[int, _Item], Generic[_Item]):
    """The rows of a group at one moment, by number."""

    __slots__ = ("_kind", "rows")

    def __init__(self, rows: Rows, kind: type[_Item]) -> None:
        """`kind` is the named tuple that a row becomes."""
        self.rows, self._kind = rows, kind

    def get(self, number: Any, default: Any = None) -> Any:
        is_number = isinstance(number, int) and number in _NUMBERS
        row = self.rows.get(number) if is_number else None
        return default if row is None else tuple.__new__(self._kind, row)

    def __getitem__(self, number: int) -> _Item:
        item = self.get(number)
        if item is None:
            raise KeyError(number)
        row: _Item = item
        return row

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number in _NUMBERS and self.rows.has(number)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows.numbers())

    def values(self) -> ValuesView[_Item]:
        return _RowValues(self)

    def items(self) -> ItemsView[int, _Item]:
        return _RowItems(self)

    def part(self, start: int) -> Iterator[_Item]:
        """Some items, from a place on."""
        rows = self.rows.part(start, start + _AT_A_TIME)
        return map(tuple.__new__, repeat(self._kind), rows)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CompactRows) and self.rows.same(other.rows):
            return True
        return super().__eq__(other)

    def __repr__(self) -> str:
        return repr(dict(self.items()))

    def __reduce__(self) -> tuple[type, tuple[dict[int, _Item]]]:
        return dict, (dict(self.items()),)


class _RowValues(ValuesView[_Item]):
    """All items, many of them at a time."""

    _mapping: CompactRows[_Item]

    def __iter__(self) -> Iterator[_Item]:
        mapping = self._mapping
        return chain.from_iterable(map(mapping.part, range(0, len(mapping), _AT_A_TIME)))


class _RowItems(ItemsView[int, _Item]):
    """The same with their numbers."""

    _mapping: CompactRows[_Item]

    def __iter__(self) -> Iterator[tuple[int, _Item]]:
        return zip(self._mapping, _RowValues(self._mapping), strict=True)


class OpenGroup(MutableMapping[int, _Item], Generic[_Item]):
    """The rows of a group while records change them."""

    __slots__ = ("_group", "_kind", "_plain", "_rows")

    def __init__(self, rows: OpenRows, group: bytes, kind: type[_Item]) -> None:
        self._rows, self._group, self._kind = rows, group, kind
        self._plain: dict[int, _Item] | None = None
        """The items in Python, if rows cannot keep one of them."""

    @property
    def now(self) -> Mapping[int, _Item]:
        """The items as they are now. Later changes do not change them."""
        if self._plain is not None:
            return self._plain
        return CompactRows(self._rows.rows(self._group), self._kind)

    def close(self) -> None:
        """Take no more records."""
        self._rows.close(self._group)

    def get(self, number: Any, default: Any = None) -> Any:
        if self._plain is not None:
            return self._plain.get(number, default)
        row = self._rows.get(self._group, number)
        return default if row is None else tuple.__new__(self._kind, row)

    def __getitem__(self, number: int) -> _Item:
        return self.now[number]

    def __setitem__(self, number: int, item: _Item) -> None:
        if self._plain is None:
            if self._rows.put(self._group, number, item):
                return
            self._plain = dict(self.now.items())
            self.close()
        self._plain[number] = item

    def __delitem__(self, number: int) -> None:
        raise TypeError("a group keeps its rows")

    def __len__(self) -> int:
        return len(self.now)

    def __iter__(self) -> Iterator[int]:
        return iter(self.now)


class RowChanges:
    """The changes that records make to rows, noted natively from an offset on."""

    def __init__(self, rules: RowRules, first: int) -> None:
        from kraftool.decoders._native import Changes

        self.native: Changes = Changes(_row_kinds(rules), first)

    def take(self) -> tuple[list[str], list[Cells]]:
        """Return the ids of groups, and the columns of all changes: offset, epoch, time, effect (0
        made, 1 replaced, 2 changed), the number of the group's id, the row's number, and its cells.
        """
        groups, columns = self.native.take()
        return [UUID_TEXT[group] for group in groups], columns


class CompactGroups(Generic[_Item]):
    """The groups whose items are rows, while records change them."""

    def __init__(self, rules: RowRules, kind: type[_Item]) -> None:
        from kraftool.decoders._native import OpenRows

        self._kind, self._rows = kind, OpenRows(_row_kinds(rules))

    def take(
        self, data: bytes, place: Place, end: int, changes: RowChanges | None = None
    ) -> tuple[Place, int, tuple[int, int, int] | None, str | None]:
        """Replay the records of sound batches from a place on, until `changes` are full. Returns
        the place of the first record that is left for Python; how many were replayed; last offset,
        epoch and time of the last batch that was replayed to its end; and the id of a group that
        must be opened first."""
        noted = None if changes is None else changes.native
        place, records, last, group = self._rows.take(data, place, end, noted)
        return place, records, last, None if group is None else UUID_TEXT[group]

    def open(self, group_id: str, items: Mapping[int, _Item]) -> OpenGroup[_Item] | None:
        """Open a group with these items; None if rows cannot keep one of them."""
        group = UUID_BYTES[group_id]
        if isinstance(items, CompactRows):
            self._rows.open(group, items.rows)
        elif not self._rows.load(group, list(items), list(items.values())):
            return None
        return OpenGroup(self._rows, group, self._kind)


@cache
def _row_kinds(rules: RowRules) -> RowKinds:
    # Commands that replay nothing start sooner without the catalogue.
    from kraftool.decoders import schema
    from kraftool.decoders._native import RowKinds
    from kraftool.decoders.generate import default_of
    from kraftool.decoders.programs import program

    names, unchanged = [name for name, _ in rules.cells], dict(rules.unchanged)
    layouts = []
    for record in (rules.makes, rules.changes, rules.does_nothing):
        message = schema.message(record)
        assert message.api_key is not None, "a record has an api key"
        for version in message.versions:
            code = program(message.api_key, version, masked=False)
            fields = [field for field in message.fields if version in field.versions]
            at = {field.name: place for place, field in enumerate(fields)}
            is_known = at.keys() <= {*names, rules.group, rules.number}
            leaves_unchanged = record != rules.changes or all(
                default_of(field, version) == unchanged.get(field.name)
                for field in fields
                if field.is_tagged(version)
            )
            if code is None or not is_known or not leaves_unchanged:
                continue
            makes = {rules.makes: True, rules.changes: False}.get(record)
            key = at.get(rules.group, 0), at.get(rules.number, 0)
            cells = [at.get(name) for name in names]
            layouts.append((message.api_key, version, code, makes, key, cells))
    return RowKinds(
        "".join(cell for _, cell in rules.cells),
        names.index(rules.choice),
        (names.index(rules.arrays[0]), names.index(rules.arrays[1])),
        UUID_BYTES[rules.filler],
        [
            (names.index(counter), None if by is None else names.index(by))
            for counter, by in rules.counters
        ],
        layouts,
    )
