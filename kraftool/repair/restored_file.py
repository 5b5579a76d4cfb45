"""A file that is made of pieces of other files, read as if it were there.

Owns the order of the pieces, and a slice of the whole as pieces again. It refuses to choose them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from kraftool.repair.plan import Piece, RestoredFile
from kraftool.storage.source import ByteSource, ClosingSource


class ReadableFile(Protocol):
    """An open file of a data directory or of a copy of one."""

    def read_at(self, position: int, size: int) -> bytes: ...

    def close(self) -> None: ...


PieceOpener = Callable[[Piece], ReadableFile]


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


def pieced_opener(file: RestoredFile, open_piece: PieceOpener) -> Callable[[], ByteSource]:
    """A function that opens a restored segment."""
    return lambda: PiecedSource(file.target.name, file.pieces, open_piece)


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
