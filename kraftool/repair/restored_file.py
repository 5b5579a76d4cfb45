"""A file that is made of pieces of other files, read as if it were there.

Owns the order of the pieces, and a slice of the whole as pieces again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from kraftool.repair.flipped_bit import FlippedBit
from kraftool.repair.plan import Edit, Fingerprint, Piece
from kraftool.repair.plan_file import PlanFile
from kraftool.storage.entry import Entry, EntryPlace
from kraftool.storage.source import ByteSource, ClosingSource, ReadsAt


class ReadableFile(ReadsAt, Protocol):
    """An open file of a data directory or of a copy of one."""

    def close(self) -> None: ...


PieceOpener = Callable[[Piece], ReadableFile]
Openers = Mapping[str, Callable[[], ByteSource]]
"""How files of the metadata partition are opened, by their names."""


class PiecedSource(ClosingSource):
    """The content that pieces make, one after the other."""

    def __init__(self, name: str, pieces: Sequence[Piece], open_piece: PieceOpener) -> None:
        self._name, self._pieces, self._open = name, tuple(pieces), open_piece

    @property
    def name(self) -> str:
        return self._name

    def size(self) -> int | None:
        return sum(piece.size for piece in self._pieces)

    def read_at(self, position: int, size: int) -> bytes:
        return b"".join(map(self._read, slice_of(self._pieces, position, position + size)))

    def _read(self, piece: Piece) -> bytes:
        if piece.file is None:
            return piece.data
        file = self._open(piece)
        try:
            return file.read_at(piece.start, piece.size)
        finally:
            file.close()

    def close(self) -> None:
        """Nothing is open between two reads."""


def openers_of(restored: Iterable[Edit], open_piece: PieceOpener) -> Openers:
    """Functions that open restored files."""
    return {
        edit.target.name: pieced_opener(edit.target.name, edit.pieces, open_piece)
        for edit in restored
    }


def pieced_opener(
    name: str, pieces: Sequence[Piece], open_piece: PieceOpener
) -> Callable[[], ByteSource]:
    """A function that opens the file that pieces make."""
    return lambda: PiecedSource(name, pieces, open_piece)


def with_content(entry: Entry, openers: Openers) -> Entry:
    """The entry with other content, if it is one of these files of the metadata partition."""
    opener = openers.get(entry.basename) if entry.place is EntryPlace.PARTITION else None
    return entry if opener is None else replace(entry, opener=opener)


def slice_of(pieces: Iterable[Piece], start: int, end: int) -> Iterator[Piece]:
    """The pieces of a stretch of the content."""
    at = 0
    for piece in pieces:
        first, last = max(start - at, 0), min(end - at, piece.size)
        at += piece.size
        if first >= last:
            continue
        if piece.file is None:
            yield replace(piece, data=piece.data[first:last])
        else:
            yield replace(piece, start=piece.start + first, end=piece.start + last)


def joined(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The pieces, those that follow each other in one file as one."""
    merged_pieces: list[Piece] = []
    for piece in pieces:
        last = merged_pieces[-1] if merged_pieces else None
        if (
            last is not None
            and piece.file is not None
            and (last.file, last.source, last.end) == (piece.file, piece.source, piece.start)
        ):
            merged_pieces[-1] = replace(last, end=piece.end)
        else:
            merged_pieces.append(piece)
    return tuple(merged_pieces)


def put_back(target: PlanFile, size: int, bits: Iterable[FlippedBit]) -> tuple[Piece, ...]:
    """The pieces of a file with its flipped bits put back."""
    pieces, start = [], 0
    for bit in sorted(bits, key=lambda bit: bit.position):
        if bit.position > start:
            pieces.append(Piece(file=target, start=start, end=bit.position))
        pieces.append(Piece(data=bytes([bit.byte])))
        start = bit.position + 1
    if start < size:
        pieces.append(Piece(file=target, start=start, end=size))
    return tuple(pieces)


def flipped_edit(
    target: PlanFile, before: Fingerprint, after: Fingerprint, bits: tuple[FlippedBit, ...]
) -> Edit:
    """The edit that puts the flipped bits of a file back."""
    return Edit(
        target=target,
        before=before,
        after=after,
        pieces=put_back(target, after.size, bits),
        flipped=bits,
    )
