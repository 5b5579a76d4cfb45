"""Partitions that stay in their snapshot, and are read when a caller asks for them.

Owns the mapping by number over pieces of records. It reads nothing itself: a `Reader` does. A
million partitions take a few megabytes this way, and only those that are read cost time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from itertools import chain
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

_Item = TypeVar("_Item")
_Read = TypeVar("_Read", covariant=True)


class PlacedPiece(NamedTuple):
    """Records of one topic with consecutive numbers, in one stretch of the file."""

    number: int
    """Of the first."""
    length: int
    position: int
    """Of the first one in the file."""
    size: int
    ordinal: int
    """Of the first one in its batch."""
    is_newest: bool
    """True if their bytes are those that the newest Kafka would write."""
    crc: int
    """Of their bytes, which have to be the same when they are read."""


TakeFramed = Callable[[Sequence[bytes]], None]
"""Takes framed records as they are."""


class Reader(Protocol[_Read]):
    """Reads the records of pieces. Raises KraftoolError if their bytes have changed."""

    def items(self, piece: PlacedPiece) -> Sequence[_Read]: ...

    def values(self, piece: PlacedPiece) -> Sequence[bytes]:
        """The framed records themselves."""


def _number(piece: PlacedPiece) -> int:
    return piece.number


class Placed(Mapping[int, _Item], Generic[_Item]):
    """The items of pieces of records, by number. Numbers rise."""

    __slots__ = ("_length", "_reader", "pieces")

    def __init__(self, reader: Reader[_Item]) -> None:
        self._reader = reader
        self.pieces: list[PlacedPiece] = []
        self._length = 0

    def add(self, piece: PlacedPiece) -> bool:
        """Add a piece; False if its first number is not above all earlier ones."""
        if self.pieces:
            last = self.pieces[-1]
            if piece.number < last.number + last.length:
                return False
        self.pieces.append(piece)
        self._length += piece.length
        return True

    def records(self, piece: PlacedPiece) -> Sequence[bytes]:
        """The framed records of a piece."""
        return self._reader.values(piece)

    def read(self, piece: PlacedPiece) -> Sequence[_Item]:
        """Return the items of a piece."""
        return self._reader.items(piece)

    def stretches(self) -> Iterator[tuple[Sequence[bytes], Sequence[tuple[int, _Item]]]]:
        """Yield the records that the newest Kafka would write as they are, or else the numbers and
        items, piece by piece in the order of numbers."""
        for piece in self.pieces:
            if piece.is_newest:
                yield self.records(piece), ()
            else:
                yield (), [*enumerate(self.read(piece), piece.number)]

    def _piece(self, number: object) -> PlacedPiece | None:
        if not isinstance(number, int):
            return None
        at = bisect_right(self.pieces, number, key=_number) - 1
        if at < 0 or number >= self.pieces[at].number + self.pieces[at].length:
            return None
        return self.pieces[at]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(
            range(piece.number, piece.number + piece.length) for piece in self.pieces
        )

    def __contains__(self, number: object) -> bool:
        return self._piece(number) is not None

    def __getitem__(self, number: int) -> _Item:
        piece = self._piece(number)
        if piece is None:
            raise KeyError(number)
        return self.read(piece)[number - piece.number]

    def values(self) -> ValuesView[_Item]:
        return _Values(self)

    def items(self) -> ItemsView[int, _Item]:
        return _Items(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Placed) and self._has_records_of(other):
            return True
        return super().__eq__(other)

    def _has_records_of(self, other: Placed[Any]) -> bool:
        """True if the records have the same bytes. Mappings with other bytes may be equal too."""
        if len(self.pieces) != len(other.pieces):
            return False
        return all(
            (mine.number, mine.length) == (its.number, its.length)
            and self.records(mine) == other.records(its)
            for mine, its in zip(self.pieces, other.pieces, strict=True)
        )

    def __repr__(self) -> str:
        return repr(dict(self.items()))

    def __reduce__(self) -> tuple[type, tuple[dict[int, _Item]]]:
        return dict, (dict(self.items()),)


class _Values(ValuesView[_Item]):
    """All values, each piece read once."""

    _mapping: Placed[_Item]

    def __iter__(self) -> Iterator[_Item]:
        return chain.from_iterable(map(self._mapping.read, self._mapping.pieces))


class _Items(ItemsView[int, _Item]):
    """The same with their numbers."""

    _mapping: Placed[_Item]

    def __iter__(self) -> Iterator[tuple[int, _Item]]:
        return zip(self._mapping, _Values(self._mapping), strict=True)
